// The shown case in time: its workers or tiles where the page has its profile, else its median phases one after another.

const timelines = new Map(data.timelines.map((timeline) => [timeline.case, timeline]));

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

function shownLanes(row, control) {
  const both = defined(control) && control !== row ? [row, control] : [row];
  const title = (of) => cases.name[of] + (of === control ? ` (${referenceWord(workloadOf(of))})` : "");
  if (timelines.has(row)) {
    const held = both.filter((of) => timelines.has(of));
    // A case with one lane needs no heading above it.
    const named = (of) => { const own = lanesOf(timelines.get(of)); return own.length === 1 ? [{ ...own[0], name: title(of) }] : [headingOf(title(of)), ...own]; };
    const lanes = held.flatMap(named);
    return { lanes, said: held.map((of) => `${cases.name[of]}: ${timelines.get(of).about}`).join(". "), origin: timelines.get(row).origin };
  }
  const hint = timelines.size ? "; `layout-sweep profile COHORT CASE --html FILE` draws its workers or tiles" : "";
  const lanes = both.map((of) => ({ ...laneOf(of), name: title(of) })).filter((lane) => lane.spans.length);
  return { lanes, said: `medians of the phases, one after another${hint}`, origin: `${data.origin} medians` };
}

chart("timeline", {
  low: true,
  canvas: (made) => made.spans > MANY_SPANS,
  controls: (made) => [made.said = element("span", { class: "where" })],
  draw(made) {
    const workload = chartedWorkload();
    const row = state.picked >= 0 ? state.picked : workload.winner;
    made.said.textContent = "";
    if (!defined(row)) return "Pick a case to see its phases in time.";
    const { lanes, said, origin } = shownLanes(row, workload.control);
    if (!timelines.has(row) && !laneOf(row).spans.length) return `${cases.name[row]} has no phases.`;
    made.spans = countSpans(lanes);
    made.said.textContent = said;
    return timelineOption(lanes, data.unit, origin, made.box, workload.phases.map(({ name }) => name));
  },
  picked: () => undefined,
});
