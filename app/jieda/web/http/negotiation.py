"""Choosing an answer: by what a client says it accepts (language, media type, what it already has), and by what a
reader chose, which cookies remember."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

from starlette.requests import Request
from starlette.types import Scope

from jieda.content.read.forms import TAG_ID
from jieda.entry import Language

LANGUAGE_PATTERN = "^([eE][nN]|[zZ][hH])(-[A-Za-z0-9]{1,8})*$"
"""Language tags that can be asked for. A region or script is accepted and changes nothing."""

# A header can be as long as the server allows; nobody means more than this.
MAX_HEADER = 1000
QUALITY = re.compile(r"^\s*q\s*=\s*([01](?:\.\d{0,3})?)\s*$", re.IGNORECASE)


def parse_language(tag: str) -> Language | None:
    """`zh-Hans-CN` to `Language.ZH`; None for any other language."""
    return Language(tag[:2].lower()) if re.match(LANGUAGE_PATTERN, tag) else None


def weighted(header: str) -> list[tuple[str, float]]:
    """The members of an `Accept…` header, lower case, with their quality; malformed qualities count as 0."""
    members = []
    for part in header[:MAX_HEADER].lower().split(","):
        name, *parameters = part.split(";")
        quality = next((text for text in parameters if text.strip().startswith("q")), "q=1")
        match = QUALITY.match(quality)
        if name.strip():
            members.append((name.strip(), min(float(match[1]), 1.0) if match else 0.0))
    return members


def preferred_language(header: str) -> Language | None:
    """The language that an Accept-Language header likes best of ours; None where it names neither."""
    best: dict[Language, float] = {}
    for tag, quality in weighted(header):
        lang = parse_language(tag)
        if lang and quality > best.get(lang, 0.0):
            best[lang] = quality
    return max(best, key=lambda lang: best[lang]) if best else None


def preferred_media_type(header: str, offers: Sequence[str]) -> str | None:
    """The offer that an Accept header likes best; the first of equals. None where it accepts no offer.

    Of equal qualities, one that is named goes before one that a wildcard covers.
    """
    members = weighted(header) or [("*/*", 1.0)]
    ranked = [(_quality(offer, members), -position, offer) for position, offer in enumerate(offers)]
    (quality, _), _, offer = max(ranked)
    return offer if quality > 0 else None


def _quality(offer: str, members: Sequence[tuple[str, float]]) -> tuple[float, int]:
    """Quality and how specifically it is given: 2 by name, 1 by `text/*`, 0 by `*/*`."""
    given = dict(reversed(members))
    for specificity, name in ((2, offer), (1, f"{offer.partition('/')[0]}/*"), (0, "*/*")):
        if name in given:
            return given[name], specificity
    return 0.0, 0


def has_tag(header: str, tag: str) -> bool:
    """Whether an If-None-Match header names an ETag, weakly compared (RFC 9110 §13.1.2)."""
    tags = {candidate.strip().removeprefix("W/") for candidate in header.split(",")}
    return "*" in tags or tag.removeprefix("W/") in tags


LANGUAGE_COOKIE = "jieda_lang"
THEME_COOKIE = "jieda_theme"
FRAMEWORK_COOKIE = "jieda_framework"
"""Goes with the visit: the next question may be about another one."""
YEAR = 365 * 24 * 3600
"""How long a choice is remembered, in seconds."""


class Theme(StrEnum):
    """Light, dark, or whatever the reader's system says."""

    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


def chosen_theme(cookies: Mapping[str, str]) -> Theme:
    """The remembered theme; the system's where none is."""
    value = cookies.get(THEME_COOKIE, "")
    return Theme(value) if value in set(Theme) else Theme.SYSTEM


def chosen_language(cookies: Mapping[str, str]) -> Language | None:
    """The remembered language, if any."""
    value = cookies.get(LANGUAGE_COOKIE, "")
    return Language(value) if value in set(Language) else None


def choices(fields: Mapping[str, str]) -> dict[str, str]:
    """Cookie names and values for what a form chose; anything that is not a valid choice is left out. An empty value
    takes a choice back."""
    asked = {LANGUAGE_COOKIE: fields.get("lang", ""), THEME_COOKIE: fields.get("theme", "")}
    allowed: dict[str, set[str]] = {LANGUAGE_COOKIE: set(Language), THEME_COOKIE: set(Theme)}
    found = {name: value for name, value in asked.items() if value in allowed[name]}
    framework = fields.get("framework")
    if framework is not None and (not framework or TAG_ID.fullmatch(framework)):
        found[FRAMEWORK_COOKIE] = framework
    return found


def safe_next(target: str, root_path: str, fallback: str) -> str:
    """`target` if it is an address of this site, otherwise `fallback`.

    Browsers read `//host`, `/\\host` and addresses with tabs or line breaks in them as other hosts.
    """
    local = re.fullmatch(r"/(?![/\\])[^\\\x00-\x20\x7f]*", target)
    inside = target == root_path or target.startswith(f"{root_path}/")
    return target if local and inside and not target.startswith(f"{root_path}//") else fallback


def own_path(scope: Scope) -> str:
    """The path of a request without the hosting prefix."""
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


def api_language(request: Request) -> Language:
    """The language an API answer is shown in: of `lang`, Accept-Language, then English."""
    asked = parse_language(request.query_params.get("lang", ""))
    return asked or preferred_language(request.headers.get("accept-language", "")) or Language.EN


def page_language(request: Request) -> Language:
    """The language of a page: of its address, the reader's choice, Accept-Language, then English."""
    segment = own_path(request.scope).split("/")[1:2]
    if segment and segment[0] in set(Language):
        return Language(segment[0])
    chosen = chosen_language(request.cookies)
    return chosen or preferred_language(request.headers.get("accept-language", "")) or Language.EN
