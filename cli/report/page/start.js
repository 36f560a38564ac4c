// SPDX-License-Identifier: BSD-3-Clause
// Starts all parts.

const controls = document.getElementById("controls");
controls.append(...makeFilter(), makeTheme(),
  make("button", { type: "button", onclick: actions["?"], "aria-label": "Keys" }, "?"));
controls.hidden = false;
controls.after(help);
makeSortable();
addCopyButtons();
openTarget();
addMaps();
addEventListener("hashchange", openTarget);
addEventListener("beforeprint", () => { for (const failure of failures) failure.element.open = true; });
applyFilter();
