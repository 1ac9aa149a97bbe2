// The field that takes a log: files, large texts, the answer in place, and the way back to it. A log stays in this
// tab: it goes to the server in the body of a request and into no address, and what is kept of it ends with the tab.

import { announce, composing, copyBy, keep, kept, make, openDiagnosis, place, take, tellShown, words } from "./app.js";

const form = document.querySelector("form.paste");
const area = form.querySelector("textarea");
const isHome = document.body.classList.contains("page-home");
const limit = Number(form.dataset.limit);
const button = form.querySelector("[type=submit]");
const answer = document.getElementById("answer");
const MOST_ROWS = 14;
let viewer = null; // shows the log of the answer
let shown = null; // the log whose answer this page shows, with its `name` in the storage
let request = null; // the log that is being read
let here = history.state ?? {}; // this step of the history

/* ---- Reading a large text from both ends ---- */

const HEAD = limit / 8;
const kib = (bytes) => `${Math.max(1, Math.round(bytes / 1024))} KiB`;
const mib = (bytes) => (bytes < 1 << 20 ? kib(bytes) : `${(bytes / (1 << 20)).toFixed(1)} MiB`);

const LEAST_PAIRED = 0.7; // of bytes that are not ASCII, as in log/encoding.py
const bytesOf = async (blob) => new Uint8Array(await blob.arrayBuffer());
const decoded = (bytes, encoding) => new TextDecoder(encoding).decode(bytes);

/** Whether bytes are Chinese in GBK, as Windows writes it: pairs that are no UTF-8; bytes of Latin-1 stand alone. */
function isGbk(bytes) {
  const high = bytes.filter((each) => each > 127).length;
  const read = decoded(bytes, "utf-8");
  const lost = read.split("\ufffd").length - 1;
  const isUtf8 = read.replace(/[\0-\x7f]/g, "").length >= 3 * lost;
  const paired = (decoded(bytes, "latin1").match(/(?:[\xa1-\xf7][\xa1-\xfe])+/g) ?? []).join("").length;
  return !isUtf8 && paired > LEAST_PAIRED * high;
}

/** The encoding of a file: UTF-16, as PowerShell writes it, begins with a mark. */
async function encodingOf(file) {
  const [first, second] = await bytesOf(file.slice(0, 2));
  const wide = { 0xfffe: "utf-16le", 0xfeff: "utf-16be" }[first * 256 + second];
  return wide ?? (isGbk(await bytesOf(file.slice(0, HEAD))) || isGbk(await bytesOf(file.slice(-limit))) ? "gb18030" : "utf-8");
}

/** A file as UTF-8. */
async function utf8(file) {
  const encoding = await encodingOf(file);
  if (encoding === "utf-8") return file;
  return new Response(file.stream().pipeThrough(new TextDecoderStream(encoding)).pipeThrough(new TextEncoderStream())).blob();
}

/** The whole of a file or text, or its first eighth of the limit and as much of its end as the rest allows. `size`: before its middle was left out. */
async function excerpt(blob, size) {
  size ||= blob.size;
  if (blob.size <= limit) return { text: await blob.text(), size };
  const gap = "\n\n[...]\n\n";
  const tail = limit - HEAD - 16; // a cut character becomes up to three bytes at either end
  const head = await blob.slice(0, HEAD - 16).text();
  const first = head.slice(0, head.lastIndexOf("\n") + 1); // a pattern would try each place of a long progress bar
  const last = (await blob.slice(blob.size - tail).text()).replace(/^[^\n]*\n/, "");
  return { text: first.trimEnd() + gap + last, size };
}

/** A log as it is sent, whichever way it came: its lines end as those of the field do, so that their numbers are the viewer's. */
async function fitted({ text, framework = "", size }) {
  return { framework, ...await excerpt(new Blob([text.replace(/\r\n?/g, "\n")]), size) };
}

