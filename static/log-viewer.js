// The log as a page: its lines beside the verdict, the root failure in view. All of it happens here, from the log that
// the reader has and what the answer says of it by line numbers; nothing is sent or stored.

import { announce, composing, copyBy, make } from "./app.js";

const FRAMES = 1, REPEATS = 2; // why a line is folded
const LAST_FRAMES = 4; // lines of a traceback that stay: its last two frames
const LEAST_FOLDED = 3; // lines that a fold is worth
const OVERSCAN = 12; // lines beside those in view that are drawn as well
const LONGEST = 1500; // characters of a line that are shown before it is opened
const MOST_LISTED = 60;

/* ---- The lines, as the server reads them ---- */

const CODES = /\x1b(?:\[[0-?]{0,32}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,2000}(?:\x07|\x1b\\)|[@-Z\\\-_])/g;
const REMAINS = /(?:␛|\^\[|\\x1b|\\u001b|\\033)?\[\d{1,3}(?:;\d{1,3}){0,4}m/g;
const ENTITY = /&(?:[lg]t|quot|amp|apos|nbsp|#(?:3[2489]|47|6[02]|96|160)|#x(?:2[\dF]|3[CE]|60|A0));|\xa0/gi;
const NAMED = { "&lt;": "<", "&gt;": ">", "&quot;": '"', "&amp;": "&", "&apos;": "'", "&nbsp;": " ", "&#160;": " ", "&#xa0;": " ", "\xa0": " " };
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u200b\u2060\ufeff]/g;
const TIME = /\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,3})?/;
const STAMP = /(?:\d{2,4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}-\d{1,2})?[T ]?\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?/;
const WIDE = /[\u1100-\u115f\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/g;

function readLines(text) {
  let clean = text.replace(CODES, "");
  if (clean.includes("[0m")) clean = clean.replace(REMAINS, "");
  clean = clean.replace(ENTITY, (found) => NAMED[found.toLowerCase()] ?? String.fromCharCode(found.slice(2, -1).replace(/^x/i, "0x")));
  const lines = clean.replace(CONTROL, "").split("\n");
  while (lines.length > 1 && !lines[lines.length - 1].trim()) lines.pop();
  return lines;
}

/** Lines with whose they are, what they tell and what is folded, all counted from 0. */
class Log {
  constructor(text, layout, matched) {
    this.lines = readLines(text);
    this.sources = layout.sources;
    this.names = shortNames(layout.sources);
    const count = this.lines.length;
    this.source = new Uint16Array(count);
    this.width = new Uint16Array(count);
    let line = 0;
    for (const [run, width, source] of layout.margins) {
      this.width.fill(width, line, line + run);
      this.source.fill(source, line, (line += run));
    }
    this.matched = matched;
    this.failures = new Map(); // the first line of each, with whether it only passes another on
    this.root = layout.root - 1;
    this.folded = new Uint8Array(count);
    this.foldFailures(layout);
    if (this.sources.length > 1) this.foldEchoes();
    for (const kept of [this.root, ...matched.keys()]) if (kept >= 0) this.folded[kept] = 0;
  }

  /** Of a failure, the frames but the last; of a wrapper, all; of one that was told before, everything. */
  foldFailures({ failures, wrappers }) {
    const first = new Map();
    for (const [start, last, failure] of failures) {
      const own = [];
      for (let line = start - 1; line < last - 1; line++) if (this.source[line] === this.source[last - 1]) own.push(line);
      const before = first.get(failure);
      if (before !== undefined) {
        const opening = start - 2;
        if (own.length && this.body(opening) === this.body(before - 2)) own.push(opening);
        for (const line of [...own, last - 1]) this.folded[line] = REPEATS;
        continue;
      }
      first.set(failure, start);
      const wraps = wrappers.includes(failure);
      this.failures.set(last - 1, wraps);
      for (const line of wraps ? own : own.slice(0, -LAST_FRAMES)) this.folded[line] = FRAMES;
    }
  }

  /** What a process says that another has just said. */
  foldEchoes() {
    const said = new Map();
    const near = 4 * this.sources.length;
    for (let line = 0; line < this.lines.length; line++) {
      const body = this.body(line);
      if (!body.trim() || !this.source[line]) continue;
      const other = said.get(body);
      if (other !== undefined && line - other <= near && this.source[other] !== this.source[line] && !this.failures.has(line)) this.folded[line] ||= REPEATS;
      said.set(body, line);
    }
  }

  /** A line without its prefixes. */
  body(line) {
    return (this.lines[line] ?? "").slice(this.width[line]);
  }

  prefix(line) {
    return this.lines[line].slice(0, this.width[line]);
  }
}

/** What tells processes apart: their names without brackets, address, and the words that all of them begin with. */
function shortNames(sources) {
  const names = sources.map((source) => source.replace(/\bpid=|,?\s*ip=[\d.]+|[()[\]:|]/g, "").trim().split(/\s+/));
  while (names.length > 1 && names.every((name) => name.length > 1 && name[0] === names[0][0])) for (const name of names) name.shift();
  return names.map((name) => name.join(" "));
}

/* ---- What is drawn ---- */

/** `text` with its `ranges` marked: each a start, an end and a class. */
function painted(text, ranges) {
  const nodes = [];
  let place = 0;
  for (const [start, end, kind] of ranges.sort((one, other) => one[0] - other[0] || other[1] - one[1])) {
    if (start < place) continue;
    nodes.push(text.slice(place, start), make("mark", { className: kind, textContent: text.slice(start, end) }));
    place = end;
  }
  return [...nodes, text.slice(place)];
}

/** Adds to `found` where `part` stands in `text`; what is no hit of a search, where it is no piece of a longer name. */
function places(text, part, kind, found) {
  const folded = text.toLowerCase(), wanted = part.toLowerCase();
  const cuts = (at) => kind !== "hit" && /^\w\w$/.test(text.slice(at - 1, at + 1));
  for (let at = folded.indexOf(wanted); at >= 0 && wanted; at = folded.indexOf(wanted, at + wanted.length)) {
    if (!cuts(at) && !cuts(at + wanted.length)) found.push([at, at + wanted.length, kind]);
  }
  return found;
}

class Viewer {
  /** `layout`: what the answer says; `matched`: by line from 1, the parts of it that speak for an entry; `address`: of a line. */
  constructor(text, layout, matched, { address, edit }) {
    this.words = layout.words;
    this.log = new Log(text, layout, new Map([...matched].map(([line, parts]) => [line - 1, parts])));
    this.address = address;
    this.opened = new Set(); // long lines shown whole
    this.only = 0; // the process whose lines are shown, from 1
    this.isFolding = true;
    this.now = -1;
    this.drawn = new Map();
    this.hits = [];
    this.needle = "";
    this.build(edit);
    this.element.style.setProperty("--digits", String(this.log.lines.length).length);
    this.element.style.setProperty("--who", Math.min(18, Math.max(0, ...this.log.names.map((name) => name.length))));
    addEventListener("resize", () => { if (this.scroller.clientWidth !== this.breadth) this.measure(true); });
  }

  say(name, values = {}) {
    return this.words[name].replace(/\{(\w+)\}/g, (whole, key) => values[key] ?? whole);
  }

  /* -- Building -- */

  build(edit) {
    const { log } = this;
    this.search = make("input", { type: "search", autocomplete: "off", spellcheck: false, enterKeyHint: "next", placeholder: this.say("search") });
    this.search.setAttribute("aria-label", this.say("search"));
    this.count = make("output", { className: "viewer-count" });
    this.back = this.button("previous", () => this.step(-1), "↑");
    this.on = this.button("next", () => this.step(1), "↓");
    this.back.hidden = this.on.hidden = true;
    const listed = this.listed();
    this.jump = this.marked.length > 0 && this.choice("jump", listed, (value) => value && this.go(Number(value)));
    this.who = log.sources.length > 1 && this.choice("processes", [[0, this.say("all", { count: log.sources.length })], ...log.names.map((name, place) => [place + 1, name])], (value) => this.showOnly(Number(value)));
    this.fold = log.folded.some(Boolean) && this.button("unfold", () => this.toggle());
    this.sheet = make("div", { className: "viewer-sheet" });
    this.scroller = make("div", { className: "viewer-lines", tabIndex: 0 }, this.sheet);
    this.scroller.setAttribute("role", "listbox");
    this.scroller.setAttribute("aria-label", this.say("label"));
    this.sheet.setAttribute("role", "presentation");
    this.strip = make("div", { className: "viewer-strip" });
    this.strip.setAttribute("aria-hidden", "true");
    this.chosen = make("p", { className: "viewer-chosen", hidden: true });
    const given = (...all) => all.filter(Boolean);
    this.element = make("section", { id: "viewer", className: "viewer" },
      make("div", { className: "viewer-head" }, make("h2", { textContent: this.say("label") }), make("span", { className: "count", hidden: log.lines.length < 2, textContent: this.say("lines", { count: log.lines.length.toLocaleString(document.documentElement.lang) }) }), this.button("edit", edit)),
      make("div", { className: "viewer-tools" }, make("span", { className: "viewer-search" }, this.search, this.count, this.back, this.on), ...given(this.jump, this.who, this.fold)),
      make("div", { className: "viewer-body" }, this.scroller, this.strip),
      make("p", { className: "viewer-foot" }, make("a", { href: "#answer", className: "viewer-up", textContent: this.say("up") })),
      this.chosen);
    this.element.setAttribute("aria-label", this.say("label"));
    this.listen();
  }

  /** `sign` stands for the word where there is little room. */
  button(word, act, sign = "") {
    const button = make("button", { type: "button", textContent: sign || this.say(word) });
    if (sign) {
      button.title = this.say(word);
      button.setAttribute("aria-label", button.title);
    }
    button.addEventListener("click", act);
    return button;
  }

  choice(word, options, act) {
    const select = make("select", {}, ...options.map(([value, text]) => make("option", { value, textContent: text })));
    select.setAttribute("aria-label", this.say(word, { count: options.length - 1 }));
    select.addEventListener("change", () => act(select.value));
    return select;
  }

  /** Failures and matched lines to jump to, in the order of the log. */
  listed() {
    const { log } = this;
    const lines = [...new Set([...log.failures.keys(), ...log.matched.keys()])].sort((one, other) => one - other);
    const kind = (line) => (line === log.root ? "root" : log.matched.has(line) ? "match" : log.failures.get(line) ? "wrapper" : "failure");
    const text = (line) => `${line + 1} · ${this.say(kind(line))} · ${log.body(line).trim().slice(0, 60)}`;
    this.marked = lines;
    return [["", this.say("jump", { count: lines.length })], ...lines.slice(0, MOST_LISTED).map((line) => [line + 1, text(line)])];
  }

  listen() {
    let frame = 0;
    this.scroller.addEventListener("scroll", () => { frame ||= requestAnimationFrame(() => { frame = 0; this.draw(); }); }, { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.key(event));
    this.sheet.addEventListener("click", (event) => {
      const row = event.target.closest("[data-place]");
      if (row && getSelection().isCollapsed) this.tap(Number(row.dataset.place));
    });
    this.strip.addEventListener("click", (event) => this.tapStrip(event));
    this.search.addEventListener("input", (event) => { if (!event.isComposing) this.find(); });
    this.search.addEventListener("compositionend", () => this.find());
    this.search.addEventListener("keydown", (event) => {
      if (composing(event)) return;
      if (event.key === "Enter") { event.preventDefault(); this.step(event.shiftKey ? -1 : 1); }
      if (event.key === "Escape" && !this.search.value) this.scroller.focus();
    });
  }

  /* -- Which lines there are, and how high -- */

  /** Decides again which lines are in the sheet: a line from 0, or a fold as -1, -2, … */
  arrange() {
    const { log } = this, items = [];
    this.folds = [];
    let run = [];
    const close = () => {
      if (run.length < LEAST_FOLDED) items.push(...run);
      else { this.folds.push(run); items.push(-this.folds.length); }
      run = [];
    };
    for (let line = 0; line < log.lines.length; line++) {
      if (this.only && log.source[line] !== this.only) continue;
      if (this.isFolding && log.folded[line]) run.push(line);
      else { if (run.length) close(); items.push(line); }
    }
    close();
    this.active = null;
    this.items = items;
    this.placeOf = new Map(items.map((item, place) => [item, place]));
    this.measure();
  }

  /** Guesses how high each item is, by its characters; what is drawn is measured. */
  measure(stays = false) {
    if (!this.element.isConnected) return;
    this.breadth = this.scroller.clientWidth;
    const { scrollTop } = this.scroller;
    const anchor = stays ? this.placeAt(scrollTop) : 0, off = anchor && scrollTop - this.tops[anchor];
    const probe = make("div", { className: "viewer-line" }, make("span", { className: "viewer-number", textContent: "0" }), this.hasTime() ? make("span", { className: "viewer-time" }) : "", this.who ? make("span", { className: "viewer-who" }) : "", make("span", { className: "viewer-text" }, make("span", { textContent: "0".repeat(40) })));
    this.sheet.replaceChildren(probe);
    const text = probe.lastChild;
    const style = getComputedStyle(text);
    const columns = Math.max(8, Math.floor((text.clientWidth - parseFloat(style.paddingInlineStart)) / (text.firstChild.getBoundingClientRect().width / 40)));
    const line = parseFloat(style.lineHeight), { log } = this;
    this.heights = Float64Array.from(this.items, (item) => {
      if (item < 0) return line;
      const shown = this.shownText(item);
      return line * Math.max(1, Math.ceil((shown.length + (shown.match(WIDE)?.length ?? 0) + this.rest(item).length) / columns));
    });
    this.drawn.clear();
    this.sheet.replaceChildren();
    this.settle();
    if (anchor) this.scroller.scrollTop = this.tops[anchor] + off;
    this.draw();
    this.drawStrip();
  }

  settle() {
    this.tops = new Float64Array(this.heights.length + 1);
    for (let place = 0; place < this.heights.length; place++) this.tops[place + 1] = this.tops[place] + this.heights[place];
    this.sheet.style.height = `${this.tops[this.heights.length]}px`;
  }

  hasTime() {
    return (this.timed ??= this.log.lines.some((_, line) => this.log.width[line] && TIME.test(this.log.prefix(line))));
  }

  shownText(line) {
    const body = this.log.body(line);
    return body.length > LONGEST && !this.opened.has(line) ? `${body.slice(0, LONGEST)}…` : body;
  }

  /** What a prefix says beside time and process: a level, a place in the code. */
  rest(line) {
    const { log } = this;
    if (!log.width[line]) return "";
    const source = log.source[line] ? log.sources[log.source[line] - 1] : "";
    const rest = log.prefix(line).replace(source, "").replace(STAMP, "").replace(/[[(]\s*[\])]|^[\s,\]]+/g, "").trim();
    return rest && `${rest} `;
  }

  placeAt(top) {
    let low = 0, high = this.items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= top) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** The line of an item, or the first in a fold. */
  lineAt(place) {
    const item = this.items[place];
    return item < 0 ? this.folds[-item - 1][0] : item;
  }

  /* -- Drawing -- */

  draw() {
    const { scrollTop, clientHeight } = this.scroller;
    const first = Math.max(0, this.placeAt(scrollTop) - OVERSCAN);
    const last = Math.min(this.items.length - 1, this.placeAt(scrollTop + clientHeight) + OVERSCAN);
    for (const [place, row] of this.drawn) if (place < first || place > last) { row.remove(); this.drawn.delete(place); }
    const fresh = [], kept = Math.min(...this.drawn.keys());
    for (let place = first; place <= last; place++) {
      if (this.drawn.has(place)) continue;
      const row = this.row(place);
      this.drawn.set(place, row);
      fresh.push([place, row]);
    }
    const above = fresh.findIndex(([place]) => place > kept), rows = fresh.map(([, row]) => row); // in their order, or what is selected is not what is copied
    this.sheet.prepend(...rows.splice(0, above < 0 ? rows.length : above));
    this.sheet.append(...rows);
    const isWrong = fresh.map(([place, row]) => [place, row.offsetHeight]).filter(([place, height]) => Math.abs(height - this.heights[place]) > 0.5);
    if (isWrong.length) this.mend(isWrong);
    this.thumb?.style.setProperty("transform", `translateY(${(scrollTop / Math.max(1, this.tops[this.items.length])) * this.strip.clientHeight}px)`);
  }

  /** Corrects heights that were guessed wrong; what is read stays where it is. */
  mend(wrong) {
    const { scrollTop } = this.scroller;
    const anchor = this.placeAt(scrollTop), before = this.tops[anchor];
    for (const [place, height] of wrong) this.heights[place] = height;
    this.settle();
    for (const [place, row] of this.drawn) row.style.top = `${this.tops[place]}px`;
    if (Math.abs(this.tops[anchor] - before) > 0.5) this.scroller.scrollTop = scrollTop + this.tops[anchor] - before;
  }

  row(place) {
    const item = this.items[place];
    const row = make("div", { id: `line-${place}`, className: "viewer-line" });
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(place === this.current()));
    row.setAttribute("aria-setsize", this.items.length);
    row.setAttribute("aria-posinset", place + 1);
    row.dataset.place = place;
    row.style.top = `${this.tops[place]}px`;
    if (item < 0) this.fillFold(row, this.folds[-item - 1]);
    else this.fillLine(row, item);
    return row;
  }

  fillFold(row, lines) {
    const kinds = new Set(lines.map((line) => this.log.folded[line]));
    const word = kinds.size > 1 ? "folded" : kinds.has(FRAMES) ? "frames" : "repeats";
    row.classList.add("viewer-fold");
    row.append(make("span", { className: "viewer-number", textContent: "⋯" }), make("span", { className: "viewer-text", textContent: this.say(word, { count: lines.length }) }));
  }

  fillLine(row, line) {
    const { log } = this, source = log.source[line];
    if (source) row.style.setProperty("--hue", Math.round((source * 137.5) % 360));
    row.classList.toggle("of-process", Boolean(source));
    row.classList.toggle("failed", log.failures.get(line) === false);
    row.classList.toggle("root", line === log.root);
    row.classList.toggle("matched", log.matched.has(line));
    const number = make("span", { className: "viewer-number", textContent: line + 1 });
    const parts = [number];
    if (this.hasTime()) parts.push(make("span", { className: "viewer-time", textContent: log.width[line] ? log.prefix(line).match(TIME)?.[0] ?? "" : "", title: log.prefix(line).trim() }));
    if (this.who) parts.push(make("span", { className: "viewer-who", textContent: log.names[source - 1] ?? "", title: source ? log.sources[source - 1] : "" }));
    row.append(...parts, make("span", { className: "viewer-text" }, ...this.textOf(line)));
  }

  textOf(line) {
    const { log } = this, shown = this.shownText(line), ranges = [];
    if (this.needle) places(shown, this.needle, "hit", ranges);
    for (const part of log.matched.get(line) ?? []) places(shown, part, "", ranges);
    const rest = this.rest(line);
    const badge = line === log.root ? [make("b", { className: "viewer-badge", textContent: this.say("root") }), " "] : [];
    return [...badge, ...(rest ? [make("span", { className: "viewer-rest", textContent: rest })] : []), ...painted(shown, ranges)];
  }

  drawStrip() {
    const height = this.strip.clientHeight, total = Math.max(1, this.tops[this.items.length]);
    const at = (line) => (this.tops[this.placeOf.get(line)] / total) * height;
    const seen = new Set(), marks = [];
    const add = (line, kind) => {
      if (!this.placeOf.has(line)) return;
      const top = Math.round(at(line)), key = `${kind} ${top >> 1}`;
      if (seen.has(key)) return;
      seen.add(key);
      const mark = make("i", { className: `at-${kind}` });
      mark.style.top = `${Math.min(top, height - 3)}px`;
      marks.push(mark);
    };
    for (const line of this.hits) add(line, "hit");
    for (const [line, wraps] of this.log.failures) add(line, wraps ? "wrapper" : "failure");
    for (const line of this.log.matched.keys()) add(line, "match");
    if (this.log.root >= 0) add(this.log.root, "root");
    this.thumb = make("b");
    this.thumb.style.height = `${Math.max(8, Math.min(1, this.scroller.clientHeight / total) * height)}px`;
    this.strip.replaceChildren(this.thumb, ...marks);
    this.thumb.style.transform = `translateY(${(this.scroller.scrollTop / total) * height}px)`;
  }

  /* -- Moving -- */

  current() {
    return this.now < 0 ? -1 : this.placeOf.get(this.now) ?? -1;
  }

  /** Shows a line, from 1, and selects it; what hides it is opened. */
  go(number, { quiet = false } = {}) {
    const line = Math.min(this.log.lines.length, Math.max(1, number)) - 1;
    if (this.only && this.log.source[line] !== this.only) { this.only = 0; this.who.value = 0; this.arrange(); }
    if (!this.placeOf.has(line)) this.unfold(this.folds.find((run) => run.includes(line)));
    if (!quiet) this.select(line);
    const { clientHeight } = this.scroller;
    const place = this.placeOf.get(line);
    this.scroller.scrollTop = this.tops[place] - clientHeight / 3;
    this.draw();
    this.scroller.scrollTop = this.tops[place] - clientHeight / 3; // what was drawn may be higher than was guessed
  }

  /** As `go`, with the keys: for whoever comes from elsewhere on the page. */
  show(number) {
    this.go(number);
    this.element.scrollIntoView({ block: "nearest" });
    this.scroller.focus({ preventScroll: true });
  }

  unfold(run) {
    for (const line of run) this.log.folded[line] = 0;
    const { scrollTop } = this.scroller;
    this.arrange();
    this.scroller.scrollTop = scrollTop;
    this.draw();
  }

  select(line) {
    this.now = line;
    this.active = null;
    this.redraw();
    const place = this.current();
    this.scroller.setAttribute("aria-activedescendant", `line-${place}`);
    const address = this.address(line + 1);
    try {
      history.replaceState(history.state, "", address);
    } catch { /* Safari takes a hundred in half a minute, fewer than a key that is held down asks for */ }
    const copied = (word, text) => this.button(word, (event) => copyBy(event.target, text));
    this.chosen.replaceChildren(make("span", { textContent: `${this.say("line", { line: line + 1 })} ` }, make("code", { textContent: this.log.prefix(line).trim() })), copied("copy_address", new URL(address, location.href).href), copied("copy_line", this.log.lines[line]));
    this.chosen.hidden = false;
  }

  redraw() {
    for (const row of this.drawn.values()) row.remove();
    this.drawn.clear();
    this.draw();
  }

  /** A line or a fold was tapped. */
  tap(place) {
    const item = this.items[place];
    if (item < 0) { this.unfold(this.folds[-item - 1]); this.moveTo(place); return; }
    if (this.log.body(item).length > LONGEST && !this.opened.has(item)) { this.opened.add(item); this.redraw(); }
    this.select(item);
  }

  tapStrip(event) {
    const { top, height } = this.strip.getBoundingClientRect();
    const at = event.clientY - top, total = this.tops[this.items.length];
    const near = this.marked.filter((line) => this.placeOf.has(line)).map((line) => [Math.abs((this.tops[this.placeOf.get(line)] / total) * height - at), line]).sort((one, other) => one[0] - other[0])[0];
    if (near && near[0] < 8) this.go(near[1] + 1);
    else this.scroller.scrollTop = (at / height) * total - this.scroller.clientHeight / 2;
  }

  key(event) {
    if (composing(event) || event.altKey) return;
    const isFind = (event.ctrlKey || event.metaKey) && event.key === "f";
    if (isFind) { event.preventDefault(); this.search.focus(); this.search.select(); return; }
    if (event.ctrlKey || event.metaKey) return;
    const place = this.active ?? this.current();
    if (event.key === "Enter" && place >= 0) { event.preventDefault(); this.tap(place); return; }
    const { scrollTop, clientHeight } = this.scroller, top = this.placeAt(scrollTop), last = this.items.length - 1;
    const page = Math.max(1, this.placeAt(scrollTop + clientHeight) - top - 1);
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -last, End: last }[event.key];
    if (!step) return;
    event.preventDefault();
    this.moveTo(Math.min(last, Math.max(0, (place < 0 ? top : place) + step)));
  }

  /** Moves the selection to an item, and the sheet no further than it takes. */
  moveTo(place) {
    const item = this.items[place];
    this.reach(place);
    if (item >= 0) this.select(item);
    else {
      this.active = place; // a fold that the keys are at
      this.now = -1;
      this.redraw();
      this.scroller.setAttribute("aria-activedescendant", `line-${place}`);
      this.drawn.get(place)?.setAttribute("aria-selected", "true");
    }
    this.reach(place); // what was drawn may be higher than was guessed
  }

  reach(place) {
    const { scrollTop, clientHeight } = this.scroller;
    if (this.tops[place] < scrollTop) this.scroller.scrollTop = this.tops[place];
    else if (this.tops[place + 1] > scrollTop + clientHeight) this.scroller.scrollTop = this.tops[place + 1] - clientHeight;
  }

  /* -- Searching, choosing, folding -- */

  find() {
    this.needle = this.search.value;
    const wanted = this.needle.toLowerCase();
    this.small ??= this.log.lines.map((_, line) => this.log.body(line).toLowerCase());
    this.hits = [];
    if (wanted) this.small.forEach((text, line) => { if (text.includes(wanted) && (!this.only || this.log.source[line] === this.only)) this.hits.push(line); });
    this.hit = -1;
    this.back.hidden = this.on.hidden = !this.hits.length;
    if (this.hits.length) this.step(1, this.placeAt(this.scroller.scrollTop));
    else { this.count.textContent = wanted ? this.say("none") : ""; this.redraw(); }
    this.drawStrip();
  }

  /** Goes to the next line that was found; from a place in the sheet where one is given. */
  step(by, from) {
    const { hits } = this;
    if (!hits.length) return;
    if (from !== undefined) {
      const line = this.lineAt(from);
      this.hit = Math.max(0, hits.findIndex((each) => each >= line));
    } else this.hit = (this.hit + by + hits.length) % hits.length;
    const line = hits[this.hit];
    if (this.log.body(line).toLowerCase().indexOf(this.needle.toLowerCase()) > LONGEST - this.needle.length) this.opened.add(line);
    this.go(line + 1);
    this.count.textContent = this.say("hits", { place: this.hit + 1, count: hits.length });
    if (from === undefined) announce(`${this.count.textContent}: ${this.log.body(line).trim().slice(0, 120)}`);
  }

  showOnly(source) {
    const line = this.now >= 0 ? this.now : this.lineAt(this.placeAt(this.scroller.scrollTop));
    this.only = source;
    this.arrange();
    this.find();
    const there = this.placeOf.has(line) ? line : this.items.find((item) => item >= line);
    if (there !== undefined) this.go(there + 1, { quiet: true });
    announce(this.say("lines", { count: this.items.length }));
  }

  toggle() {
    const line = this.lineAt(this.placeAt(this.scroller.scrollTop));
    this.isFolding = !this.isFolding;
    this.fold.textContent = this.say(this.isFolding ? "unfold" : "fold");
    this.arrange();
    if (this.placeOf.has(line)) { this.scroller.scrollTop = this.tops[this.placeOf.get(line)]; this.draw(); }
  }

  /** Draws all of it, once it stands in the page. */
  open(number) {
    this.arrange();
    if (this.fold) this.fold.hidden = !this.folds.length; // what is too short to be folded
    const { log } = this;
    const aim = number || log.root + 1 || (this.marked[0] ?? log.lines.length - 1) + 1;
    this.go(aim, { quiet: !number });
  }
}

/** The viewer of a log by what its answer told, once its style is there; null where another answer came meanwhile. */
export async function openViewer(text, told, ways) {
  const layout = JSON.parse(told.textContent);
  if (!document.querySelector(`link[href="${layout.style}"]`)) {
    await new Promise((resolve) => document.head.append(make("link", { rel: "stylesheet", href: layout.style, onload: resolve, onerror: resolve })));
  }
  if (!told.isConnected) return null;
  const matched = new Map();
  for (const row of document.querySelectorAll("#diagnosis .evidence li")) {
    matched.set(Number(row.querySelector("[data-line]").dataset.line), [...row.querySelectorAll("mark")].map((each) => each.textContent));
  }
  return new Viewer(text, layout, matched, ways);
}
