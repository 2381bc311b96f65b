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
