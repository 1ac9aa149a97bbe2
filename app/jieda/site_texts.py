"""Texts on the pages that the content directories define."""

from collections.abc import Mapping
from dataclasses import dataclass, field

LocalText = Mapping[str, str]
"""A text by language; where the content has none, it is empty and the pages use a general text."""


@dataclass(frozen=True, slots=True)
class FooterLink:
    """A link in the footer of every page."""

    name: LocalText
    url: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of readers' work, with its topics; stages are in the order of the work."""

    name: LocalText
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """The block `site` of taxonomy.yaml.

    `lead` and `summary` introduce the entries; `lead` has the placeholders `{count}` and `{frameworks}`. `paste` is an
    example of a log to paste, `examples` are questions to try. `short` is the name used in sentences and in the corner
    of each page. `logo` and `icon` name files in the folder `site`; `accent` and `accent_dark` are colors. The footer
    has `links` and, with `credit`, what the site is made with. The start page draws a map of `stages`.
    """

    name: LocalText = field(default_factory=dict)
    tagline: LocalText = field(default_factory=dict)
    lead: LocalText = field(default_factory=dict)
    summary: LocalText = field(default_factory=dict)
    paste: LocalText = field(default_factory=dict)
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    short: LocalText = field(default_factory=dict)
    logo: str = ""
    icon: str = ""
    accent: str = ""
    accent_dark: str = ""
    links: tuple[FooterLink, ...] = ()
    stages: tuple[Stage, ...] = ()
    credit: bool = True

    @property
    def short_or_name(self) -> LocalText:
        """The short name, or the name if there is none."""
        return self.short or self.name
