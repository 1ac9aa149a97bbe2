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

/** The whole of a file or text, or its first eighth of the limit and as much of its end as the rest allows. */
async function excerpt(blob) {
  if (blob.size <= limit) return { text: await blob.text(), note: "" };
  const gap = "\n\n[...]\n\n";
  const tail = limit - HEAD - 16; // a cut character becomes up to three bytes at either end
  const first = (await blob.slice(0, HEAD - 16).text()).replace(/[^\n]*$/, "");
  const last = (await blob.slice(blob.size - tail).text()).replace(/^[^\n]*\n/, "");
  const note = form.dataset.excerpt.replace("{head}", kib(HEAD)).replace("{tail}", kib(limit - HEAD)).replace("{size}", mib(blob.size));
  return { text: first.trimEnd() + gap + last, note };
}

function say(text, isWarning) {
  document.querySelector(".said")?.remove();
  if (!text) return;
  const note = make("p", { className: `note said${isWarning ? " warn" : ""}`, textContent: text });
  note.setAttribute("role", isWarning ? "alert" : "status");
  (viewer?.element ?? area.closest(".field") ?? area).after(note);
}

let left = ""; // what was said of the text in the field: that some of it is missing

/** Whether a file is text: compressed and other binary files are full of control bytes, UTF-16 begins with a mark. */
async function isText(blob) {
  const head = new Uint8Array(await blob.slice(0, 4096).arrayBuffer());
  const controls = head.filter((each) => each < 32 && ![0, 7, 8, 9, 10, 12, 13, 27].includes(each)).length;
  return controls <= head.length / 50 || (head[0] >= 0xfe && head[1] >= 0xfe);
}

async function read(blob) {
  if (!(await isText(blob))) { say(form.dataset.binary, true); return; }
  const { text, note } = await excerpt(await utf8(blob));
  area.value = text;
  left = note;
  grow();
  say(note);
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
area.addEventListener("input", () => { left = ""; grow(); say(""); });

const SLOW = 400; // ms after which somebody wants to know what is going on
let slow = 0;

function busy(isBusy) {
  clearTimeout(slow);
  if (isBusy) slow = setTimeout(() => say(form.dataset.reading.replace("{size}", mib(new Blob([area.value]).size))), SLOW);
  form.classList.toggle("busy", isBusy);
  button.setAttribute("aria-disabled", String(isBusy));
  const label = button.dataset.label ?? (button.dataset.label = button.textContent);
  button.textContent = isBusy ? form.dataset.busy : label;
}

form.addEventListener("submit", async (event) => {
  if (event.defaultPrevented || event.submitter?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (form.classList.contains("busy")) return;
  if (!area.value.trim()) { say(form.dataset.empty, true); area.focus(); return; }
  if (isHome && lines() === 1 && area.value.length <= Number(form.dataset.queryLimit)) {
    location.assign(`${words.search}?${new URLSearchParams({ q: area.value.trim() })}`);
    return;
  }
  const { text, note } = await excerpt(new Blob([area.value]));
  if (note) area.value = text;
  left = note || left;
  const framework = form.elements.framework?.value ?? "";
  if (isHome) openDiagnosis(text, framework, left);
  else show({ text, framework, note: left }, "push", event.submitter?.name === "told" ? event.submitter.value : undefined);
});

// What the reader works with answers for the log that is shown, too.
if (!isHome) document.addEventListener("submit", (event) => {
  if (event.target.id !== "context" || !viewer) return;
  event.preventDefault();
  show(current() ?? { text: area.value, framework: "" }, "replace", event.submitter.value);
});

// Several lines are a log, as in the header's field; what stands in the field already goes along.
if (isHome) area.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (!text.trim().includes("\n")) return;
  event.preventDefault();
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

function put(fresh, title) {
  document.getElementById("answer").replaceWith(fresh);
  document.title = title;
  tellShown(fresh);
  return view(area.value);
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
  if (!opened) return;
  viewer = opened;
  form.hidden = true;
  form.before(viewer.element);
  document.body.classList.add("with-log");
  viewer.open(aim());
}

document.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text/plain");
  if (!viewer || event.target.closest?.("input, textarea") || !text.trim()) return;
  event.preventDefault();
  area.value = text;
  form.requestSubmit();
});

