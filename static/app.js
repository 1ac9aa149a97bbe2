// Every page works without scripts. This one is on all of them: theme, menus, keys, copying,
// and what the other scripts share.

export const words = document.body.dataset;

export const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// Screen readers announce what is put here.
const announcer = make("div", { className: "unseen" });
announcer.setAttribute("role", "status"); // the property is younger than some browsers
document.body.append(announcer);
export const announce = (text) => { announcer.textContent = text; };

// A key that belongs to an input method. Safari ends the composition before it reports the key, hence 229.
export const composing = (event) => event.isComposing || event.keyCode === 229;

/** Tells the other scripts that `element` was put into the page. */
export const tellShown = (element) => document.dispatchEvent(new CustomEvent("jieda:shown", { detail: element }));

/* ---- The storage of this tab, in which a log survives a change of page; it ends with the tab ---- */

const stored = (name) => `jieda.${name}`;

/** Keeps a value, for which older logs give way where there is no room; false where there is no storage or still none. */
export function keep(name, value) {
  try {
    const logs = Object.keys(sessionStorage).filter((each) => each.startsWith(stored("log."))).sort().reverse();
    for (;;) {
      try {
        sessionStorage.setItem(stored(name), JSON.stringify(value));
        return true;
      } catch (error) {
        if (!logs.length) throw error;
        sessionStorage.removeItem(logs.pop());
      }
    }
  } catch {
    return false;
  }
}

export function kept(name) {
  try {
    return JSON.parse(sessionStorage.getItem(stored(name)));
  } catch {
    return null;
  }
}

export function take(name) {
  const value = kept(name);
  if (value !== null) sessionStorage.removeItem(stored(name));
  return value;
}

const MOST = 1 << 22; // characters that a storage has room for

/** Opens the diagnosis of a log, which never goes into an address. */
export function openDiagnosis(log) {
  const { text } = log;
  if (window.jieda) return window.jieda.open(text); // an exported site diagnoses nothing
  if (text.length < MOST && keep("send", log)) return location.assign(words.diagnose);
  if (text.length > MOST / 2) return openDiagnosis({ ...log, text: `${text.slice(0, MOST / 8)}\n\n[...]\n\n${text.slice(-MOST / 4)}`, size: new Blob([text]).size });
  const form = make("form", { method: "post", action: words.diagnose, hidden: true }, make("textarea", { name: "text", value: text }));
  document.body.append(form);
  form.submit();
}

/* ---- Theme, language, menus, keys ---- */

const root = document.documentElement;
const { preferences, language } = document.forms;

function closeMenus(except) {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (menu === except) continue;
    if (menu.contains(document.activeElement)) menu.firstElementChild.focus();
    menu.open = false;
  }
}

function markTheme() {
  for (const each of preferences.querySelectorAll("[name=theme]")) each.setAttribute("aria-current", each.value === root.dataset.theme);
}
markTheme(); // an exported page does not know it

// In place: what stands in a form is not lost.
preferences.addEventListener("click", (event) => {
  const button = event.target.closest("[name=theme]");
  if (!button) return;
  event.preventDefault();
  root.dataset.theme = button.value;
  markTheme();
  closeMenus();
  const choice = new URLSearchParams({ theme: button.value });
  fetch(preferences.action, { method: "POST", body: choice, redirect: "manual", keepalive: true }).catch(() => {});
});

/** What is added to the address of this page in the other language; `reading.js` knows more. */
export const place = { fragment: () => location.hash };
language.addEventListener("submit", () => {
  const { next } = language.elements;
  next.value = next.value.replace(/#.*/, "") + place.fragment();
});

for (const left of ["click", "focusin"]) document.addEventListener(left, (event) => closeMenus(event.target.closest(".menu")));

document.addEventListener("keydown", (event) => {
  if (composing(event)) return;
  if (event.key === "Escape") closeMenus();
  const field = document.getElementById("q");
  const busy = event.target.closest?.("input, textarea, select, [contenteditable]");
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  const asked = (event.key === "/" && plain && !busy) || (event.key === "k" && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey);
  if (!asked || !field) return;
  event.preventDefault();
  field.focus();
  field.select();
});

// On a phone the header makes room for what is read, and comes back on the way up.
const header = document.querySelector(".top");
let before = scrollY;
addEventListener("scroll", () => {
  if (Math.abs(scrollY - before) < 8) return;
  header.classList.toggle("away", scrollY > before && scrollY > header.offsetHeight);
  before = scrollY;
}, { passive: true });

// What is gone to stands below the header, whose rows depend on the width and on what the reader works with.
new ResizeObserver(() => { root.style.scrollPaddingTop = `${header.offsetHeight + 16}px`; }).observe(header);

// On paper, the address that this page was read at; the server may not know its own name.
document.querySelector(".paper").textContent = location.origin + location.pathname + location.search;

/* ---- Copying ---- */

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Plain http inside a company network is not a secure context, and has no clipboard object.
  const focused = document.activeElement;
  const area = make("textarea", { value: text, className: "unseen" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  focused?.focus({ preventScroll: true });
  if (!done) throw new Error("refused");
}

/** Copies `text`, says how it went, and calls `told` with the words for it, after a moment with none. */
async function copyAndTell(text, told) {
  let how = words.copied;
  try {
    await copy(text);
  } catch {
    how = words.copyFailed;
  }
  told(how);
  announce(how);
  setTimeout(told, 1600, "");
}

/** Copies `text` and says so on `button` for a moment. */
export function copyBy(button, text) {
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  copyAndTell(text, (how) => { button.textContent = how || label; });
}

// What a button copies: a text, whose links lead here from wherever it goes, or else the address of this page.
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-copy-text]");
  if (button) copyBy(button, button.dataset.copyText.replace(/\]\(\//g, `](${location.origin}/`) || location.href);
});

/** Copies what stands in `code` and says so above it for a moment. */
export function copyInline(code) {
  copyAndTell(code.textContent, (how) => {
    if (how) code.dataset.copied = how;
    else delete code.dataset.copied;
  });
}
