// Everything about one case, beside the page.

function differences(row) {
  const workload = workloadOf(row);
  const control = workload.control;
  return workload.attributes.map((attribute) => {
    const own = word(attribute.values, row - workload.first) ?? UNDEFINED;
    const other = defined(control) ? word(attribute.values, control - workload.first) ?? UNDEFINED : UNDEFINED;
    return [attribute.name, own, other];
  });
}

const shellWord = (text) => (/^[A-Za-z0-9\-_./:=+,@%]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const line = (head, ...cells) => element("tr", {}, element("th", { scope: "row" }, head), ...cells.map((cell) => element("td", {}, ...(Array.isArray(cell) ? cell : [cell]).filter(defined))));

function withCopy(text) {
  const block = element("div", { class: "code" }, element("button", { type: "button", class: "copy", hidden: true }, "copy"), element("pre", {}, text));
  return block;
}

function figuresOf(row) {
  const labelled = (text, label) => [text, element("small", {}, label)];
  const table = element("table", {},
    line("ratio to control", labelled(`${ratioWord(cases.ratio[row])}  [${intervalWord(row)}]`, `${data.origin}, ${defined(cases.pairs[row]) ? counted(cases.pairs[row], "pair") : "no pairs"}`)),
    line(data.objective, labelled(`${significant(cases.value[row], 4)} ${data.unit}`, data.origin)),
    workloadOf(row).probed ? line("normalised", labelled(`${significant(cases.normalised[row], 4)} ${data.unit}`, "derived")) : "");
  if (defined(cases.gflops[row])) table.append(line("rate", labelled(`${significant(cases.gflops[row], 4)} GFLOP/s, ${percentWord(cases.share[row])} of peak`, "derived")));
  for (const estimate of workloadOf(row).estimates)
    table.append(line(estimate.name, labelled(`${significant(predicted(row, estimate.name), 4)} ${estimate.unit}`, "modelled")));
  if (defined(cases.tolerance[row])) table.append(line("max error", labelled(`${significant(cases.error[row], 2)}, ${significant(cases.tolerance[row], 2)} passes`, data.origin)));
  return table;
}

function drawDetail() {
  const panel = byId("detail");
  const row = state.picked;
  panel.hidden = row < 0;
  document.body.classList.toggle("open", row >= 0);
  if (row < 0) { panel.replaceChildren(); return; }
  const workload = workloadOf(row);
  const reason = word(cases.reason, row);
  const repeats = word(cases.repeat_of, row);
  const parts = [
    element("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => { pick(-1); grid.focus(); } }, "×"),
    element("h2", {}, cases.name[row]),
    element("p", { class: "note" }, element("span", { class: "outcome", "data-outcome": word(cases.outcome, row) }, word(cases.outcome, row)),
      ` · ${word(cases.family, row)} · ${word(cases.chosen, row)}${data.workloads.length > 1 ? ` · ${workload.name}` : ""}${repeats ? ` · repeats ${repeats}` : ""}`),
    element("p", {}, word(cases.because, row)),
    reason ? element("p", {}, element("b", {}, "Why it has no result: "), reason) : null,
    figuresOf(row),
  ];
  const changed = differences(row).filter(([, own, other]) => own !== other);
  if (row !== workload.control && workload.attributes.length) {
    parts.push(element("h4", {}, changed.length ? "Differs from the control in" : "Has the same attributes as the control"));
    if (changed.length) parts.push(element("table", {}, element("tr", {}, element("th", {}, "attribute"), element("th", {}, "this"), element("th", {}, "control")), ...changed.map(([name, own, other]) => line(name, own, other))));
  }
  parts.push(element("h4", {}, "Plan"), withCopy(cases.plan[row]));
  if (word(cases.chosen, row) === "initial") parts.push(element("h4", {}, "Build and measure it again"), withCopy(`${data.command} --case ${shellWord(cases.name[row])}`));
  if (cases.attempts[row]) parts.push(element("h4", {}, "Attempts; the last one counts"), element("table", {}, ...cases.attempts[row].map(([number, outcome, why, rounds]) => line(String(number), outcome, counted(rounds, "right round"), why ?? UNDEFINED))));
  if (cases.logs[row]) parts.push(element("h4", {}, "Logs"), element("p", {}, ...logLinks(row)));
  panel.replaceChildren(...parts.filter(defined));
  panel.scrollTop = 0;
  offerCopies(panel);
}

function offerCopies(within) {
  if (!navigator.clipboard) return;
  for (const button of within.querySelectorAll(".copy")) {
    button.hidden = false;
    button.onclick = async () => {
      await navigator.clipboard.writeText(button.nextElementSibling.textContent);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    };
  }
}

when("pick", drawDetail);
