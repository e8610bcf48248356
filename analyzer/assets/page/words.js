// Words and elements, of no particular page. Text of users only ever becomes text nodes.

const UNDEFINED = "-";
const byId = (id) => document.getElementById(id);
const defined = (value) => value !== null && value !== undefined;

// An element with attributes, listeners (`onclick`) and children: elements or text.
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== false && defined(value)) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter(defined));
  return made;
}

// The same words as `format.rs` writes.
function significant(value, digits) {
  if (!defined(value)) return UNDEFINED;
  if (value === 0) return "0";
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent < -4 || exponent >= 7) return value.toExponential(digits - 1).replace("e+", "e");
  const places = Math.max(digits - 1 - exponent, 0);
  return places > 0 ? value.toFixed(places) : grouped(value.toFixed(0));
}
const ratioWord = (value) => (defined(value) ? value.toFixed(3) : UNDEFINED);
const percentWord = (value) => (defined(value) ? `${(100 * value).toFixed(1)} %` : UNDEFINED);
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const counted = (count, thing) => `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;
