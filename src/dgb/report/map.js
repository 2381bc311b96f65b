// What the reader does with the map: choose colours, look for a node, point at one, select many.
const byId = (id) => document.getElementById(id);
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

function startMap(map) {
  const canvas = byId("canvas"), tip = byId("tip");
  const state = {
    by: "", colours: null, hidden: new Set(), hovered: -1, selected: -1, neighbors: [], chosen: null,
    lasso: [], isLassoing: false, view: { x: 32768, y: 32768, scale: 1 }, draws: 0,
  };
  const painter = makePainter(canvas, map, state), nearest = makeGrid(map);
  const isShown = (row) => !state.hidden.has(state.colours.rows[row]);
  const say = (text) => { byId("status").textContent = text; };
  let moving = 0, isFitted = true;

  function colourBy(by) {
    Object.assign(state, { by, colours: colouring(map, by), hidden: new Set() });
    byId("colour").value = by;
    refresh();
  }
  function toggle(number) {
    if (!state.hidden.delete(number)) state.hidden.add(number);
    refresh();
    byId("legend").querySelectorAll("button")[number].focus();
  }
  function refresh() {
    showLegend(byId("legend"), map, state, toggle);
    painter.request();
  }
  function showPanel() {
    const box = byId("panel"), actions = { visit, clear };
    if (state.selected >= 0) showNode(box, map, state, actions);
    else if (state.chosen) showSet(box, map, state, actions);
    else box.replaceChildren();
    painter.request();
  }
  function select(row) {
    Object.assign(state, { selected: row, neighbors: neighborsOf(map, row), chosen: null });
    say(`Node ${map.ids[row]} selected, ${state.neighbors.length} nearest neighbors shown.`);
    showPanel();
  }
  function clear() {
    Object.assign(state, { selected: -1, neighbors: [], chosen: null, lasso: [] });
    lassoMode(false);
    say("");
    showPanel();
  }
  function visit(row) {
    unhover(); // the map moves away under the pointer
    select(row);
    const far = Math.max(600, ...state.neighbors.map((n) => Math.hypot(
      map.places[2 * n.row] - map.places[2 * row], map.places[2 * n.row + 1] - map.places[2 * row + 1])));
    const fit = painter.fitScale(), scale = Math.min(...painter.size()) * .4 / far;
    moveTo({ x: map.places[2 * row], y: map.places[2 * row + 1], scale: Math.max(fit, Math.min(5 * fit, scale)) });
  }
  function moveTo(view) {
    cancelAnimationFrame(moving);
    const from = { ...state.view }, start = performance.now();
    isFitted = false;
    const step = (now) => {
      const t = isCalm.matches ? 1 : Math.min(1, Math.max(0, (now - start) / 350)), ease = 1 - (1 - t) ** 3;
      for (const key of ["x", "y"]) state.view[key] = from[key] + (view[key] - from[key]) * ease;
      state.view.scale = from.scale * (view.scale / from.scale) ** ease;
      painter.draw();
      moving = t < 1 ? requestAnimationFrame(step) : 0;
    };
    step(start);
  }
  function fit() {
    moveTo({ x: 32768, y: 32768, scale: painter.fitScale() });
    isFitted = true;
  }
  function zoom(factor, x = painter.size()[0] / 2, y = painter.size()[1] / 2) {
    cancelAnimationFrame(moving);
    const [px, py] = painter.toPlace(x, y), least = painter.fitScale();
    const scale = Math.max(least / 2, Math.min(least * 200, state.view.scale * factor)), by = state.view.scale / scale;
    Object.assign(state.view, { x: px + (state.view.x - px) * by, y: py + (state.view.y - py) * by, scale });
    isFitted = false;
    painter.request();
  }
  function pan(dx, dy) {
    cancelAnimationFrame(moving);
    state.view.x -= dx / state.view.scale;
    state.view.y += dy / state.view.scale;
    isFitted = false;
    painter.request();
  }
  function rowAt(x, y, reach = Math.max(9, painter.radius() + 4)) {
    return nearest(...painter.toPlace(x, y), reach / state.view.scale, isShown);
  }
  function hover(x, y) {
    const row = rowAt(x, y);
    if (row === state.hovered) return;
    state.hovered = row;
    painter.request();
    tip.hidden = row < 0;
    canvas.style.cursor = row < 0 ? "" : "pointer";
    if (row < 0) return;
    tip.replaceChildren(element("b", {}, map.ids[row]), facts(describe(map, row, [columnOf(map, state.by)].filter(Boolean))));
    const [width, height] = painter.size();
    tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${y + 18 + tip.offsetHeight > height ? Math.max(4, y - tip.offsetHeight - 12) : y + 18}px`;
  }
  function unhover() {
    tip.hidden = true;
    if (state.hovered >= 0) { state.hovered = -1; painter.request(); }
  }
  function lassoMode(isOn) {
    state.isLassoing = isOn;
    byId("lasso").setAttribute("aria-pressed", String(isOn));
  }
  function closeLasso() {
    const polygon = state.lasso.map(([x, y]) => painter.toPlace(x, y)), rows = [];
    for (let row = 0; row < map.count; row++) {
      if (isShown(row) && isInside(polygon, map.places[2 * row], map.places[2 * row + 1])) rows.push(row);
    }
    Object.assign(state, { lasso: [], selected: -1, neighbors: [], chosen: rows.length ? rows : null });
    lassoMode(false);
    say(`${counted(rows.length)} nodes selected.`);
    showPanel();
  }
  const actions = { select, clear, visit, fit, zoom, pan, rowAt, hover, unhover, lassoMode, closeLasso };
  listenToPointer(canvas, state, painter, actions);
  listenToKeys(canvas, painter, actions);
  listenToSearch(map, visit, say);
  listenToLists(map, visit);

  const sample = map.count < map.nodes ? `${counted(map.count)} of ${counted(map.nodes)} nodes, drawn at random` : `All ${counted(map.count)} nodes`;
  byId("map-note").textContent = `${sample}, by ${map.kind} of their embeddings: near on the map is roughly near in the embeddings.`;
  const choices = [...(map.label.names.length ? ["label"] : []), "cluster", "degree"];
  byId("colour").append(...choices.map((name) => element("option", { value: name }, name)));
  const columns = map.columns.map(({ name }, i) => element("option", { value: `column ${i}` }, name));
  const few = columns.length < map.allColumns ? `${columns.length} of ${counted(map.allColumns)} columns: where clusters differ most` : "columns of your table";
  if (columns.length) byId("colour").append(element("optgroup", { label: few }, ...columns));
  byId("colour").addEventListener("change", (event) => colourBy(event.target.value));
  for (const [id, act] of [["fit", fit], ["zoom-in", () => zoom(1.5)], ["zoom-out", () => zoom(1 / 1.5)],
    ["lasso", () => lassoMode(!state.isLassoing)]]) byId(id).addEventListener("click", act);
  addEventListener("themechange", refresh);
  new ResizeObserver(() => {
    painter.resize();
    if (isFitted) state.view.scale = painter.fitScale();
    painter.draw();
  }).observe(canvas);
  painter.resize();
  state.view.scale = painter.fitScale();
  colourBy(choices[0]);
  return { state, screenOf: (row) => [painter.toX(row), painter.toY(row)], rowOf: (id) => map.ids.indexOf(id) };
}
