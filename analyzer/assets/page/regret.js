// Regret against budget.

chart("regret", {
  draw() {
    const workload = chartedWorkload();
    const curves = workload.estimates.filter((estimate) => estimate.regret.budgets.length).map((estimate, index) => ({ name: estimate.name, curve: estimate.regret, index }));
    if (!curves.length) return "No estimate has a sample to be judged by.";
    const random = workload.at_random;
    const all = [...curves.map(({ curve }) => curve), random];
    const budgets = Math.max(...all.flatMap((curve) => curve.budgets));
    const most = Math.max(...all.flatMap((curve) => curve.regrets));
    const x = axisOver(1, Math.max(budgets, 2), { log: true, name: "cases tried", pad: 0.01 });
    const y = axisOver(1, Math.max(most, 1.01), { name: "best tried / best of all (derived)", most: 5, pad: 0.03, clip: 1 });
    const DASHES = ["solid", [7, 4], [2, 3], [9, 3, 2, 3]];
    const step = (curve) => {
      const points = curve.budgets.map((budget, at) => [x.to(budget), curve.regrets[at]]);
      const last = points[points.length - 1];
      return curve.budgets[points.length - 1] < budgets ? [...points, [x.to(budgets), last[1]]] : points;
    };
    return {
      legend: legend({ itemWidth: 26 }),
      grid: { left: 6, right: 14, top: 30, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: x.option, yAxis: vertical(y),
      series: [
        ...curves.map(({ name, curve, index }) => ({ name, type: "line", step: "end", symbol: SHAPES[index % 7], symbolSize: 6, showSymbol: curve.budgets.length < 60, data: step(curve), lineStyle: { color: palette()[index % 7], width: 2, type: DASHES[index % 4] }, itemStyle: { color: palette()[index % 7] } })),
        { name: "at random, on average", type: "line", symbol: "none", data: random.budgets.map((budget, at) => [x.to(budget), random.regrets[at]]), lineStyle: { color: theme.soft, width: 1.5, type: "dotted" }, itemStyle: { color: theme.soft } },
      ],
      tooltip: tooltip({ trigger: "axis", axisPointer: { lineStyle: { color: theme.soft } }, formatter: (points) => {
        const budget = Math.round(x.from(points[0].value[0]));
        return element("div", { class: "tip" }, element("b", {}, `${counted(budget, "case")} tried`), ...points.map((point) => element("div", {}, `${point.seriesName}: ${ratioWord(point.value[1])}`)));
      } }),
    };
  },
});
