// Every page works without this script. It adds: results while you type, suggestions, keys, copying,
// dropping a log, and a language switch that stays at the section you are reading.

const words = document.body.dataset;
const TYPING_PAUSE = 130; // ms without a key before anything is asked
const POPUP_RESULTS = 5;
const COMPLETIONS = 4;

const make = (tag, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};

// Screen readers announce what is put here; the visible count is replaced together with the results.
const announcer = make("div", { className: "unseen", role: "status" });
document.body.append(announcer);
const announce = (text) => { announcer.textContent = text; };

// A key that belongs to an input method. Safari ends the composition before it reports the key, hence 229.
const composing = (event) => event.isComposing || event.keyCode === 229;

/* ---- Search ---- */

const input = document.getElementById("q");
const searchPath = new URL(words.search, location.href).pathname;
const live = Boolean(input) && document.body.classList.contains("page-search");
const region = () => document.getElementById("results");
const state = { timer: 0, results: null, options: null, asked: input?.value.trim(), typed: false, inComposition: false, active: -1, shown: location.search };

function addressOf(form) {
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim()) params.append(name, value.trim());
  return `${searchPath}${params.size ? "?" : ""}${params}`;
}

/** Shows the results page at `address` in place. `step`: push, replace, or none. */
async function showResults(address, step) {
  state.results?.abort();
  const request = (state.results = new AbortController());
  region().setAttribute("aria-busy", "true");
  try {
    const response = await fetch(address, { signal: request.signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("results");
    if (request.signal.aborted) return;
    if (!response.ok || !fresh) { location.assign(address); return; }
    const filters = region().querySelector(".filters");
    if (filters?.open) fresh.querySelector(".filters").open = true;
    region().replaceWith(document.adoptNode(fresh));
    document.title = page.title;
    for (const id of ["preferences", "language"]) {
      document.forms[id].elements.next.value = page.forms[id].elements.next.value;
    }
    if (step !== "none") history[`${step}State`](null, "", address);
    state.shown = location.search;
    keepFilters();
    announce(fresh.querySelector(".status").textContent);
  } catch (error) {
    if (error.name === "AbortError") return;
    region().removeAttribute("aria-busy");
    region().querySelector(".status").textContent = words.offline;
    announce(words.offline);
  }
}

/** Makes the form carry the filters of the current address. */
function keepFilters() {
  for (const hidden of input.form.querySelectorAll("[type=hidden]")) hidden.remove();
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (!["q", "page", "verbatim"].includes(name)) input.form.append(make("input", { type: "hidden", name, value }));
  }
}

function typed() {
  clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    const text = input.value.trim();
    if (text === state.asked) return;
    state.asked = text;
    suggest(text);
    if (!live) return;
    showResults(addressOf(input.form), state.typed ? "replace" : "push");
    state.typed = true;
  }, TYPING_PAUSE);
}

/* Suggestions: a listbox that the input controls; focus never leaves the input. */

const list = make("ul", { id: "options", className: "options", role: "listbox", hidden: true });

const askJson = async (address, params, signal) => {
  const response = await fetch(`${address}?${new URLSearchParams(params)}`, { signal });
  return response.ok ? response.json() : null;
};

async function suggest(text) {
  state.options?.abort();
  if (!text) return closeOptions();
  const request = (state.options = new AbortController());
  const asked = { q: text, lang: words.lang };
  try {
    const [completions, answer] = await Promise.all([
      askJson(words.suggest, { ...asked, limit: COMPLETIONS }, request.signal),
      live ? null : askJson(words.apiSearch, { ...asked, limit: POPUP_RESULTS }, request.signal),
    ]);
    if (request.signal.aborted || document.activeElement !== input) return;
    const names = new Map(answer?.facets.framework.map(({ value, label }) => [value, label]));
    const hits = (answer?.hits ?? []).map(({ title, url, framework }) => ({ text: title, type: "title", url, note: names.get(framework) }));
    const known = new Set(hits.map(({ url }) => url));
    const isNew = ({ text: completed, type, url }) => {
      const fresh = !known.has(url) && (type === "tag" || completed !== text);
      if (type === "title") known.add(url); // the titles of twins lead to one page
      return fresh;
    };
    showOptions([...(completions ?? []).filter(isNew), ...hits]);
  } catch (error) {
    if (error.name !== "AbortError") closeOptions();
  }
}

