"""The closed table of H2 titles, and the anchors that headings get."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from jieda.entry import Kind, Language


@dataclass(frozen=True, slots=True)
class SectionTitle:
    """One row: the anchor and the title in each language."""

    key: str
    en: str
    zh: str

    def title(self, lang: Language) -> str:
        """What the H2 says in an edition of `lang`."""
        return {Language.EN: self.en, Language.ZH: self.zh}[lang]


SECTIONS = (
    SectionTitle("symptom", "Symptom", "现象"),
    SectionTitle("cause", "Cause", "原因"),
    SectionTitle("fix", "Fix", "解决办法"),
    SectionTitle("verify", "Check that it worked", "如何确认"),
    SectionTitle("answer", "Answer", "回答"),
    SectionTitle("steps", "Steps", "步骤"),
    SectionTitle("example", "Example", "示例"),
    SectionTitle("notes", "Notes", "说明"),
    SectionTitle("see-also", "See also", "另见"),
)

PAGE_IDS = frozenset(
    """
    again also answer ask best diagnosis exits foreign found framework language log log-hint main near offers origin
    preferences q recent related results tagged tied toc topics understood vote vote-label
    """.split()
)
"""Ids that the pages which show an entry, or a part of it, use themselves: no heading may take one."""

_KEYS = {(lang, row.title(lang)): row.key for row in SECTIONS for lang in Language}


def section_key(lang: Language, title: str) -> str | None:
    """The anchor of an H2 of the table, or None for a title that is not in it."""
    return _KEYS.get((lang, title.strip()))


def allowed_titles(lang: Language) -> str:
    """All titles of the table in one language, for messages."""
    return ", ".join(row.title(lang) for row in SECTIONS)


def missing_section(kind: Kind, keys: Iterable[str]) -> str | None:
    """What the sections of an entry lack, in words; None where nothing is missing."""
    present = tuple(keys)
    if kind is Kind.ERROR:
        return None if "fix" in present else "an error entry needs the section `fix`"
    if present and present[0] in {"answer", "steps"}:
        return None
    return f"a {kind.value} entry starts with the section `answer` or `steps`"


def slug(text: str) -> str:
    """An anchor of letters and digits of any script, `_` and `-`; never empty."""
    folded = unicodedata.normalize("NFKC", text).lower()
    return re.sub(r"[^\w]+", "-", folded).strip("-") or "section"


class Anchors:
    """Hands out anchors that are unique within one page: `memory`, `memory-2`, …; none of `reserved`."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken: set[str] = set(reserved)
        self._next: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """`wanted`, or the first of `wanted-2`, `wanted-3`, … that is free."""
        anchor = wanted
        while anchor in self._taken:
            number = self._next.get(wanted, 2)
            self._next[wanted] = number + 1
            anchor = f"{wanted}-{number}"
        self._taken.add(anchor)
        return anchor
