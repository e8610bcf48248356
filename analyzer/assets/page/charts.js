// Charts are drawn when they come into view, and again when what they show has changed.

const charts = new Map();

// The workload that charts show: the filter's, else that of the picked case, else the last one.
let charted = 0;
const chartedWorkload = () => data.workloads[charted];
function chooseWorkload() {
  const before = charted;
  if (state.workload >= 0) charted = state.workload;
  if (state.picked >= 0 && (state.workload < 0 || before === cases.workload[state.picked])) charted = cases.workload[state.picked];
  return before !== charted;
}

// Cases of that workload that pass the filter and that have a ratio, best first.
function rankedRows() {
  const workload = chartedWorkload();
  const rows = [];
  for (let row = workload.first; row < workload.first + workload.count; row++) if (defined(cases.ratio[row]) && state.kept[row]) rows.push(row);
  return rows.sort((a, b) => cases.ratio[a] - cases.ratio[b] || (b === workload.control) - (a === workload.control) || a - b);
}

// A chart: `draw(chart)` gives an ECharts option, or a sentence where there is nothing to show. `picked(chart, row)` gives
// what changes in it when a case is picked, or undefined when the whole has to be drawn. `rowAt(params)` says which case
// was clicked.
function chart(id, { draw, picked, rowAt, controls, canvas = false, low = false }) {
  const figure = byId(id);
  // A page without any data for it has no place for it either.
  if (!figure) return null;
  const box = figure.querySelector(".chart");
  if (low) box.classList.add("low");
  const made = { id, figure, box, draw, picked, rowAt, canvas, instance: null, visible: false, stale: true, renderer: "" };
  charts.set(id, made);
  const bar = figure.querySelector(".controls");
  if (controls) bar.append(...controls(made));
  new IntersectionObserver((entries) => {
    made.visible = entries[entries.length - 1].isIntersecting;
    if (made.visible) refresh(made);
  }, { rootMargin: "300px" }).observe(figure);
  new ResizeObserver(() => { if (made.instance && box.clientWidth !== made.instance.getWidth()) { made.stale = true; soon(); } }).observe(box);
  return made;
}

function refresh(made, evenHidden = false) {
  if (!echarts || !made.stale || (!made.visible && !evenHidden)) return;
  made.stale = false;
  const option = made.draw(made);
  const isVoid = typeof option === "string";
  made.box.classList.toggle("void", isVoid);
  if (isVoid) {
    made.instance?.dispose();
    made.instance = null;
    made.box.replaceChildren(option);
    return;
  }
  // Sharp where there is little to draw, quick where there is much.
  const renderer = (typeof made.canvas === "function" ? made.canvas(made) : made.canvas) ? "canvas" : "svg";
  if (!made.instance || made.renderer !== renderer) {
    made.instance?.dispose();
    made.box.replaceChildren();
    made.renderer = renderer;
    made.instance = echarts.init(made.box, null, { renderer });
    made.instance.on("click", (params) => { const row = made.rowAt?.(params); if (defined(row)) pick(row); });
  } else made.instance.resize();
  made.instance.setOption({ ...common(), ...option }, { notMerge: true });
}

let waiting = 0;
function soon(delay = 40) {
  clearTimeout(waiting);
  waiting = setTimeout(() => { for (const made of charts.values()) refresh(made); }, delay);
}
function allStale(delay) {
  for (const made of charts.values()) made.stale = true;
  soon(delay);
}

// The table comes first; charts follow when one stops typing.
when("rows", () => { chooseWorkload(); for (const made of charts.values()) made.reset?.(); allStale(200); });
when("pick", () => {
  if (chooseWorkload()) { showChoice(); allStale(); return; }
  for (const made of charts.values()) {
    const change = made.instance && made.visible && !made.stale ? made.picked?.(made, state.picked) : undefined;
    if (change) made.instance.setOption(change);
    else if (made.picked) made.stale = true;
  }
  soon();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); allStale(); });

window.addEventListener("beforeprint", () => {
  startCharts();
  readTheme();
  for (const made of charts.values()) { made.box.style.width = PAPER; made.stale = true; refresh(made, true); }
});
window.addEventListener("afterprint", () => {
  readTheme();
  for (const made of charts.values()) made.box.style.width = "";
  allStale();
});

// A list to choose from that keeps its choice by name.
function chooser(label, made, options, first) {
  const select = element("select", { "aria-label": label, onchange: () => { made[label] = select.value; made.stale = true; soon(); } });
  const fill = () => {
    const names = options();
    if (!names.some(([value]) => value === made[label])) made[label] = (first && first()) ?? names[0]?.[0];
    select.replaceChildren(...names.map(([value, text]) => element("option", { value, selected: value === made[label] }, text)));
    holder.hidden = names.length < 2;
  };
  const holder = element("label", {}, `${label} `, select);
  (made.fills ??= []).push(fill);
  return holder;
}

// Pages of ranked cases: a chart of twenty thousand rows would be a smear.
const PAGE = 30;
function pager(made) {
  made.start = 0;
  made.reset = () => { made.start = 0; };
  const go = (start) => { made.start = start; made.stale = true; soon(); };
  const label = element("span", { class: "where", role: "status" });
  const button = (text, name, act) => element("button", { type: "button", "aria-label": name, onclick: act }, text);
  const before = button("‹ better", "better cases", () => go(Math.max(0, made.start - PAGE)));
  const after = button("worse ›", "worse cases", () => go(made.start + PAGE));
  const at = (row) => { const place = rankedRows().indexOf(row); if (place >= 0) go(Math.floor(place / PAGE) * PAGE); };
  const control = button("to the control", "page of the control", () => at(chartedWorkload().control));
  made.page = (rows) => {
    if (made.start >= rows.length) made.start = 0;
    const end = Math.min(made.start + PAGE, rows.length);
    label.textContent = rows.length ? `${grouped(made.start + 1)} to ${grouped(end)} of ${grouped(rows.length)}` : "";
    control.textContent = `to the ${referenceWord(chartedWorkload())}`;
    before.disabled = made.start === 0;
    after.disabled = end === rows.length;
    return rows.slice(made.start, end);
  };
  made.follow = (row) => { const place = row < 0 ? -1 : rankedRows().indexOf(row); if (place >= 0 && (place < made.start || place >= made.start + PAGE)) made.start = Math.floor(place / PAGE) * PAGE; };
  return [before, label, after, control];
}
