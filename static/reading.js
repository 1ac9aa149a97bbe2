// Reading an answer: code to copy and to wrap, headings to link to, the section that is being read.

import { copyBy, copyInline, make, place, words } from "./app.js";

/* ---- Headings: each is a link to itself, unless there is one in it ---- */

for (const heading of document.querySelectorAll(".article .prose h3[id], .article .prose h4[id]")) {
  if (heading.querySelector("a")) continue;
  heading.append(make("a", { className: "permalink", href: `#${encodeURIComponent(heading.id)}` }, ...heading.childNodes));
}

/* ---- Code ---- */

const INLINE = ".prose :not(pre) > code";

function dress(block) {
  const copying = make("button", { type: "button", className: "copy", textContent: words.copy });
  const wrapping = make("button", { type: "button", className: "wrap", textContent: words.wrap, hidden: true });
  wrapping.setAttribute("aria-pressed", "false");
  const wrapper = make("div", { className: "code" });
  block.replaceWith(wrapper);
  wrapper.append(block, make("div", { className: "code-tools" }, wrapping, copying));
  copying.addEventListener("click", () => copyBy(copying, block.textContent.replace(/\n$/, ""))); // the last line break is not code
  wrapping.addEventListener("click", () => {
    wrapping.setAttribute("aria-pressed", String(wrapper.classList.toggle("wrapped")));
  });
  new ResizeObserver(() => {
    const cut = block.scrollWidth > block.clientWidth + 1;
    wrapper.classList.toggle("cut", cut);
    wrapping.hidden = !cut && !wrapper.classList.contains("wrapped");
  }).observe(block);
}

function dressAll(region) {
  for (const block of region.querySelectorAll(".prose pre")) if (!block.closest(".code")) dress(block);
  for (const code of region.querySelectorAll(INLINE)) if (!code.closest("a, summary")) code.title = words.copyInline;
}
dressAll(document);
document.addEventListener("jieda:shown", (event) => dressAll(event.detail));

// A parameter or command that stands in a sentence: a click copies it, a double click selects all of it.
const inline = (event) => {
  const code = event.target.closest?.(INLINE);
  return code?.closest("a, summary") ? null : code;
};
document.addEventListener("click", (event) => {
  const code = inline(event);
  if (code && getSelection().isCollapsed) copyInline(code);
});
document.addEventListener("dblclick", (event) => {
  const code = inline(event);
  if (code) getSelection().selectAllChildren(code);
});

/* ---- Sections ---- */

const parts = [...document.querySelectorAll(".article > .part > h2")];
const LINE = 140; // px below the top at which a section counts as the one being read

function currentPart() {
  const read = scrollY < 40 ? undefined : parts.filter((part) => part.getBoundingClientRect().top < LINE).pop();
  return read?.id;
}

/** The section that is being read, as it is added to an address; on a page too short to scroll, the one in the address. */
function fragment() {
  const current = currentPart();
  if (current) return `#${current}`;
  const named = document.querySelector(":target");
  return named && named.getBoundingClientRect().top < innerHeight ? location.hash : "";
}

function markCurrent() {
  const current = currentPart();
  for (const link of document.querySelectorAll(".toc a")) {
    if (link.getAttribute("href") === `#${current}`) link.setAttribute("aria-current", "location");
    else link.removeAttribute("aria-current");
  }
}

if (parts.length) {
  place.fragment = fragment;
  if (document.querySelector(".toc")) addEventListener("scroll", markCurrent, { passive: true });
  document.addEventListener("click", (event) => {
    const twin = event.target.closest("a.twin");
    if (twin) twin.hash = fragment();
  });
}
