"""Cuts folded text into Han runs, words, code and the gaps between. Changes, adds and drops nothing."""

import re
from collections.abc import Iterator

from app.analysis.token import Segment, SegmentKind
from app.han import HAN

WORD_CHARACTER = rf"[^\W{HAN}]"

# `--flag`, `self.node2pg[node_rank]`, `torch.cuda.OutOfMemoryError`, `vllm==0.6.3.post1`, `~/.cache`,
# `$CHATLEARN`, `C++`: letters and digits, held together by joiners that have a letter or digit behind them.
START = rf"(?:--?|[$@]|~?\.{{0,2}}/{{1,3}}|\.)?{WORD_CHARACTER}+"
# A bracket is closed only where it was opened: the one after `[WARNING]` does not belong to the word.
CODE_OR_WORD = (
    rf"{START}"
    rf"(?:(?:::|->|==|//|(?P<open>\[)|[-.:/\\=+@#*]|\]\[|\]\.){WORD_CHARACTER}+|'[a-z]{{1,2}}(?!{WORD_CHARACTER}))*"
    r"(?:(?(open)\]|(?!))|\+\+|#)?"
)
SAYING = rf"(?P<HAN>[{HAN}]+)|(?P<TEXT>{CODE_OR_WORD})"
WITHOUT_GAPS = re.compile(SAYING)
SEGMENTS = re.compile(rf"{SAYING}|(?P<GAP>(?:(?!{START})[^{HAN}])+)")
KINDS = {"HAN": SegmentKind.HAN, "GAP": SegmentKind.GAP}
"""Of the groups that say it."""
SEPARATING = re.compile(r"[^\s_`*\-\u00ad\u200b-\u2015]")
"""What a gap has that keeps the words around it apart: anything but space, marks that hold words together (dashes,
what is not seen) and marks that dress them (`code`, *emphasis*)."""
PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")


def segment(text: str) -> Iterator[Segment]:
    """Segments of `text` in order; their texts, joined, are `text`."""
    for match in SEGMENTS.finditer(text):
        found = match.group()
        kind = KINDS.get(match.lastgroup or "") or word_kind(found)
        yield Segment(found, match.start(), kind)


def without_gaps(text: str) -> Iterator[Segment]:
    """The segments of `text` that say something."""
    for found, start, is_han in saying(text):
        yield Segment(found, start, SegmentKind.HAN if is_han else word_kind(found))


def saying(text: str) -> Iterator[tuple[str, int, bool]]:
    """The same, words and code not told apart: what stands where, and whether it is Han."""
    for match in WITHOUT_GAPS.finditer(text):
        yield match.group(), match.start(), match.lastgroup == "HAN"


def separates(gap: str) -> bool:
    """Whether the words on both sides of a gap are not said together: punctuation stands between them."""
    return bool(gap) and gap != " " and SEPARATING.search(gap) is not None


def word_kind(text: str) -> SegmentKind:
    """What a word is."""
    return SegmentKind.CODE if is_code(text) else SegmentKind.WORD


def is_code(text: str) -> bool:
    """Whether a word is written as code: digits, joiners or capitals inside."""
    return not PLAIN_WORD.fullmatch(text) or bool(INNER_CAPITAL.search(text))
