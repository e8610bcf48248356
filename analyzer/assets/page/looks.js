// How charts look, whatever they show: theme, colours, patterns, tooltips and legends; and the library itself.

let printing = false;
let dark = false;
let theme = {};
function readTheme() {
  dark = !printing && matchMedia("(prefers-color-scheme: dark)").matches;
  const style = getComputedStyle(document.documentElement);
  const named = (name) => style.getPropertyValue(`--${name}`).trim();
  theme = printing
    ? { ink: "#111111", soft: "#444444", line: "#cccccc", page: "#ffffff", mark: "#00527f", font: getComputedStyle(document.body).fontFamily }
    : { ink: named("ink"), soft: named("soft"), line: named("line"), page: named("page"), mark: named("mark"), font: getComputedStyle(document.body).fontFamily };
}
const palette = () => (dark ? DARK : LIGHT);

// Okabe and Ito's palette without black and yellow; dark pages take lighter tones of the same hues.
const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#777777"];
const DARK = ["#4aa3df", "#f0813a", "#2fc79a", "#dd95bd", "#f0b93a", "#8fd0f5", "#a3a3a3"];

// Colour and pattern say which phase: patterns alone tell them apart.
const PATTERNS = [null, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: -Math.PI / 4 }, { symbol: "circle", dashArrayX: [[8, 8], [0, 8, 8, 0]], dashArrayY: [6, 0], symbolSize: 0.7 }, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [2, 5], rotation: Math.PI / 4 }, { symbol: "rect", dashArrayX: [1, 0], dashArrayY: [3, 3], rotation: Math.PI / 2 }];
const phaseLook = (index) => ({ color: palette()[index % 7], decal: PATTERNS[index % PATTERNS.length] ? { ...PATTERNS[index % PATTERNS.length], color: dark ? "rgba(0,0,0,0.22)" : "rgba(255,255,255,0.24)" } : { symbol: "none" } });

const shortName = (name, most) => (name.length > most ? `${name.slice(0, Math.ceil((most - 1) / 2))}…${name.slice(name.length - Math.floor((most - 1) / 2))}` : name);

const common = () => ({
  animation: false, backgroundColor: "transparent",
  textStyle: { fontFamily: theme.font, color: theme.ink },
  tooltip: tooltip(),
});
const tooltip = (more = {}) => ({ trigger: "item", confine: true, transitionDuration: 0, backgroundColor: theme.page, borderColor: theme.line, padding: [6, 9], textStyle: { color: theme.ink, fontFamily: theme.font }, ...more });
const legend = (more = {}) => ({ type: "scroll", top: 0, left: 0, right: 8, itemWidth: 12, itemHeight: 12, itemGap: 14, textStyle: { color: theme.ink, fontSize: 12 }, pageTextStyle: { color: theme.soft }, pageIconColor: theme.mark, pageIconInactiveColor: theme.line, ...more });

// Paper has its own width, which is not known before the page is laid out for it: A4 and Letter both have this much.
const PAPER = "680px";

let echarts = null;
// The library is text until now, so that reading it delays neither the answer nor the table.
function startCharts() {
  if (echarts) return;
  const held = byId("echarts");
  const script = document.createElement("script");
  script.textContent = held.textContent;
  document.head.append(script);
  script.remove();
  held.remove();
  echarts = window.echarts;
}
