// Rows by where they lie, so that the nearest to a pointer is found without looking at all.
function makeGrid(map, cells = 96) {
  const { places, count } = map, cell = 65536 / cells;
  const at = (row) => Math.floor(places[2 * row + 1] / cell) * cells + Math.floor(places[2 * row] / cell);
  const starts = new Uint32Array(cells * cells + 1), rows = new Uint32Array(count);
  for (let row = 0; row < count; row++) starts[at(row) + 1]++;
  for (let i = 0; i < cells * cells; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  for (let row = 0; row < count; row++) rows[next[at(row)]++] = row;
  const clamp = (v) => Math.max(0, Math.min(cells - 1, Math.floor(v / cell)));

  return function nearest(x, y, radius, isShown) {
    let best = -1, least = radius * radius;
    for (let j = clamp(y - radius); j <= clamp(y + radius); j++) {
      for (let k = starts[j * cells + clamp(x - radius)]; k < starts[j * cells + clamp(x + radius) + 1]; k++) {
        const dx = places[2 * rows[k]] - x, dy = places[2 * rows[k] + 1] - y, d = dx * dx + dy * dy;
        if (d <= least && isShown(rows[k])) { best = rows[k]; least = d; }
      }
    }
    return best;
  };
}
function isInside(polygon, x, y) {
  let inside = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [xi, yi] = polygon[i], [xj, yj] = polygon[j];
    if (yi > y !== yj > y && x < (xj - xi) * (y - yi) / (yj - yi) + xi) inside = !inside;
  }
  return inside;
}
