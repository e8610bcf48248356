// The page of one profile: a timeline, drawn anew when its place or its colours change.

const data = JSON.parse(byId("data").textContent);
const box = document.querySelector("#timeline .chart");
const lanes = data.timelines.flatMap((timeline) => [...(data.timelines.length > 1 ? [headingOf(timeline.title)] : []), ...lanesOf(timeline)]);
let made = null;
function draw() {
  startCharts();
  readTheme();
  const option = timelineOption(lanes, data.unit, data.origin, box);
  made?.dispose();
  made = echarts.init(box, null, { renderer: countSpans(lanes) > MANY_SPANS ? "canvas" : "svg" });
  made.setOption({ ...common(), ...option });
}
requestAnimationFrame(() => setTimeout(() => {
  draw();
  new ResizeObserver(() => { if (box.clientWidth !== made.getWidth()) draw(); }).observe(box);
  document.documentElement.dataset.ready = "true";
}, 0));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
window.addEventListener("beforeprint", () => { printing = true; box.style.width = PAPER; draw(); });
window.addEventListener("afterprint", () => { printing = false; box.style.width = ""; draw(); });
