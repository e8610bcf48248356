// Predicted against measured.

const LARGE = 1500;

chart("calibration", {
  canvas: () => chartedWorkload().count > LARGE,
  controls: (made) => [chooser("estimate", made, () => chartedWorkload().estimates.map(({ name }) => [name, name]))],
  draw(made) {
    made.fills.forEach((fill) => fill());
    const workload = chartedWorkload();
    const estimate = estimateOf(workload, made.estimate);
    if (!estimate) return "No case has an estimate.";
    const measured = estimate.comparable ? cases.normalised : cases.ratio;
    const unit = estimate.comparable ? data.unit : "ratio to control";
    const rows = rankedRows().filter((row) => defined(measured[row]) && defined(estimate.values[row - workload.first]));
    if (!rows.length) return "No case that passes the filter was both predicted and measured.";
    const of = (row) => [measured[row], estimate.values[row - workload.first]];
    const xs = extent(rows.map((row) => of(row)[0])), ys = extent(rows.map((row) => of(row)[1]));
    const x = axisOver(...xs, { log: true, name: estimate.comparable ? `measured, normalised (${unit}, derived)` : `${unit} (${data.origin})` });
    const y = axisOver(...ys, { log: true, name: `predicted by ${shortName(estimate.name, 30)} (${estimate.unit}, modelled)` });
    made.at = (row) => (row >= 0 && cases.workload[row] === charted && defined(measured[row]) && defined(estimate.values[row - workload.first])
      ? [x.to(of(row)[0]), y.to(of(row)[1]), row] : null);
    const large = rows.length > LARGE;
    // Thousands of marks overlap: small squares are drawn a hundred times as fast as shapes that nobody could tell apart.
    const size = large ? 3 : rows.length > 300 ? 6 : 9;
    const series = byMark(rows).map(({ mark, hollow, rows: own }) => ({
      name: hollow ? `${mark.name}, by results` : mark.name, type: "scatter", symbol: large && own.length > 1 ? "rect" : mark.shape, symbolSize: own.length > 1 ? size * mark.size : 12,
      itemStyle: large && own.length > 1 ? { color: mark.colour, opacity: 0.4 } : markStyle(mark, hollow), large: large && own.length > 1, largeThreshold: 2, data: own.map((row) => [x.to(of(row)[0]), y.to(of(row)[1]), row]),
      emphasis: { disabled: large },
    }));
    if (estimate.comparable) {
      const low = Math.max(x.option.min, y.option.min), high = Math.min(x.option.max, y.option.max);
      if (low < high) series.unshift({ type: "line", data: [[low, low], [high, high]], symbol: "none", silent: true, lineStyle: { color: theme.soft, width: 1.2, type: "dashed" }, tooltip: { show: false } });
    }
    series.push(ring(made.at(state.picked)));
    return {
      legend: legend({ data: series.filter((one) => one.name && one.id !== "ring").map((one) => one.name) }),
      grid: { left: 26, right: 14, top: 34, bottom: 24, containLabel: true, outerBoundsMode: "same" },
      xAxis: x.option, yAxis: vertical(y), series,
      tooltip: tooltip({ formatter: ({ value }) => (value?.length === 3 ? tip(value[2], `measured ${significant(of(value[2])[0], 4)} ${unit}`, `predicted ${significant(of(value[2])[1], 4)} ${estimate.unit}`) : "") }),
    };
  },
  picked: (made, row) => (made.at ? { series: [ring(made.at(row))] } : undefined),
  rowAt: ({ value }) => (Array.isArray(value) && value.length === 3 ? value[2] : null),
});

// The picked case: a ring around its mark, with its name.
function ring(at) {
  return { id: "ring", type: "scatter", symbol: "circle", symbolSize: 17, z: 9, silent: true, data: at ? [at] : [],
    itemStyle: { color: "transparent", borderColor: theme.ink, borderWidth: 2 },
    label: { show: true, position: "top", color: theme.ink, fontWeight: 600, fontSize: 12, formatter: ({ value }) => shortName(cases.name[value[2]], 28), textBorderColor: theme.page, textBorderWidth: 3 } };
}
