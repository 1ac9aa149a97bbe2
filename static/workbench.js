// The workbench: what is written is kept in this browser and looked at by the server after a pause. Everything else
// is a form that works by itself. Nothing here acts while an input method is composing.

import { announce, composing, keep as keepInTab, kept as keptInTab, make, take, tellShown } from "./app.js";

const form = document.getElementById("bench");
const drafts = document.getElementById("drafts");
const PREFIX = "jieda.bench.";
const KEPT = ["entry", "draft", "framework", "slug", "en", "zh", "opened-en", "opened-zh", "log", "keep", "author", "email", "message"];
const PAUSE = 700; // ms after the last key
const AGAIN = 4000; // ms after which a server that was away is asked again

const time = (at) => new Date(at).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });

/* ---- Drafts in this browser: they outlive the tab ---- */

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name));
  } catch {
    return null;
  }
}

function forget(name) {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch { /* there is no storage, so nothing is kept */ }
}

function keptNames() {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(PREFIX)).map((name) => name.slice(PREFIX.length));
  } catch {
    return [];
  }
}

// Two tabs may write at one draft. Each keeps its own text: whoever finds that the other has written goes on under another
// name, `draft~time`, which the tab remembers.
const ownName = (draft) => {
  const name = keptInTab(`bench.${draft}`);
  return name && kept(name) ? name : draft;
};

/** Goes on with a kept draft: sent as the form would send it. */
function resume(name, held) {
  keepInTab(`bench.${held.values.draft}`, name);
  const again = make("form", { method: "post", action: drafts.dataset.action, hidden: true });
  for (const [name, value] of Object.entries(held.values)) again.append(make("textarea", { name, value }));
  document.body.append(again);
  again.submit();
}

const discarded = take("bench.discarded");
if (discarded) announce((form ?? drafts).dataset.discarded);

if (drafts) {
  const list = drafts.querySelector("ul");
  for (const name of keptNames()) {
    const held = kept(name);
    if (!held?.values) continue;
    const id = held.values.entry || `${held.values.framework}/${held.values.slug}`;
    const open = make("button", { type: "button", textContent: id });
    const drop = make("button", { type: "button", textContent: drafts.dataset.discard });
    drop.setAttribute("aria-label", `${drafts.dataset.discard}: ${id}`);
    const item = make("li", {}, open, " ", make("span", { className: "count", textContent: time(held.at) }), " ", drop);
    open.addEventListener("click", () => resume(name, held));
    drop.addEventListener("click", () => {
      (item.nextElementSibling ?? item.previousElementSibling)?.lastElementChild.focus();
      forget(name);
      item.remove();
      drafts.hidden = !list.children.length;
      if (drafts.hidden) document.querySelector("h1").focus();
      announce(drafts.dataset.discarded);
    });
    list.append(item);
  }
  drafts.hidden = !list.children.length;
  const switched = take("bench.switched");
  if (switched && kept(switched)) resume(switched, kept(switched));
}

