// The table: only rows in view are in the document.

const ROW = 30;
// So many rows are printed; the rest is in `summary.csv`.
const PRINTED = 300;
const grid = byId("grid");
const body = byId("rows");
const heads = [...document.querySelectorAll("#table th")];
const columns = heads.map((head) => ({ key: head.dataset.key, numeric: head.classList.contains("n"), head }));

// One scale for all intervals, over what most of them need, with the control's 1 in it.
const scale = (() => {
  const ends = [1];
  for (let row = 0; row < total; row++) if (defined(cases.ratio[row])) ends.push(cases.lower[row] ?? cases.ratio[row], cases.upper[row] ?? cases.ratio[row]);
  ends.sort((a, b) => a - b);
  const least = ends[Math.floor(0.01 * (ends.length - 1))];
  const most = ends[Math.floor(0.9 * (ends.length - 1))];
  const low = Math.log(Math.min(least, 1)), high = Math.log(Math.max(most, 1));
  const span = Math.max(high - low, 1e-9);
  return (ratio) => Math.min(Math.max((Math.log(ratio) - low) / span, 0), 1) * 100;
})();

function intervalMark(row) {
  if (!defined(cases.lower[row]) || !defined(cases.upper[row])) return null;
  const low = scale(cases.lower[row]), high = scale(cases.upper[row]);
  return element("span", { class: "ci", "aria-hidden": "true" },
    element("u", { style: `left:${scale(1)}%` }),
    element("i", { style: `left:${low}%;width:${Math.max(high - low, 1)}%` }),
    element("b", { style: `left:${scale(cases.ratio[row])}%` }));
}

const ties = data.workloads.map((workload) => new Set(workload.ties));
function tagWord(row) {
  const workload = workloadOf(row);
  if (workload.winner === row) return "winner";
  if (workload.control === row) return referenceWord(workload);
  return ties[cases.workload[row]].has(row) ? "tie" : null;
}

function logLinks(row) {
  const links = [];
  linkFiles.forEach((file, bit) => {
    if (cases.logs[row] & (1 << bit)) {
      if (links.length) links.push(" ");
      links.push(element("a", { href: `${linkBase}/${cases.folder[row]}/${file}` }, file.split(".")[0]));
    }
  });
  return links.length ? links : [UNDEFINED];
}

const plainWords = {
  rank: (row) => (defined(cases.rank[row]) ? String(cases.rank[row]) : UNDEFINED),
  workload: (row) => workloadOf(row).name,
  family: (row) => word(cases.family, row) ?? UNDEFINED,
  chosen: (row) => word(cases.chosen, row) ?? UNDEFINED,
  ratio: (row) => ratioWord(cases.ratio[row]),
  value: (row) => significant(cases.value[row], 4),
  gflops: (row) => significant(cases.gflops[row], 4),
  share: (row) => percentWord(cases.share[row]),
  error: (row) => significant(cases.error[row], 2),
  pairs: (row) => (defined(cases.pairs[row]) ? String(cases.pairs[row]) : UNDEFINED),
};

function cellContent(key, row) {
  if (key === "name") {
    const tag = tagWord(row);
    return [element("span", { title: cases.name[row] }, cases.name[row]), tag && element("b", { class: "tag" }, tag)];
  }
  if (key === "outcome") {
    const outcome = word(cases.outcome, row) ?? UNDEFINED;
    return [element("span", { class: "outcome", "data-outcome": outcome, title: word(cases.reason, row) }, outcome)];
  }
  if (key === "interval") return [intervalWord(row), intervalMark(row)];
  if (key === "logs") return logLinks(row);
  if (key.startsWith("estimate:")) return [significant(predicted(row, estimateNames[Number(key.slice(9))]), 4)];
  return [plainWords[key](row)];
}

function rowElement(position) {
  const row = state.rows[position];
  const made = element("tr", { "data-case": row, id: `case-${row}`, "aria-rowindex": position + 2, "aria-selected": row === state.picked, class: row === state.picked ? "picked" : null });
  for (const column of columns) {
    const cell = element("td", { class: column.key === "name" ? "name" : column.numeric ? "n" : null });
    cell.append(...cellContent(column.key, row).filter(defined));
    made.append(cell);
  }
  return made;
}

const space = (rows) => element("tr", { class: "space", "aria-hidden": "true" }, element("td", { colspan: columns.length, style: `height:${rows * ROW}px` }));

let drawn = { from: 0, to: 0 };
function drawRows(force) {
  const count = state.rows.length;
  const clip = (position) => Math.min(Math.max(position, 0), count);
  const top = grid.scrollTop / ROW, bottom = (grid.scrollTop + grid.clientHeight) / ROW;
  if (!force && !printing && clip(Math.floor(top) - 3) >= drawn.from && clip(Math.ceil(bottom) + 3) <= drawn.to) return;
  const from = printing ? 0 : clip(Math.floor(top) - 12);
  const to = printing ? Math.min(count, PRINTED) : clip(Math.ceil(bottom) + 12);
  const made = document.createDocumentFragment();
  if (from > 0) made.append(space(from));
  for (let position = from; position < to; position++) made.append(rowElement(position));
  if (to < count && !printing) made.append(space(count - to));
  if (count === 0) made.append(element("tr", {}, element("td", { colspan: columns.length }, "No case passes the filter.")));
  body.replaceChildren(made);
  drawn = { from, to };
}

function markPicked() {
  for (const row of body.rows) {
    const is = Number(row.dataset.case) === state.picked && row.dataset.case !== undefined;
    row.classList.toggle("picked", is);
    row.setAttribute("aria-selected", is);
  }
  if (state.picked >= 0) grid.setAttribute("aria-activedescendant", `case-${state.picked}`);
  else grid.removeAttribute("aria-activedescendant");
}

// Scrolls the table, not the page, so that the picked case is in view.
function reveal() {
  const position = state.rows.indexOf(state.picked);
  if (position < 0) return;
  const head = byId("table").tHead.offsetHeight;
  const top = position * ROW;
  if (top < grid.scrollTop) grid.scrollTop = top;
  else if (top + ROW + head > grid.scrollTop + grid.clientHeight) grid.scrollTop = top + ROW + head - grid.clientHeight;
  drawRows(false);
}

let scrolling = false;
grid.addEventListener("scroll", () => {
  if (scrolling) return;
  scrolling = true;
  requestAnimationFrame(() => { scrolling = false; drawRows(false); });
}, { passive: true });

body.addEventListener("click", (event) => {
  const row = event.target.closest("tr[data-case]");
  if (row && !event.target.closest("a")) pick(Number(row.dataset.case));
});

grid.addEventListener("keydown", (event) => {
  if (event.target !== grid) return;
  const page = Math.max(1, Math.floor(grid.clientHeight / ROW) - 2);
  const last = state.rows.length - 1;
  const now = state.rows.indexOf(state.picked);
  const moves = { ArrowDown: now + 1, ArrowUp: now < 0 ? 0 : now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last };
  if (event.key === "Enter" && state.picked >= 0) byId("detail").querySelector("button")?.focus();
  else if (event.key in moves && last >= 0) {
    event.preventDefault();
    pick(state.rows[Math.min(Math.max(moves[event.key], 0), last)]);
  }
});

when("rows", () => { drawRows(true); reveal(); });
when("pick", () => { reveal(); markPicked(); });

window.addEventListener("beforeprint", () => { printing = true; drawRows(true); });
window.addEventListener("afterprint", () => { printing = false; drawRows(true); });
