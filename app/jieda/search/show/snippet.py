"""The snippet of an edition for a query, with matches marked, and the reasons for which it was found."""

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile
from string import ascii_letters, digits

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import text_of
from jieda.analysis.words import is_function_word
from jieda.entry import Edition, Entry, Language
from jieda.han import EAST_ASIAN
from jieda.search.answers import Reason, ReasonType, Snippet, Span
from jieda.search.query.parser import ParsedQuery
from jieda.search.query.words import MatchKind
from jieda.search.rank.ranker import Contribution
from jieda.search.show.concordance import TITLE, Concordance, EditionLine, Place, lines_of_section

LENGTH = 200
"""Approximate characters of a snippet; a word or identifier is never cut."""

ENOUGH = 120
"""A shorter passage is followed by the next line of its section."""

SECTION_WEIGHTS = {"fix": 1.5, "answer": 1.5, "steps": 1.5, "cause": 1.1, "symptom": 0.9, "see-also": 0.3}

ANSWERS = frozenset({"fix", "answer", "steps"})

ENDING = re.compile(r"(?:(?P<wide>[。！？：；，、）」”])|(?P<narrow>[.!?:;,…\\]))$")
SEPARATORS = {"wide": "", "narrow": " ", None: " · "}
"""The text between two blocks, by how the first ends. Full-width punctuation includes its space."""

BREAKABLE = re.compile(rf"[\s{EAST_ASIAN}]")


MarkedPlaces = Sequence[tuple[float, Sequence[Place]]]
"""Weight and places, in order, of each index term of the query that occurs."""


def snippet(lines: Sequence[EditionLine], standing: MarkedPlaces) -> Snippet:
    """Cut a snippet from the line of the body with the most of the query, a fix before a preamble; from the first line
    of the answer if nothing matches."""
    worth = [0.0] * len(lines)
    spans: dict[int, list[Span]] = {}
    for weight, places in standing:
        held = set()
        for number, start, end in places:
            spans.setdefault(number, []).append((start, end))
            held.add(number)
        for number in held:
            worth[number] += weight * SECTION_WEIGHTS.get(lines[number].section, 1.0)
    parts: list[Snippet] = []
    length = 0
    for number in _passage(lines, worth):
        if length >= ENOUGH:
            break
        parts.append(_cut(lines[number], spans.get(number, ()), LENGTH - length))
        length += len(lines[number].text)
    return joined(parts)


def opening(edition: Edition, room: int) -> Snippet:
    """Return the beginning of an edition's answer, as the snippet without a query."""
    lines = lines_of_section(edition.answer) if edition.answer else ()
    whole = joined(Snippet(line.text, code=line.code) for line in lines)
    if len(whole.text) <= room:
        return whole
    text = whole.text[: room - 1].rstrip()
    return Snippet(f"{text}…", code=_within(whole.code, 0, len(text)))


def marked_title(title: str, standing: MarkedPlaces) -> str:
    """Return the title, which is line 0, as HTML with matches marked."""
    spans = (place[1:] for _, places in standing for place in takewhile(_in_title, places))
    return _cut(EditionLine(TITLE, title), spans, len(title)).html


def _in_title(place: Place) -> bool:
    return not place[0]


def joined(parts: Iterable[Snippet]) -> Snippet:
    """Join blocks of text in one line. A dot separates a block that ends without punctuation, such as code, from the
    next."""
    text, marks, code = "", [], []
    for part in parts:
        ending = ENDING.search(text)
        text += SEPARATORS[ending.lastgroup if ending else None] if text else ""
        marks += _moved(part.marks, len(text))
        code += _moved(part.code, len(text))
        text += part.text
    return Snippet(text, tuple(marks), tuple(code))


def _moved(spans: Iterable[Span], by: int) -> list[Span]:
    return [(start + by, end + by) for start, end in spans]


def _within(spans: Iterable[Span], start: int, end: int) -> tuple[Span, ...]:
    """Return the parts of `spans` between two offsets."""
    return tuple((max(left, start), min(right, end)) for left, right in spans if left < end and start < right)


def _passage(lines: Sequence[EditionLine], worth: Sequence[float]) -> range:
    """Return the numbers of the best line of the body and those after it in its section."""
    body = range(1, len(lines))
    if not body:
        return body
    best = worth.index(max(worth[1:]), 1)
    if not worth[best]:
        best = next((number for number in body if lines[number].section in ANSWERS), 1)
    end = next((n for n in range(best, len(lines)) if lines[n].section != lines[best].section), len(lines))
    return range(best, end)


def _cut(line: EditionLine, found: Iterable[Span], room: int) -> Snippet:
    text = line.text
    spans = merged(whole_name(text, *span) for span in found)
    start, end = _window(text, spans, room)
    before = "… " if start else ""
    by = len(before) - start
    return Snippet(
        f"{before}{text[start:end]}{' …' if end < len(text) else ''}",
        tuple(_moved([span for span in spans if start <= span[0] and span[1] <= end], by)),
        tuple(_moved(_within(line.code, start, end), by)),
    )


_LETTERS = frozenset(ascii_letters + digits + "_")
_FLAG_BEFORE = re.compile(r"(?<![\w-])--?[A-Za-z](?:[\w-]*-)?$", re.ASCII)
_FLAG_BEHIND = re.compile(r"[\w-]*", re.ASCII)
LONGEST_FLAG = 80