function say(text, isWarning) {
  document.querySelector(".said")?.remove();
  if (!text) return;
  const note = make("p", { className: `note said${isWarning ? " warn" : ""}`, textContent: text });
  note.setAttribute("role", isWarning ? "alert" : "status");
  if (!viewer) (area.closest(".field") ?? area).after(note);
  else if (getComputedStyle(viewer.element).position === "sticky") viewer.element.querySelector(".viewer-tools").after(note);
  else document.getElementById("answer").prepend(note);
  note.scrollIntoView({ block: "nearest" });
}

let whole = 0; // the size of the log of which the field has a part

const sayLeftOut = () => say(whole > limit ? form.dataset.excerpt.replace("{head}", kib(HEAD)).replace("{tail}", kib(limit - HEAD)).replace("{size}", mib(whole)) : "");

/** Puts a log into the field. */
function fill({ text, size, framework = chosen() }) {
  if (area.value !== text) area.value = text;
  if (form.elements.framework) form.elements.framework.value = framework;
  whole = size;
  grow();
}

const chosen = () => form.elements.framework?.value ?? "";
const written = () => ({ text: area.value, framework: chosen(), size: whole });

/** Another log than the one that this page shows or reads; what it is from was said of that one only. */
const another = (log) => show({ ...log, framework: "" }, "push");

/** Whether a file is text: compressed and other binary files are full of control bytes, UTF-16 begins with a mark. */
async function isText(blob) {
  const head = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
  const controls = head.filter((each) => each < 32 && ![0, 7, 8, 9, 10, 12, 13, 27].includes(each)).length;
  return controls <= head.length / 50 || (head[0] >= 0xfe && head[1] >= 0xfe);
}

async function read(blob) {
  if (!(await isText(blob).catch(() => false))) { say(form.dataset.binary, true); return; } // a folder cannot be read at all
  const log = await excerpt(await utf8(blob));
  if (!log.text.trim()) { say(form.dataset.empty, true); return; }
  if (viewer || request) { another(log); return; }
  fill(log);
  sayLeftOut();
  area.focus();
}

/* ---- Files ---- */

form.querySelector("[type=file]")?.addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) read(file);
  event.target.value = "";
});

const hasFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
let inside = 0;
const over = (step) => { inside = step ? inside + step : 0; document.body.classList.toggle("dropping", inside > 0); };
document.addEventListener("dragenter", (event) => { if (hasFiles(event)) over(1); });
document.addEventListener("dragleave", (event) => { if (hasFiles(event)) over(-1); });
document.addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
document.addEventListener("drop", (event) => {
  const [file] = event.dataTransfer?.files ?? [];
  over(0);
  if (!file) return;
  event.preventDefault();
  read(file);
});

/* ---- Sending ---- */

const lines = () => area.value.trim().split("\n").length;

/** Gives the field as many rows as its text takes, a long line wrapped. */
function grow() {
  if (!isHome) return;
  area.rows = 1;
  if (!area.value) return;
  const { lineHeight, paddingTop } = getComputedStyle(area);
  const rows = lines() < MOST_ROWS ? Math.round((area.scrollHeight - 2 * parseFloat(paddingTop)) / parseFloat(lineHeight)) : MOST_ROWS;
  area.rows = Math.min(rows, MOST_ROWS);
}
area.addEventListener("input", () => { whole = 0; grow(); say(""); });

const SLOW = 400; // ms after which somebody wants to know what is going on
let slow = 0;

function busy(isBusy) {
  clearTimeout(slow);
  if (isBusy) slow = setTimeout(() => say(form.dataset.reading.replace("{size}", mib(new Blob([area.value]).size))), SLOW);
  form.classList.toggle("busy", isBusy);
  area.readOnly = isBusy;
  button.setAttribute("aria-disabled", String(isBusy));
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  button.textContent = isBusy ? form.dataset.busy : label;
}

