// What happens when: the table at once, the charts after the first paint.

readTheme();
offerCopies(document);
update(true);

document.addEventListener("click", (event) => {
  const link = event.target.closest("a.case");
  if (!link) return;
  const row = rowOfName.get(link.textContent);
  if (!defined(row)) return;
  event.preventDefault();
  pick(row);
});

// Which workload the charts show, where there are several.
function showChoice() {
  const choice = byId("choice");
  if (data.workloads.length < 2) return;
  const select = element("select", { id: "charted", onchange: (event) => { charted = Number(event.target.value); allStale(); } },
    ...data.workloads.map((workload, at) => element("option", { value: at, selected: at === charted }, workload.name)));
  choice.replaceChildren(element("label", {}, "workload ", select));
  choice.hidden = false;
}
when("rows", showChoice);
showChoice();

requestAnimationFrame(() => setTimeout(() => { startCharts(); for (const made of charts.values()) refresh(made); idle(() => prepareHaystacks(0)); document.documentElement.dataset.ready = "true"; }, 0));