function showOptions(options) {
  const label = { title: words.typeTitle, identifier: words.typeIdentifier, tag: words.typeTag, glossary: words.typeGlossary };
  list.replaceChildren(...options.map((option, place) => {
    const item = make("li", { id: `option-${place}`, role: "option" }, make("span", { textContent: option.text }), make("small", { textContent: option.note ?? label[option.type] }));
    item.ariaSelected = "false";
    item.dataset.type = option.type;
    item.dataset.url = option.url;
    return item;
  }));
  list.hidden = !options.length;
  input.setAttribute("aria-expanded", String(Boolean(options.length)));
  activate(-1);
  if (options.length && !live) announce(words.suggestions.replace("{count}", options.length));
}

const closeOptions = () => { state.options?.abort(); showOptions([]); };

function activate(place) {
  state.active = place;
  [...list.children].forEach((item, each) => { item.ariaSelected = String(each === place); });
  const item = list.children[place];
  item?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (item) input.setAttribute("aria-activedescendant", item.id);
  else input.removeAttribute("aria-activedescendant");
}

function choose(item) {
  const inPlace = live && ["identifier", "glossary"].includes(item.dataset.type);
  if (!inPlace) { location.assign(item.dataset.url); return; }
  input.value = item.firstChild.textContent;
  closeOptions();
  submitLive();
}

function submitLive() {
  clearTimeout(state.timer);
  state.asked = input.value.trim();
  const address = addressOf(input.form);
  const same = location.pathname + location.search === address;
  showResults(address, same ? "none" : state.typed ? "replace" : "push");
  state.typed = false;
}

const cards = () => [...document.querySelectorAll("#results .card h2 a")];

/** Keys in the search box; true where the key was ours. Options lie in a row on the search page. */
function boxKey(key) {
  const last = list.children.length - 1;
  const open = !list.hidden;
  const chosen = state.active >= 0;
  if (key === "Escape") { if (open) closeOptions(); else input.blur(); return true; }
  if (key === "Enter" && chosen) { choose(list.children[state.active]); return true; }
  if (key === "ArrowDown" && live && (chosen || !open)) { cards()[0]?.focus(); activate(-1); return true; }
  if (!open) return false;
  const next = { ArrowDown: 1, ArrowUp: -1, ...(live && chosen ? { ArrowRight: 1, ArrowLeft: -1, ArrowUp: -1 - state.active } : {}) }[key];
  if (next === undefined) return false;
  const place = state.active + next;
  activate(place > last ? (live ? last : 0) : place < -1 ? last : place);
  return true;
}

function setUpSearch() {
  const { form } = input;
  form.append(list);
  list.ariaLabel = words.suggestionsLabel;
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "options" })) input.setAttribute(name, value);
  input.addEventListener("compositionstart", () => { state.inComposition = true; clearTimeout(state.timer); });
  input.addEventListener("compositionend", () => { state.inComposition = false; typed(); });
  input.addEventListener("input", (event) => { if (!state.inComposition && !event.isComposing) typed(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && composing(event)) event.preventDefault();
    if (!composing(event) && !event.ctrlKey && !event.metaKey && !event.altKey && boxKey(event.key)) event.preventDefault();
  });
  input.addEventListener("blur", () => { state.typed = false; closeOptions(); });
  input.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (!/\S\s*\n\s*\S/.test(text)) return;
    event.preventDefault();
    sendLog(text);
  });
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the input
  list.addEventListener("click", (event) => { const item = event.target.closest("li"); if (item) choose(item); });
  form.addEventListener("submit", (event) => {
    if (state.inComposition) { event.preventDefault(); return; }
    closeOptions();
    if (live) { event.preventDefault(); submitLive(); }
  });
  if (live) setUpLive();
}

function setUpLive() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#results a");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.hash || link.pathname !== searchPath) return;
    event.preventDefault();
    state.typed = false;
    const text = new URLSearchParams(link.search).get("q") ?? "";
    if (text !== state.asked) { input.value = text; state.asked = text; }
    showResults(link.href, "push").then(() => {
      const again = [...document.querySelectorAll("#results a")].find((each) => each.textContent === link.textContent);
      if (link.closest(".pager")) scrollTo(0, 0);
      (again ?? input).focus({ preventScroll: true });
    });
  });
  addEventListener("popstate", () => {
    if (location.search === state.shown) return; // another place on the same page
    input.value = state.asked = new URLSearchParams(location.search).get("q") ?? "";
    state.typed = false;
    closeOptions();
    showResults(location.href, "none");
  });
  document.addEventListener("keydown", (event) => {
    const all = cards();
    const place = all.indexOf(event.target);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (place < 0 || !step) return;
    event.preventDefault();
    (all[place + step] ?? (step < 0 ? input : all[place])).focus();
  });
}

