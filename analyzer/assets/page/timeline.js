// Phases in time, lane by lane: workers, tiles, or a case above its control. It knows nothing of cases, so that other
// pages can use it: lanes are `[{ name, spans: [{ phase, start, end }] }]` in `unit`, starts ascending; one with `heading`
// is a title above those that follow. `known` names phases in the order of their looks, so that charts beside one another
// agree.

function timelineOption(lanes, unit, origin, box, known = []) {
  const used = new Set(lanes.flatMap((lane) => lane.spans.map((span) => span.phase)));
  const names = [...new Set([...known, ...used])];
  const end = Math.max(...lanes.map((lane) => lane.spans.reduce((last, span) => Math.max(last, span.end), lane.end ?? 0)));
  const high = lanes.length > 12 ? 22 : lanes.length > 5 ? 30 : 44;
  box.style.height = `${112 + lanes.length * high}px`;
  const x = axisOver(0, end, { name: `${unit} since the start (${origin})`, most: 8, pad: 0.005, clip: 0 });
  const spans = lanes.flatMap((lane, at) => lane.spans.map((span) => ({ value: [at, span.start, span.end, names.indexOf(span.phase)], span })));
  const narrow = box.clientWidth < 600;
  const rows = lanes.map((lane, at) => ({ value: String(at), textStyle: lane.heading ? { fontWeight: 700 } : undefined }));
  return {
    legend: legend({ itemWidth: 16 }),
    grid: { left: 6, right: 16, top: 30, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
    xAxis: { ...x.option, min: 0 },
    yAxis: { type: "category", inverse: true, data: rows, axisTick: { show: false }, axisLine: { show: false },
      axisLabel: { interval: 0, fontSize: 12, color: theme.ink, formatter: (value) => shortName(lanes[Number(value)].name, narrow ? 18 : 30) } },
    series: names.map((name, phase) => ({ name, phase })).filter(({ name }) => used.has(name)).map(({ name, phase }) => ({ name, type: "custom", clip: true, itemStyle: phaseLook(phase), encode: { x: [1, 2], y: 0 }, data: spans.filter(({ value }) => value[3] === phase),
      renderItem(params, api) {
        const [left, middle] = api.coord([api.value(1), api.value(0)]);
        const [right] = api.coord([api.value(2), api.value(0)]);
        const height = Math.min(api.size([0, 1])[1] * 0.72, 28);
        const width = Math.max(right - left, 0.5);
        const wide = width > 7 * name.length + 14 && height > 13;
        return { type: "rect", shape: { x: left, y: middle - height / 2, width, height }, style: { fill: api.visual("color"), decal: api.visual("decal"), stroke: theme.page, lineWidth: width > 3 ? 0.6 : 0 },
          textContent: wide ? { style: { text: name, fill: dark || [3, 4, 5].includes(phase % 7) ? "#0b0d0f" : "#ffffff", fontSize: 11.5, fontFamily: theme.font, fontWeight: 600 } } : undefined, textConfig: { position: "inside" } };
      } })),
    tooltip: tooltip({ formatter: ({ data: { span }, value }) => element("div", { class: "tip" }, element("b", {}, span.phase), element("div", {}, lanes[value[0]].name), `${significant(span.end - span.start, 4)} ${unit}, from ${significant(span.start, 4)} to ${significant(span.end, 4)}`) }),
  };
}

// Beyond so many spans a canvas draws them quicker than SVG.
const MANY_SPANS = 1500;
const countSpans = (lanes) => lanes.reduce((sum, lane) => sum + lane.spans.length, 0);

// Lanes as the data has them: names, and spans as [phase, start, end].
const lanesOf = (timeline) => timeline.lanes.map(([name, spans]) => ({ name, end: timeline.end, spans: spans.map(([phase, start, end]) => ({ phase: timeline.phases[phase], start, end })) }));
const headingOf = (name) => ({ name, heading: true, spans: [] });