/** Shows the diagnosis of a log, and what its `note` says of it. `step`: push, replace, or none for one that the history holds already; `told`: what the reader works with, where that was just said. */
async function show(log, step, told) {
  say("");
  busy(true);
  try {
    const response = await fetch(form.action, { method: "POST", body: new URLSearchParams({ text: log.text, framework: log.framework, ...(told !== undefined && { told }) }), headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("answer");
    if (!fresh) throw new Error(page.querySelector(".error-page .lead")?.textContent ?? page.title);
    const context = page.getElementById("context");
    if (context) document.getElementById("context")?.replaceWith(document.adoptNode(context));
    if (area.value !== log.text) area.value = log.text;
    if (form.elements.framework) form.elements.framework.value = log.framework;
    const hash = step === "push" && (viewer || !/^#L\d+$/.test(location.hash)) ? "" : location.hash;
    if (step !== "none") history[`${step}State`]({ log: remember(log) }, "", location.pathname + hash);
    await put(document.adoptNode(fresh), page.title);
    say(log.note ?? "");
    const seen = step === "none" && kept("top");
    const top = seen && seen.log === history.state?.log ? seen.top : 0;
    scrollTo({ top, behavior: "instant" });
    if (!top) fresh.querySelector("h1").focus({ preventScroll: true });
    announce(fresh.querySelector("h1").textContent);
  } catch (error) {
    say(error instanceof TypeError ? form.dataset.offline : error.message, true);
  } finally {
    busy(false);
  }
}

/** Keeps a log for the way back to its answer; older ones give way where there is no room. */
function remember(log) {
  const name = `log.${Date.now()}`;
  if (!keep(name, log)) {
    for (const other of Object.keys(sessionStorage)) if (other.startsWith("jieda.log.")) sessionStorage.removeItem(other);
    keep(name, log);
  }
  return name;
}

function shared() {
  if (!location.hash.startsWith("#log=")) return null;
  const given = new URLSearchParams(location.hash.slice(1));
  return { text: given.get("log"), framework: given.get("framework") ?? "" };
}

function restore() {
  const log = history.state?.log && kept(history.state.log);
  if (log) { area.value = log.text; show(log, "none"); return; }
  const sent = take("send") ?? shared();
  if (sent) { area.value = sent.text; show(sent, "replace"); }
  else if (aim()) say(form.dataset.named.replaceAll("{line}", aim()));
}

function current() {
  const log = document.getElementById("diagnosis") && history.state?.log;
  return log ? kept(log) : null;
}

if (answer && !document.getElementById("diagnosis")) {
  restore();
  addEventListener("popstate", () => {
    const log = history.state?.log && kept(history.state.log);
    if (log) show(log, "none");
    else if (shared()) restore();
    else put(blank.answer.cloneNode(true), blank.title);
  });
  addEventListener("hashchange", () => {
    if (viewer && aim()) viewer.go(aim());
    else if (shared() && !history.state?.log) restore();
  });
} else if (answer) view(area.value);

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("[data-line], .line-text");
  if (row && getSelection().isCollapsed) {
    const { line } = (row.dataset.line ? row : row.closest("li").querySelector("[data-line]")).dataset;
    if (viewer) { event.preventDefault(); viewer.show(Number(line)); }
    else if (!row.dataset.line) row.closest("li").classList.toggle("open");
  }
  const target = event.target.closest?.("[data-copy-log]");
  if (target) copyBy(target, `${location.origin}${words.diagnose}#${new URLSearchParams({ log: target.dataset.copyLog, ...(form.elements.framework?.value && { framework: form.elements.framework.value }) })}`);
});

/* ---- A draft survives a reload, the way back, and a change of language ---- */

const draft = isHome ? "draft.home" : "draft.diagnose";
let switching = false;
place.fragment = () => ""; // what is shared in the address goes along with the log itself
document.forms.language.addEventListener("submit", () => {
  switching = true;
  const log = current();
  if (log) keep("send", log);
});
addEventListener("pagehide", () => {
  if (history.state?.log) keep("top", { log: history.state.log, top: scrollY });
  if (area.value.trim() && !current()) keep(draft, { text: area.value, framework: form.elements.framework?.value ?? "", switching });
});
const unsent = take(draft);
const [visit] = performance.getEntriesByType("navigation");
if (unsent && !area.value && !answer?.querySelector("#diagnosis") && (unsent.switching || (visit && visit.type !== "navigate"))) {
  area.value = unsent.text;
  if (form.elements.framework) form.elements.framework.value = unsent.framework;
  grow();
}
