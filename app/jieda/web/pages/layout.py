"""The frame of every page: head, header, language and theme switches, footer."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from jieda.entry import Language
from jieda.presentation.brand import COLORS, wordmark
from jieda.presentation.urls import Urls
from jieda.version import VERSION
from jieda.web.http.respond import Theme
from jieda.web.pages.context import PageContext
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

GAPS = {Language.EN: " ", Language.ZH: ""}

Here = Callable[[Language], str]
"""Returns the address of the current page in a language."""


@dataclass(frozen=True, slots=True)
class Alternate:
    """`<link rel="alternate" hreflang>`."""

    hreflang: str
    url: str


@dataclass(frozen=True, slots=True)
class Switch:
    """The button that shows the same page in the other language."""

    lang: Language
    tag: str
    name: str
    next: str


@dataclass(frozen=True, slots=True)
class HeaderChoice:
    """An item of a menu in the header."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class WorksWith:
    """The framework that the reader works with, for the session, or empty; and the frameworks to choose from."""

    name: str
    choices: tuple[HeaderChoice, ...]

    @classmethod
    def of(cls, context: PageContext) -> "WorksWith":
        """Return a visitor's; no choices where the content covers at most one framework."""
        tags = context.library.taxonomy.framework.values() if context.snapshot else ()
        choices = tuple(
            HeaderChoice(tag.id, tag.name[context.lang], tag.id == context.chosen) for tag in tags
        )
        name = next((each.label for each in choices if each.chosen), "")
        shown = " ".join(filter(None, (name, context.version)))
        return cls(shown, choices if len(choices) > 1 else ())


@dataclass(frozen=True, slots=True)
class Resubmit:
    """The form to send again: the result page of a form has no address that the switches could link to."""

    form: str
    action: Here


@dataclass(frozen=True, slots=True)
class Links:
    """Root-relative addresses that every page links to or loads."""

    style: str
    scripts: tuple[str, ...]
    home: str
    search: str
    diagnose: str
    entries: str
    about: str
    feed: str
    opensearch: str
    """Empty where the base URL is unknown."""
    docs: str
    llms: str
    agents: str
    workbench: str
    """Empty where the workbench is off."""
    maintain: str
    suggest: str
    api_search: str
    preferences: str

    @classmethod
    def of(cls, urls: Urls, lang: Language, name: str, *, workbench: bool) -> "Links":
        """Return the links of the page `name` in `lang`; `workbench` says whether it is on."""
        scripts = ("app.js", "search.js", *SCRIPTS.get(name, ()))
        return cls(
            style=urls.static("app.css"),
            scripts=tuple(map(urls.static, scripts)),
            home=urls.home(lang),
            search=urls.search(lang),
            diagnose=urls.diagnose(lang),
            entries=urls.entries(lang),
            about=urls.about(lang),
            feed=urls.feed(lang),
            opensearch=urls.opensearch(lang) if urls.base_url else "",
            docs=urls.docs(),
            llms=urls.llms(lang),
            agents=urls.agents(lang),
            workbench=urls.workbench(lang) if workbench else "",
            maintain=urls.maintain(lang),
            suggest=urls.api_suggest(),
            api_search=urls.api_search(),
            preferences=urls.preferences(),
        )


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
        site, lang = context.words_of_content, context.lang

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
class Layout:
    """The variable `page` of `base.html`. Addresses are root-relative unless stated otherwise."""

    lang: Language
    lang_tag: str
    theme: Theme
    title: str
    description: str
    canonical: str
    """Absolute, like `alternates`; empty where no base address is configured: programs accept no other."""
    alternates: tuple[Alternate, ...]
    indexed: bool
    kind: str
    """Open Graph type."""
    name: str
    """The page's name for style sheets: `home`, `search`, `entry`, …"""
    json_ld: Markup
    links: Links
    brand: Brand
    here: str
    printed: str
    """The address shown in print; a script that knows the host completes it."""
    switch: Switch
    themes: tuple[HeaderChoice, ...]
    works: WorksWith
    resend: str
    """The id of the form that the switches resubmit, or empty."""
    resend_here: str
    resend_other: str
    max_query_chars: int
    max_log_bytes: int
    gap: str
    """The separator between two sentences."""
    version: str = VERSION


@dataclass(frozen=True, slots=True)
class Head:
    """Metadata of a page. `languages` are those in which it has an address of its own."""

    name: str
    title: str
    description: str
    here: Here
    languages: frozenset[Language] = frozenset(Language)
    indexed: bool = True
    kind: str = "website"
    data: tuple[dict[str, object], ...] = ()
    canonical_lang: Language | None = None
    resubmit: Resubmit | None = None


def build_layout(context: PageContext, head: Head) -> Layout:
    """Build the frame of a page."""
    urls, lang = context.urls, context.lang
    settings = context.site.settings
    return Layout(
        lang=lang,
        lang_tag=lang.tag,
        theme=context.theme,
        title=head.title,
        description=_cut(head.description),
        canonical=urls.absolute(head.here(head.canonical_lang or lang)) if settings.base_url else "",
        alternates=tuple(_alternates(context, head)),
        indexed=head.indexed,
        kind=head.kind,
        name=head.name,
        json_ld=data_block(head.data),
        links=Links.of(urls, lang, head.name, workbench=settings.workbench),
        brand=Brand.of(context),
        here=head.here(lang),
        printed=urls.absolute(head.here(lang)),
        switch=Switch(lang.other, lang.other.tag, lang.other.own_name, head.here(lang.other)),
        themes=tuple(
            HeaderChoice(theme.value, context.t(f"theme.{theme.value}"), theme is context.theme)
            for theme in Theme
        ),
        works=WorksWith.of(context),
        resend=head.resubmit.form if head.resubmit else "",
        resend_here=head.resubmit.action(lang) if head.resubmit else "",
        resend_other=head.resubmit.action(lang.other) if head.resubmit else "",
        max_query_chars=settings.max_query_chars,
        max_log_bytes=settings.max_log_bytes,
        gap=GAPS[lang],
    )


def render_page(context: PageContext, template: str, head: Head, view: object) -> str:
    """Render a whole page as HTML."""
    page = build_layout(context, head)
    return context.site.renderer.render(template, context.lang, t=context.t, page=page, view=view)


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
