"""What a question and its answer share with their translation: code, names, numbers, addresses, and its build."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.han import HAN
from app.importing.page import Page, code_lines
from app.importing.questions import Question
from app.importing.wording import Wording

MAX_TEXT_CHARS = 6000
"""Of an answer, that are read for pairing it."""

_TOKEN = re.compile(r"[A-Za-z_][\w.+-]*\w|\d+(?:\.\d+)*|[A-Za-z]")
_ADDRESS = re.compile(r"https?://[^\s)>\"'`，。）]+|\]\(([^)\s]+)")
_IMAGE = re.compile(r"!\[|<img\b")
_ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Features:
    """`title` and `body` count words that both languages may have. `build`: fences, items, images, links, length."""

    title: Mapping[str, int]
    body: Mapping[str, int]
    build: tuple[float, ...]
    anchor: str
    categories: tuple[str, ...]


class Extractor:
    """Takes the features of questions, with the words that the glossary and the general wording pair up."""

    def __init__(self, wording: Wording, analyzer: Analyzer, glossary: Glossary) -> None:
        self._wording = wording
        self._analyzer = analyzer
        self._glossary = glossary

    def features(self, page: Page, question: Question) -> Features:
        """The features of one question of a page."""
        lines = page.lines[question.body : question.end]
        text = "\n".join((question.lead, *lines))
        title = Counter(_tokens(question.title))
        title.update(f"sort:{name}" for name in self._wording.sorts_of(question.title))
        title.update(self._concepts(question.title))
        body = Counter(_tokens(text[:MAX_TEXT_CHARS]))
        body.update(f"at:{address}" for address in _addresses(text))
        return Features(title, body, _build(lines), question.anchor, question.categories)

    def _concepts(self, text: str) -> list[str]:
        """The groups of the glossary that stand in a text."""
        analysis = self._analyzer.analyze(text)
        return [f"group:{mention.group}" for mention in self._glossary.mentions(analysis)]


def _tokens(text: str) -> list[str]:
    return [match[0].casefold() for match in _TOKEN.finditer(text)]


def _addresses(text: str) -> list[str]:
    """The last part of every address, without what marks the language in it."""
    found = (match[1] or match[0] for match in _ADDRESS.finditer(text))
    return [each.rstrip("/").rpartition("/")[2].casefold() for each in found]


def _build(lines: Sequence[str]) -> tuple[float, ...]:
    code = code_lines(lines if isinstance(lines, tuple) else tuple(lines))
    prose = [line for number, line in enumerate(lines) if number not in code]
    text = "\n".join(prose)
    han = len(_HAN.findall(text))
    length = han * 1.8 + (len(text) - han) * 0.75
    return (
        len(code) ** 0.5,
        sum(bool(_ITEM.match(line)) for line in prose) ** 0.5,
        float(len(_IMAGE.findall(text))),
        float(len(_ADDRESS.findall(text))) ** 0.5,
        float(text.count("|") > 6),
        sum(bool(line.strip()) for line in prose) ** 0.5,
        (length**0.5) / 8,
    )
