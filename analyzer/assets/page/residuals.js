// Residuals of an estimate by the values of one attribute.

// log(predicted / measured) without its median, by case: also a score, whose unit means nothing, has such residuals.
function residualsOf(workload, estimate) {
  const measured = estimate.comparable ? cases.normalised : cases.ratio;
  const found = [];
  estimate.values.forEach((value, at) => {
    const row = workload.first + at;
    if (value > 0 && measured[row] > 0 && !isAdaptive(row) && state.kept[row]) found.push([row, Math.log(value / measured[row])]);
  });
  const sorted = found.map(([, residual]) => residual).sort((a, b) => a - b);
  const middle = sorted.length ? (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2 : 0;
  return found.map(([row, residual]) => [row, residual - middle]);
}

// Share of the variance that groups explain, less what as many groups would explain by chance (adjusted R squared, as in
// the analysis of variance): 1 - (within / (n - k)) / (whole / (n - 1)), not below 0; 0 where that is undefined.
function explained(workload, attribute, residuals) {
  const groups = new Map();
  let sum = 0;
  for (const [row, residual] of residuals) {
    const code = attribute.values.codes[row - workload.first];
    const group = groups.get(code) ?? [0, 0];
    group[0] += 1;
    group[1] += residual;
    groups.set(code, group);
    sum += residual;
  }
  const count = residuals.length, mean = sum / count;
  if (groups.size < 2 || groups.size >= count) return 0;
  const whole = residuals.reduce((total, [, residual]) => total + (residual - mean) ** 2, 0);
  const between = [...groups.values()].reduce((total, [size, own]) => total + size * (own / size - mean) ** 2, 0);
  return whole > 0 ? Math.max(0, 1 - ((whole - between) / (count - groups.size)) / (whole / (count - 1))) : 0;
}

const quantile = (sorted, share) => {
  const at = share * (sorted.length - 1), low = Math.floor(at);
  return sorted[low] + (sorted[Math.min(low + 1, sorted.length - 1)] - sorted[low]) * (at - low);
};
const MOST_GROUPS = 24;

chart("residuals", {
  canvas: () => chartedWorkload().count > LARGE,
  controls: (made) => [
    chooser("estimate", made, () => chartedWorkload().estimates.map(({ name }) => [name, name])),
    chooser("attribute", made, () => (made.listed ?? []).map(({ name, share }) => [name, `${name} (${percentWord(share)})`])),
  ],
  draw(made) {
    const workload = chartedWorkload();
    made.fills[0]();
    const estimate = estimateOf(workload, made.estimate);
    if (!estimate) return "No case has an estimate.";
    const residuals = residualsOf(workload, estimate);
    if (residuals.length < 3) return "Fewer than 3 samples have a positive prediction and a measurement.";
    made.listed = workload.attributes.map((attribute) => ({ name: attribute.name, share: explained(workload, attribute, residuals) })).sort((a, b) => b.share - a.share);
    made.fills[1]();
    const attribute = workload.attributes.find(({ name }) => name === made.attribute);
    if (!attribute) return "All plans have the same attributes.";
    const groups = attribute.values.words.map((value, code) => ({ value, members: residuals.filter(([row]) => attribute.values.codes[row - workload.first] === code) })).filter((group) => group.members.length);
    const without = residuals.filter(([row]) => !defined(attribute.values.codes[row - workload.first]));
    if (without.length) groups.push({ value: UNDEFINED, members: without });
    const shown = groups.length > MOST_GROUPS ? groups.slice().sort((a, b) => b.members.length - a.members.length).slice(0, MOST_GROUPS) : groups;
    shown.sort((a, b) => groups.indexOf(a) - groups.indexOf(b));
    const [low, high] = extent(shown.flatMap((group) => group.members.map(([, residual]) => Math.exp(residual))));
    const y = axisOver(Math.min(low, 1), Math.max(high, 1), { log: true, name: "predicted / measured, relative (derived)", most: 6 });
    const boxes = shown.map((group) => { if (group.members.length < 3) return []; const sorted = group.members.map(([, residual]) => y.to(Math.exp(residual))).sort((a, b) => a - b); return [sorted[0], quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75), sorted[sorted.length - 1]]; });
    // A fixed sideways step by position keeps marks apart without chance.
    const points = shown.flatMap((group, at) => group.members.map(([row, residual], index) => [at, y.to(Math.exp(residual)), row, ((index * 0.618034) % 1) - 0.5]));
    const many = points.length > 600;
    return {
      grid: { left: 6, right: 12, top: 16, bottom: 4, outerBoundsMode: "same", outerBoundsContain: "all" },
      xAxis: { type: "category", data: shown.map((_, at) => String(at)), name: shown.length < groups.length ? `${attribute.name}: the ${MOST_GROUPS} most frequent of ${groups.length} values` : attribute.name, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: theme.soft, fontSize: 12 }, axisLine: { lineStyle: { color: theme.line } }, axisTick: { show: false },
        axisLabel: { color: theme.ink, fontSize: 12, interval: 0, hideOverlap: true, formatter: (value) => shortName(shown[Number(value)].value, 16) } },
      yAxis: vertical(y),
      series: [
        { type: "boxplot", data: boxes, boxWidth: [8, 46], itemStyle: { color: "transparent", borderColor: theme.soft, borderWidth: 1.3 }, silent: true, tooltip: { show: false } },
        { type: "custom", data: points, clip: true, renderItem(params, api) {
          const [px, py] = api.coord([api.value(0), api.value(1)]);
          const spread = Math.min(api.size([1, 0])[0] * 0.6, 40);
          const picked = api.value(2) === state.picked;
          return { type: "circle", shape: { cx: px + api.value(3) * spread, cy: py, r: picked ? 6 : many ? 1.6 : 3.2 }, style: { fill: picked ? theme.ink : theme.mark, opacity: picked ? 1 : many ? 0.5 : 0.75 } };
        } },
        { type: "line", silent: true, symbol: "none", data: [], markLine: { silent: true, symbol: "none", label: { show: false }, lineStyle: { color: theme.ink, type: "dashed", width: 1 }, data: [{ yAxis: y.to(1) }] } },
      ],
      tooltip: tooltip({ formatter: ({ value }) => (value?.length === 4 ? tip(value[2], `${attribute.name} = ${shown[value[0]].value}`, `predicted / measured, relative: ${ratioWord(y.from(value[1]))}`) : "") }),
    };
  },
  picked: () => undefined,
  rowAt: ({ value }) => (Array.isArray(value) && value.length === 4 ? value[2] : null),
});
