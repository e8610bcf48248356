// Data and the one state that everything shows. Text of users only ever becomes text nodes.

const source = document.getElementById("data");
const data = JSON.parse(source.textContent);
const linkBase = source.dataset.links;
const linkFiles = source.dataset.files.split(" ");
const cases = data.cases;
const total = cases.name.length;

const word = (column, row) => {
  const code = column.codes[row];
  return defined(code) ? column.words[code] : null;
};
// What ratios refer to: a control, or only the first measured case.
const referenceWord = (workload) => (workload.has_control ? "control" : "reference");
const workloadOf = (row) => data.workloads[cases.workload[row]];

const intervalWord = (row) =>
  defined(cases.lower[row]) && defined(cases.upper[row])
    ? `${ratioWord(cases.lower[row])} to ${ratioWord(cases.upper[row])}`
    : UNDEFINED;

const estimateNames = [];
for (const workload of data.workloads)
  for (const estimate of workload.estimates)
    if (!estimateNames.includes(estimate.name)) estimateNames.push(estimate.name);
const estimateOf = (workload, name) => workload.estimates.find((estimate) => estimate.name === name);
const predicted = (row, name) => {
  const workload = workloadOf(row);
  const estimate = estimateOf(workload, name);
  return estimate ? estimate.values[row - workload.first] : null;
};

// What is shown now. `rows` are the cases that pass the filter, in the table's order; `kept[row]` says the same by case.
const state = { text: "", outcomes: new Set(), workload: -1, sort: { key: "rank", down: false }, rows: [], kept: new Uint8Array(total).fill(1), picked: -1 };
const listeners = { rows: [], pick: [] };
const when = (event, listener) => listeners[event].push(listener);
const tell = (event) => { for (const listener of listeners[event]) listener(); };

// Shows one case everywhere: table, charts, detail. -1 shows none.
function pick(row) {
  if (row === state.picked) return;
  state.picked = row;
  tell("pick");
}
// Links carry names on one line.
const oneLine = (text) => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
const rowOfName = new Map(cases.name.map((name, row) => [oneLine(name), row]));
