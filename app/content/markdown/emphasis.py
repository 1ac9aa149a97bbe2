"""Whether a run of `*` opens or closes emphasis, where Han text stands beside it.

CommonMark decides by white space and punctuation around the run. Chinese has no spaces, so
`**注意：**请` closes after punctuation and before a letter, and would be no emphasis at all. The rule
here is the amendment for CJK text discussed in commonmark-spec#650: CJK punctuation does not count as
punctuation, and a CJK character beside a run allows what white space beside it would allow.
"""

import unicodedata

from app.han import is_east_asian


def can_open_close(before: str, after: str, inside_word: bool) -> tuple[bool, bool]:
    """Whether the run between the characters `before` and `after` may open and may close emphasis.

    A text's start and end count as a space. `inside_word`: whether the marker works within a word
    (`*` does, `_` does not).
    """
    space_before, space_after = before.isspace(), after.isspace()
    cjk_before, cjk_after = is_east_asian(before), is_east_asian(after)
    punctuation_before = _is_punctuation(before)
    punctuation_after = _is_punctuation(after)
    hard_before, hard_after = punctuation_before and not cjk_before, punctuation_after and not cjk_after
    left = not space_after and (not hard_after or space_before or hard_before or cjk_before)
    right = not space_before and (not hard_before or space_after or hard_after or cjk_after)
    if inside_word:
        return left, right
    return left and (not right or punctuation_before), right and (not left or punctuation_after)


def joins_without_space(before: str, after: str) -> bool:
    """Whether a line break between the two characters stands for nothing (Han text has no spaces)."""
    return is_east_asian(before) and is_east_asian(after)


def _is_punctuation(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS"
