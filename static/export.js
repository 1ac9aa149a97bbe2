// On an exported site only, before every other script: answers in the browser what a server would be asked for.
// The data is that of app/jieda/export/pages.py.

const here = new URL(document.currentScript.src);
const root = here.pathname.slice(0, here.pathname.lastIndexOf("/static/"));
const STEPS = 999, RESULTS = 20, MISSED = 0.5, NAMED = 1.6, PAIR = 0.4, PART = 0.5, LONGEST_WORD = 8;
const askServer = window.fetch.bind(window);
let loading = null;
const load = () => (loading ??= askServer(`${root}/search.json`).then((answer) => answer.json()).catch((error) => {
  loading = null; // asked for again
  throw error;
}));

/* ---- A query as terms ---- */

const isHan = (text) => /^\p{Script=Han}+$/u.test(text);

function stemOf(word, data) {
  if (Object.hasOwn(data.stems, word)) return data.stems[word];
  if (data.terms[`t:${word}`]) return word;
  for (const end of ["ing", "ed", "es", "s"]) {
    const stem = word.endsWith(end) && word.slice(0, -end.length);
    if (stem && data.terms[`t:${stem}`]) return stem;
  }
  return word;
}

/** The words of a Han run that entries have, longest first; what is left over as pairs and single characters. */
function hanClauses(run, data) {
  const clauses = [];
  for (let at = 0; at < run.length;) {
    let length = Math.min(LONGEST_WORD, run.length - at);
    while (length > 1 && !data.terms[`t:${run.slice(at, at + length)}`]) length -= 1;
    if (length > 1) clauses.push([[`t:${run.slice(at, at + length)}`, 1]]);
    else {
      clauses.push([[`g:${run[at]}`, PAIR]]);
      if (at + 1 < run.length) clauses.push([[`g:${run.slice(at, at + 2)}`, PAIR]]);
    }
    at += length;
  }
  return clauses;
}

/** What a query asks for: clauses of terms with weights, of which the best counts. */
function clausesOf(text, data) {
  const clauses = [], stems = [];
  for (const [piece] of text.normalize("NFKC").matchAll(/\p{Script=Han}+|[\p{L}\p{N}]+(?:[-_./:=+][\p{L}\p{N}]+)*/gu)) {
    if (isHan(piece)) {
      clauses.push(...hanClauses(piece, data));
      stems.push(...piece);
      continue;
    }
    const words = piece.split(/[^\p{L}\p{N}]+|(?<=[a-z])(?=[A-Z])/u).filter(Boolean).map((word) => word.toLowerCase());
    const found = words.map((word) => stemOf(word, data));
    const whole = piece.toLowerCase();
    stems.push(...found);
    if (words.length === 1) clauses.push([[`t:${found[0]}`, 1], [`x:${whole}`, 1], [`p:${found[0]}`, PART]]);
    else if (data.terms[`x:${whole}`] || data.terms[`t:${whole}`]) clauses.push([[`x:${whole}`, 1.4], [`t:${whole.replace(/-/g, "_")}`, 1.4]]);
    else clauses.push(...found.map((stem) => [[`t:${stem}`, 1], [`p:${stem}`, PART]]));
  }
  for (let first = 0; first < stems.length; first += 1) {
    for (let last = Math.min(stems.length, first + 12); last > first; last -= 1) {
      const member = stems.slice(first, last).join(" ");
      if (!Object.hasOwn(data.members, member)) continue;
      clauses.push(data.members[member].map((group) => [`c:${group}`, 1]));
      first = last - 1;
      break;
    }
  }
  return clauses;
}

/** Whether a text has a name, not merely as a part of an English word. */
const isNamed = (name, text) => new RegExp(`(?<![a-z0-9])${name.replace(/[^\p{L}\p{N}]/gu, "\\$&")}(?![a-z0-9])`).test(text.toLowerCase());

/* ---- Ranking: BM25's sum, scaled by how much of the query an entry has ---- */

async function found(text, lang, framework) {
  const data = await load();
  const clauses = clausesOf(text, data);
  const total = data.entries.length;
  const scores = new Float64Array(total), covered = new Float64Array(total);
  let most = 0;
  for (const clause of clauses) {
    const best = new Map();
    let weight = 0;
    for (const [term, share] of clause) {
      const postings = data.terms[term];
      const idf = Math.log1p((total - (postings?.length ?? 0) / 2 + 0.5) / ((postings?.length ?? 0) / 2 + 0.5));
      weight = Math.max(weight, share * idf);
      for (let at = 0; postings && at < postings.length; at += 2) {
        const one = share * idf * (postings[at + 1] / STEPS);
        if (one > (best.get(postings[at])?.[0] ?? 0)) best.set(postings[at], [one, share * idf]);
      }
    }
    most += weight;
    for (const [number, [one, of]] of best) { scores[number] += one; covered[number] += of; }
  }
  const key = text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const named = Object.entries(data.frameworks).find(([name]) => isNamed(name, text))?.[1];
  return data.entries
    .map((entry, number) => ({ entry, score: scores[number] * (MISSED + (1 - MISSED) * Math.min(1, covered[number] / (most || 1))) * (entry[1] === named ? NAMED : 1) + (data.keys[key] === number ? 1e3 : 0) }))
    .filter(({ entry, score }) => score > 0 && (!framework || entry[1] === framework))
    .sort((one, other) => other.score - one.score)
    .map(({ entry: [id, of, texts] }) => {
      const shown = texts[lang] ?? Object.values(texts)[0];
      return { id, framework: of, title: shown[0], applies_to: shown[1], snippet: shown[2], url: `${root}/${lang}/entries/${id}/` };
    });
}

