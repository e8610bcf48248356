// Axes with ticks where people expect them. A logarithmic axis is a linear one over logarithms: so ticks fall on round
// numbers also where all values lie within one decade.

function niceStep(span, most) {
  const raw = span / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 2.5, 5, 10]) if (factor * power >= raw * 0.999999) return factor * power;
  return 10 * power;
}

function linearTicks(low, high, most) {
  const step = niceStep(high - low || Math.abs(low) || 1, most);
  const ticks = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + 1e-9 * step; index++) ticks.push(Number((index * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high, most) {
  if (high / low < 8) return linearTicks(low, high, most).filter((tick) => tick > 0);
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
      for (const factor of factors) ticks.push(Number((factor * 10 ** power).toPrecision(6)));
    const inside = ticks.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
    if (inside.length <= most + 2) return inside;
    if (factors.length === 1) { const skip = Math.ceil(inside.length / most); return inside.filter((_, at) => at % skip === 0); }
  }
  return [];
}

function tickWord(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return Number(value.toPrecision(6)).toExponential().replace("e+", "e");
  const plain = String(Number(value.toPrecision(6)));
  return size >= 10000 ? grouped(plain) : plain;
}

function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (defined(value) && Number.isFinite(value)) { if (value < low) low = value; if (value > high) high = value; }
  return low <= high ? [low, high] : null;
}

// An axis over [low, high]: `to` maps a value onto it. Logarithmic only where all values are positive.
function axisOver(low, high, { log = false, name = "", most = 6, pad = 0.04, clip = null } = {}) {
  const useLog = log && low > 0;
  const to = useLog ? Math.log10 : (value) => value;
  const from = useLog ? (value) => 10 ** value : (value) => value;
  let start = to(low), end = to(high);
  const margin = (end - start || Math.abs(end) * 0.1 || 0.1) * pad;
  start -= margin; end += margin;
  if (clip !== null && !useLog) start = Math.max(start, clip);
  const ticks = (useLog ? logTicks(from(start), from(end), most) : linearTicks(start, end, most)).map(to);
  const longest = Math.max(...ticks.map((tick) => tickWord(from(tick)).length), 1);
  return { to, from, log: useLog, longest, option: {
    type: "value", min: start, max: end, name, nameLocation: "middle", nameGap: 28, scale: true,
    nameTextStyle: { color: theme.soft, fontSize: 12 },
    axisLabel: { customValues: ticks, formatter: (value) => tickWord(from(value)), color: theme.soft, fontSize: 12, hideOverlap: true },
    axisTick: { show: true, customValues: ticks, lineStyle: { color: theme.line } },
    axisLine: { show: true, lineStyle: { color: theme.line } },
    splitLine: { show: true, lineStyle: { color: theme.line, width: 0.7, opacity: 0.7 } },
  } };
}

// As an upright axis: its name stands beside the longest label.
const vertical = ({ option, longest }) => ({ ...option, nameGap: Math.ceil(18 + 7.7 * longest), nameRotate: 90 });
