// <jieda-search>: the search of a Jieda server as one element on somebody else's page. No cookies, nothing stored.
//
//   <script type="module" src="https://faq.example.com/static/jieda-search.js"></script>
//   <jieda-search lang="en" framework="trainer"></jieda-search>
//
// Attributes: server (by default where the script is from), lang, framework, limit, placeholder.
// docs/embedding.md says what the server must be told.

const HERE = new URL(import.meta.url);
const PAUSE = 180; // ms without a key before anything is asked
const TEXT = {
  en: { label: "Search the FAQ", placeholder: "Paste an error or ask", explains: "Explains this error", possible: "Possible: check the cause", which: "Which framework? It may be one of these:", foreign: "Another framework: its options do not hold", weak: "Nothing fits well. Closest:", nothing: "Nothing found.", all: "All results", down: "The search does not answer.", results: "{count} results" },
  zh: { label: "搜索常见问题", placeholder: "粘贴报错或输入问题", explains: "能解释这个报错", possible: "有可能，先核对原因", which: "用的是哪个框架？可能是其中之一：", foreign: "写的是别的框架，选项不通用", weak: "没有合适的条目，最接近的是：", nothing: "没有找到。", all: "全部结果", down: "搜索服务没有响应。", results: "{count} 条结果" },
};
const STYLE = `
:host { --accent: #3451b2; --paper: Canvas; --ink: CanvasText; display: block; position: relative; font: inherit; text-align: start; color-scheme: light dark; }
input { box-sizing: border-box; width: 100%; min-height: 44px; padding: .5em .75em; border: 1px solid color-mix(in srgb, var(--ink) 45%, transparent); border-radius: 8px; font: inherit; color: var(--ink); background: var(--paper); }
input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
[role=listbox] { position: absolute; z-index: 1000; inset-inline: 0; margin-top: 4px; max-height: min(70vh, 32em); overflow-y: auto; overscroll-behavior: contain; border: 1px solid color-mix(in srgb, var(--ink) 30%, transparent); border-radius: 8px; color: var(--ink); background: var(--paper); box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
a, p { display: block; margin: 0; padding: .55em .75em; color: inherit; text-decoration: none; overflow-wrap: anywhere; }
a[aria-selected=true], a:hover { background: color-mix(in srgb, var(--accent) 16%, var(--paper)); }
a + a { border-top: 1px solid color-mix(in srgb, var(--ink) 12%, transparent); }
strong { display: block; font-weight: 600; }
small { display: block; opacity: .8; font-size: .85em; }
mark { color: inherit; background: color-mix(in srgb, gold 45%, transparent); }
code { padding: 0 .2em; border-radius: 3px; background: color-mix(in srgb, var(--ink) 9%, transparent); font-size: .95em; }
p { opacity: .8; font-size: .9em; }
[hidden] { display: none; }
.said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }`;

