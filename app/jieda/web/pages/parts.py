"""Views shared by several pages: links, list rows, breadcrumbs, pagers, and line breaking of large titles."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup

from jieda.analysis.token import RunKind, TokenKind
from jieda.content.catalog import beside_framework
from jieda.entry import Entry, Language, Summary
from jieda.han import has_han, is_han
from jieda.presentation.schemas import EditionLink
from jieda.presentation.shaper import edition_links
from jieda.usecases.entries import CountedTag, used_tags
from jieda.usecases.gaps.redact import PLACEHOLDER
from jieda.versions import doubtful_version
from jieda.web.pages.context import PageContext


@dataclass(frozen=True, slots=True)
class PageLink:
    """A link. `lang` is set where the text is in another language than the page."""

    text: str
    url: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class TagLink:
    """A tag with its description and number of entries."""

    id: str
    name: str
    description: str
    count: int
    url: str


@dataclass(frozen=True, slots=True)
class Choice:
    """An option of a menu or a field. `lang` as in `PageLink`."""

    value: str
    name: str
    chosen: bool
    lang: str = ""


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry in a list. `lang` is the language of the edition shown.

    `applies_to` omits the name of the framework; empty where it adds nothing.
    """

    id: str
    lang: Language
    kind: str
    kind_name: str
    framework: PageLink
    title: PageLink
    applies_to: str
    updated: str
    updated_iso: str
    editions: tuple[EditionLink, ...]
    doubt: str = ""
    """States that the entry may not apply to the version in question; otherwise empty."""


@dataclass(frozen=True, slots=True)
class Pager:
    """The position in a list and the addresses of adjacent pages, empty where there is no such page."""

    text: str
    previous: str
    next: str


def name_of(context: PageContext, facet: str, value: str) -> str:
    """Return the name of a tag in the reader's language; its id where the taxonomy lacks it."""
    return context.library.taxonomy.name_of(facet, value, context.lang)


def tag_choices(
    context: PageContext, facet: str, values: Iterable[str], chosen: Collection[str] = ()
) -> tuple[Choice, ...]:
    """Return tags to choose from, of which `chosen` are selected."""
    return tuple(Choice(each, name_of(context, facet, each), each in chosen) for each in values)


def tag_link(context: PageContext, facet: str, value: str) -> PageLink:
    """Return a link to the page of a tag."""
    return PageLink(name_of(context, facet, value), context.urls.tag(context.lang, facet, value))


def counted_link(context: PageContext, counted: CountedTag, url: str) -> TagLink:
    """Return a link from a tag to a list of its entries."""
    tag, lang = counted.tag, context.lang
    return TagLink(tag.id, tag.name[lang], tag.description[lang], counted.count, url)


def tag_links(context: PageContext, facet: str) -> tuple[TagLink, ...]:
    """Return links to the pages of all tags of a facet that have entries, in the order of the taxonomy."""
    return tuple(
        counted_link(context, each, context.urls.tag(context.lang, facet, each.tag.id))
        for each in used_tags(context.library, facet)
    )


def lang_attribute(context: PageContext, lang: Language) -> str:
    """Return the `lang` attribute that a text in `lang` needs on this page, or empty."""
    return "" if lang is context.lang else lang.tag


def entry_link(context: PageContext, summary: Summary) -> PageLink:
    """Return a link to the page of an entry, by the title of the edition shown there."""
    lang = lang_attribute(context, summary.shown(context.lang))
    return PageLink(summary.edition(context.lang).title, context.urls.entry(context.lang, summary.id), lang)


def entry_row(context: PageContext, summary: Summary, may_not_apply_to: str = "") -> ListedEntry:
    """Return an entry as a row of a list."""
    version = may_not_apply_to
    framework = tag_link(context, "framework", summary.framework)
    return ListedEntry(
        id=summary.id,
        lang=summary.shown(context.lang),
        kind=summary.kind.value,
        kind_name=name_of(context, "kind", summary.kind.value),
        framework=framework,
        title=entry_link(context, summary),
        applies_to=beside_framework(framework.text, summary.edition(context.lang).applies_to),
        updated=context.day(summary.updated),
        updated_iso=summary.updated.isoformat(),
        editions=edition_links(summary, context.urls),
        doubt=context.t("diagnosis.may_not_apply", version=version) if version else "",
    )


