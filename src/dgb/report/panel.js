// The side of the map: the legend, the selected node with its neighbors, or the selected set.
function legendMark(colours, mark) {
  const canvas = element("canvas", { width: 28, height: 28, "aria-hidden": "true" }), pen = canvas.getContext("2d");
  pen.fillStyle = colourOf(colours, mark);
  outline(pen, mark.shape, 14, 14, 9);
  pen.fill();
  return canvas;
}
function showLegend(box, map, state, toggle) {
  const { colours } = state;
  if (colours.isScale) {
    const stops = SCALE[theme()].join(", ");
    const bar = element("div", { class: "scale", style: `background: linear-gradient(to right, ${stops})` });
    const ticks = element("div", { class: "ticks" }, ...colours.ticks.map((tick) => element("span", {}, tick)));
    const title = `${columnOf(map, state.by)?.name ?? "Degree"}${colours.isLog ? ", on a logarithmic scale" : ""}`;
    const rest = colours.missing ? [element("p", { class: "note" }, `Without a value, in grey: ${counted(colours.missing)}`)] : [];
    box.replaceChildren(element("h3", {}, title), bar, ticks, ...rest);
    return;
  }
  const items = colours.classes.map((mark, i) => {
    const button = element("button", { type: "button", "aria-pressed": String(!state.hidden.has(i)), title: mark.name },
      legendMark(colours, mark), element("span", { class: "name" }, mark.name), element("span", { class: "count" }, counted(mark.size)),
      ...(mark.about ? [element("span", { class: "about" }, mark.about)] : []));
    button.addEventListener("click", () => toggle(i));
    return element("li", {}, button);
  });
  const title = columnOf(map, state.by)?.name ?? (state.by === "label" ? "Labels" : "Clusters");
  const hint = element("span", { class: "note no-print" }, " click to hide or show");
  box.replaceChildren(element("h3", {}, title, hint), element("ul", { class: "legend" }, ...items));
}
function facts(pairs) {
  return element("dl", {}, ...pairs.filter(([, value]) => value !== null && value !== "")
    .flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, String(value))]));
}
function describe(map, row, columns) {
  const cluster = map.cluster[row] < 0 ? null : map.cluster[row];
  return [["label", nameOf(map.label, row)], ["predicted", nameOf(map.predicted, row)], ["cluster", cluster],
    ["degree", counted(map.degree[row])], ["split", nameOf(map.split, row)],
    ...columns.map((column) => [column.name, valueOf(column, row)])];
}
function closer(clear) {
  const button = element("button", { type: "button", class: "quiet clear", "aria-label": "Clear the selection" }, "×");
  button.addEventListener("click", clear);
  return button;
}
function showNode(box, map, state, actions) {
  const items = state.neighbors.map(({ row, similarity }) => {
    const bar = element("span", { class: "bar", style: `width:${Math.max(0, Math.min(100, 100 * similarity)).toFixed(1)}%` });
    const button = element("button", { type: "button" }, element("span", { class: "name" }, map.ids[row]),
      element("span", { class: "count" }, similarity.toFixed(3)),
      element("span", { class: "sub" }, nameOf(map.label, row) ?? `degree ${counted(map.degree[row])}`), bar);
    button.addEventListener("click", () => actions.visit(row));
    return element("li", {}, button);
  });
  const list = items.length ? [element("h3", {}, "Nearest by cosine similarity"), element("ol", { class: "near" }, ...items)] : [];
  box.replaceChildren(element("div", { class: "head" }, element("h3", { class: "id" }, map.ids[state.selected]), closer(actions.clear)),
    facts(describe(map, state.selected, map.columns)), ...list);
}
function breakdown(map, rows) {
  const by = map.label.names.length ? (row) => nameOf(map.label, row) ?? "no label" : (row) => `cluster ${map.cluster[row]}`;
  const sizes = new Map();
  for (const row of rows) sizes.set(by(row), (sizes.get(by(row)) || 0) + 1);
  return [...sizes].sort((a, b) => b[1] - a[1]);
}
function showSet(box, map, state, actions) {
  const rows = state.chosen, parts = breakdown(map, rows).map(([name, size]) => element("li", {},
    element("span", { class: "name" }, name), element("span", { class: "count" }, counted(size)),
    element("span", { class: "bar", style: `width:${(100 * size / rows.length).toFixed(1)}%` })));
  const copy = element("button", { type: "button" }, "Copy ids"), save = element("button", { type: "button" }, "Download CSV");
  copy.addEventListener("click", () => copyText(rows.map((row) => map.ids[row]).join("\n"), copy));
  save.addEventListener("click", () => download("nodes.csv", asCsv(map, rows)));
  const noun = rows.length === 1 ? "node" : "nodes";
  box.replaceChildren(element("div", { class: "head" }, element("h3", { class: "id" }, `${counted(rows.length)} ${noun} selected`), closer(actions.clear)),
    element("ul", { class: "parts" }, ...parts), element("div", { class: "buttons" }, copy, save));
}
function asCsv(map, rows) {
  const quoted = (value) => (/[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const line = (row) => [map.ids[row], nameOf(map.label, row) ?? "", nameOf(map.predicted, row) ?? "",
    String(map.cluster[row]), String(map.degree[row])].map(quoted).join(",");
  return ["node_id,label,predicted,cluster,degree", ...rows.map(line)].join("\r\n") + "\r\n";
}
function download(name, text) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