/* ---- In the place of a server ---- */

const json = (value) => new Response(JSON.stringify(value), { headers: { "Content-Type": "application/json" } });

async function answerApi({ searchParams: asked }) {
  const hits = await found(asked.get("q") ?? "", asked.get("lang") ?? "en", asked.get("framework"));
  return json({ total: hits.length, weak: false, diagnosis: [], facets: { framework: [] }, hits: hits.slice(0, Number(asked.get("limit")) || RESULTS) });
}

function card({ title, url, applies_to, snippet }) {
  const item = document.createElement("li");
  item.className = "card";
  const link = Object.assign(document.createElement("a"), { href: url, textContent: title });
  const heading = document.createElement("h2");
  heading.append(link);
  item.append(Object.assign(document.createElement("p"), { className: "card-meta", textContent: applies_to }), heading, Object.assign(document.createElement("p"), { className: "snippet", innerHTML: snippet }));
  return item;
}

/** The page of results, as the server would have sent it. */
async function answerPage(address) {
  const page = new DOMParser().parseFromString(await (await askServer(address.pathname)).text(), "text/html");
  const text = address.searchParams.get("q") ?? "";
  const hits = text ? await found(text, page.body.dataset.lang, address.searchParams.get("framework")) : [];
  const list = Object.assign(page.createElement("ol"), { className: "cards" });
  list.setAttribute("role", "list");
  list.append(...hits.map(card));
  const region = page.getElementById("found");
  if (text) page.title = `${text} · ${page.title}`;
  const status = region.querySelector(".status"), { one, other, none } = status.dataset;
  const said = hits.length === 1 ? one : hits.length ? other.replace("{count}", hits.length) : none;
  status.textContent = text ? said : "";
  if (text) region.replaceChildren(status, ...(hits.length ? [list] : []));
  return new Response(page.documentElement.outerHTML, { headers: { "Content-Type": "text/html" } });
}

window.fetch = (asked, options) => {
  const address = new URL(asked?.url ?? asked, location.href);
  const path = address.pathname.slice(root.length);
  if (path === "/api/v1/search") return answerApi(address);
  if (path === "/api/v1/suggest") return Promise.resolve(json([]));
  if (/^\/(en|zh)\/search\/?$/.test(path) && address.search) return answerPage(address);
  return options?.method === "POST" ? Promise.resolve(new Response(null, { status: 204 })) : askServer(asked, options);
};

/** Opens the results for a question, or for the last line of a log. */
function open(text) {
  location.assign(`${document.body.dataset.search}?${new URLSearchParams({ q: text.trim().split("\n").at(-1) })}`);
}

window.jieda = { found, open };

document.documentElement.classList.add("exported");
try { document.documentElement.dataset.theme = localStorage.getItem("jieda.theme") || document.documentElement.dataset.theme; } catch { /* no storage */ }

document.addEventListener("DOMContentLoaded", () => {
  for (const promise of document.querySelectorAll("#q-hint, [aria-labelledby=privacy]")) promise.remove(); // a server's
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest("#preferences [name=theme]");
    try { if (chosen) localStorage.setItem("jieda.theme", chosen.value); } catch { /* no storage */ }
  });
  document.addEventListener("submit", (event) => {
    const { target } = event;
    if (event.defaultPrevented || target.method !== "post") return;
    event.preventDefault();
    if (target.id !== "language") return open(new FormData(target).get("q") ?? "");
    const next = new URL(target.elements.next.value, location.href);
    next.search = location.search;
    location.assign(next);
  });
  if (document.body.classList.contains("page-search") && location.search) {
    document.getElementById("q").value = new URLSearchParams(location.search).get("q") ?? "";
    answerPage(new URL(location.href)).then(async (answer) => {
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.title = page.title;
      document.getElementById("results").replaceWith(document.adoptNode(page.getElementById("results")));
    }).catch(() => {
      const region = document.getElementById("found");
      const status = region.querySelector(".status");
      status.textContent = document.body.dataset.offline;
      region.replaceChildren(status);
    });
  }
});
