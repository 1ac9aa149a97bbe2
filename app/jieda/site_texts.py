"""What the content says about itself on the pages: values that content directories hold."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Words = Mapping[str, str]
"""A text by language; empty where the content leaves it out, which is said in general words then."""


@dataclass(frozen=True, slots=True)
class FooterLink:
    """A way from every page to somewhere else."""

    name: Words
    url: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage of what readers do, in the order in which they do it, and the topics that belong to it."""

    name: Words
    topics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """The block `site` of taxonomy.yaml.

    `lead` and `summary` introduce the entries: `{count}` of them about `{frameworks}` in `lead`. `paste` shows what a
    log to be pasted looks like. `examples` are questions to try. `short` is the name in a sentence and in the corner of
    each page. `logo` and `icon` name files of the folder `site`; `accent` and `accent_dark` are colours, `links` stand
    in the footer, and `credit` says there what the site is made with. Of `stages` the start page draws a map.
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
