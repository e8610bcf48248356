// Cases by their ratio to the control, with intervals.

chart("ranking", {
  controls: pager,
  draw(made) {
    const ranked = rankedRows();
    if (!ranked.length) return `No case that passes the filter has a ratio to the ${referenceWord(chartedWorkload())}.`;
    const rows = made.page(ranked);
    made.box.style.height = `${Math.max(150, 70 + rows.length * 17)}px`;
    const ends = extent(rows.flatMap((row) => [cases.ratio[row], cases.lower[row], cases.upper[row]]).concat(1));
    const x = axisOver(...ends, { log: true, name: `ratio to the ${referenceWord(chartedWorkload())} (${data.origin})`, most: 5 });
    const place = new Map(rows.map((row, at) => [row, at]));
    const marks = byMark(rows);
    const whiskers = { type: "custom", silent: true, tooltip: { show: false }, z: 2,
      renderItem(_, api) {
        const at = api.value(1), row = api.value(2);
        const [from, y] = api.coord([x.to(cases.lower[row]), at]);
        const [to] = api.coord([x.to(cases.upper[row]), at]);
        const style = { stroke: markOf(row).colour, lineWidth: 1.8 };
        const line = (x1, y1, x2, y2) => ({ type: "line", shape: { x1, y1, x2, y2 }, style });
        return { type: "group", children: [line(from, y, to, y), line(from, y - 3, from, y + 3), line(to, y - 3, to, y + 3)] };
      },
      data: rows.flatMap((row, at) => (defined(cases.lower[row]) && defined(cases.upper[row]) ? [[x.to(cases.ratio[row]), at, row]] : [])) };
    const points = marks.map(({ mark, hollow, rows: own }) => ({ name: hollow ? `${mark.name}, by results` : mark.name, type: "scatter", symbol: mark.shape, symbolSize: 9 * mark.size, z: 3, itemStyle: hollow ? { ...markStyle(mark, hollow), color: theme.page } : markStyle(mark, hollow),
      data: own.map((row) => [x.to(cases.ratio[row]), place.get(row), row]) }));
    const at = place.get(state.picked);
    const one = { type: "line", silent: true, symbol: "none", data: [[x.to(1), -0.5], [x.to(1), rows.length - 0.5]], lineStyle: { color: theme.ink, width: 1, type: "dashed" }, tooltip: { show: false } };
    return {
      legend: legend(),
      grid: { left: 6, right: 18, top: 30, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: x.option,
      yAxis: { type: "category", inverse: true, data: rows.map((row) => String(row)), triggerEvent: true, axisTick: { show: false }, axisLine: { show: false },
        axisLabel: { interval: 0, fontSize: 11.5, color: (value) => (Number(value) === state.picked ? theme.mark : theme.ink), formatter: (value) => `${shortName(cases.name[Number(value)], 26)}  ${ratioWord(cases.ratio[Number(value)])}` },
        splitArea: { show: false } },
      series: [one, whiskers, ...points, { type: "scatter", silent: true, z: 4, symbol: "circle", symbolSize: 17, itemStyle: { color: "transparent", borderColor: theme.ink, borderWidth: 2 }, data: defined(at) ? [[x.to(cases.ratio[state.picked]), at]] : [] }],
      tooltip: tooltip({ formatter: ({ value }) => (value?.length === 3 ? tip(value[2], defined(cases.pairs[value[2]]) ? counted(cases.pairs[value[2]], "pair") : "") : "") }),
    };
  },
  // Names of the axis change with the picked case, so the whole is drawn.
  picked: (made, row) => { made.follow(row); },
  rowAt: ({ value, componentType }) => (componentType === "yAxis" ? Number(value) : Array.isArray(value) && value.length === 3 ? value[2] : null),
});
