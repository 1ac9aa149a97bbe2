"""The passage of an edition that answers a query, with what matched marked."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import pairwise

from app.search.passages import Line

LENGTH = 200
"""Characters of a snippet, about; a word or identifier is never cut."""

ENOUGH = 120
"""A shorter passage is followed by the next line of its section."""

SECTION_WEIGHTS = {"fix": 1.5, "answer": 1.5, "steps": 1.5, "cause": 1.1, "symptom": 0.9, "see-also": 0.3}

BREAKABLE = re.compile(r"[\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]")


def snippet(lines: Sequence[Line], weights: Mapping[str, float]) -> str:
    """Escaped HTML whose only tag is `<mark>`. `weights`: what each index term of the query is worth.

    The line that holds the most of the query, a fix before a preamble; the first line of the answer where
    nothing matched.
    """
    if not lines:
        return ""
    best = max(range(len(lines)), key=lambda number: (_worth(lines[number], weights), -number))
    if not any(term in weights for term in lines[best].terms):
        best = _opening(lines)
    parts = [_marked(lines[best], weights)]
    length = min(LENGTH, len(lines[best].text))
    for line, following in pairwise(lines[best:]):
        if length >= ENOUGH or line.section != following.section:
            break
        parts.append(_marked(following, weights))
        length += len(following.text)
    return " ".join(parts)


def _worth(line: Line, weights: Mapping[str, float]) -> float:
    held = sum(weight for term, weight in weights.items() if term in line.terms)
    return held * SECTION_WEIGHTS.get(line.section, 1.0)


def _opening(lines: Sequence[Line]) -> int:
    answers = [number for number, line in enumerate(lines) if line.section in {"fix", "answer", "steps"}]
    return answers[0] if answers else 0


def _marked(line: Line, weights: Mapping[str, float]) -> str:
    spans = merged(span for term in weights for span in line.terms.get(term, ()))
    start, end = _window(line.text, spans)
    pieces = ["… " if start else ""]
    place = start
    for left, right in spans:
        if left < start or right > end:
            continue
        pieces += [escape(line.text[place:left]), "<mark>", escape(line.text[left:right]), "</mark>"]
        place = right
    return "".join([*pieces, escape(line.text[place:end]), " …" if end < len(line.text) else ""])


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, overlapping and touching ones made one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _window(text: str, spans: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """The stretch of about LENGTH characters that holds the most marks, from the earliest such place."""
    if len(text) <= LENGTH:
        return 0, len(text)
    starts = [left for left, _ in spans] or [0]
    best = max(
        starts, key=lambda at: (sum(at <= left and right <= at + LENGTH for left, right in spans), -at)
    )
    start = max(0, min(best - LENGTH // 4, len(text) - LENGTH))
    return _outward(text, start, -1), _outward(text, start + LENGTH, 1)


def _outward(text: str, place: int, step: int) -> int:
    """The nearest place in a direction at which no word or identifier is cut."""
    while 0 < place < len(text) and not (BREAKABLE.match(text[place - 1]) or BREAKABLE.match(text[place])):
        place += step
    return max(0, min(place, len(text)))
