// SPDX-License-Identifier: BSD-3-Clause
// The filter of failures and cases: by text, verdict and directory; and the order of the cases.

const filter = { text: "", verdicts: new Set(), directory: "" };
const failures = all(".failure").map((element) => ({
  element, name: element.querySelector(".name").textContent,
  text: element.querySelector("summary").textContent.toLowerCase(),
  verdict: element.classList[1],
}));
const body = document.querySelector(".cases tbody");
const rows = all("tr", body).map((element) => {
  const [name, , duration] = element.cells;
  return { element, name: name.textContent, text: name.textContent.toLowerCase(), verdict: element.className,
           ns: Number(duration.dataset.ns) };
});
const shown = make("output", { role: "status", "aria-live": "polite" });

const directoryOf = (name) => name.includes("/") ? name.slice(0, name.lastIndexOf("/")) : "";

function matches(item) {
  return item.text.includes(filter.text) &&
    (filter.verdicts.size === 0 || filter.verdicts.has(item.verdict)) &&
    (filter.directory === "" || (item.name + "/").startsWith(filter.directory + "/"));
}

function applyFilter() {
  let count = 0;
  for (const failure of failures) failure.element.hidden = !matches(failure);
  for (const row of rows) {
    const good = matches(row);
    if (row.element.hidden === good) row.element.hidden = !good;
    count += good;
  }
  shown.textContent = `${count} of ${rows.length} cases`;
  const narrowed = filter.text || filter.directory || filter.verdicts.size;
  if (narrowed && count <= 500) document.querySelector("details.all").open = true;
}

// Sorts the rows by name, verdict or time; a second request reverses the order.
let order = { key: "name", down: false };
function sortBy(key) {
  order = { key, down: order.key === key ? !order.down : key === "ns" };
  const sign = order.down ? -1 : 1;
  rows.sort((a, b) => sign * (a[key] < b[key] ? -1 : a[key] > b[key] ? 1 : 0) || (a.name < b.name ? -1 : 1));
  body.append(...rows.map((row) => row.element));
  for (const head of all(".cases th button")) {
    const own = head.dataset.key === key;
    head.closest("th").setAttribute("aria-sort", own ? (order.down ? "descending" : "ascending") : "none");
  }
}

function makeVerdictButton(verdict) {
  const button = make("button", { type: "button", "aria-pressed": "false", "data-verdict": verdict,
    onclick: () => {
      if (!filter.verdicts.delete(verdict)) filter.verdicts.add(verdict);
      button.setAttribute("aria-pressed", filter.verdicts.has(verdict));
      applyFilter();
    } }, verdict.replace("-", " "));
  return button;
}

// Returns the directories of the cases with all their parents.
function directories() {
  const found = new Set();
  for (const row of rows) {
    for (let at = directoryOf(row.name); at && !found.has(at); at = directoryOf(at)) found.add(at);
  }
  return [...found].sort();
}

function makeFilter() {
  const search = make("input", { type: "search", id: "search", placeholder: "Filter cases", "aria-label": "Filter cases by text",
    oninput: () => { filter.text = search.value.trim().toLowerCase(); applyFilter(); } });
  const choice = make("select", { "aria-label": "Directory", onchange: () => { filter.directory = choice.value; applyFilter(); } },
    make("option", { value: "" }, "all directories"));
  const found = directories();
  for (const name of found.slice(0, 1000)) choice.append(make("option", { value: name }, name));
  const verdicts = ["failed", "error", "flaky", "updated", "not-run", "ran", "passed"].filter((v) => rows.some((row) => row.verdict === v));
  return [search, ...(verdicts.length > 1 ? verdicts.map(makeVerdictButton) : []), ...(found.length ? [choice] : []), shown];
}

function makeSortable() {
  const keys = ["name", "verdict", "ns"];
  all(".cases thead th").slice(0, 3).forEach((head, index) => {
    const button = make("button", { type: "button", "data-key": keys[index], onclick: () => sortBy(keys[index]) });
    button.append(...head.childNodes);
    head.append(button);
  });
}
