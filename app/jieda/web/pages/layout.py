"""The frame of every page: head, header, language and theme switches, footer."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from markupsafe import Markup

from jieda.entry import Language
from jieda.presentation.brand import COLORS, wordmark
from jieda.presentation.diagnosis_text import cut
from jieda.presentation.urls import Urls
from jieda.version import VERSION
from jieda.web.http.respond import Theme
from jieda.web.pages.context import PageContext
from jieda.web.templating import render, safe

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "home": ("log.js",),
    "search": ("reading.js",),
    "entry": ("reading.js",),
    "diagnose": ("log.js", "reading.js"),
    "docs": ("reading.js",),
    "agents": ("reading.js",),
    "workbench": ("workbench.js",),
}
"""Scripts of each page, besides those of every page."""

SENTENCE_GAPS = {Language.EN: " ", Language.ZH: ""}
"""What separates two sentences."""

Here = Callable[[Language], str]
"""Returns the address of the current page in a language."""


Alternate = tuple[str, str]
"""Language tag and address of a `<link rel="alternate" hreflang>`."""


def alternates(urls: Urls, here: Here, langs: Collection[Language]) -> tuple[Alternate, ...]:
    """Return the addresses of a page in the languages that have it; the last is for readers of any other language."""
    links = [(lang.tag, urls.absolute(here(lang))) for lang in Language if lang in langs]
    return (*links, *(("x-default", url) for _, url in links[:1]))


@dataclass(frozen=True, slots=True)
class Head:
    """Metadata of a page. `languages`: those in which it has its own address; `kind`: its Open Graph type."""

    name: str
    """The page's name, for its template and style sheets: `home`, `search`, `entry`, …"""
    title: str
    """The site's name follows it unless the title `names_site` already."""
    description: str
    here: Here
    languages: frozenset[Language] = frozenset(Language)
    indexed: bool = True
    kind: str = "website"
    data: tuple[dict[str, object], ...] = ()
    canonical_lang: Language | None = None
    names_site: bool = False
    form: str = ""
    """The id of the form that the switches of language and theme send again, if the page is the result of a form: the
    address alone would not show that result."""


def render_page(context: PageContext, head: Head, **view: Any) -> str:
    """Render a whole page as HTML. Its template gets `view`, the `page` around it, and functions for texts in the
    reader's language. The titles of later pages of a list name their position."""
    pager = view.get("pager")
    position = pager["position"] if pager and pager["previous"] else ""
    return render(
        f"{head.name}.html",
        t=context.t,
        day=context.day,
        name_of=context.name_of,
        prose=context.prose,
        urls=context.urls,
        page=SimpleNamespace(**_frame(context, head, position)),
        view=SimpleNamespace(**view),
    )


def _frame(context: PageContext, head: Head, position: str) -> dict[str, object]:
    """Return what surrounds a page. Addresses are root-relative unless stated otherwise."""
    named = (head.title, position, "" if head.names_site else context.t("site.name"))
    urls, settings, site = context.urls, context.site.settings, context.site_texts
    frameworks = tuple(context.library.taxonomy.framework) if context.snapshot else ()
    framework = context.name_of("framework", context.framework) if context.framework else ""
    return {
        "head": head,
        "title": " · ".join(filter(None, named)),
        "lang": context.lang,
        "theme": context.theme,
        "themes": tuple(Theme),
        # As much as search engines show.
        "description": cut(" ".join(head.description.split()), 160),
        # Absolute, as programs require, like the alternates; both are left out without a base address.
        "canonical": urls.absolute(head.here(head.canonical_lang or context.lang))
        if settings.base_url
        else "",
        "alternates": alternates(urls, head.here, head.languages)
        if head.indexed and settings.base_url
        else (),
        "scripts": tuple(map(urls.static, ("app.js", "search.js", *SCRIPTS.get(head.name, ())))),
        "json_ld": data_block(head.data),
        "wordmark": wordmark(site, context.lang),
        "logo": _brand_image(context, site.logo),
        "icon": icon_url(context),
        "style": urls.brand(COLORS, context.generation[:12]) if site.accent else "",
        "links": site.links,
        "credit": site.credit,
        "reader_framework": f"{framework} {context.version}".strip(),
        "framework": context.framework,
        # With a single framework there is nothing to choose.
        "frameworks": frameworks if len(frameworks) > 1 else (),
        "workbench": settings.workbench,
        "max_query_chars": settings.max_query_chars,
        "max_log_bytes": settings.max_log_bytes,
        "gap": SENTENCE_GAPS[context.lang],
        "version": VERSION,
    }


def icon_url(context: PageContext) -> str:
    """Return the address of the site's icon."""
    return _brand_image(context, context.site_texts.icon) or context.urls.static("icon.svg")


def _brand_image(context: PageContext, name: str) -> str:
    has_image = name and context.snapshot and context.library.brand_image(name)
    return context.urls.brand(name, context.generation[:12]) if has_image else ""


def data_block(items: Iterable[dict[str, object]]) -> Markup:
    """Serialize JSON for a script element, so that nothing in it can close the element or open a comment."""
    values = list(items)
    if not values:
        return Markup("")
    text = json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return safe(text)
