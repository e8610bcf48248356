// Sorting, filtering by text, outcome and workload.

const haystacks = new Array(total);
function haystack(row) {
  haystacks[row] ??= [cases.name[row], word(cases.family, row), word(cases.chosen, row), word(cases.because, row), word(cases.reason, row), workloadOf(row).name, cases.plan[row]]
    .filter(defined).join("\n").toLowerCase();
  return haystacks[row];
}

// They are made while nothing else is to be done, a thousand at a time, so that the first letter typed need not wait.
const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
function prepareHaystacks(from) {
  const end = Math.min(from + 1000, total);
  for (let row = from; row < end; row++) haystack(row);
  if (end < total) idle(() => prepareHaystacks(end));
}

// What a column sorts by: numbers, undefined as NaN.
function sortKeys(key) {
  const keys = new Float64Array(total).fill(NaN);
  const fill = (of) => { for (let row = 0; row < total; row++) { const value = of(row); if (defined(value)) keys[row] = value; } };
  const byWord = (column) => {
    const order = column.words.map((_, code) => code).sort((a, b) => (column.words[a] < column.words[b] ? -1 : 1));
    const place = new Array(order.length);
    order.forEach((code, at) => { place[code] = at; });
    fill((row) => (defined(column.codes[row]) ? place[column.codes[row]] : null));
  };
  if (key === "name") fill((row) => cases.name_order[row]);
  else if (key === "workload") fill((row) => cases.workload[row]);
  else if (key === "interval") fill((row) => (defined(cases.lower[row]) ? cases.upper[row] - cases.lower[row] : null));
  else if (key === "family" || key === "chosen" || key === "outcome") byWord(cases[key]);
  else if (key.startsWith("estimate:")) {
    const name = estimateNames[Number(key.slice(9))];
    for (const workload of data.workloads) {
      const estimate = estimateOf(workload, name);
      estimate?.values.forEach((value, at) => { if (defined(value)) keys[workload.first + at] = value; });
    }
  } else fill((row) => cases[key][row]);
  return keys;
}

let order = new Int32Array(total);
function sortAll() {
  const keys = sortKeys(state.sort.key);
  const sign = state.sort.down ? -1 : 1;
  order = Int32Array.from({ length: total }, (_, row) => row);
  // What is undefined comes last either way; equals keep the cohort's order.
  order.sort((a, b) => {
    const x = keys[a], y = keys[b];
    if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b;
    return sign * (x - y) || a - b;
  });
  for (const { key, head } of columns)
    head.setAttribute("aria-sort", key === state.sort.key ? (state.sort.down ? "descending" : "ascending") : "none");
}

function filterAll() {
  const words = state.text.toLowerCase().split(/\s+/).filter((part) => part);
  const rows = [];
  state.kept = new Uint8Array(total);
  for (const row of order) {
    if (state.outcomes.size && !state.outcomes.has(cases.outcome.codes[row])) continue;
    if (state.workload >= 0 && cases.workload[row] !== state.workload) continue;
    if (words.length && !words.every((part) => haystack(row).includes(part))) continue;
    state.kept[row] = 1;
    rows.push(row);
  }
  state.rows = rows;
  const all = rows.length === total ? "" : ` of ${grouped(total)}`;
  byId("shown").textContent = `${counted(rows.length, "case").replace(/ cases?$/, "")}${all} ${total === 1 ? "case" : "cases"}`;
  grid.querySelector("table").setAttribute("aria-rowcount", rows.length + 1);
}

function update(sorted) {
  if (sorted) sortAll();
  filterAll();
  grid.scrollTop = 0;
  tell("rows");
}

for (const { key, head } of columns)
  head.querySelector("button")?.addEventListener("click", () => {
    state.sort = { key, down: state.sort.key === key && !state.sort.down };
    update(true);
  });

(() => {
  const bar = byId("filter");
  const search = element("input", { type: "search", id: "search", placeholder: "Filter: name, plan, reason …   ( / )", "aria-label": "Filter cases by text: name, family, plan, reason", autocomplete: "off", spellcheck: "false",
    oninput: (event) => { state.text = event.target.value; update(false); } });
  bar.append(search);
  const counts = new Map();
  for (const code of cases.outcome.codes) counts.set(code, (counts.get(code) ?? 0) + 1);
  for (const [code, count] of [...counts].sort((a, b) => b[1] - a[1])) {
    const outcome = cases.outcome.words[code];
    bar.append(element("button", { type: "button", "aria-pressed": "false", "data-filter": outcome, onclick: (event) => {
      const button = event.currentTarget;
      const on = !state.outcomes.has(code);
      if (on) state.outcomes.add(code); else state.outcomes.delete(code);
      button.setAttribute("aria-pressed", on);
      update(false);
    } }, element("span", { class: "outcome", "data-outcome": outcome }, outcome), " ", element("span", { class: "count" }, grouped(count))));
  }
  if (data.workloads.length > 1) {
    const choose = element("select", { id: "workload", onchange: (event) => { state.workload = Number(event.target.value); update(false); } },
      element("option", { value: -1 }, "all workloads"), ...data.workloads.map((workload, at) => element("option", { value: at }, workload.name)));
    bar.append(element("label", {}, "workload ", choose));
  }
  bar.hidden = false;
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
    else if (event.key === "Escape") {
      if (event.target === search && search.value) { search.value = ""; state.text = ""; update(false); }
      else pick(-1);
    }
  });
})();
