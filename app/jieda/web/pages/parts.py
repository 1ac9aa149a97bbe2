"""Views shared by several pages: links, list rows, breadcrumbs, pagers, and line breaks in large titles."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from markupsafe import Markup
from starlette.exceptions import HTTPException

from jieda.analysis.token import RunKind, TokenKind
from jieda.content.catalog import without_framework
from jieda.entry import Entry, Language, Summary
from jieda.han import has_han, is_han
from jieda.usecases.entries import used_tags
from jieda.usecases.gaps.redact import PLACEHOLDER
from jieda.versions import doubtful_version
from jieda.web.pages.context import PageContext
from jieda.web.templating import safe, whole_flags


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link; `lang` is the language of its text if that may differ from the page's."""

    text: str
    url: str
    lang: Language | None = None


@dataclass(frozen=True, slots=True)
class TagLink:
    """A tag with its description and number of entries."""

    id: str
    name: str
    description: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry in a list. `applies_to` omits the name of the framework; empty if nothing is left. `doubt` says that the
    entry may not apply to the version in question, or is empty."""

    summary: Summary
    framework: PageLink
    title: PageLink
    applies_to: str
    doubt: str = ""


def tag_link(context: PageContext, facet: str, value: str) -> PageLink:
    """Return a link to the page of a tag."""
    return PageLink(context.name_of(facet, value), context.urls.tag(context.lang, facet, value))


def tag_links(context: PageContext, facet: str) -> tuple[TagLink, ...]:
    """Return links to the pages of all tags of a facet that have entries, in the order of the taxonomy."""
    lang, url = context.lang, partial(context.urls.tag, context.lang, facet)
    return tuple(
        TagLink(tag.id, tag.name[lang], tag.description[lang], counted.count, url(tag.id))
        for counted in used_tags(context.library, facet)
        for tag in (counted.tag,)
    )


def entry_link(context: PageContext, summary: Summary) -> PageLink:
    """Return a link to the page of an entry, by the title of the edition shown there."""
    title, url = summary.edition(context.lang).title, context.urls.entry(context.lang, summary.id)
    return PageLink(title, url, summary.shown(context.lang))


def entry_row(context: PageContext, summary: Summary, may_not_apply_to: str = "") -> ListedEntry:
    """Return an entry as a row of a list."""
    doubt = context.t("diagnosis.may_not_apply", version=may_not_apply_to) if may_not_apply_to else ""
    framework = tag_link(context, "framework", summary.framework)
    applies_to = without_framework(framework.text, summary.edition(context.lang).applies_to)
    return ListedEntry(summary, framework, entry_link(context, summary), applies_to, doubt)


def doubt_of(context: PageContext, entry: Entry, text: str = "") -> str:
    """Return the version, in a text or else the reader's own, that an entry may not apply to; or empty."""
    packages = context.library.taxonomy.packages
    own = f"{context.framework} {context.version}" if context.version else ""  # as a log would print them
    in_text = doubtful_version(entry.validity, text, packages)
    return in_text or doubtful_version(entry.validity, own, packages)


def page_count(total: int, size: int) -> int:
    """Return the number of pages of `size` entries, at least one."""
    return max(1, -(-total // size))


def build_pager(
    context: PageContext, page: int, total: int, size: int, address: Callable[..., str]
) -> Mapping[str, str]:
    """Return the position of page `page`, from 1, in a list with `size` entries a page, and the addresses of adjacent
    pages, empty if there is no such page; nothing if there is only one page. `address` takes a `page`. Raises
    HTTPException for a page beyond the last."""
    pages = page_count(total, size)
    if page > pages:
        raise HTTPException(404)
    if pages == 1:
        return {}
    return {
        "position": context.t("pager.position", page=page, pages=pages),
        "previous": address(page=page - 1) if page > 1 else "",
        "next": address(page=page + 1) if page < pages else "",
    }


def crumb_data(context: PageContext, crumbs: tuple[PageLink, ...]) -> dict[str, object]:
    """Return breadcrumbs as schema.org data."""
    return {
        "@context": "https://schema.org",
        "@type": "BreadcrumbList",
        "itemListElement": [
            {
                "@type": "ListItem",
                "position": place,
                "name": crumb.text,
                "item": context.urls.absolute(crumb.url),
            }
            for place, crumb in enumerate(crumbs, 1)
        ],
    }


HOLE = Markup('<span class="hole" lang="{}"><span class="unseen">{} </span>{}</span>')


def redacted(context: PageContext, text: str) -> Markup:
    """Return a redacted text as HTML, in which each hole says what kind of text was removed."""
    html, end = Markup(""), 0
    for hole in PLACEHOLDER.finditer(text):
        kind = context.t(f"hole.{hole[0][1:-1]}")
        html += text[end : hole.start()] + HOLE.format(context.lang.tag, context.t("maintain.hole"), kind)
        end = hole.end()
    return html + text[end:]


LINE_BREAK = Markup("<wbr>")
NAME = Markup('<span class="name">{}</span>')
_LONG = r"(?:[\w.:/=-][\w.:/=\[\]-]{17,}|(?<![\w-])--[A-Za-z][\w-]*)"
LONG_NAME = re.compile(
    rf"[(（\[「]*(?:{_LONG}|<mark>{_LONG}</mark>)(?:\(\))?[)）\]」,，:：;；、。?？]*", re.ASCII
)
"""A flag, or a name that may be wider than a phone in large type, with adjacent punctuation; it may be marked."""
NAME_PART = re.compile(r"(?<=[._/=:\[])(?<!</)(?=\w)|(?<=[a-z])(?=[A-Z])", re.ASCII)
"""The start of a part of such a name."""


def phrased(context: PageContext, text: str, lang: Language) -> Markup:
    """Return `text` as HTML with the allowed line breaks; the style sheet forbids all others (class `phrased`).

    A long name stays on one line if the line is long enough (class `name`).
    """
    words = set(_between_words(context, text)) if lang is Language.ZH and has_han(text) else set()
    html, place = Markup(""), 0
    for name in LONG_NAME.finditer(text):
        start, end = name.span()
        parts = {part.start() for part in NAME_PART.finditer(text, start + 1, end)}
        html += with_breaks(text, place, start, words) + NAME.format(with_breaks(text, start, end, parts))
        place = end
    return html + with_breaks(text, place, len(text), words)


def whole_names(html: str) -> Markup:
    """Keep the long names in escaped text, which may have marks, on one line each if it is long enough."""
    return whole_flags(LONG_NAME.sub(lambda name: NAME.format(safe(NAME_PART.sub("<wbr>", name[0]))), html))


def with_breaks(text: str, start: int, end: int, breaks: Collection[int]) -> Markup:
    """Return a part of a text as HTML with optional line breaks at the positions in `breaks`."""
    positions = [start, *sorted(position for position in breaks if start < position < end), end]
    return LINE_BREAK.join(text[left:right] for left, right in pairwise(positions))


def _between_words(context: PageContext, text: str) -> Iterator[int]:
    """Yield word boundaries next to a Han character, with no punctuation on either side."""
    analysis = context.served.searcher.analyzer.analyze(text)
    words = (
        token for run in analysis.runs if run.kind is RunKind.HAN for token in run.of_kind(TokenKind.TERM)
    )
    inside = {position for word in words for position in range(word.start + 1, word.end)}
    for position, (left, right) in enumerate(pairwise(text), 1):
        is_boundary = (is_han(left) and right.isalnum()) or (left.isalnum() and is_han(right))
        if is_boundary and position not in inside:
            yield position
