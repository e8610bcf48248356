// Attributes of all cases as lines.

const MOST_LINES = 1000;
const MOST_AXES = 14;
// Cividis, read by people with any colour vision: dark is fast on white, light is fast on black.
const CIVIDIS = ["#00224e", "#213b6e", "#4c556c", "#6c6e72", "#8d8878", "#b0a46e", "#d4c259", "#f5e24a"];

chart("parallel", {
  canvas: true,
  controls: (made) => { made.note = element("span", { class: "where", role: "status" }); return [made.note]; },
  draw(made) {
    const workload = chartedWorkload();
    const ranked = rankedRows();
    if (ranked.length < 2) return `Fewer than 2 cases that pass the filter have a ratio to the ${referenceWord(workload)}.`;
    // The best, and an even choice of the others.
    const half = MOST_LINES / 2;
    const rows = ranked.length <= MOST_LINES ? ranked : [...ranked.slice(0, half), ...Array.from({ length: half }, (_, at) => ranked[half + Math.floor((at * (ranked.length - half)) / half)])];
    const varying = differing(workload, rows);
    if (!varying.length) return "All plans have the same attributes.";
    const most = Math.max(2, Math.min(MOST_AXES, Math.floor(made.box.clientWidth / 74) - 1));
    const logs = rows.map((row) => [row, Math.log(cases.ratio[row])]);
    const attributes = varying.map((attribute, at) => ({ attribute, at, share: explained(workload, attribute, logs) })).sort((a, b) => b.share - a.share).slice(0, most).sort((a, b) => a.at - b.at).map(({ attribute }) => attribute);
    const lines = rows.length < ranked.length ? `${grouped(rows.length)} of ${grouped(ranked.length)} cases: the best ${half}, and an even choice of the others. ` : "";
    made.note.textContent = lines + (attributes.length < varying.length ? `${attributes.length} of ${varying.length} attributes that split these cases differently: those that explain most of the ratio.` : "");
    made.rows = rows;
    const scale = dark ? CIVIDIS.slice(1) : CIVIDIS.slice(0, 7);
    const place = new Map(rows.map((row, at) => [row, at]));
    const colour = (row) => { const at = place.get(row) / Math.max(rows.length - 1, 1); const index = Math.round(at * (scale.length - 1)); return dark ? scale[scale.length - 1 - index] : scale[index]; };
    const values = (row) => attributes.map((attribute) => attribute.values.codes[row - workload.first] ?? NaN).concat(Math.log10(cases.ratio[row]));
    const [low, high] = extent(rows.map((row) => cases.ratio[row]));
    const y = axisOver(low, high, { log: true, pad: 0.02 });
    const look = { nameTextStyle: { color: theme.ink, fontSize: 11.5, lineHeight: 13 }, axisLine: { lineStyle: { color: theme.soft } }, axisTick: { lineStyle: { color: theme.soft } } };
    // Slowest first, so that the best lie on top.
    const lineData = rows.slice().reverse().map((row) => ({ value: values(row), row, lineStyle: { color: colour(row), width: row === state.picked ? 4 : 1.3, opacity: row === state.picked ? 1 : rows.length > 300 ? 0.25 : 0.6 } }));
    lineData.sort((a, b) => (a.row === state.picked) - (b.row === state.picked));
    // A title is not wider than the place up to the next; the tooltip has the whole name.
    const between = (made.box.clientWidth - 86) / attributes.length;
    // The first title stands half to the left of its axis.
    const first = Math.max(...attributes[0].name.split(".").map((part) => 7 * part.length));
    const left = Math.max(40, Math.min(first, between - 6) / 2 + 4);
    return {
      parallel: { left, right: 46, top: 46, bottom: 14, parallelAxisDefault: { nameLocation: "end", nameGap: 12, nameTruncate: { maxWidth: between - 6 }, ...look } },
      parallelAxis: [
        ...attributes.map((attribute, dim) => ({ dim, name: attribute.name.replace(/\./g, ".\n"), type: "value", min: -0.3, max: attribute.values.words.length - 0.7, ...look,
          axisLabel: { color: theme.soft, fontSize: 11, customValues: thinned(attribute.values.words.length), formatter: (value) => shortName(attribute.values.words[value] ?? "", 10), textBorderColor: theme.page, textBorderWidth: 3 }, axisTick: { ...look.axisTick, customValues: thinned(attribute.values.words.length) } })),
        { dim: attributes.length, name: "ratio", nameLocation: "start", type: "value", min: y.option.min, max: y.option.max, inverse: true, ...look, axisLabel: { ...y.option.axisLabel, textBorderColor: theme.page, textBorderWidth: 3 }, axisTick: { ...look.axisTick, customValues: y.option.axisTick.customValues } },
      ],
      series: [{ type: "parallel", data: lineData, smooth: false, progressive: 0, emphasis: { lineStyle: { width: 3.5, opacity: 1 } }, inactiveOpacity: 0.03, activeOpacity: 0.9 }],
      tooltip: tooltip({ formatter: ({ data: item }) => (defined(item?.row) ? tip(item.row, ...attributes.map((attribute) => `${attribute.name} = ${word(attribute.values, item.row - workload.first) ?? UNDEFINED}`)) : "") }),
    };
  },
  picked: () => undefined,
  rowAt: ({ data: item }) => item?.row,
});

// Attributes that take several values among these cases; of those that split them alike the first.
function differing(workload, rows) {
  const seen = new Set();
  return workload.attributes.filter((attribute) => {
    const numbers = new Map();
    const split = rows.map((row) => {
      const code = attribute.values.codes[row - workload.first];
      if (!numbers.has(code)) numbers.set(code, numbers.size);
      return numbers.get(code);
    }).join();
    const isNew = numbers.size > 1 && !seen.has(split);
    seen.add(split);
    return isNew;
  });
}

function thinned(count) {
  const step = Math.max(1, Math.ceil(count / 12));
  return Array.from({ length: Math.ceil(count / step) }, (_, at) => at * step);
}