def whole_name(text: str, start: int, end: int) -> Span:
    """Extend a span that begins or ends inside a name to the whole name; in a path, to the path's part."""
    while 0 < start < end and text[start] in _LETTERS and text[start - 1] in _LETTERS:
        start -= 1
    while start < end < len(text) and text[end - 1] in _LETTERS and text[end] in _LETTERS:
        end += 1
    if flag := _FLAG_BEFORE.search(text, max(0, start - LONGEST_FLAG), start):
        start = flag.start()
    if text.startswith("-", start) and (rest := _FLAG_BEHIND.match(text, end)):
        end = rest.end()
    return start, end


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return spans in order, overlapping and touching ones merged."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def _window(text: str, spans: Sequence[Span], room: int) -> Span:
    """Return the earliest span of about `room` characters with the most marks."""
    if len(text) <= room:
        return 0, len(text)
    starts = [left for left, _ in spans] or [0]
    best = max(starts, key=lambda at: (sum(at <= left and right <= at + room for left, right in spans), -at))
    start = max(0, min(best - room // 4, len(text) - room))
    return _outward(text, start, -1), _outward(text, start + room, 1)


def _outward(text: str, place: int, step: int) -> int:
    """Return the nearest offset in a direction at which no word or identifier is cut."""
    while 0 < place < len(text) and not (BREAKABLE.match(text[place - 1]) or BREAKABLE.match(text[place])):
        place += step
    return max(0, min(place, len(text)))


SHOWN = 5
WORTH_SAYING = 0.04
"""Share of the score below which a contribution is not shown as a reason."""

BY_ZONE = {"title": ReasonType.TITLE, "alias": ReasonType.ALIAS, "signature": ReasonType.SIGNATURE}
BY_SOURCE = {
    MatchKind.GLOSSARY: ReasonType.GLOSSARY,
    MatchKind.TRANSLATION: ReasonType.GLOSSARY,
    MatchKind.TYPO: ReasonType.TYPO,
    MatchKind.IDENTIFIER: ReasonType.IDENTIFIER,
}
ORDER = {kind: number for number, kind in enumerate(ReasonType)}


def reasons(
    parsed: ParsedQuery,
    contributions: Sequence[Contribution],
    concordance: Concordance,
    *,
    alike: bool = False,
) -> tuple[Reason, ...]:
    """Return at most SHOWN reasons, strongest kind first. A word of the query appears once, with its best reason, and a
    function word only if there is no other. For an entry that is `alike`, found by meaning more than by words, meaning
    is the first reason."""
    total = sum(one.score for one in contributions)
    best: dict[str, Reason] = {}
    telling = [one for one in contributions if not is_function_word(one.label.casefold())]
    for one in telling if telling or alike else contributions:
        if one.score < WORTH_SAYING * total:
            continue
        reason, word = _reason(one, parsed, concordance), one.label.casefold()
        if word not in best or ORDER[reason.type] < ORDER[best[word].type]:
            best[word] = reason
    meant = [Reason(ReasonType.MEANING, "")] if alike else []
    return (*meant, *sorted(best.values(), key=lambda reason: ORDER[reason.type]))[:SHOWN]


def exact_reasons(parsed: ParsedQuery, entry: Entry, analyzer: Analyzer) -> tuple[Reason, ...]:
    """Return the titles and aliases that equal the whole query."""
    keys = {text_of(key) for key in parsed.query.keys}
    named = [
        (kind, text)
        for edition in entry.editions.values()
        for kind, texts in ((ReasonType.TITLE, (edition.title,)), (ReasonType.ALIAS, edition.aliases))
        for text in texts
    ]
    return tuple(dict.fromkeys(Reason(kind, text) for kind, text in named if analyzer.key(text) in keys))


def exact_elsewhere(exact: Sequence[Reason], edition: Edition) -> frozenset[str]:
    """Return the titles among `exact_reasons` other than that of `edition`."""
    return frozenset(each.text for each in exact if each.type is ReasonType.TITLE) - {edition.title}


def in_other_title(contributions: Sequence[Contribution], lang: Language) -> frozenset[str]:
    """Return the words that occur in the title in the other language, but not in the one in `lang`."""
    here, there = f"title_{lang}", f"title_{lang.other}"
    titled = [(one.zone, one.label) for one in contributions if one.zone in {here, there}]
    return frozenset({label for zone, label in titled if zone == there}).difference(
        label for zone, label in titled if zone == here
    )


def _reason(one: Contribution, parsed: ParsedQuery, concordance: Concordance) -> Reason:
    kind = BY_SOURCE.get(one.source)
    if kind is ReasonType.GLOSSARY:
        via = concordance.surface(one.term)
        # A word inside a longer phrase of the glossary may match itself.
        return (
            Reason(kind, one.label, via)
            if via.casefold() != one.label.casefold()
            else Reason(ReasonType.TEXT, via)
        )
    if kind is ReasonType.TYPO:
        typed = next((c.typed for c in parsed.corrections if c.word == one.label), one.label)
        return Reason(kind, typed, one.label)
    zone = one.zone.partition("_")[0]
    if kind is None:
        kind = BY_ZONE.get(zone, ReasonType.IDENTIFIER if zone == "code" else ReasonType.TEXT)
    return Reason(kind, one.label)
