"""Characters that sound alike: what an input method offers one of for the other."""

from functools import cache
from itertools import chain
from pathlib import Path

TABLE = Path(__file__).with_name("readings.txt")


def homophones(character: str) -> frozenset[str]:
    """The Simplified characters that share a syllable with one, whatever the tone; none for a rare one."""
    alike = (characters for characters in _syllables() if character in characters)
    return frozenset(chain.from_iterable(alike))


@cache
def _syllables() -> tuple[str, ...]:
    """The characters of each syllable."""
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return tuple(line.split()[1] for line in lines if not line.startswith("#"))
