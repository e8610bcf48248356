// Phases in time, lane by lane: workers, tiles, or a case above its control. It knows nothing of cases, so that other
// pages can use it: lanes are `[{ name, spans: [{ phase, start, end }] }]` in `unit`, starts ascending.
// `known` names phases in the order of their looks, so that charts beside one another agree.

function timelineOption(lanes, unit, origin, box, known = []) {
  const used = new Set(lanes.flatMap((lane) => lane.spans.map((span) => span.phase)));
  const names = [...new Set([...known, ...used])];
  const end = Math.max(...lanes.flatMap((lane) => lane.spans.map((span) => span.end)));
  box.style.height = `${100 + lanes.length * 44}px`;
  const x = axisOver(0, end, { name: `${unit} since the start (${origin})`, most: 8, pad: 0.005, clip: 0 });
  const spans = lanes.flatMap((lane, at) => lane.spans.map((span) => ({ value: [at, span.start, span.end, names.indexOf(span.phase)], span })));
  return {
    legend: legend({ itemWidth: 16 }),
    grid: { left: 6, right: 16, top: 30, bottom: 22, containLabel: true },
    xAxis: { ...x.option, min: 0 },
    yAxis: { type: "category", inverse: true, data: lanes.map((_, at) => String(at)), axisTick: { show: false }, axisLine: { show: false },
      axisLabel: { interval: 0, fontSize: 12, color: theme.ink, formatter: (value) => shortName(lanes[Number(value)].name, 26) } },
    series: names.map((name, phase) => ({ name, phase })).filter(({ name }) => used.has(name)).map(({ name, phase }) => ({ name, type: "custom", clip: true, itemStyle: phaseLook(phase), encode: { x: [1, 2], y: 0 }, data: spans.filter(({ value }) => value[3] === phase),
      renderItem(params, api) {
        const [left, middle] = api.coord([api.value(1), api.value(0)]);
        const [right] = api.coord([api.value(2), api.value(0)]);
        const height = Math.min(api.size([0, 1])[1] * 0.68, 28);
        const width = Math.max(right - left, 0.5);
        const wide = width > 7 * name.length + 14;
        return { type: "rect", shape: { x: left, y: middle - height / 2, width, height }, style: { fill: api.visual("color"), decal: api.visual("decal"), stroke: theme.page, lineWidth: 0.6 },
          textContent: wide ? { style: { text: name, fill: dark || [3, 4, 5].includes(phase % 7) ? "#0b0d0f" : "#ffffff", fontSize: 11.5, fontFamily: theme.font, fontWeight: 600 } } : undefined, textConfig: { position: "inside" } };
      } })),
    tooltip: tooltip({ formatter: ({ data: { span }, value }) => element("div", { class: "tip" }, element("b", {}, span.phase), element("div", {}, lanes[value[0]].name), `${significant(span.end - span.start, 4)} ${unit}, from ${significant(span.start, 4)} to ${significant(span.end, 4)}`) }),
  };
}

// A case's median phases one after another.
function laneOf(row) {
  const workload = workloadOf(row);
  const spans = [];
  let start = 0;
  for (const phase of workload.phases) {
    const value = phase.values[row - workload.first];
    if (!value) continue;
    spans.push({ phase: phase.name, start, end: start + value });
    start += value;
  }
  return { name: cases.name[row], spans };
}

chart("timeline", {
  low: true,
  draw(made) {
    const workload = chartedWorkload();
    const row = state.picked >= 0 ? state.picked : workload.winner;
    if (!defined(row)) return "Pick a case to see its phases in time.";
    const lanes = [laneOf(row)];
    if (defined(workload.control) && workload.control !== row) lanes.push({ ...laneOf(workload.control), name: `${cases.name[workload.control]} (${referenceWord(workload)})` });
    if (!lanes[0].spans.length) return `${cases.name[row]} has no phases.`;
    return timelineOption(lanes.filter((lane) => lane.spans.length), data.unit, `${data.origin} medians`, made.box, workload.phases.map(({ name }) => name));
  },
  picked: () => undefined,
});
