"""What a reader wants to see: the language, told by address, cookie and headers, and the theme; both choices are
remembered in cookies that a plain form sets."""

import re
from collections.abc import Mapping
from enum import StrEnum

from starlette.requests import Request
from starlette.types import Scope

from jieda.entry import Language
from jieda.web.http.negotiation import parse_language, preferred_language

LANGUAGE_COOKIE = "jieda_lang"
THEME_COOKIE = "jieda_theme"
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
    """Cookie names and values for what a form chose; anything that is not a valid choice is left out."""
    asked = {LANGUAGE_COOKIE: fields.get("lang", ""), THEME_COOKIE: fields.get("theme", "")}
    allowed: dict[str, set[str]] = {LANGUAGE_COOKIE: set(Language), THEME_COOKIE: set(Theme)}
    return {name: value for name, value in asked.items() if value in allowed[name]}


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
