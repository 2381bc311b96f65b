// Points as small pictures that are made once and copied into the map's pixels: twenty thousand
// of them take some milliseconds, also without a graphics card.
const CARD = { light: [255, 255, 255], dark: [25, 29, 36] };

function makeStamps(colours, r, ratio) {
  const size = 2 * Math.ceil((r * 1.4 + 1) * ratio), sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [size, size];
  const ink = sheet.getContext("2d", { willReadFrequently: true });
  ink.lineWidth = Math.min(1, r * .25) * ratio;
  ink.strokeStyle = `rgb(${CARD[theme()]})`;
  return colours.classes.map((mark) => {
    ink.clearRect(0, 0, size, size);
    ink.fillStyle = colourOf(colours, mark);
    outline(ink, mark.shape, size / 2, size / 2, r * ratio);
    ink.fill();
    ink.stroke();
    return { size, pixels: ink.getImageData(0, 0, size, size).data };
  });
}
function blank(image) {
  const [red, green, blue] = CARD[theme()];
  new Uint32Array(image.data.buffer).fill((255 << 24 | blue << 16 | green << 8 | red) >>> 0);
}
function stampAt(image, { size, pixels }, x, y, strength) {
  const { data, width, height } = image, left = Math.round(x - size / 2), top = Math.round(y - size / 2);
  const from = Math.max(0, -left), to = Math.min(size, width - left), end = Math.min(size, height - top);
  for (let j = Math.max(0, -top); j < end; j++) {
    let p = 4 * (j * size + from), q = 4 * ((top + j) * width + left + from);
    for (let i = from; i < to; i++, p += 4, q += 4) {
      const alpha = pixels[p + 3] * strength / 255;
      if (!alpha) continue;
      data[q] += (pixels[p] - data[q]) * alpha;
      data[q + 1] += (pixels[p + 1] - data[q + 1]) * alpha;
      data[q + 2] += (pixels[p + 2] - data[q + 2]) * alpha;
    }
  }
}
// The canvas: a view (centre and scale), the layer of points, and what is lit up above it.
const FAINT = .13;

// How far the points reach along an axis; at least a little, so that one point has a scale too.
function extent(places, axis) {
  let low = 65535, high = 0;
  for (let k = axis; k < places.length; k += 2) { low = Math.min(low, places[k]); high = Math.max(high, places[k]); }
  return Math.max(6553, high - low);
}
function makePainter(canvas, map, state) {
  const pen = canvas.getContext("2d"), { places, count } = map, spans = [0, 1].map((axis) => extent(places, axis));
  let width = 1, height = 1, ratio = 1, wanted = 0, layer = null, layerKey = "", layerChosen = null, stamps = [], stampsKey = "";

  const toX = (row) => (places[2 * row] - state.view.x) * state.view.scale + width / 2;
  const toY = (row) => (state.view.y - places[2 * row + 1]) * state.view.scale + height / 2;
  const toPlace = (x, y) => [
    (x - width / 2) / state.view.scale + state.view.x, state.view.y - (y - height / 2) / state.view.scale,
  ];
  const fitScale = () => .92 * Math.min(width / spans[0], height / spans[1]);
  const litRows = () => (state.selected < 0 ? state.chosen : [...state.neighbors.map((n) => n.row), state.selected]);
  function radius() {
    const base = Math.max(1.4, Math.min(4.2, Math.sqrt(width * height / count) * .16));
    return Math.min(9, base * Math.max(1, state.view.scale / fitScale()) ** .3);
  }
  function drawPoints() {
    const key = `${radius().toFixed(1)} ${ratio} ${theme()} ${state.by}`;
    if (key !== stampsKey) [stamps, stampsKey] = [makeStamps(state.colours, radius(), ratio), key];
    const lit = litRows(), { rows } = state.colours, reach = stamps[0].size;
    const stamp = (row, strength) => {
      const x = toX(row) * ratio, y = toY(row) * ratio;
      const isOutside = x < -reach || y < -reach || x > layer.width + reach || y > layer.height + reach;
      if (!isOutside && !state.hidden.has(rows[row])) stampAt(layer, stamps[rows[row]], x, y, strength);
    };
    blank(layer);
    for (let row = 0; row < count; row++) stamp(row, lit ? FAINT : .88);
    for (const row of lit || []) stamp(row, 1);
  }
  function putPoints() {
    const { view, hidden, selected } = state;
    const key = [view.x, view.y, view.scale, state.by, theme(), selected, ...hidden].join();
    if (!layer || layer.width !== canvas.width || layer.height !== canvas.height) {
      [layer, layerKey] = [pen.createImageData(canvas.width, canvas.height), ""];
    }
    if (key !== layerKey || layerChosen !== state.chosen) {
      drawPoints();
      [layerKey, layerChosen] = [key, state.chosen];
    }
    pen.putImageData(layer, 0, 0);
  }
  function ring(row, gap, thickness) {
    pen.lineWidth = thickness * ratio;
    pen.beginPath();
    pen.arc(toX(row) * ratio, toY(row) * ratio, (radius() + gap) * ratio, 0, 2 * Math.PI);
    pen.stroke();
  }
  function drawNeighbourhood() {
    pen.lineWidth = 1.2 * ratio;
    pen.globalAlpha = .5;
    pen.beginPath();
    for (const { row } of state.neighbors) {
      pen.moveTo(toX(state.selected) * ratio, toY(state.selected) * ratio);
      pen.lineTo(toX(row) * ratio, toY(row) * ratio);
    }
    pen.stroke();
    pen.globalAlpha = 1;
    for (const row of litRows()) {
      const mark = state.colours.classes[state.colours.rows[row]], isCentre = row === state.selected;
      pen.fillStyle = colourOf(state.colours, mark);
      outline(pen, mark.shape, toX(row) * ratio, toY(row) * ratio, radius() * ratio);
      pen.fill();
      ring(row, isCentre ? 4 : 1.5, isCentre ? 2.2 : 1.1);
    }
  }
  function drawLasso() {
    pen.lineWidth = 1.5 * ratio;
    pen.setLineDash([5 * ratio, 4 * ratio]);
    pen.beginPath();
    state.lasso.forEach(([x, y], i) => pen[i ? "lineTo" : "moveTo"](x * ratio, y * ratio));
    pen.closePath();
    pen.stroke();
    pen.setLineDash([]);
  }
  function draw() {
    wanted = 0;
    putPoints();
    pen.strokeStyle = pageIsDark() ? "#e7eaef" : "#1d2129";
    if (state.selected >= 0) drawNeighbourhood();
    if (state.hovered >= 0) ring(state.hovered, 2, 1.6);
    if (state.lasso.length) drawLasso();
    state.draws++;
  }
  const request = () => { wanted = wanted || requestAnimationFrame(draw); };
  function resize() {
    const box = canvas.getBoundingClientRect();
    [width, height, ratio] = [Math.max(1, box.width), Math.max(1, box.height), devicePixelRatio || 1];
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  return { toX, toY, toPlace, fitScale, radius, resize, draw, request, size: () => [width, height] };
}