if (form) {
  const { dataset } = form;
  const status = document.getElementById("bench-status");
  const discard = document.getElementById("discard");
  const fields = KEPT.map((name) => form.elements[name]).filter(Boolean);
  const isBox = ({ type }) => type === "checkbox";
  const values = () => Object.fromEntries(fields.map((field) => [field.name, isBox(field) && !field.checked ? "" : field.value]));
  const hint = document.getElementById("bench-kept").firstChild;
  const said = (text) => { hint.textContent = `${text} `; };
  const served = JSON.stringify(values()); // as the server sent it
  const pageOf = (entry) => form.action + (entry && `?${new URLSearchParams({ entry })}`);

  let mine = ownName(dataset.draft);
  let known = kept(mine)?.at; // when the text that this page knows of was kept
  let touched = false;

  const isOther = (held) => Boolean(held) && held.at !== known && JSON.stringify(held.values) !== JSON.stringify(values());
  const warn = () => { document.getElementById("bench-elsewhere").hidden = false; };

  function keep() {
    touched = true;
    try {
      if (isOther(kept(mine))) {
        mine = `${dataset.draft}~${Date.now().toString(36)}`;
        warn();
      }
      known = Date.now();
      localStorage.setItem(PREFIX + mine, JSON.stringify({ at: known, values: values() }));
      keepInTab(`bench.${dataset.draft}`, mine);
      said(dataset.kept.replace("{time}", time(Date.now())));
      discard.hidden = false;
    } catch {
      said(dataset.unkept);
    }
  }

  function put(held) {
    for (const field of fields) {
      if (isBox(field)) field.checked = Boolean(held[field.name] ?? field.checked);
      else field.value = held[field.name] ?? field.value;
      if (field.value) field.closest("details")?.setAttribute("open", "");
    }
  }

  // A page that answers the form has the newest text; one that was just opened or begun may have an older draft. A page
  // that is loaded again has what was written since.
  const [visit] = performance.getEntriesByType("navigation");
  const older = dataset.begun === "1" || visit?.type !== "navigate";
  if (dataset.done) {
    forget(ownName(dataset.done));
    history.replaceState(null, "", pageOf(form.elements.entry.value)); // loaded again, it commits nothing
  }
  if (discarded) said(dataset.discarded);
  const draft = kept(mine);
  const restored = Boolean(draft && older && !dataset.done && JSON.stringify(draft.values) !== served);
  if (restored) {
    put(draft.values);
    said(dataset.restored.replace("{time}", time(draft.at)));
    announce(dataset.restored.replace("{time}", time(draft.at)));
    discard.hidden = false;
  } else if (!dataset.done && (dataset.begun !== "1" || !form.elements.entry.value)) keep();

  discard.addEventListener("click", () => {
    forget(mine);
    clearTimeout(timer);
    keepInTab("bench.discarded", true);
    location.assign(pageOf(form.elements.entry.value)); // this page may have been sent the draft
  });

  addEventListener("storage", ({ key, newValue }) => {
    if (!newValue || !(key === PREFIX + dataset.draft || key.startsWith(`${PREFIX}${dataset.draft}~`))) return;
    if (!isOther(JSON.parse(newValue))) return;
    warn();
    if (touched) keep();
  });

  /* ---- Looked at by the server ---- */

  let timer = 0;
  let running = null;

  const later = (pause) => { clearTimeout(timer); timer = setTimeout(look, pause); };

  const tell = (text) => { if (status.textContent !== text) status.textContent = text; }; // a change is read out

  async function look() {
    running?.abort();
    const mine = running = new AbortController();
    const body = new URLSearchParams(new FormData(form));
    body.set("do", "check");
    try {
      const response = await fetch(form.action, { method: "POST", body, headers: { Accept: "text/html" }, signal: mine.signal });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      if (!page.getElementById("bench-status")) throw new Error(page.title || String(response.status));
      show(page);
    } catch (error) {
      if (mine.signal.aborted) return;
      const away = error instanceof TypeError;
      tell(away ? dataset.offline : dataset.failed.replace("{reason}", error.message));
      if (away) later(AGAIN);
    }
  }

  /** Puts in what the server says of the draft; fields and whatever has the same content stay untouched. */
  function show(page) {
    for (const old of document.querySelectorAll("[data-live]")) {
      const fresh = page.getElementById(old.id);
      if (!fresh || old === status || fresh.innerHTML === old.innerHTML) continue;
      const frame = old.querySelector("iframe");
      const newFrame = fresh.querySelector("iframe");
      if (frame && newFrame) {
        const top = frame.contentWindow?.scrollY ?? 0;
        frame.addEventListener("load", () => frame.contentWindow?.scrollTo(0, top), { once: true });
        frame.srcdoc = newFrame.getAttribute("srcdoc");
        continue;
      }
      old.replaceChildren(...document.importNode(fresh, true).childNodes);
      tellShown(old);
    }
    tell(page.getElementById("bench-status").textContent);
  }

  addEventListener("online", () => later(0));

  function changed(event) {
    if (event.isComposing || event.target.closest(".pickers, .theirs, .beside-choice")) return;
    keep();
    later(PAUSE);
  }
  form.addEventListener("input", changed);
  form.addEventListener("compositionend", () => setTimeout(() => changed({ target: form }), 0));
  form.addEventListener("submit", ({ submitter }) => {
    clearTimeout(timer);
    keep();
    keepInTab("bench.pressed", [submitter?.value, form.elements[submitter?.value]?.value]);
  });
  // The form's first button checks the draft; that of a field is beside it.
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || composing(event) || !event.target.matches(".pickers input")) return;
    event.preventDefault();
    event.target.nextElementSibling.click();
  });

  if (restored) later(0);

  // The page that answers a button goes on at what it says; where a field was set, at its button, unless that failed.
  const [button, value] = (dataset.begun !== "1" && take("bench.pressed")) || [];
  const told = document.getElementById("said");
  if (button && told) announce(told.textContent.trim());
  if (form.elements[button]?.localName === "select") form.elements[button].value = value;
  const pressed = form.querySelector(`button[value="${button}"]`);
  (told && (told.classList.contains("warn") || !pressed?.closest(".pickers")) ? told : pressed)?.focus();

  // In the other language, a draft of no entry is opened again from the list.
  document.forms.language.addEventListener("submit", () => { if (!form.elements.entry.value) keepInTab("bench.switched", mine); });

  /* ---- From a message to its line, and links of a preview ---- */

  form.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-line]");
    if (!link) return;
    event.preventDefault();
    const area = form.elements[link.dataset.edition];
    const lines = area.value.split("\n");
    const before = lines.slice(0, Number(link.dataset.line) - 1).join("\n").length;
    const start = before ? before + 1 : 0;
    area.focus();
    area.setSelectionRange(start, start + (lines[link.dataset.line - 1] ?? "").length);
    area.scrollTop = (area.scrollHeight / lines.length) * Math.max(0, link.dataset.line - 4);
    area.scrollIntoView({ block: "center" });
  });

  // A preview shows the entry and leads nowhere; a link in it opens beside the workbench.
  const lead = (frame) => frame.contentDocument?.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href]");
    if (!link || link.getAttribute("href").startsWith("#")) return;
    event.preventDefault();
    open(link.href, "_blank", "noopener");
  });
  const watch = (frame) => { lead(frame); frame.addEventListener("load", () => lead(frame)); };
  for (const frame of document.querySelectorAll(".preview iframe")) watch(frame);
  document.addEventListener("jieda:shown", (event) => { for (const frame of event.detail.querySelectorAll("iframe")) watch(frame); });
}
