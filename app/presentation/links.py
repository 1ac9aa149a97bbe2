"""Links between entries: from the placeholders that content writes to addresses for a reader."""

import re
from html import escape, unescape
from urllib.parse import unquote

from app.entry import Language
from app.presentation.urls import Urls

# Quotes in text and in attribute values are escaped in the HTML that content renders, so this matches
# nothing but a whole attribute that content wrote itself.
PLACEHOLDER = re.compile(r'\b(href|src)="(entry|entry-image):([^"]*)"')


def rewrite(html: str, lang: Language, urls: Urls) -> str:
    """`html` with `entry:` and `entry-image:` addresses made real, in the reader's language."""

    def address(match: re.Match[str]) -> str:
        attribute, scheme, value = match.groups()
        path, _, anchor = unescape(value).partition("#")
        is_image = scheme == "entry-image"
        url = urls.image(lang, unquote(path)) if is_image else urls.entry(lang, path, unquote(anchor))
        return f'{attribute}="{escape(url)}"'

    return PLACEHOLDER.sub(address, html)
