// What the page was given: packed arrays become typed ones, names stay text.
const given = JSON.parse(document.getElementById("data").textContent);
const TYPES = { u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };

function unpack({ type, base64 }) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return new TYPES[type](bytes.buffer);
}
function coded({ names, codes }) {
  return { names, codes: unpack(codes) };
}
// A column of the user's table: names with a code a row, or numbers with a gap where there is none.
function unpackColumn(column) {
  if (column.names) return { name: column.name, ...coded(column) };
  const steps = unpack(column.values), { name, low, step, isWhole, unit } = column;
  const numbers = Float64Array.from(steps, (k) => (k === 65535 ? NaN : low + step * k));
  const asText = unit === "days" ? (n) => new Date(n * 864e5).toISOString().slice(0, 10)
    : (n) => (isWhole ? Math.round(n) : Number(n.toPrecision(4))).toLocaleString("en", { maximumSignificantDigits: 15 });
  return { name, numbers, asText };
}
function valueOf(column, row) {
  if (column.names) return nameOf(column, row);
  return Number.isNaN(column.numbers[row]) ? null : column.asText(column.numbers[row]);
}
function unpackMap(map) {
  const steps = unpack(map.similarity.values);
  return {
    kind: map.kind, nodes: map.nodes, count: map.count, ids: map.ids, width: map.width,
    places: unpack(map.places), degree: unpack(map.degree), cluster: unpack(map.cluster),
    label: coded(map.label), predicted: coded(map.predicted), split: coded(map.split),
    neighbors: unpack(map.neighbors), columns: map.columns.map(unpackColumn), allColumns: map.allColumns,
    clusters: map.clusters,
    similarity: (k) => map.similarity.low + map.similarity.step * steps[k],
  };
}
// A short list of neighbors is filled up with the node itself.
function neighborsOf(map, row) {
  const found = [];
  for (let k = row * map.width; k < (row + 1) * map.width; k++) {
    if (map.neighbors[k] !== row) found.push({ row: map.neighbors[k], similarity: map.similarity(k) });
  }
  return found;
}
function nameOf(column, row) {
  return column.codes[row] ? column.names[column.codes[row] - 1] : null;
}
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children); // text nodes: what a user's file says is never read as HTML
  return made;
}
const counted = (n) => n.toLocaleString("en");
