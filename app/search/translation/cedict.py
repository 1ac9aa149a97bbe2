"""The plain format of CC-CEDICT: a Chinese word a line, with its meanings in English.

    傳統 简体 [pin1 yin1] /a meaning/another; the same in other words/

A meaning is reduced to what a search has a use for: without what stands in parentheses, which says of what the word is
used; not at all where it quotes Chinese, for then it is about the writing (a variant, a measure word, another reading).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.errors import SettingsError
from app.han import has_han

LARGEST = 64 << 20
"""Bytes of a file that is read; CC-CEDICT has ten million."""
MOST_PROBLEMS = 5
"""Wrong lines that are named; a file of another format has nothing else."""
SHOWN = 60
"""Characters of a wrong line that are quoted."""

LINE = re.compile(r"\S+ (?P<simplified>\S+) \[.*?\]{1,2} /(?P<meanings>.*)/")
BETWEEN = re.compile(r"/|; ")
ASIDE = re.compile(r"\([^()]*\)")
READING = re.compile(r"\[[^\]]*\]")

FORM = "傳統 简体 [pin1 yin1] /meaning/meaning/"


@dataclass(frozen=True, slots=True)
class Headword:
    """A Chinese word in Simplified characters, and its English meanings, the usual one first."""

    word: str
    meanings: tuple[str, ...]


def read_cedict(path: Path, content: bytes) -> Iterator[Headword]:
    """The words of a file. Raises SettingsError with the lines that are wrong, once all have been read."""
    problems: list[str] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            yield _headword(line.decode())
        except ValueError as error:
            problems.append(f"{path}:{number}: {error}")
            if len(problems) == MOST_PROBLEMS:
                break
    if problems:
        raise SettingsError(problems)


def _headword(line: str) -> Headword:
    """Raises ValueError, as decoding does."""
    match = LINE.fullmatch(line.rstrip())
    if match is None:
        raise ValueError(f"not a line of a CC-CEDICT file, which looks like {FORM}: {line[:SHOWN]!r}")
    meanings = (ASIDE.sub("", READING.sub("", each)).strip() for each in BETWEEN.split(match["meanings"]))
    return Headword(match["simplified"], tuple(each for each in meanings if each and not has_han(each)))
