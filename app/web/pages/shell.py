"""What surrounds every page: head, header, language and theme switches, footer."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from markupsafe import Markup

from app.entry import Language
from app.web.pages.visit import Visit
from app.web.preferences import Theme
from app.web.templating import safe

OWN_NAMES = {Language.EN: "English", Language.ZH: "中文"}
"""Languages name themselves, whatever the language of the page."""

GAPS = {Language.EN: " ", Language.ZH: ""}

Here = Callable[[Language], str]
"""The address of the page at hand in a language."""


@dataclass(frozen=True, slots=True)
class Alternate:
    """`<link rel="alternate" hreflang>`."""

    hreflang: str
    url: str


@dataclass(frozen=True, slots=True)
class Switch:
    """The button that shows the same place in the other language."""

    lang: Language
    tag: str
    name: str
    next: str


@dataclass(frozen=True, slots=True)
class ThemeChoice:
    """A button of the theme switch."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class Resubmit:
    """A page that answers a form cannot be led back to by an address: its switches send the form again."""

    form: str
    action: Here


@dataclass(frozen=True, slots=True)
class Shell:
    """The view that `base.html` is given as `page`. Addresses are root-relative unless said otherwise."""

    lang: Language
    lang_tag: str
    theme: Theme
    title: str
    description: str
    canonical: str
    """Absolute where a base address is configured."""
    alternates: tuple[Alternate, ...]
    indexed: bool
    kind: str
    """Open Graph's type."""
    name: str
    """The page's, for style: `home`, `search`, `entry`, …"""
    json_ld: Markup
    style: str
    script: str
    icon: str
    home: str
    search: str
    diagnose: str
    feed: str
    opensearch: str
    docs: str
    llms: str
    suggest: str
    api_search: str
    preferences: str
    here: str
    switch: Switch
    themes: tuple[ThemeChoice, ...]
    resend: str
    """The id of the form that the switches send again, or empty."""
    resend_here: str
    resend_other: str
    max_query_chars: int
    max_log_bytes: int
    gap: str
    """What stands between two sentences."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a page says about itself. `languages`: those that it exists in."""

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


def build_shell(visit: Visit, head: Head) -> Shell:
    """The shell of a page for a visit."""
    urls, lang = visit.urls, visit.lang
    settings = visit.site.settings
    return Shell(
        lang=lang,
        lang_tag=lang.tag,
        theme=visit.theme,
        title=head.title,
        description=_cut(head.description),
        canonical=urls.absolute(head.here(head.canonical_lang or lang)),
        alternates=tuple(_alternates(visit, head)),
        indexed=head.indexed,
        kind=head.kind,
        name=head.name,
        json_ld=data_block(head.data),
        style=urls.static("app.css"),
        script=urls.static("app.js"),
        icon=urls.static("icon.svg"),
        home=urls.home(lang),
        search=urls.search(lang),
        diagnose=urls.diagnose(lang),
        feed=urls.feed(lang),
        opensearch=urls.opensearch(lang),
        docs=urls.docs(),
        llms=urls.llms(lang),
        suggest=urls.api_suggest(),
        api_search=urls.api_search(),
        preferences=urls.preferences(),
        here=head.here(lang),
        switch=Switch(lang.other, lang.other.tag, OWN_NAMES[lang.other], head.here(lang.other)),
        themes=tuple(
            ThemeChoice(theme.value, visit.say(f"theme.{theme.value}"), theme is visit.theme)
            for theme in Theme
        ),
        resend=head.resubmit.form if head.resubmit else "",
        resend_here=head.resubmit.action(lang) if head.resubmit else "",
        resend_other=head.resubmit.action(lang.other) if head.resubmit else "",
        max_query_chars=settings.max_query_chars,
        max_log_bytes=settings.max_log_bytes,
        gap=GAPS[lang],
    )


def render_page(visit: Visit, template: str, head: Head, view: object) -> str:
    """A whole page as HTML."""
    return visit.site.renderer.render(template, visit.lang, page=build_shell(visit, head), view=view)


def data_block(items: Iterable[dict[str, object]]) -> Markup:
    """JSON-LD for a script element: nothing in it can end the element or open a comment."""
    values = list(items)
    if not values:
        return Markup("")
    text = json.dumps(values if len(values) > 1 else values[0], ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return safe(text)


def _alternates(visit: Visit, head: Head) -> Iterable[Alternate]:
    if not head.indexed:
        return
    held = [lang for lang in Language if lang in head.languages]
    for lang in held:
        yield Alternate(lang.tag, visit.urls.absolute(head.here(lang)))
    if held:
        yield Alternate("x-default", visit.urls.absolute(head.here(held[0])))


def _cut(text: str, limit: int = 160) -> str:
    words = " ".join(text.split())
    return words if len(words) <= limit else words[: limit - 1].rstrip() + "…"
