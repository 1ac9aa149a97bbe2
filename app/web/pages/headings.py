"""Titles set large: a line may end between Chinese words and between the parts of a long name, not inside of one."""

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from markupsafe import Markup

from app.analysis.token import SegmentKind, TokenKind
from app.entry import Language
from app.han import has_han, is_han
from app.web.pages.context import PageContext

BREAK = Markup("<wbr>")
NAME = Markup('<span class="name">{}</span>')
LONG_NAME = re.compile(r"[(（\[「]*[\w.:/=-]{18,}(?:\(\))?[)）\]」,，:：;；、。?？]*", re.ASCII)
"""A name that may be wider than a phone, set large, with the punctuation that clings to it."""
PART = re.compile(r"(?<=[._/=:])(?=\w)|(?<=[a-z])(?=[A-Z])", re.ASCII)
"""Where a part of such a name begins."""


def phrased(context: PageContext, text: str, lang: Language) -> Markup:
    """`text` as HTML, with the places where a line may end; the style allows no others (`phrased`).

    A long name is on one line where the line is long enough (`name`).
    """
    words = set(_between_words(context, text)) if lang is Language.ZH and has_han(text) else set()
    html, place = Markup(""), 0
    for name in LONG_NAME.finditer(text):
        start, end = name.span()
        parts = {each.start() for each in PART.finditer(text, start + 1, end)}
        html += _broken(text, place, start, words) + NAME.format(_broken(text, start, end, parts))
        place = end
    return html + _broken(text, place, len(text), words)


def _broken(text: str, start: int, end: int, breaks: Collection[int]) -> Markup:
    places = [start, *sorted(each for each in breaks if start < each < end), end]
    return BREAK.join(text[left:right] for left, right in pairwise(places))


def _between_words(context: PageContext, text: str) -> Iterator[int]:
    """Where one word ends and the next begins, a Han character on one side and no punctuation on the other."""
    inside = _inside_words(context, text)
    for place, (left, right) in enumerate(pairwise(text), 1):
        joins = (is_han(left) and right.isalnum()) or (left.isalnum() and is_han(right))
        if joins and place not in inside:
            yield place


def _inside_words(context: PageContext, text: str) -> set[int]:
    analysis = context.served.searcher.analyzer.analyze(text)
    words = (
        token
        for piece in analysis.pieces
        if piece.kind is SegmentKind.HAN
        for token in piece.of_kind(TokenKind.TERM)
    )
    return {place for word in words for place in range(word.start + 1, word.end)}
