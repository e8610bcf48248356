// How families are marked: by colour and by shape, the same in all charts (and in the report's pictures).

const SHAPES = [
  "circle", "rect", "triangle", "diamond",
  "path://M0,0L10,0L5,9Z",
  "path://M5,0L10,3.8L8.1,10L1.9,10L0,3.8Z",
  "path://M3.5,0H6.5V3.5H10V6.5H6.5V10H3.5V6.5H0V3.5H3.5Z",
];
const STAR = "path://M5,0L6.2,3.5L10,3.6L7,5.9L8.1,9.5L5,7.4L1.9,9.5L3,5.9L0,3.6L3.8,3.5Z";

const familyNames = data.workloads.map((workload, at) => {
  const names = [];
  for (let row = workload.first; row < workload.first + workload.count; row++) {
    const family = cases.family.codes[row];
    if (row !== workload.control && !names.includes(family)) names.push(family);
  }
  return names;
});

function markOf(row) {
  const workload = workloadOf(row);
  if (row === workload.control) return { colour: theme.ink, shape: STAR, name: referenceWord(workload), size: 1.5 };
  const index = Math.max(familyNames[cases.workload[row]].indexOf(cases.family.codes[row]), 0);
  return { colour: palette()[index % 7], shape: SHAPES[(index + Math.floor(index / 7)) % 7], name: word(cases.family, row), size: 1 };
}
const isAdaptive = (row) => word(cases.chosen, row) !== "initial";

// Groups cases into series of one mark each: in large charts a series has one look.
function byMark(rows) {
  const groups = new Map();
  for (const row of rows) {
    const hollow = isAdaptive(row);
    const control = row === workloadOf(row).control;
    const key = control ? "control" : `${cases.family.codes[row]}/${hollow}`;
    if (!groups.has(key)) groups.set(key, { mark: markOf(row), hollow, rows: [], control });
    groups.get(key).rows.push(row);
  }
  // The control last: above the others.
  return [...groups.values()].sort((a, b) => a.control - b.control);
}
const markStyle = (mark, hollow) => (hollow
  ? { color: "transparent", borderColor: mark.colour, borderWidth: 1.6 }
  : { color: mark.colour, borderColor: theme.page, borderWidth: 0.5 });

// A tooltip as elements: names are text, never markup.
function tip(row, ...lines) {
  const box = element("div", { class: "tip" }, element("b", {}, cases.name[row]));
  const figures = [`ratio ${ratioWord(cases.ratio[row])}  [${intervalWord(row)}]`, ...lines];
  for (const text of figures) box.append(element("div", {}, text));
  box.append(element("div", {}, `${word(cases.family, row)}, ${word(cases.chosen, row)}`));
  return box;
}