/** A log goes to the diagnosis in the body of a request, never in an address. */
function sendLog(text) {
  const form = make("form", { method: "post", action: words.diagnose, hidden: true }, make("textarea", { name: "text", value: text }));
  document.body.append(form);
  form.submit();
}

if (input) setUpSearch();

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") closeMenus();
  const busy = event.target.closest?.("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || busy || composing(event) || event.ctrlKey || event.metaKey || event.altKey || !input) return;
  event.preventDefault();
  input.focus();
  input.select();
});

/* ---- Menus ---- */

function closeMenus(except) {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (menu === except) continue;
    if (menu.contains(document.activeElement)) menu.firstElementChild.focus();
    menu.open = false;
  }
}
document.addEventListener("click", (event) => closeMenus(event.target.closest(".menu")));

/* ---- Reading ---- */

async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  // Plain http inside a company network is no secure context, and has no clipboard object.
  const area = make("textarea", { value: text, className: "unseen" });
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  if (!done) throw new Error("refused");
}

for (const block of document.querySelectorAll(".prose pre")) {
  const button = make("button", { type: "button", className: "copy", textContent: words.copy });
  const wrapper = make("div", { className: "code" });
  block.replaceWith(wrapper);
  wrapper.append(block, button);
  button.addEventListener("click", async () => {
    try {
      await copy(block.textContent.replace(/\n$/, "")); // the line break that ends the block is not code
      button.textContent = words.copied;
    } catch {
      button.textContent = words.copyFailed;
    }
    announce(button.textContent);
    button.classList.add("done");
    setTimeout(() => { button.textContent = words.copy; button.classList.remove("done"); }, 1600);
  });
}

for (const heading of document.querySelectorAll(".article .prose :is(h3, h4)[id]")) {
  const link = make("a", { className: "permalink", href: `#${encodeURIComponent(heading.id)}`, textContent: "#" });
  link.ariaLabel = `${words.permalink}: ${heading.textContent}`;
  heading.append(" ", link);
}

const parts = [...document.querySelectorAll(".article > .part > h2")];
const line = 96; // px below the top at which a section counts as the one being read
const currentPart = () => (scrollY < 40 ? undefined : parts.filter((part) => part.getBoundingClientRect().top < line).at(-1)?.id);

function markCurrent() {
  const current = currentPart();
  for (const link of document.querySelectorAll(".toc a")) {
    if (link.hash === `#${current}`) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}
if (document.querySelector(".toc")) addEventListener("scroll", markCurrent, { passive: true });

const fragment = () => (parts.length ? currentPart()?.replace(/^/, "#") ?? "" : location.hash);
document.addEventListener("click", (event) => {
  const twin = event.target.closest("a.twin");
  if (twin) twin.hash = fragment();
});
for (const id of ["preferences", "language"]) {
  document.forms[id].addEventListener("submit", (event) => {
    const { next } = event.target.elements;
    next.value = next.value.replace(/#.*/, "") + (id === "language" ? fragment() : location.hash);
  });
}

/* ---- Pasting ---- */

for (const form of document.querySelectorAll("form.paste")) {
  const area = form.elements.text;
  const over = (on) => (event) => { event.preventDefault(); area.classList.toggle("over", on); };
  form.addEventListener("dragover", over(true));
  form.addEventListener("dragleave", over(false));
  form.addEventListener("drop", async (event) => {
    const [file] = event.dataTransfer.files;
    area.classList.remove("over");
    if (!file) return;
    event.preventDefault();
    form.querySelector(".refused")?.remove();
    const limit = Number(form.dataset.limit);
    if (file.size <= limit) { area.value = await file.text(); area.focus(); return; }
    const text = form.dataset.tooLarge.replace("{limit}", `${Math.floor(limit / 1024)} KiB`);
    area.after(make("p", { className: "note warn refused", role: "alert", textContent: text }));
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !composing(event)) form.requestSubmit();
  });
}
