// Predicted against measured.

const LARGE = 1500;

chart("calibration", {
  canvas: () => chartedWorkload().count > LARGE,
  controls: (made) => [chooser("estimate", made, () => chartedWorkload().estimates.map(({ name }) => [name, name])),
    chooser("families", made, () => (chartedWorkload().count > LARGE ? [["apart", "apart"], ["together", "together"]] : [["together", "together"]]))],
  draw(made) {
    made.fills.forEach((fill) => fill());
    const workload = chartedWorkload();
    const estimate = estimateOf(workload, made.estimate);
    if (!estimate) return "No case has an estimate.";
    const measured = estimate.comparable ? cases.normalised : cases.ratio;
    const unit = estimate.comparable ? data.heading : `ratio to ${referenceWord(workload)}`;
    const rows = rankedRows().filter((row) => defined(measured[row]) && defined(estimate.values[row - workload.first]));
    if (!rows.length) return "No case that passes the filter was both predicted and measured.";
    const of = (row) => [measured[row], estimate.values[row - workload.first]];
    const own = [0, 1].map((axis) => extent(rows.map((row) => of(row)[axis])));
    // One range for both axes, so that the diagonal always shows how far predictions lie from it.
    const both = extent(own.flat());
    const [xs, ys] = estimate.comparable ? [both, both] : own;
    const x = axisOver(...xs, { log: true, name: estimate.comparable ? (workload.probed ? `measured, normalised (${unit}, derived)` : `${data.objective} (${data.unit ? `${unit}, ` : ""}${data.origin})`) : `${unit} (${data.origin})` });
    const y = axisOver(...ys, { log: true, name: `predicted by ${shortName(estimate.name, 30)} (${estimate.unit}, modelled)` });
    made.panel = () => 0;
    made.at = (row) => (row >= 0 && cases.workload[row] === charted && defined(measured[row]) && defined(estimate.values[row - workload.first])
      ? [x.to(of(row)[0]), y.to(of(row)[1]), row] : null);
    const large = rows.length > LARGE;
    // Thousands of marks overlap: small squares are drawn a hundred times as fast as shapes that nobody could tell apart, so
    // each family has a panel of its own.
    const size = large ? 3 : rows.length > 300 ? 6 : 9;
    const groups = byMark(rows);
    const markSeries = ({ mark, hollow, rows: own }) => ({
      name: hollow ? `${mark.name}, by results` : mark.name, type: "scatter", symbol: large && own.length > 1 ? "rect" : mark.shape, symbolSize: own.length > 1 ? size * mark.size : 12,
      itemStyle: large && own.length > 1 ? { color: mark.colour, opacity: 0.4 } : markStyle(mark, hollow), large: large && own.length > 1, largeThreshold: 2, data: own.map((row) => [x.to(of(row)[0]), y.to(of(row)[1]), row]),
      emphasis: { disabled: large },
    });
    const formatter = ({ value }) => (value?.length === 3 ? tip(value[2], `measured ${significant(of(value[2])[0], 4)} ${unit}`, `predicted ${significant(of(value[2])[1], 4)} ${estimate.unit}`) : "");
    const diagonal = () => {
      const low = Math.max(x.option.min, y.option.min), high = Math.min(x.option.max, y.option.max);
      return estimate.comparable && low < high ? [{ type: "line", data: [[low, low], [high, high]], symbol: "none", silent: true, lineStyle: { color: theme.soft, width: 1.2, type: "dashed" }, tooltip: { show: false } }] : [];
    };
    if (large && made.families === "apart") return panels(made, groups, { x, y, markSeries, diagonal, formatter });
    made.box.style.height = "";
    const series = [...diagonal(), ...groups.map(markSeries)];
    series.push(ring(made.at(state.picked)));
    return {
      legend: legend({ data: series.filter((one) => one.name && one.id !== "ring").map((one) => one.name) }),
      grid: { left: 26, right: 14, top: 34, bottom: 24, containLabel: true, outerBoundsMode: "same" },
      xAxis: x.option, yAxis: vertical(y), series,
      tooltip: tooltip({ formatter }),
    };
  },
  picked: (made, row) => (made.at ? { series: [{ ...ring(made.at(row)), ...inPanel(made.panel(row)) }] } : undefined),
  rowAt: ({ value }) => (Array.isArray(value) && value.length === 3 ? value[2] : null),
});

const inPanel = (panel) => ({ xAxisIndex: panel, yAxisIndex: panel });

// One panel for each family, over the same axes; the control stands in all of them.
const MOST_PANELS = 12;
function panels(made, groups, { x, y, markSeries, diagonal, formatter }) {
  const families = groups.filter((group) => !group.control).sort((a, b) => b.rows.length - a.rows.length);
  const control = groups.filter((group) => group.control);
  // The smallest families share the last panel.
  const shown = families.length > MOST_PANELS ? [...families.slice(0, MOST_PANELS - 1).map((group) => [group]), families.slice(MOST_PANELS - 1)] : families.map((group) => [group]);
  if (!shown.length) shown.push([]);
  const across = made.box.clientWidth > 900 ? 3 : made.box.clientWidth > 560 ? 2 : 1;
  const down = Math.ceil(shown.length / across);
  const high = 270;
  made.box.style.height = `${down * high + 20}px`;
  const holder = new Map(shown.flatMap((own, panel) => own.flatMap((group) => group.rows.map((row) => [row, panel]))));
  made.panel = (row) => holder.get(row) ?? 0;
  const wide = made.box.clientWidth / across;
  const left = (panel) => (panel % across) * wide, top = (panel) => Math.floor(panel / across) * high;
  const words = (own) => { const series = own.map(markSeries); return series.length === 1 ? series[0].name : series.length ? `${series.length} small families` : "no family"; };
  const axis = (option, panel, name) => ({ ...option, gridIndex: panel, name });
  return {
    title: shown.map((own, panel) => ({ text: `${shortName(words(own), 34)} (${grouped(own.reduce((sum, group) => sum + group.rows.length, 0))})`, left: left(panel) + 40, top: top(panel), padding: 0, textStyle: { color: theme.ink, fontSize: 12.5, fontWeight: 600 } })),
    grid: shown.map((_, panel) => ({ left: left(panel) + 26, top: top(panel) + 22, width: wide - 40, height: high - 64, containLabel: true, outerBoundsMode: "same" })),
    xAxis: shown.map((_, panel) => axis(x.option, panel, panel >= shown.length - across ? x.option.name : "")),
    yAxis: shown.map((_, panel) => axis(vertical(y), panel, panel % across === 0 ? y.option.name : "")),
    series: [...shown.flatMap((own, panel) => [...diagonal(), ...own.map(markSeries), ...control.map(markSeries)].map((series) => ({ ...series, ...inPanel(panel) }))), { ...ring(made.at(state.picked)), ...inPanel(made.panel(state.picked)) }],
    tooltip: tooltip({ formatter }),
  };
}

// The picked case: a ring around its mark, with its name.
function ring(at) {
  return { id: "ring", type: "scatter", symbol: "circle", symbolSize: 17, z: 9, silent: true, data: at ? [at] : [],
    itemStyle: { color: "transparent", borderColor: theme.ink, borderWidth: 2 },
    label: { show: true, position: "top", color: theme.ink, fontWeight: 600, fontSize: 12, formatter: ({ value }) => shortName(cases.name[value[2]], 28), textBorderColor: theme.page, textBorderWidth: 3 } };
}
