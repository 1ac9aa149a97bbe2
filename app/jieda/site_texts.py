"""Texts on the pages that the content directories define."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = Mapping[str, str]
"""A text by language; if the content has none, it is empty and the pages use a general text."""


@dataclass(frozen=True, slots=True)
class FooterLink:
    """A link in the footer of every page."""

    name: Words
    url: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of readers' work, with its topics; stages are in the order of the work."""

    name: Words
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """The block `site` of taxonomy.yaml.

    `lead` and `summary` introduce the entries: `{count}` of them about `{frameworks}` in `lead`. `paste` is an example
    of a log to paste. `examples` are questions to try. `short` is the name in a sentence and in the corner of each
    page. `logo` and `icon` name files of the folder `site`; `accent` and `accent_dark` are colours, `links` are in the
    footer, and `credit` shows there what the site is made with. The start page draws a map of `stages`.
    """

    name: Words = field(default_factory=dict)
    tagline: Words = field(default_factory=dict)
    lead: Words = field(default_factory=dict)
    summary: Words = field(default_factory=dict)
    paste: Words = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    short: Words = field(default_factory=dict)
    logo: str = ""
    icon: str = ""
    accent: str = ""
    accent_dark: str = ""
    links: tuple[FooterLink, ...] = ()
    stages: tuple[Stage, ...] = ()
    credit: bool = True

    @property
    def short_or_name(self) -> Words:
        """The short name; the name where there is none."""
        return self.short or self.name
