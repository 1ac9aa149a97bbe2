"""The query language: recognizes the operators of a query, which Whoosh evaluates to a set of documents.

    framework:slime  kind:error  topic:oom  error_type:cuda-oom  lang:zh    a tag that exists, by id or by name
    框架:slime  类型:错误  主题:显存  错误类型:…  语言:zh
    updated:2026-10  updated:2026-10..  updated:..2026-10-05  更新:2026-10..
    title:oom  title:"out of memory"  标题:显存                             a word that some title has
    -word  -"exact words"  -framework:roll  NOT word                        without these
    memory OR 内存  framework:slime OR framework:roll
    mem*                                                                    words with this prefix

Everything else is text and ranked as usual. A field is recognized only in a query of one line, as a word of its own
with a value that exists; operators that occur in prose and error messages as well (`-word`, NOT, OR, `mem*`, `title:`)
only in a query of at most MOST_WORDS words without code, and only between content words.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from whoosh import qparser, query

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import RunKind
from jieda.analysis.words import is_function_word
from jieda.han import HAN, has_han
from jieda.search.answers import QueryOperator
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.protocol import AdmittedDocuments, Scores
from jieda.search.whoosh.index import TAGS, WHOLE, WhooshIndex
from jieda.taxonomy import Taxonomy

NAMES: Mapping[str, tuple[str, ...]] = {
    "framework": ("framework", "框架"),
    "kind": ("kind", "类型"),
    "topic": ("topic", "主题"),
    "error_type": ("error_type", "错误类型"),
    "lang": ("lang", "语言"),
    "updated": ("updated", "更新"),
    "title": ("title", "标题"),
}
"""Fields by their typed names; any other name is text."""
BY_NAME = {name: field for field, names in NAMES.items() for name in names}

MOST_WORDS = 8
LONGEST = 400
"""Most characters of a query with operators; a longer one is pasted text."""
CHUNK = re.compile(r'(?:[^\s"“]|"[^"\n]*"|“[^“”\n]*”)+|\S')
HINT = re.compile(r"[:：]|(?:^|\s)(?:-|NOT\s|OR\s)|\*(?:\s|$)")
"""A query without any of these has no operator."""
FIELD = re.compile(r"(?P<sign>-?)(?P<name>[^\W\d]\w*)(?P<colon>[:：])(?P<value>.+)")
OPEN_FIELD = re.compile(r"(?:^|(?<=\s))-?(?P<name>[^\W\d]\w*)(?P<colon>[:：])(?P<value>[^\s:：]*)$")
DAY = r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?"
DAYS = re.compile(rf"(?P<first>{DAY})?(?P<dots>\.\.)?(?P<last>{DAY})?")
WORD = re.compile(rf"[^\W\d_]{{3,}}|[{HAN}]+")
QUOTED = re.compile(r'"[^"]+"|“[^“”]+”')
BEGINNING = re.compile(r"(?P<sign>-?)(?P<word>[^\W\d_]{3,})\*")
C_TYPES = frozenset("auto bool char const double float int long short signed uint unsigned void".split())
"""Words before a star in C and C++."""
STATES = frozenset(
    """allowed available defined empty enough equal exist exists found implemented installed null ok open possible
    ready running safe set supported sure true used valid visible work working yet""".split()
)
"""Words after NOT in messages: `module NOT found` excludes nothing. Words that end in -ed count as well."""
NEAREST = 3


class OperatorPart(NamedTuple):
    """An operator at `start:end` of a query: `asked` is its Whoosh syntax, `words` are those to rank by."""

    start: int
    end: int
    asked: str
    words: str = ""

    @property
    def excludes(self) -> bool:
        return self.asked.startswith("NOT ")


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """A query with operators: the `text` to rank by, the documents that the operators admit, and `suggestions`, the
    query with existing values in place of an unknown one. With suggestions alone, `admitted` is None."""

    text: str
    admitted: AdmittedDocuments | None = None
    operators: tuple[QueryOperator, ...] = ()
    suggestions: tuple[str, ...] = ()


class QueryLanguage:
    """Parses queries with the field values of an index. Safe to share between threads."""

    def __init__(self, index: EmbeddedIndex, analyzer: Analyzer, taxonomy: Taxonomy) -> None:
        self._index, self._analyzer, self._taxonomy = WhooshIndex(index, analyzer), analyzer, taxonomy
        self._parser = qparser.QueryParser(
            WHOLE,
            self._index.schema,
            termclass=query.Variations,
            plugins=[
                qparser.WhitespacePlugin(),
                qparser.FieldsPlugin(),
                qparser.PhrasePlugin(),
                qparser.PrefixPlugin(),
                qparser.RangePlugin(),
                qparser.GroupPlugin(),
                qparser.OperatorsPlugin(And=None, AndNot=None, AndMaybe=None, Require=None),
            ],
        )

    def read(self, text: str) -> TypedQuery | None:
        """Return the query with its operators; None if all of it is text."""
        if len(text) > LONGEST or not HINT.search(text) or "\n" in text.strip():
            return None
        chunks = [*CHUNK.finditer(text)]
        parts = {n: part for n, one in enumerate(chunks) if (part := self._read_tag_or_days(one))}
        if len(chunks) <= MOST_WORDS:
            more = parts | {
                n: part for n, one in enumerate(chunks) if (part := self._read_ambiguous(one, n > 0))
            }
            more = self._join_operands(chunks, more)
            if more.keys() - parts.keys() and self._is_prose(chunks, more):
                parts = more
        words = [
            one for one in chunks if not any(part.start <= one.start() < part.end for part in parts.values())
        ]
        if not parts or (not words and all(part.excludes for part in parts.values())):
            nearest = tuple(self._suggest_values(text, chunks))
            return TypedQuery(text, suggestions=nearest) if nearest else None
        return self._evaluate(text, words, sorted(set(parts.values())))

    def _evaluate(
        self, text: str, words: Sequence[re.Match[str]], parts: Sequence[OperatorPart]
    ) -> TypedQuery:
        asked = self._parser.parse(" ".join(part.asked for part in parts))
        free = [(one.start(), one.group()) for one in words]
        free += [(part.start, part.words) for part in parts if part.words]
        within = AdmittedDocuments(self._index.matching(asked), self._recency, listed=not words)
        operators = tuple(
            QueryOperator(text[one.start : one.end], " ".join((text[: one.start] + text[one.end :]).split()))
            for one in parts
        )
        nearest = tuple(self._suggest_values(text, words))
        return TypedQuery(" ".join(word for _, word in sorted(free)), within, operators, nearest)

    @cached_property
    def _recency(self) -> Scores:
        """Recency of each document's last change, 0 to 1."""
        days = self._index.days()
        return np.unique(days, return_inverse=True)[1] / max(1, len(days))

    # ---- fields

    @cached_property
    def _values(self) -> Mapping[str, Mapping[str, str]]:
        """The tags that documents have, by field, then by id and by name."""
        found: dict[str, dict[str, str]] = {}
        for field in TAGS:
            tags = self._taxonomy.facet(field) if field != "lang" else {}
            ids = {one: one for one in map(bytes.decode, self._index.reader().lexicon(field))}
            known = filter(tags.__contains__, ids)
            names = {self._analyzer.fold(name): one for one in known for name in tags[one].name.values()}
            # An id stays one where another tag has it as its name; ids come first.
            found[field] = ids | names | ids
        return found

    def _read_tag_or_days(self, chunk: re.Match[str]) -> OperatorPart | None:
        match = FIELD.fullmatch(chunk.group())
        field = _field(match)
        if match is None or not field:
            return None
        sign = "NOT " if match["sign"] else ""
        if field == "updated":
            days = _days(match["value"])
            return OperatorPart(*chunk.span(), f"{sign}updated:{days}") if days else None
        value = self._values.get(field, {}).get(self._analyzer.fold(match["value"].strip('"“”')))
        return OperatorPart(*chunk.span(), f'{sign}{field}:"{value}"') if value else None

    def _suggest_values(self, text: str, chunks: Sequence[re.Match[str]]) -> Iterator[str]:
        """Yield the query with similar existing values for the first field with an unknown value."""
        for chunk in chunks:
            match = FIELD.fullmatch(chunk.group())
            if match is None or (field := _field(match)) not in TAGS:
                continue
            known, typed = self._values[field], self._analyzer.fold(match["value"].strip('"“”'))
            if typed in known:
                continue
            near = get_close_matches(typed, known, NEAREST, 0.6)
            for value in dict.fromkeys(known[name] for name in near):
                start = chunk.start() + match.start("value")
                yield f"{text[:start]}{value}{text[chunk.end() :]}"
            return

    def complete_field(self, text: str) -> Iterator[str]:
        """Yield the query with each possible value of the field at its end."""
        match = OPEN_FIELD.search(text)
        if match is None or (field := _field(match)) not in TAGS:
            return
        typed = self._analyzer.fold(match["value"])
        values = (value for name, value in self._values[field].items() if name.startswith(typed))
        yield from (f"{text[: match.start('value')]}{value}" for value in dict.fromkeys(values))

    # ---- operators that occur in prose and messages as well

    def _read_ambiguous(self, chunk: re.Match[str], follows: bool) -> OperatorPart | None:
        """Recognize `title:word`, `-word` and `mem*`; `follows`: it is not the first chunk."""
        text, span = chunk.group(), chunk.span()
        if (match := FIELD.fullmatch(text)) and _field(match) == "title" and match["colon"] == ":":
            sign, value = "NOT " if match["sign"] else "", self._phrase("title", match["value"].strip('"“”'))
            return OperatorPart(*span, sign + value, "" if sign else match["value"]) if value else None
        if match := BEGINNING.fullmatch(text):
            word = match["word"].casefold()
            known = word not in C_TYPES and self._index.reader().expand_prefix(WHOLE, word)
            return OperatorPart(*span, f"{'NOT ' if match['sign'] else ''}{word}*") if known else None
        if (
            follows
            and text.startswith("-")
            and _is_operand(text[1:])
            and (value := self._phrase(WHOLE, text[1:]))
        ):
            return OperatorPart(*span, f"NOT {value}")
        return None

    def _phrase(self, field: str, text: str) -> str:
        """Return consecutive words in Whoosh's syntax; empty if no entry has them."""
        words = " ".join(self._analyzer.analyze(text).words)
        asked = f'{field}:"{words}"' if " " in words else f"{field}:{words}"
        return asked if words and self._index.matching(self._parser.parse(asked)).any() else ""

    def _join_operands(
        self, chunks: Sequence[re.Match[str]], parts: Mapping[int, OperatorPart]
    ) -> dict[int, OperatorPart]:
        """Return the parts with NOT and OR joined to their operands."""
        found = dict(parts)
        for number, (left, right) in enumerate(pairwise(chunks)):
            behind = found.get(number + 1)
            if left.group() == "NOT" and number and self._excludes(chunks, found, number):
                asked = behind.asked if behind else self._phrase(WHOLE, right.group())
                if asked and not (behind and behind.excludes):
                    found[number] = found[number + 1] = OperatorPart(
                        left.start(), right.end(), f"NOT {asked}"
                    )
            elif left.group() == "OR" and number and (before := self._operand(chunks, found, number - 1)):
                if (after := self._operand(chunks, found, number + 1)) is None:
                    continue
                words = f"{before.words} {after.words}".strip()
                whole = OperatorPart(before.start, after.end, f"({before.asked} OR {after.asked})", words)
                for each in range(number + 2):
                    if whole.start <= chunks[each].start() < whole.end:
                        found[each] = whole
        return found

    def _excludes(
        self, chunks: Sequence[re.Match[str]], parts: Mapping[int, OperatorPart], number: int
    ) -> bool:
        """Whether NOT at a place excludes the next word: messages use NOT as well."""
        before, behind = chunks[number - 1].group(), chunks[number + 1].group()
        word = behind.casefold()
        says = _is_operand(behind) and not (word in STATES or word.endswith("ed") or behind.isupper())
        is_operator = number + 1 in parts or FIELD.fullmatch(behind) is not None
        return not is_function_word(before.casefold()) and (says or is_operator)

    def _operand(
        self, chunks: Sequence[re.Match[str]], parts: Mapping[int, OperatorPart], number: int
    ) -> OperatorPart | None:
        """Return the operand on one side of an OR, if it is valid."""
        if number in parts:
            return None if parts[number].excludes else parts[number]
        text = chunks[number].group()
        if not _is_operand(text) or is_function_word(text.casefold()):
            return None
        words = " ".join(self._analyzer.analyze(text).words)
        if not words:
            return None
        return OperatorPart(*chunks[number].span(), f'{WHOLE}:"{words}"' if " " in words else words, text)

    def _is_prose(self, chunks: Sequence[re.Match[str]], parts: Mapping[int, OperatorPart]) -> bool:
        """Whether the text beside the operators has no code, and is not all capitals like a message."""
        rest = " ".join(one.group() for number, one in enumerate(chunks) if number not in parts)
        code = any(piece.kind is RunKind.CODE for piece in self._analyzer.analyze(rest).runs)
        return not code and not (rest.isupper() and len(chunks) - len(parts) > 1)


def _field(match: re.Match[str] | None) -> str:
    """Return the field of a typed name; a full-width colon is valid only after Chinese names."""
    if match is None or (match["colon"] == "：" and not has_han(match["name"])):
        return ""
    return BY_NAME.get(match["name"].casefold(), "")


def _days(value: str) -> str:
    """Return a day, month or year, or a range of them, in Whoosh's syntax; empty if it is none, such as 2026-02-30."""
    match = DAYS.fullmatch(value)
    if match is None or not all(map(_exists, filter(None, match.group("first", "last")))):
        return ""
    first, last = ((match[name] or "").replace("-", "") for name in ("first", "last"))
    if not match["dots"]:
        return "" if last else first
    if not (first or last):
        return ""
    return f"[{f'{first} ' if first else ''}TO{f' {last}' if last else ''}]"


def _exists(day: str) -> bool:
    """Whether the calendar has a day, month or year."""
    year, month, day_of_month = (*map(int, day.split("-")), 1, 1)[:3]
    try:
        date(year, month, day_of_month)
    except ValueError:
        return False
    return True


def _is_operand(text: str) -> bool:
    """Whether a word or quoted words can be an operand of NOT or OR."""
    return bool(WORD.fullmatch(text) or QUOTED.fullmatch(text))
