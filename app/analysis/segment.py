"""Cuts folded text into Han runs, words, code and the gaps between. Changes, adds and drops nothing."""

import re
from collections.abc import Iterator

from app.analysis.token import Segment, SegmentKind

HAN = r"\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
WORD_CHARACTER = rf"[^\W{HAN}]"

# `--flag`, `self.node2pg[node_rank]`, `torch.cuda.OutOfMemoryError`, `vllm==0.6.3.post1`, `~/.cache`,
# `$CHATLEARN`, `C++`: letters and digits, held together by joiners that have a letter or digit behind them.
START = rf"(?:--?|[$@]|~?\.{{0,2}}/{{1,3}}|\.)?{WORD_CHARACTER}+"
# A bracket is closed only where it was opened: the one behind `[WARNING]` is none of the word's.
CODE_OR_WORD = (
    rf"{START}"
    rf"(?:(?:::|->|==|//|(?P<open>\[)|[-.:/\\=+@#*]|\]\[|\]\.){WORD_CHARACTER}+|'[a-z]{{1,2}}(?!{WORD_CHARACTER}))*"
    r"(?:(?(open)\]|(?!))|\+\+|#)?"
)
SEGMENTS = re.compile(rf"(?P<HAN>[{HAN}]+)|(?P<TEXT>{CODE_OR_WORD})|(?P<GAP>(?:(?!{START})[^{HAN}])+)")
PLAIN_WORD = re.compile(r"[^\W\d_]+(?:'[a-z]{1,2})?")
INNER_CAPITAL = re.compile(r"[a-z][A-Z]|[A-Z]{2}[a-z]{2}")


def segment(text: str) -> Iterator[Segment]:
    """Segments of `text` in order; their texts, joined, are `text`."""
    for match in SEGMENTS.finditer(text):
        if match["TEXT"] is not None:
            kind = SegmentKind.CODE if is_code(match.group()) else SegmentKind.WORD
        else:
            kind = SegmentKind[match.lastgroup or "GAP"]
        yield Segment(match.group(), match.start(), kind)


def is_code(text: str) -> bool:
    """Whether a word is written as code: digits, joiners or capitals inside."""
    return not PLAIN_WORD.fullmatch(text) or bool(INNER_CAPITAL.search(text))