const make = (name, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

/** A stretch of a text, given as its characters: ranges of the first layer as elements, those of the next within. */
function layered(text, start, end, [[name, ranges] = [], ...inner]) {
  if (!name) return [text.slice(start, end).join("")];
  const nodes = [];
  for (const range of ranges.filter((each) => start < each.end && each.start < end)) {
    const [from, to] = [Math.max(range.start, start), Math.min(range.end, end)];
    nodes.push(...layered(text, start, from, inner), make(name, {}, ...layered(text, from, to, inner)));
    start = to;
  }
  return [...nodes, ...layered(text, start, end, inner)];
}

const passage = ({ snippet_text, snippet_marks, snippet_code }) => layered([...snippet_text], 0, Infinity, [["code", snippet_code], ["mark", snippet_marks]]);

/** What a server says of a text that a failing program printed; of a question, the hits say it. */
const judged = (said) => (said && (said.errors.length || said.matches.some(({ matched }) => matched.some(({ reason }) => reason === "signature"))) ? said : { outcome: "", asks: [], matches: [], near: [] });

class JiedaSearch extends HTMLElement {
  static observedAttributes = ["lang", "placeholder"];

  #input = make("input", { type: "search", autocomplete: "off", spellcheck: false });
  #list = make("div", { id: "list", hidden: true });
  #said = make("div", { className: "said" });
  #timer = 0;
  #request = null;
  #asked = "";
  #composing = false;
  #active = -1;

  constructor() {
    super();
    this.attachShadow({ mode: "open" }).append(make("style", { textContent: STYLE }), this.#input, this.#list, this.#said);
    this.#said.setAttribute("aria-live", "polite");
    this.#list.setAttribute("role", "listbox");
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-controls": "list", "aria-expanded": "false", maxlength: "1000" })) this.#input.setAttribute(name, value);
    this.#input.addEventListener("compositionstart", () => { this.#composing = true; clearTimeout(this.#timer); });
    this.#input.addEventListener("compositionend", () => { this.#composing = false; this.#typed(); });
    this.#input.addEventListener("input", (event) => { if (!this.#composing && !event.isComposing) this.#typed(); });
    this.#input.addEventListener("keydown", (event) => this.#key(event));
    // MkDocs and Sphinx would take letters for their shortcuts: from outside, nobody seems to be typing.
    for (const name of ["keydown", "keypress", "keyup"]) this.shadowRoot.addEventListener(name, (event) => { if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation(); });
    this.#list.addEventListener("pointerdown", (event) => event.preventDefault()); // keeps the focus in the field
    this.addEventListener("focusout", (event) => { if (!this.shadowRoot.contains(event.relatedTarget)) this.#close(); });
  }

  connectedCallback() { this.#dress(); }
  attributeChangedCallback() { this.#dress(); }
  focus(options) { this.#input.focus(options); }

  get #lang() { return (this.getAttribute("lang") || document.documentElement.lang || "en").toLowerCase().startsWith("zh") ? "zh" : "en"; }
  get #words() { return TEXT[this.#lang]; }
  get #server() { return new URL(this.getAttribute("server") || HERE.href.slice(0, HERE.href.lastIndexOf("/static/")), location.href).href.replace(/\/$/, ""); }

  #dress() {
    this.#input.placeholder = this.getAttribute("placeholder") || this.#words.placeholder;
    this.#input.setAttribute("aria-label", this.#words.label);
    this.#list.setAttribute("aria-label", this.#words.label);
  }

  #params(text, more = {}) {
    const framework = this.getAttribute("framework");
    return new URLSearchParams({ q: text, ...(framework ? { framework } : {}), ...more });
  }

  #typed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), PAUSE);
  }

  async #ask() {
    const text = this.#input.value.trim();
    if (text === this.#asked) return;
    this.#request?.abort();
    this.#asked = text;
    if (!text) return this.#close();
    const request = (this.#request = new AbortController());
    try {
      const limit = Math.min(Math.max(parseInt(this.getAttribute("limit")) || 6, 1), 50); // the API refuses others
      const address = `${this.#server}/api/v1/search?${this.#params(text, { lang: this.#lang, limit })}`;
      const response = await fetch(address, { signal: request.signal, credentials: "omit" });
      if (!response.ok) throw new Error(String(response.status));
      const answer = await response.json();
      if (!request.signal.aborted) this.#show(answer, text);
    } catch (error) {
      if (error.name === "AbortError") return;
      this.#asked = "";
      this.#fill([make("p", { textContent: this.#words.down })], this.#words.down);
    }
  }

  #show(answer, text) {
    const words = this.#words;
    const { outcome, asks, matches, near } = judged(answer.judgement);
    const foreign = near.filter((each) => each.foreign);
    const told = new Set([...matches, ...foreign].map(({ id }) => id));
    const hits = answer.hits.filter(({ id }) => !told.has(id)).slice(0, answer.weak ? 2 : undefined);
    const note = asks.length ? "" : outcome === "known" ? words.explains : words.possible;
    const items = [...matches.map((each) => this.#item(each, note)), ...foreign.map((each) => this.#item(each, words.foreign)), ...hits.map((each) => this.#item(each, "", passage(each)))];
    const first = asks.length ? words.which : answer.weak && !matches.length && items.length ? words.weak : "";
    const doubt = first ? [make("p", { textContent: first })] : [];
    const none = items.length ? [] : [make("p", { textContent: words.nothing })];
    const all = make("a", { href: `${this.#server}/${this.#lang}/search?${this.#params(text)}`, textContent: words.all });
    all.setAttribute("role", "option");
    this.#fill([...doubt, ...none, ...items, ...(answer.total > hits.length ? [all] : [])], first || words.results.replace("{count}", items.length));
  }

  #item(entry, note, snippet = []) {
    const { pathname, search, hash } = new URL(entry.url, `${this.#server}/`); // of whatever name the server calls itself
    const item = make("a", { href: new URL(pathname + search + hash, `${this.#server}/`).href }, make("strong", { textContent: entry.title }));
    const about = [note, entry.applies_to].filter(Boolean).join(" · ");
    if (about) item.append(make("small", { textContent: about }));
    if (snippet.length) item.append(make("small", {}, ...snippet));
    item.setAttribute("role", "option");
    return item;
  }

  #fill(children, said) {
    this.#list.replaceChildren(...children);
    this.#options().forEach((item, place) => { item.id = `option-${place}`; item.tabIndex = -1; });
    this.#list.hidden = !children.length;
    this.#input.setAttribute("aria-expanded", String(Boolean(children.length)));
    this.#said.textContent = said;
    this.#activate(-1);
  }

  #options() { return [...this.#list.querySelectorAll("[role=option]")]; }

  #close() {
    clearTimeout(this.#timer);
    this.#request?.abort();
    this.#asked = "";
    this.#fill([], "");
  }

  #activate(place) {
    this.#active = place;
    const options = this.#options();
    options.forEach((item, each) => item.setAttribute("aria-selected", String(each === place)));
    options[place]?.scrollIntoView({ block: "nearest" });
    if (options[place]) this.#input.setAttribute("aria-activedescendant", options[place].id);
    else this.#input.removeAttribute("aria-activedescendant");
  }

  #key(event) {
    if (this.#composing || event.isComposing || event.keyCode === 229 || event.ctrlKey || event.metaKey || event.altKey) return;
    const options = this.#options();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && !this.#list.hidden) this.#close();
    else if (event.key === "Enter" && options[this.#active]) options[this.#active].click();
    else if (event.key === "Enter" || (step && this.#list.hidden)) { clearTimeout(this.#timer); this.#ask(); }
    else if (step) this.#activate(((this.#active + 1 + step + options.length + 1) % (options.length + 1)) - 1);
    else return;
    event.preventDefault();
  }
}

customElements.define("jieda-search", JiedaSearch);
