// Values under the pointer on the training curves.
function followCurve(figure) {
  const svg = figure.querySelector("svg"), dots = [...svg.querySelectorAll("polyline")][0].points;
  const values = JSON.parse(figure.dataset.values), mark = svg.querySelector(".mark"), out = figure.querySelector("output");
  const last = out.textContent;
  svg.addEventListener("pointermove", (event) => {
    const box = svg.getBoundingClientRect(), x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
    let best = 0;
    for (let i = 1; i < dots.length; i++) if (Math.abs(dots[i].x - x) < Math.abs(dots[best].x - x)) best = i;
    mark.setAttribute("cx", dots[best].x);
    mark.setAttribute("cy", dots[best].y);
    mark.removeAttribute("visibility");
    out.textContent = `${values[best][1]} at epoch ${values[best][0]}`;
  });
  svg.addEventListener("pointerleave", () => { mark.setAttribute("visibility", "hidden"); out.textContent = last; });
}
document.querySelectorAll("figure.curve").forEach(followCurve);
window.dgbReport = given.map ? startMap(unpackMap(given.map)) : { state: null };
