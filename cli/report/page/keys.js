// SPDX-License-Identifier: BSD-3-Clause
// Keys, the theme, and the buttons that copy commands.

let current = -1;

function goTo(step) {
  const visible = failures.filter((failure) => !failure.element.hidden);
  if (visible.length === 0) return;
  current = Math.min(Math.max(current + step, 0), visible.length - 1);
  for (const failure of failures) failure.element.classList.remove("current");
  const { element } = visible[current];
  element.classList.add("current");
  element.open = true;
  element.querySelector("summary").focus();
  element.scrollIntoView({ block: "start" });
}

async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // a page from a file may have no clipboard: select the text in a field instead
    const field = make("textarea");
    field.value = text;
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

function addCopyButtons() {
  for (const command of all(".command")) {
    const button = make("button", { type: "button", class: "copy", onclick: () => copy(command.textContent, button) }, "Copy");
    command.after(button);
  }
}

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  remember("theme", theme);
  document.dispatchEvent(new Event("theme"));
}

function makeTheme() {
  const choice = make("select", { "aria-label": "Theme", onchange: () => setTheme(choice.value) });
  for (const theme of ["auto", "light", "dark"]) choice.append(make("option", { value: theme }, `${theme} theme`));
  const kept = recall("theme");
  if (kept === "light" || kept === "dark") {
    choice.value = kept;
    setTheme(kept);
  }
  return choice;
}

const help = make("p", { class: "help", hidden: true });
for (const [key, meaning] of [["/", "filter"], ["j", "next failure"], ["k", "previous failure"], ["c", "copy its command"],
  ["e", "open or close all failures"], ["?", "this help"]])
  help.append(make("kbd", {}, key), ` ${meaning}   `);

const actions = {
  "/": () => document.getElementById("search").focus(),
  j: () => goTo(1),
  k: () => goTo(-1),
  c: () => document.querySelector(".current .copy")?.click(),
  e: () => {
    const open = !failures.some((failure) => failure.element.open);
    for (const failure of failures) failure.element.open = open;
  },
  "?": () => { help.hidden = !help.hidden; },
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, select, textarea, canvas");
  if (event.key === "Escape" && event.target.id === "search") event.target.blur();
  if (typing || event.ctrlKey || event.altKey || event.metaKey || !actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
});

// Links to a failure open it.
function openTarget() {
  const target = /^#f\d+$/.test(location.hash) && document.querySelector(location.hash);
  if (target) target.open = true;
}
