// The search field: suggestions on most pages, results while you type on the page of results.

import { announce, composing, make, openDiagnosis, tellShown, words } from "./app.js";

const TYPING_PAUSE = 100; // ms without a key before anything is asked
const SETTLED = 800; // ms without a key before a doubt is told: a word may be half typed until then
const POPUP_RESULTS = 4;
const COMPLETIONS = 5;

const input = document.getElementById("q");
const searchPath = new URL(words.search, location.href).pathname;
const live = Boolean(input) && document.body.classList.contains("page-search");
const region = () => document.getElementById("results");
const state = { timer: 0, settling: 0, results: null, options: null, asked: input?.value.trim(), typed: false, inComposition: false, active: -1, shown: location.search };

/* ---- Results in place ---- */

function addressOf(form) {
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value.trim()) params.append(name, value.trim());
  const query = params.toString();
  return searchPath + (query && `?${query}`);
}

/** Puts `address` into the history: what is typed in one go is one step back, whatever came of it on the way. */
function record(address, step) {
  if (step === "none") return;
  const typing = step === "type" || step === "submit";
  const same = typing && location.pathname + location.search === address;
  if (!same) history[typing && state.typed ? "replaceState" : "pushState"](null, "", address);
  state.typed = step === "type";
}

/** Shows the results of `address` in place. `step`: type, submit, follow (a link), or none. `unfinished`: the last word may be half typed. */
async function showResults(address, step, unfinished = false) {
  state.results?.abort();
  const request = (state.results = new AbortController());
  region().setAttribute("aria-busy", "true");
  try {
    const asked = unfinished ? `${address}${address.includes("?") ? "&" : "?"}unfinished=1` : address;
    const response = await fetch(asked, { signal: request.signal, headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("results");
    if (request.signal.aborted) return;
    if (!response.ok || !fresh) {
      if (step === "type" || step === "none") throw new Error(response.statusText); // nobody asked to leave the field
      return location.assign(address);
    }
    record(address, step);
    document.title = page.title;
    for (const id of ["preferences", "language", "context"]) {
      if (document.forms[id]) document.forms[id].elements.next.value = page.forms[id].elements.next.value;
    }
    followAddress();
    if (unfinished && !fresh.querySelector(".card")) region().removeAttribute("aria-busy");
    else putResults(document.adoptNode(fresh));
  } catch (error) {
    if (error.name === "AbortError") return;
    region().removeAttribute("aria-busy");
    region().querySelector(".status").textContent = words.offline;
    announce(words.offline);
  }
}

/** Replaces the results; the focus stays on the same filter or entry, or goes to the results. */
function putResults(fresh) {
  const old = region();
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  if (old.querySelector(".filters")?.open) fresh.querySelector(".filters")?.setAttribute("open", "");
  old.replaceWith(fresh);
  tellShown(fresh);
  announce([...fresh.querySelectorAll(".status, .pager span")].map((each) => each.textContent).join(" "));
  if (!focused) return;
  const same = (link) => (focused.dataset.key ? link.dataset.key === focused.dataset.key : link.href === focused.href);
  const places = [...[...fresh.querySelectorAll("a")].filter(same), fresh.querySelector(".found")];
  places.some((place) => { place.focus({ preventScroll: true }); return document.activeElement === place; }); // what is folded away takes no focus
}

/** Makes the form carry the filters of the current address, whose results are shown or asked for. */
function followAddress() {
  state.shown = location.search;
  for (const hidden of input.form.querySelectorAll("[type=hidden]")) hidden.remove();
  for (const [name, value] of new URLSearchParams(location.search)) {
    if (!["q", "page", "verbatim"].includes(name)) input.form.append(make("input", { type: "hidden", name, value }));
  }
}

function forgetTyping() {
  clearTimeout(state.timer);
  clearTimeout(state.settling);
}

function typed() {
  forgetTyping();
  state.timer = setTimeout(() => {
    const text = input.value.trim();
    if (text === state.asked) return;
    state.asked = text;
    if (!live) { suggest(text); return; }
    showResults(addressOf(input.form), "type", true);
  }, TYPING_PAUSE);
  if (live) state.settling = setTimeout(() => showResults(addressOf(input.form), "type"), SETTLED);
}

function submitLive() {
  forgetTyping();
  state.asked = input.value.trim();
  showResults(addressOf(input.form), "submit");
}

/* ---- Suggestions: a listbox that the field controls; the focus never leaves the field ---- */

const list = make("div", { id: "options", className: "options", hidden: true });

const askJson = async (address, params, signal) => {
  const response = await fetch(`${address}?${new URLSearchParams(params)}`, { signal });
  return response.ok ? response.json() : null;
};

async function suggest(text) {
  state.options?.abort();
  if (!text || text.includes("\n")) return closeOptions();
  const request = (state.options = new AbortController());
  const asked = { q: text, lang: words.lang };
  try {
    const [completions, answer] = await Promise.all([
      askJson(words.suggest, { ...asked, limit: COMPLETIONS }, request.signal),
      askJson(words.apiSearch, { ...asked, limit: POPUP_RESULTS, unfinished: 1 }, request.signal),
    ]);
    if (request.signal.aborted || document.activeElement !== input) return;
    const names = new Map(answer?.facets.framework.map(({ value, label }) => [value, label]));
    const hits = (answer?.hits ?? []).map(({ title, url, framework, applies_to }) => ({ text: title, type: "title", url, note: applies_to || names.get(framework) }));
    const known = new Set();
    const isNew = ({ type, url }) => !["title", "tag"].includes(type) || (!known.has(url) && known.add(url)); // names in both languages lead to one page
    const others = (completions ?? []).filter((each) => each.type === "tag" || each.text !== text);
    const entries = [...others, ...hits].filter((each) => each.type === "title" && isNew(each));
    showOptions([...entries, ...others.filter((each) => each.type !== "title" && isNew(each))]);
  } catch (error) {
    if (error.name !== "AbortError") closeOptions();
  }
}

/** An address of the API as one of this page's own site, by whatever name that was opened. */
function inside(url) {
  const { pathname, search, hash } = new URL(url, location.href);
  return pathname + search + hash;
}

const wholeName = (name) => make("span", { className: "name" }, ...name.split("_").flatMap((part, at) => (at ? ["_", make("wbr"), part] : [part])));

function showOptions(options) {
  if (live) return;
  const label = { title: words.typeTitle, identifier: words.typeIdentifier, tag: words.typeTag, glossary: words.typeGlossary };
  list.replaceChildren(...options.map((option, place) => {
    const item = make("a", { id: `option-${place}`, href: inside(option.url), tabIndex: -1 }, make("span", {}, ...option.text.split(/([（「]*[!-~]*\w_\w[!-~]*[）」、，：]*)/).map((part, at) => (at % 2 ? wholeName(part) : part))), make("small", { textContent: option.note || option.applies_to || label[option.type] }));
    item.setAttribute("role", "option");
    item.dataset.type = option.type;
    return item;
  }));
  list.hidden = !options.length;
  if (input.localName !== "input") { // directly below the buttons, over the words behind them: a phone's keyboard leaves little room
    const [button, { top }] = [input.form.querySelector("button").getBoundingClientRect(), input.form.getBoundingClientRect()];
    list.style.top = `${button.bottom - top + 4}px`;
  }
  if (input.localName === "input") input.setAttribute("aria-expanded", String(Boolean(options.length)));
  activate(-1);
  if (options.length) announce(words.suggestions.replace("{count}", options.length));
}

const closeOptions = () => { state.options?.abort(); showOptions([]); };

function activate(place) {
  state.active = place;
  if (place >= 0) { // an answer that comes late must not take the choice away
    state.options?.abort();
    clearTimeout(state.timer);
  }
  [...list.children].forEach((item, each) => item.setAttribute("aria-selected", String(each === place)));
  const item = list.children[place];
  item?.scrollIntoView({ block: "nearest", inline: "nearest" });
  if (item) input.setAttribute("aria-activedescendant", item.id);
  else input.removeAttribute("aria-activedescendant");
}

/* ---- Keys ---- */

const cards = () => [...document.querySelectorAll("#results :is(.card, .best) h2 a:not(.rest:not([open]) *)")];

/** Keys in the field; true where the key was ours. */
function fieldKey(key) {
  const last = list.children.length - 1;
  if (key === "Escape") { if (list.hidden) input.blur(); else closeOptions(); return true; }
  if (key === "Enter" && state.active >= 0) { list.children[state.active].click(); return true; }
  if (key === "ArrowDown" && live) { cards()[0]?.focus(); return true; }
  if (list.hidden) {
    const reopens = key === "ArrowDown" && !input.value.includes("\n") && input.value.trim();
    if (reopens) suggest(input.value.trim());
    return Boolean(reopens);
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  if (!step) return false;
  const next = state.active + step;
  activate(next > last ? 0 : next < -1 ? last : next);
  return true;
}

function setUpField() {
  const { form } = input;
  if (!live) {
    (input.localName === "input" ? input.parentElement : form).append(list);
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", words.suggestionsLabel);
    const role = input.localName === "input" ? { role: "combobox", "aria-expanded": "false" } : {};
    for (const [name, value] of Object.entries({ ...role, "aria-autocomplete": "list", "aria-controls": "options" })) input.setAttribute(name, value);
    list.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the field
  }
  input.addEventListener("compositionstart", () => { state.inComposition = true; forgetTyping(); });
  input.addEventListener("compositionend", () => { state.inComposition = false; typed(); });
  input.addEventListener("input", (event) => { if (!state.inComposition && !event.isComposing) typed(); });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && composing(event)) event.preventDefault();
    if (!composing(event) && !event.ctrlKey && !event.metaKey && !event.altKey && fieldKey(event.key)) event.preventDefault();
  });
  input.addEventListener("focus", () => { state.typed = false; }); // not when it is left: an answer may still come
  input.addEventListener("blur", closeOptions);
  if (input.localName === "input") input.addEventListener("paste", pasted);
  form.addEventListener("submit", (event) => {
    if (state.inComposition) { event.preventDefault(); return; }
    forgetTyping();
    closeOptions();
    if (live) { event.preventDefault(); submitLive(); }
  });
  if (live) setUpLive();
}

/** Several lines are a log, whatever field they are pasted into. */
function pasted(event) {
  const text = event.clipboardData.getData("text/plain");
  if (!text.trim().includes("\n")) return;
  event.preventDefault();
  openDiagnosis({ text });
}

function setUpLive() {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#results a");
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey || link.hash || link.origin !== location.origin || link.pathname !== searchPath) return;
    event.preventDefault();
    forgetTyping();
    const text = new URLSearchParams(link.search).get("q") ?? "";
    if (text !== state.asked) { input.value = text; state.asked = text; }
    link.focus({ preventScroll: true }); // Safari does not focus what is clicked
    showResults(link.href, "follow").then(() => { if (link.closest(".pager")) scrollTo(0, 0); });
  });
  addEventListener("popstate", () => {
    if (location.search === state.shown) return; // another place on the same page
    forgetTyping();
    input.value = state.asked = new URLSearchParams(location.search).get("q") ?? "";
    state.typed = false;
    followAddress();
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

if (input) setUpField();