form.addEventListener("submit", async (event) => {
  if (event.defaultPrevented || event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (request) return;
  if (!area.value.trim()) { say(form.dataset.empty, true); area.focus(); return; }
  if (isHome && lines() === 1 && area.value.length <= Number(form.dataset.queryLimit)) {
    location.assign(`${words.search}?${new URLSearchParams({ q: area.value.trim() })}`);
    return;
  }
  if (!isHome) { show(written(), "push", event.submitter?.name === "told" ? { told: event.submitter.value } : {}); return; }
  fill(await fitted(written()));
  openDiagnosis(written());
});

// Several lines are a log, as in the header's field; what stands in the field already goes along. What is too long to be
// read whole never stands in it: a field takes seconds to lay out megabytes.
area.addEventListener("paste", async (event) => {
  const text = event.clipboardData.getData("text/plain");
  const isLong = text.length > limit;
  if (!isLong && !(isHome && text.trim().includes("\n"))) return;
  event.preventDefault();
  if (isLong && isHome) { openDiagnosis(await fitted({ text })); return; }
  if (isLong) { read(new Blob([text])); return; }
  area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
  grow();
  form.requestSubmit();
});

area.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || composing(event) || event.defaultPrevented) return;
  const sends = event.ctrlKey || event.metaKey || (isHome && !event.shiftKey && lines() === 1);
  if (!sends) return;
  event.preventDefault();
  form.requestSubmit();
});

/* ---- The answer, in place ---- */

const blank = { answer: answer?.cloneNode(true), title: document.title };

/** Puts an answer into the page, and its log beside it. */
function put(fresh, title, text) {
  document.getElementById("answer").replaceWith(fresh);
  document.title = title;
  tellShown(fresh);
  return view(text);
}

/* ---- The log of an answer, in place of the field ---- */

const aim = () => Number(/[#&]L(\d+)$/.exec(location.hash)?.[1] ?? 0);
const shownLine = (line) => (location.hash.startsWith("#log=") ? `${location.hash.replace(/&L\d+$/, "")}&L${line}` : `#L${line}`);

function close() {
  viewer?.element.remove();
  viewer = null;
  form.hidden = false;
  document.body.classList.remove("with-log");
}

function edit() {
  history.replaceState(history.state, "", location.pathname);
  close();
  area.focus();
}

async function view(text) {
  close();
  const told = document.getElementById("log-layout");
  if (!told || !text.trim()) return;
  const { openViewer } = await import("./log-viewer.js");
  const opened = await openViewer(text, told, { address: shownLine, edit });
  if (!opened || !told.isConnected) return; // the answer to another log came meanwhile
  viewer = opened;
  form.hidden = true;
  form.before(viewer.element);
  document.body.classList.add("with-log");
  viewer.open(aim());
}

document.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (!(viewer || request) || event.target.closest?.("input, textarea") || !text.trim()) return;
  event.preventDefault();
  another({ text });
});

function stop() {
  request?.abort();
  request = null;
  busy(false);
}

