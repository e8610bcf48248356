// The control's own times over the sweep.

chart("drift", {
  low: true,
  canvas: () => chartedWorkload().drift.seconds.length > LARGE,
  draw(made) {
    const { drift } = chartedWorkload();
    const count = drift.seconds.length;
    if (!count) return chartedWorkload().varies ? "Fewer than 2 rounds measured the control beside a case." : "Values do not vary here, so the control is not run beside each case.";
    const span = drift.seconds[count - 1];
    const [one, unit] = span > 7200 ? [3600, "hours"] : span > 180 ? [60, "minutes"] : [1, "seconds"];
    const times = drift.seconds.map((seconds) => seconds / one);
    const [, most] = extent(drift.most);
    // One outlier would flatten the rest: the axis holds all but the slowest hundredth.
    const sorted = drift.most.slice().sort((a, b) => a - b);
    const [low] = extent(drift.least);
    const high = Math.min(most, sorted[Math.floor(0.99 * (count - 1))] * 1.15);
    const x = axisOver(0, times[count - 1] || 1, { name: `${unit} since the first round`, pad: 0.01, clip: 0 });
    const y = axisOver(low, high, { name: `control, ${data.heading} (${data.origin})`, most: 5 });
    const width = Math.max(2, Math.round(count / 40));
    const smooth = drift.value.map((_, at) => {
      const near = drift.value.slice(Math.max(0, at - width), at + width + 1).sort((a, b) => a - b);
      return [times[at], near[Math.floor(near.length / 2)]];
    });
    made.at = (row) => drift.case.flatMap((own, at) => (own === row && row >= 0 ? [[times[at], drift.value[at], at]] : []));
    return {
      legend: legend({ data: ["a round", "disturbed", "running median"] }),
      grid: { left: 6, right: 14, top: 28, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: x.option, yAxis: vertical(y),
      series: [
        { type: "custom", silent: true, clip: true, tooltip: { show: false }, data: times.map((time, at) => [time, drift.least[at], drift.most[at]]),
          renderItem: (_, api) => { const [px, top] = api.coord([api.value(0), api.value(2)]); const [, bottom] = api.coord([api.value(0), api.value(1)]); return { type: "line", shape: { x1: px, x2: px, y1: top, y2: bottom }, style: { stroke: theme.mark, opacity: 0.3, lineWidth: 1 } }; } },
        ...[[false, "a round", "circle", theme.mark, 1], [true, "disturbed", "diamond", palette()[1], 1.8]].map(([disturbed, name, symbol, color, size]) => ({ name, type: "scatter", symbol, symbolSize: (count > 400 ? 3 : 5) * size, clip: true, itemStyle: { color, opacity: 0.75 },
          data: times.flatMap((time, at) => (drift.disturbed[at] === disturbed ? [[time, drift.value[at], at]] : [])) })),
        { name: "running median", type: "line", symbol: "none", silent: true, data: smooth, lineStyle: { color: theme.ink, width: 1.8 }, itemStyle: { color: theme.ink } },
        { id: "ring", type: "scatter", symbol: "circle", symbolSize: 14, z: 9, silent: true, itemStyle: { color: "transparent", borderColor: theme.ink, borderWidth: 2 }, data: made.at(state.picked) },
      ],
      tooltip: tooltip({ formatter: ({ value }) => {
        const at = value?.[2];
        if (!defined(at)) return "";
        const range = drift.rounds_per_point > 1 ? `, from ${significant(drift.least[at], 4)} to ${significant(drift.most[at], 4)}` : "";
        const text = `${significant(drift.value[at], 4)} ${data.unit}${range}${drift.disturbed[at] ? ", disturbed" : ""}`;
        return element("div", { class: "tip" }, element("b", {}, defined(drift.case[at]) ? `beside ${cases.name[drift.case[at]]}` : `${drift.rounds_per_point} rounds`), text);
      } }),
    };
  },
  picked: (made, row) => (made.at ? { series: [{ id: "ring", data: made.at(row) }] } : undefined),
  rowAt: ({ value }) => (Array.isArray(value) ? chartedWorkload().drift.case[value[2]] : null),
});
