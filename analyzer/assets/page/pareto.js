// Cases by their ratio and a second number of which less is better, with the line of those that nobody beats in both.

chart("pareto", {
  canvas: () => chartedWorkload().count > LARGE,
  controls: (made) => [chooser("number", made, () => chartedWorkload().fronts.map(({ name }) => [name, name]))],
  draw(made) {
    made.fills.forEach((fill) => fill());
    const workload = chartedWorkload();
    const front = workload.fronts.find(({ name }) => name === made.number);
    made.at = null;
    if (!front) return "No second number differs between the cases.";
    const second = (row) => front.values[row - workload.first];
    const rows = rankedRows().filter((row) => defined(second(row)));
    if (!rows.length) return "No case that passes the filter has both numbers.";
    const x = axisOver(...extent(rows.map((row) => cases.ratio[row])), { log: true, name: `ratio to the ${referenceWord(workload)} (${data.origin})` });
    const y = axisOver(...extent(rows.map(second)), { log: true, name: `${front.name} (${data.origin})` });
    const point = (row) => [x.to(cases.ratio[row]), y.to(second(row)), row];
    made.at = (row) => (row >= 0 && cases.workload[row] === charted && defined(cases.ratio[row]) && defined(second(row)) ? point(row) : null);
    const large = rows.length > LARGE;
    const size = large ? 3 : rows.length > 300 ? 6 : 9;
    const shown = new Set(rows);
    const line = { name: "unbeaten", type: "line", step: "end", symbol: "none", silent: true, tooltip: { show: false }, lineStyle: { color: theme.mark, width: 1.6 }, itemStyle: { color: theme.mark },
      data: front.unbeaten.filter((row) => shown.has(row)).map(point) };
    const marks = byMark(rows).map(({ mark, hollow, rows: own }) => ({ name: hollow ? `${mark.name}, by results` : mark.name, type: "scatter", symbol: mark.shape, symbolSize: size * mark.size, z: 3, itemStyle: markStyle(mark, hollow), large: large && own.length > 1, largeThreshold: 2, data: own.map(point) }));
    return {
      legend: legend({ data: [line, ...marks].map(({ name }) => name) }),
      grid: { left: 26, right: 14, top: 34, bottom: 24, containLabel: true, outerBoundsMode: "same" },
      xAxis: x.option, yAxis: vertical(y), series: [line, ...marks, ring(made.at(state.picked))],
      tooltip: tooltip({ formatter: ({ value }) => (value?.length === 3 ? tip(value[2], `${front.name} ${significant(second(value[2]), 4)}`) : "") }),
    };
  },
  picked: (made, row) => (made.at ? { series: [ring(made.at(row))] } : undefined),
  rowAt: ({ value }) => (Array.isArray(value) && value.length === 3 ? value[2] : null),
});
