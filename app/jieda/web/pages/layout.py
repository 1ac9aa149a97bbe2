"""The frame of every page: head, header, language and theme switches, footer."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from jieda.entry import Language
from jieda.presentation.brand import COLORS, wordmark
from jieda.version import VERSION
from jieda.web.http.respond import Theme
from jieda.web.pages.context import PageContext
from jieda.web.pages.parts import Choice, name_of, tag_choices
from jieda.web.templating import safe

SCRIPTS: Mapping[str, tuple[str, ...]] = {
    "home": ("log.js",),
    "search": ("reading.js",),
    "entry": ("reading.js",),
    "diagnose": ("log.js", "reading.js"),
    "docs": ("reading.js",),
    "agents": ("reading.js",),
    "workbench": ("workbench.js",),
}
"""Scripts by page, beside those of every page."""

SENTENCE_GAPS = {Language.EN: " ", Language.ZH: ""}

Here = Callable[[Language], str]
"""Returns the address of the current page in a language."""


@dataclass(frozen=True, slots=True)
class Alternate:
    """`<link rel="alternate" hreflang>`."""

    hreflang: str
    url: str


@dataclass(frozen=True, slots=True)
class Brand:
    """Branding of the site. `logo` and `style` are addresses, or empty; `links` are names and addresses."""

    wordmark: tuple[tuple[str, str], ...]
    logo: str
    icon: str
    style: str
    links: tuple[tuple[str, str], ...]
    credit: bool

    @classmethod
    def of(cls, context: PageContext) -> "Brand":
        """Return the branding defined by the content."""
        site, lang = context.site_texts, context.lang

        def image(name: str) -> str:
            held = name and context.snapshot and context.library.brand_image(name)
            return context.urls.brand(name, context.digest[:12]) if held else ""

        return cls(
            wordmark(site, lang),
            image(site.logo),
            image(site.icon) or context.urls.static("icon.svg"),
            context.urls.brand(COLORS, context.digest[:12]) if site.accent else "",
            tuple((each.name[lang], each.url) for each in site.links),
            site.credit,
        )


@dataclass(frozen=True, slots=True)
class Head:
    """Metadata of a page. `languages` are those in which it has an address of its own; `kind` is its Open Graph
    type."""

    name: str
    """The page's name for style sheets: `home`, `search`, `entry`, …"""
    title: str
    description: str
    here: Here
    languages: frozenset[Language] = frozenset(Language)
    indexed: bool = True
    kind: str = "website"
    data: tuple[dict[str, object], ...] = ()
    canonical_lang: Language | None = None
    form: str = ""
    """The id of the form that the switches send again where the page is the result of a form: its address alone would
    show the page without that result."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The variable `page` of `base.html`. Addresses are root-relative unless stated otherwise."""

    head: Head
    lang: Language
    theme: Theme
    description: str
    """That of the head, cut to what search engines show."""
    canonical: str
    """Absolute, like `alternates`; empty where no base address is configured: programs accept no other."""
    alternates: tuple[Alternate, ...]
    scripts: tuple[str, ...]
    json_ld: Markup
    brand: Brand
    works_with: str
    """The framework that the reader works with, with its version, or empty."""
    frameworks: tuple[Choice, ...]
    themes: tuple[Choice, ...]
    workbench: bool
    max_query_chars: int
    max_log_bytes: int
    gap: str
    """The separator between two sentences."""
    version: str = VERSION


def build_layout(context: PageContext, head: Head) -> Layout:
    """Build the frame of a page."""
    urls, settings = context.urls, context.site.settings
    frameworks = context.library.taxonomy.framework if context.snapshot else {}
    chosen = name_of(context, "framework", context.chosen) if context.chosen else ""
    canonical = head.here(head.canonical_lang or context.lang)
    return Layout(
        head=head,
        lang=context.lang,
        theme=context.theme,
        description=_cut(head.description),
        canonical=urls.absolute(canonical) if settings.base_url else "",
        alternates=tuple(_alternates(context, head)),
        scripts=tuple(map(urls.static, ("app.js", "search.js", *SCRIPTS.get(head.name, ())))),
        json_ld=data_block(head.data),
        brand=Brand.of(context),
        works_with=" ".join(filter(None, (chosen, context.version))),
        # Of a single framework there is nothing to choose.
        frameworks=tag_choices(context, "framework", frameworks, {context.chosen})
        if len(frameworks) > 1
        else (),
        themes=tuple(
            Choice(each.value, context.t(f"theme.{each.value}"), each is context.theme) for each in Theme
        ),
        workbench=settings.workbench,
        max_query_chars=settings.max_query_chars,
        max_log_bytes=settings.max_log_bytes,
        gap=SENTENCE_GAPS[context.lang],
    )


def render_page(context: PageContext, template: str, head: Head, view: object) -> str:
    """Render a whole page as HTML."""
    page = build_layout(context, head)
    values = {"t": context.t, "urls": context.urls, "page": page, "view": view}
    return context.site.renderer.render(template, context.lang, **values)


def data_block(items: Iterable[dict[str, object]]) -> Markup:
    """Serialize JSON-LD for a script element so that nothing in it can close the element or open a comment."""
    values = list(items)
    if not values:
        return Markup("")
    text = json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return safe(text)


def _alternates(context: PageContext, head: Head) -> Iterable[Alternate]:
    if not head.indexed or not context.site.settings.base_url:
        return
    held = [lang for lang in Language if lang in head.languages]
    for lang in held:
        yield Alternate(lang.tag, context.urls.absolute(head.here(lang)))
    if held:
        yield Alternate("x-default", context.urls.absolute(head.here(held[0])))


def _cut(text: str, limit: int = 160) -> str:
    words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
