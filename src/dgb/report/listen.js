// Mouse, touch and keyboard on the map, and the box that looks for a node.
function listenToPointer(canvas, state, painter, actions) {
  const down = new Map();
  let hasMoved = false, lastScroll = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const spread = () => {
    const [a, b] = [...down.values()];
    return { size: Math.hypot(a[0] - b[0], a[1] - b[1]) || 1, x: (a[0] + b[0]) / 2, y: (a[1] + b[1]) / 2 };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, place(event));
    hasMoved = down.size > 1;
    state.lasso = down.size === 1 && (event.shiftKey || state.isLassoing) ? [place(event)] : [];
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = place(event), from = down.get(event.pointerId);
    if (!from) return actions.hover(...at);
    if (!hasMoved && Math.hypot(at[0] - from[0], at[1] - from[1]) < 4) return;
    hasMoved = true;
    actions.unhover();
    const before = down.size === 2 ? spread() : null;
    down.set(event.pointerId, at);
    if (before) {
      const now = spread();
      actions.pan(now.x - before.x, now.y - before.y);
      actions.zoom(now.size / before.size, now.x, now.y);
    } else if (state.lasso.length) {
      state.lasso.push(at);
      painter.request();
    } else {
      actions.pan(at[0] - from[0], at[1] - from[1]);
    }
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!down.delete(event.pointerId)) return;
    if (state.lasso.length > 2) return actions.closeLasso();
    state.lasso = [];
    if (hasMoved) return;
    const row = actions.rowAt(...place(event));
    if (row >= 0) actions.select(row);
    else actions.clear();
  });
  canvas.addEventListener("pointercancel", (event) => { down.delete(event.pointerId); state.lasso = []; });
  canvas.addEventListener("pointerleave", actions.unhover);
  // A wheel that is scrolling the page goes on doing so when the map comes under the pointer.
  addEventListener("scroll", () => { lastScroll = performance.now(); }, { passive: true });
  canvas.addEventListener("wheel", (event) => {
    if (performance.now() - lastScroll < 250) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 24 : 1;
    actions.zoom(Math.exp(-Math.max(-160, Math.min(160, event.deltaY * lines)) * (event.ctrlKey ? .01 : .002)), ...place(event));
  }, { passive: false });
}
function listenToKeys(canvas, painter, actions) {
  const middle = () => painter.size().map((length) => length / 2);
  const keys = {
    ArrowLeft: () => actions.pan(60, 0), ArrowRight: () => actions.pan(-60, 0),
    ArrowUp: () => actions.pan(0, 60), ArrowDown: () => actions.pan(0, -60),
    "+": () => actions.zoom(1.4), "=": () => actions.zoom(1.4), "-": () => actions.zoom(1 / 1.4), 0: actions.fit,
    Enter: () => { const row = actions.rowAt(...middle(), 150); if (row >= 0) actions.select(row); },
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") actions.clear(); });
}
function listenToSearch(map, visit, say) {
  const box = byId("search"), lower = map.ids.map((id) => id.toLowerCase());
  const missing = map.count < map.nodes ? "among the nodes drawn" : "in this graph";
  function matches(text, most) {
    const wanted = text.trim().toLowerCase(), found = [];
    for (let row = 0; wanted && row < lower.length && found.length < most; row++) if (lower[row].startsWith(wanted)) found.push(row);
    return found;
  }
  function go() {
    const exact = map.ids.indexOf(box.value.trim()), row = exact >= 0 ? exact : matches(box.value, 1)[0] ?? -1;
    box.setCustomValidity("");
    if (row >= 0) return visit(row);
    if (!box.value.trim()) return;
    say(`No node ${box.value} ${missing}.`);
    box.setCustomValidity(`No node has an id that starts so ${missing}.`);
    box.reportValidity();
  }
  box.addEventListener("input", (event) => {
    box.setCustomValidity("");
    byId("matches").replaceChildren(...matches(box.value, 12).map((row) => element("option", { value: map.ids[row] })));
    // One that was picked from the list, not typed, is meant.
    if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") if (map.ids.includes(box.value)) go();
  });
  box.addEventListener("keydown", (event) => { if (event.key === "Enter") go(); });
}
// The lists below the map name nodes: a click visits one, where it is drawn.
function listenToLists(map, visit) {
  for (const button of document.querySelectorAll("button.node")) {
    const row = map.ids.indexOf(button.dataset.node);
    if (row < 0) button.disabled = true;
    button.addEventListener("click", () => {
      visit(row);
      byId("map-title").scrollIntoView({ behavior: isCalm.matches ? "auto" : "smooth" });
    });
  }
}