/** Shows the diagnosis of a log, and says what was left out of it. `step`: push, replace, or none for one that the history holds already; `told`: what the reader works with, where that was just said; `draft`: what was made of the log in the field since. */
async function show(log, step, { told, draft } = {}) {
  stop();
  const { signal } = (request = new AbortController());
  say("");
  busy(true);
  try {
    const sent = await fitted(told === undefined ? log : { ...log, framework: told.split(":")[0] });
    if (signal.aborted) return; // another log came while this one was cut
    fill(draft ?? sent);
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams({ text: sent.text, framework: sent.framework, ...(told !== undefined && { told }) }), headers: { Accept: "text/html" }, signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    if (signal.aborted) return;
    const fresh = page.getElementById("answer");
    if (!fresh) throw new Error(page.querySelector(".error-page .lead")?.textContent ?? page.title);
    const context = page.getElementById("context");
    if (context) document.getElementById("context")?.replaceWith(document.adoptNode(context));
    const hash = step === "push" && (viewer || !/^#L\d+$/.test(location.hash)) ? "" : location.hash;
    if (step !== "none") history[`${step}State`]({ log: remember(sent) }, "", location.pathname + hash);
    here = history.state;
    shown = { ...sent, name: here.log };
    await put(document.adoptNode(fresh), page.title, draft ? "" : sent.text);
    if (signal.aborted) return;
    sayLeftOut();
    const seen = step === "none" && kept("top");
    const top = seen && seen.log === shown.name ? seen.top : 0;
    scrollTo({ top, behavior: "instant" });
    if (!top) fresh.querySelector("h1").focus({ preventScroll: true });
    announce(fresh.querySelector("h1").textContent);
  } catch (error) {
    if (!signal.aborted) say(error instanceof TypeError ? form.dataset.offline : error.message, true);
  } finally {
    if (request?.signal === signal) stop();
  }
}

/** Keeps a log for the way back to its answer. */
function remember(log) {
  const name = `log.${Date.now()}`;
  keep(name, log);
  return name;
}

function shared() {
  if (!location.hash.startsWith("#log=")) return null;
  const given = new URLSearchParams(location.hash.slice(1));
  return { text: given.get("log"), framework: given.get("framework") ?? "" };
}

/** Shows the log that another page sent, that of this step of the history, or the one in the address; false where there is none. */
function restore(sent, draft) {
  const old = !sent && here.log && kept(here.log);
  const log = sent ?? (old || shared());
  if (!log) return false;
  if (sent?.hash) history.replaceState(here, "", sent.hash);
  const edited = draft && draft.text !== log.text ? draft : undefined;
  show(log, old ? "none" : sent && here.log ? "push" : "replace", { draft: edited });
  return true;
}

/** Shows the step of the history that was gone to. */
function follow({ state }) {
  const isLink = !state && !shared(); // one within the page, or a place in it put into its address
  if (!state) history.replaceState(isLink ? here : {}, "");
  here = history.state;
  if (!isLink) { stop(); say(""); }
  if (isLink || (here.log && here.log === shown?.name)) {
    if (viewer && aim()) viewer.go(aim());
  } else if (!restore()) {
    shown = null;
    put(blank.answer.cloneNode(true), blank.title, "");
  }
}

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-line], .line-text");
  if (row && getSelection().isCollapsed) {
    const { line } = (row.dataset.line ? row : row.closest("li").querySelector("[data-line]")).dataset;
    if (viewer) { event.preventDefault(); viewer.show(Number(line)); }
    else if (!row.dataset.line) row.closest("li").classList.toggle("open");
  }
  // A link to this very page would restore what it shows.
  if (shown && event.target.closest?.(".nav a[aria-current]") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    history.pushState({}, "", location.pathname);
    follow(history);
    fill({ text: "", framework: "" });
    area.focus();
  }
  const target = event.target.closest?.("[data-copy-log]");
  if (target) copyBy(target, `${location.origin}${words.diagnose}#${new URLSearchParams({ log: target.dataset.copyLog, ...(chosen() && { framework: chosen() }) })}`);
});

/* ---- A draft survives a reload, the way back, and a change of language ---- */

const slot = isHome ? "draft.home" : "draft.diagnose";
let switching = false;
place.fragment = () => ""; // it goes along with the log itself
document.forms.language.addEventListener("submit", () => {
  switching = true;
  if (shown) keep("send", { ...shown, hash: location.hash });
});
addEventListener("pagehide", () => {
  if (shown) keep("top", { log: shown.name, top: scrollY });
  if (area.value.trim() && area.value !== shown?.text) keep(slot, { ...written(), log: here.log, switching });
});

/** The draft of this step of the history, where it was left and is come back to, or just changes its language. */
function unsent(sent) {
  const draft = take(slot);
  const [visit] = performance.getEntriesByType("navigation");
  const isBack = !sent && visit && visit.type !== "navigate" && draft?.log === here.log;
  return draft?.switching || isBack ? draft : null;
}

if (document.getElementById("diagnosis")) view(area.value);
else {
  const sent = answer && take("send");
  const draft = unsent(sent);
  if (draft && !area.value) fill(draft);
  if (answer) {
    history.replaceState(here, ""); // what has none of its own is a link within this page
    addEventListener("popstate", follow);
    if (!restore(sent, draft) && aim()) say(form.dataset.named.replaceAll("{line}", aim()));
  }
}
