// Phases of the cases, stacked.

// [{ name, value(row) }] by phase or by kind, in the order of time.
function phaseParts(workload, by) {
  if (by !== "kind") return workload.phases.map((phase) => ({ name: phase.name, value: (row) => phase.values[row - workload.first] }));
  const kinds = [...new Set(workload.phases.map((phase) => phase.kind))];
  return kinds.map((kind) => ({ name: kind, value: (row) => {
    const values = workload.phases.filter((phase) => phase.kind === kind).map((phase) => phase.values[row - workload.first]).filter(defined);
    return values.length ? values.reduce((sum, value) => sum + value, 0) : null;
  } }));
}

chart("phases", {
  controls: (made) => [...pager(made), chooser("by", made, () => [["phase", "phase"], ["kind", "kind"]], () => (chartedWorkload().phases.length > 10 ? "kind" : "phase"))],
  draw(made) {
    made.fills.forEach((fill) => fill());
    const workload = chartedWorkload();
    if (!workload.phases.length) return "No phases were recorded.";
    const rows = made.page(rankedRows()).slice();
    if (!rows.length) return `No case that passes the filter has a ratio to the ${referenceWord(chartedWorkload())}.`;
    if (defined(workload.control) && !rows.includes(workload.control) && defined(cases.ratio[workload.control])) rows.push(workload.control);
    made.box.style.height = `${Math.max(170, 92 + rows.length * 17)}px`;
    const parts = phaseParts(workload, made.by);
    const most = Math.max(...rows.map((row) => parts.reduce((sum, part) => sum + (part.value(row) ?? 0), 0)));
    const x = axisOver(0, most, { name: `${data.heading} (${data.origin})`, most: 5, pad: 0.02, clip: 0 });
    return {
      legend: legend({ itemWidth: 16 }),
      grid: { left: 6, right: 18, top: 30, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: { ...x.option, min: 0 },
      yAxis: { type: "category", inverse: true, triggerEvent: true, data: rows.map(String), axisTick: { show: false }, axisLine: { show: false },
        axisLabel: { interval: 0, fontSize: 11.5, color: (value) => (Number(value) === state.picked ? theme.mark : theme.ink), formatter: (value) => shortName(cases.name[Number(value)], 26) + (Number(value) === workload.control ? `  (${referenceWord(workload)})` : "") } },
      series: parts.map((part, index) => ({ name: part.name, type: "bar", stack: "all", barCategoryGap: "22%", itemStyle: { ...phaseLook(index), borderColor: theme.page, borderWidth: 0.5 },
        data: rows.map((row) => ({ value: part.value(row) ?? 0, row })) })),
      tooltip: tooltip({ formatter: ({ data: { row } }) => tip(row, ...parts.filter((part) => part.value(row)).map((part) => `${part.name} ${significant(part.value(row), 4)} ${data.unit}`)) }),
    };
  },
  picked: (made, row) => { made.follow(row); },
  rowAt: ({ value, componentType, data: item }) => (componentType === "yAxis" ? Number(value) : item?.row),
});
