// SPDX-License-Identifier: BSD-3-Clause
// Helpers of all parts of the script. Texts reach the page by textContent only.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

// Returns the value that this browser keeps for the page; null where it keeps nothing.
function recall(key) {
  try { return localStorage.getItem(`mlictl-${key}`); } catch { return null; }
}

function remember(key, value) {
  try { localStorage.setItem(`mlictl-${key}`, value); } catch { /* a file may have no storage */ }
}