def doubt_of(context: PageContext, entry: Entry, text: str = "") -> str:
    """Return the version that an entry may not apply to, out of those in a text and the reader's own; or empty."""
    packages = context.library.taxonomy.packages
    told = (doubtful_version(entry.validity, each, packages) for each in (text, context.works_with))
    return next(filter(None, told), "")


def page_count(total: int, size: int) -> int:
    """Return the number of pages of `size` entries, at least one."""
    return max(1, -(-total // size))


def build_pager(
    context: PageContext, page: int, total: int, size: int, address: Callable[[int], str]
) -> Pager | None:
    """Return the pager of a page (counted from 1) of `size` entries of a list; None where it has only one."""
    pages = page_count(total, size)
    if pages == 1:
        return None
    return Pager(
        text=context.t("pager.position", page=page, pages=pages),
        previous=address(min(page - 1, pages)) if page > 1 else "",
        next=address(page + 1) if page < pages else "",
    )


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


@dataclass(frozen=True, slots=True)
class Fragment:
    """A part of a redacted text. `hole`: something was redacted here, and `text` names its kind."""

    text: str
    hole: bool


def fragments_of(text: str, t: Callable[..., str]) -> tuple[Fragment, ...]:
    """Split a redacted text into fragments."""
    words, end = [], 0
    for hole in PLACEHOLDER.finditer(text):
        words += [
            Fragment(text[end : hole.start()], hole=False),
            Fragment(t(f"hole.{hole[0][1:-1]}"), hole=True),
        ]
        end = hole.end()
    return tuple(word for word in (*words, Fragment(text[end:], hole=False)) if word.text)


LINE_BREAK = Markup("<wbr>")
SET_NAME = Markup('<span class="name">{}</span>')
LONG_NAME = re.compile(
    r"[(（\[「]*(?:[\w.:/=-][\w.:/=\[\]-]{17,}|(?<![\w-])--[A-Za-z][\w-]*)(?:\(\))?[)）\]」,，:：;；、。?？]*",
    re.ASCII,
)
"""A name that may be wider than a phone in large type, or a flag, with the adjacent punctuation."""
NAME_PART = re.compile(r"(?<=[._/=:\[])(?=\w)|(?<=[a-z])(?=[A-Z])", re.ASCII)
"""Start of a part of such a name."""


def phrased(context: PageContext, text: str, lang: Language) -> Markup:
    """Return `text` as HTML with its allowed line breaks; the style sheet forbids all others (class `phrased`).

    A long name stays on one line where the line is long enough (class `name`).
    """
    words = set(_between_words(context, text)) if lang is Language.ZH and has_han(text) else set()
    html, place = Markup(""), 0
    for name in LONG_NAME.finditer(text):
        start, end = name.span()
        parts = {each.start() for each in NAME_PART.finditer(text, start + 1, end)}
        html += broken(text, place, start, words) + SET_NAME.format(broken(text, start, end, parts))
        place = end
    return html + broken(text, place, len(text), words)


def broken(text: str, start: int, end: int, breaks: Collection[int]) -> Markup:
    """Return a part of a text as HTML with optional line breaks at the positions in `breaks`."""
    places = [start, *sorted(each for each in breaks if start < each < end), end]
    return LINE_BREAK.join(text[left:right] for left, right in pairwise(places))


def _between_words(context: PageContext, text: str) -> Iterator[int]:
    """Yield word boundaries next to a Han character, without punctuation on either side."""
    inside = _inside_words(context, text)
    for place, (left, right) in enumerate(pairwise(text), 1):
        joins = (is_han(left) and right.isalnum()) or (left.isalnum() and is_han(right))
        if joins and place not in inside:
            yield place


def _inside_words(context: PageContext, text: str) -> set[int]:
    analysis = context.served.searcher.analyzer.analyze(text)
    words = (
        token
        for piece in analysis.pieces
        if piece.kind is RunKind.HAN
        for token in piece.of_kind(TokenKind.TERM)
    )
    return {place for word in words for place in range(word.start + 1, word.end)}
