"use strict";
// The theme: the system's, or the one chosen here; other scripts listen to "themechange".
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");
function pageIsDark() {
  return (document.documentElement.dataset.theme || (systemIsDark.matches ? "dark" : "light")) === "dark";
}
(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const announce = () => {
    button.textContent = pageIsDark() ? "Light" : "Dark";
    dispatchEvent(new Event("themechange"));
  };
  // A browser may forbid storage to a page from a file: then the choice lasts as long as the page.
  const remember = (name) => { try { localStorage.setItem("dgb-theme", name); } catch { return; } };
  const remembered = () => { try { return localStorage.getItem("dgb-theme"); } catch { return null; } };
  const show = (name) => {
    if (name === "dark" || name === "light") root.dataset.theme = name;
    else delete root.dataset.theme;
    announce();
  };
  button.addEventListener("click", () => {
    show(pageIsDark() ? "light" : "dark");
    remember(root.dataset.theme);
  });
  systemIsDark.addEventListener("change", announce);
  let before;
  addEventListener("beforeprint", () => { before = root.dataset.theme; show("light"); });
  addEventListener("afterprint", () => show(before));
  show(remembered());
})();

async function copyText(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // no permission: the old way
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.dataset.label || (button.dataset.label = button.textContent);
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", () => copyText(document.getElementById(button.dataset.copy).textContent, button));
}
