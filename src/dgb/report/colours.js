// How rows are coloured: eight colours that stay apart for the colour-blind, then other shapes.
const PALETTE = {
  light: ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#4b2a7f", "#6b4a12"],
  dark: ["#4ba2ff", "#e0b232", "#34846a", "#e683bd", "#cf4c0e", "#96f5e4", "#9147b0", "#f8f8a0"],
};
const SCALE = {
  light: ["#c3d5e8", "#7fb2d9", "#3a83b9", "#1b5591", "#0b2a5b"],
  dark: ["#2a4a6b", "#2f7a94", "#4aa99b", "#9cd08f", "#fbe98b"],
};
const REST = { light: "#a5abb4", dark: "#6a7280" };
const SHAPES = 4, MOST = 8 * SHAPES, BINS = 32;

// A colouring: a class for each row, and what to call, count and draw each class.
function colouring(map, by) {
  const column = columnOf(map, by);
  if (by === "degree") return byScale(map.degree, counted, true);
  if (column?.numbers) return byScale(column.numbers, column.asText, isSkewed(column.numbers));
  if (column) return byClass(["no value", ...column.names], column.codes);
  const codes = by === "label" ? map.label.codes : clusterCodes(map);
  const names = by === "label" ? ["no label", ...map.label.names] : clusterNames(map);
  return byClass(names, codes, by === "cluster" ? map.clusters : []);
}
function columnOf(map, by) {
  return by.startsWith("column ") ? map.columns[Number(by.slice(7))] : null;
}
// Most values in a tenth of the range: a scale of equal steps would show one colour.
function isSkewed(numbers) {
  const known = numbers.filter((n) => !Number.isNaN(n)).sort(), last = known.length - 1;
  return last > 0 && known[0] >= 0 && known[last >> 1] * 10 < known[last];
}
function clusterCodes(map) {
  return Uint32Array.from(map.cluster, (c) => c + 1); // -1, in no cluster, becomes 0
}
function clusterNames(map) {
  const most = map.cluster.reduce((a, b) => Math.max(a, b), -1);
  return ["no cluster", ...Array.from({ length: most + 1 }, (_, c) => `cluster ${c}`)];
}
// More classes than can be told apart: the largest keep a mark of their own, the rest share one.
function byClass(names, codes, about = []) {
  const sizes = new Uint32Array(names.length);
  for (const code of codes) sizes[code]++;
  const present = [...sizes.keys()].filter((code) => code && sizes[code]);
  const largest = [...present].sort((a, b) => sizes[b] - sizes[a] || a - b);
  const own = new Set(present.length > MOST ? largest.slice(0, MOST) : present);
  const classes = present.filter((code) => own.has(code))
    .map((code, i) => ({ name: names[code], about: about[code - 1], size: sizes[code], colour: i % 8, shape: Math.floor(i / 8) }));
  const classOf = new Map(present.filter((code) => own.has(code)).map((code, i) => [code, i]));
  const others = present.filter((code) => !own.has(code));
  const add = (name, included) => {
    if (!included.length) return;
    for (const code of included) classOf.set(code, classes.length);
    classes.push({ name, size: included.reduce((sum, code) => sum + sizes[code], 0), colour: -1, shape: 0 });
  };
  add(`${counted(others.length)} smaller classes`, others);
  add(names[0], sizes[0] ? [0] : []);
  return { classes, rows: Uint16Array.from(codes, (code) => classOf.get(code)), isScale: false };
}
function byScale(numbers, asText, isLog) {
  let low = Infinity, high = -Infinity, missing = 0;
  for (const n of numbers) {
    if (Number.isNaN(n)) missing++;
    else { low = Math.min(low, n); high = Math.max(high, n); }
  }
  const [bend, unbend] = isLog ? [Math.log1p, Math.expm1] : [(n) => n, (n) => n];
  const from = bend(low), size = bend(high) - from || 1, middle = unbend(from + (bend(high) - from) / 2);
  const bin = (n) => (Number.isNaN(n) ? BINS : Math.min(BINS - 1, Math.floor((bend(n) - from) / size * BINS)));
  const classes = Array.from({ length: BINS + 1 }, (_, i) => ({ colour: i < BINS ? i : -1, shape: 0 }));
  const ticks = low > high ? [] : [low, numbers instanceof Uint32Array ? Math.round(middle) : middle, high].map(asText);
  return { classes, rows: Uint16Array.from(numbers, bin), isScale: true, isLog, missing, ticks };
}
const theme = () => (pageIsDark() ? "dark" : "light");
function colourOf(colours, mark) {
  if (colours.isScale && mark.colour >= 0) return along(SCALE[theme()], mark.colour / (BINS - 1));
  return mark.colour < 0 ? REST[theme()] : PALETTE[theme()][mark.colour];
}
function along(stops, share) {
  const at = share * (stops.length - 1), i = Math.min(stops.length - 2, Math.floor(at));
  const [a, b] = [stops[i], stops[i + 1]].map((hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)));
  return `rgb(${a.map((v, k) => Math.round(v + (b[k] - v) * (at - i))).join(",")})`;
}
function outline(pen, shape, x, y, r) {
  pen.beginPath();
  if (shape === 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === 1) pen.rect(x - r * .85, y - r * .85, r * 1.7, r * 1.7);
  else {
    const corners = shape === 2 ? [[0, -1.2], [1.1, .8], [-1.1, .8]] : [[0, -1.3], [1.1, 0], [0, 1.3], [-1.1, 0]];
    corners.forEach(([dx, dy], i) => pen[i ? "lineTo" : "moveTo"](x + r * dx, y + r * dy));
    pen.closePath();
  }
}
