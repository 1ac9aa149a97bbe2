"""Branding: the forms of the site's name, and its colors."""

import re
from itertools import groupby

from jieda.colors import DARK_GROUNDS, READABLE, lowest_contrast, mix
from jieda.entry import Language
from jieda.han import is_han
from jieda.site_texts import SiteTexts

OURS = "Jieda 解答"
"""Default where the content has no name."""
COLORS = "colors.css"
"""Name of the style sheet."""
BLACK, WHITE = "#000000", "#ffffff"


def short_name(site: SiteTexts, lang: Language) -> str:
    """Return the name used in sentences."""
    return site.short.get(lang) or site.name.get(lang) or ("Jieda" if lang is Language.EN else OURS)


def ascii_name(site: SiteTexts) -> str:
    """Return the ASCII part of the short name: code generators turn it into package and class names."""
    ascii_only = short_name(site, Language.EN).encode("ascii", "ignore").decode()
    return " ".join(ascii_only.split()) or "Answers"


def handle(site: SiteTexts) -> str:
    """Return the name for programs, such as a server's name in client settings: lower-case letters, digits, hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", short_name(site, Language.EN).lower()).strip("-") or "answers"


def wordmark(site: SiteTexts, lang: Language) -> tuple[tuple[str, str], ...]:
    """Return the short name in runs of one script, each with its class: narrow screens may hide one of two."""
    name = site.short.get(lang) or site.name.get(lang) or OURS
    runs = ["".join(run) for _, run in groupby(name, key=is_han)]
    pieces = [run.strip() for run in runs if run.strip()]
    if len(pieces) != 2:
        return ((name, ""),)
    return tuple((piece, "han" if is_han(piece[0]) else "latin") for piece in pieces)


def style_sheet(site: SiteTexts) -> str:
    """Return a style sheet with the accent color in all its shades."""
    light = _tokens(site.accent, toward=BLACK, ground=WHITE, on=WHITE)
    accent = site.accent_dark or _lighten(site.accent)
    dark = _tokens(accent, toward=WHITE, ground=DARK_GROUNDS[1], on=BLACK)
    both = (f"{name}: var(--light, {light[name]}) var(--dark, {dark[name]});" for name in light)
    return f":root {{ {' '.join(both)} }}\n"


def _tokens(accent: str, *, toward: str, ground: str, on: str) -> dict[str, str]:
    deep, wash = mix(accent, toward, 0.3), mix(ground, accent, 0.08)
    return {"--jade": accent, "--jade-deep": deep, "--jade-wash": wash, "--on-jade": on}


def _lighten(accent: str) -> str:
    """Lighten the accent until it is readable on a dark background."""
    shades = (mix(accent, WHITE, share / 10) for share in range(10))
    return next((shade for shade in shades if lowest_contrast(shade, DARK_GROUNDS) >= READABLE + 1), WHITE)
