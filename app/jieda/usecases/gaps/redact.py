"""Redacts questions: keeps words that show what a question is about, and nothing that identifies a person.

Two rules, one of form and one of meaning. Text that looks like a value is replaced by its kind in braces. Of the rest,
a word stays if the served content contains it or, in a search, if it is a lower-case word of a dictionary. Everything
else becomes `{word}`. So nothing must be recognized as a secret in order to be removed; it must be known as harmless in
order to stay.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby

from jieda.analysis.token import TokenKind, is_code, split_runs, word_spans
from jieda.analysis.words import chinese_dictionary, fold_text, is_function_word
from jieda.content.library import Library
from jieda.han import has_han
from jieda.log.formats import PYTHON_ENDINGS
from jieda.log.lines import MASK
from jieda.places import PACKAGE, read_words
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import FACETS
from jieda.usecases.secrets import masked, read_patterns

LONGEST_READ = 600
"""Maximum of characters that are read of a text."""
LONGEST_KEPT = 160
LONGEST_WORD = 30
MOST_DIGITS = 3
"""Maximum of digits in a name that is kept: `node2pg`, `bf16`. With more, it is a number with letters around it."""
UNKNOWN = "{word}"


_PLAIN, _PEOPLE = (
    frozenset(read_words(PACKAGE / "knowledge" / name)) for name in ("plain_words.txt", "names.txt")
)
"""Common words in messages of programs, which identify nobody, and names of people."""
_NAME = re.compile(r"-{0,2}[A-Za-z_][A-Za-z0-9_]*(?:[.-][A-Za-z_][A-Za-z0-9_]*)*")
_TYPE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
PLACEHOLDER = re.compile(r"\{[a-z]+\}")
_STOPS_OF_TEXT = ",;.!?:"
"""Harmless punctuation of a message, if followed by a space."""

_TABLES = read_patterns("values.toml", mask=re.escape(MASK), plain="|".join(sorted(_PLAIN)))


@cache
def _value() -> re.Pattern[str]:
    """Compile the pattern of values on first use: that takes a tenth of a second, and most processes never redact."""
    return re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _TABLES["values"].items()))


def as_log(text: str) -> str:
    """Return a redacted text as a log could have printed it, with a stand-in for each placeholder."""
    return PLACEHOLDER.sub(lambda hole: _TABLES["stand_ins"][hole[0][1:-1]], text)


def as_quoted(text: str) -> str:
    """Return a redacted text with `…` for each placeholder, as people quote."""
    return PLACEHOLDER.sub("…", text)


def as_signature(line: str) -> str:
    """Return a signature that matches all lines with this redacted form. A redacted word may have been several."""
    joined = re.sub(r"\s*(?:\{word\}\s*)+", "{any}", line).removeprefix("{any}").removesuffix("{any}")
    # Without a space, the boundary between two adjacent placeholders would be ambiguous.
    return re.sub(r"\{any\}(?=\{(?:path|addr)\})", "{any} ", re.sub(r"(?<=[hr]\})\{any\}", " {any}", joined))


def is_always_kept(word: str) -> bool:
    """Whether a case-folded word stays in any message, whatever the content."""
    return word in _PLAIN or is_function_word(word)


class Redactor:
    """Redacts by the words of one snapshot. For one thread; takes a tenth of a second to make."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.generation = snapshot.generation
        self._searcher = snapshot.searcher
        self._analyzer = snapshot.searcher.analyzer
        self._names = chinese_dictionary().names()
        self._said = _PLAIN.union(self._vocabulary(snapshot.library))

    def search(self, text: str) -> str:
        """Redact a query; empty if no meaningful word is left."""
        return self._redacted(text, dictionary=True)

    def message(self, text: str) -> str:
        """Redact the message of a failure; empty if no meaningful word is left."""
        return self._redacted(text, dictionary=False)

    def failure(self, name: str) -> str:
        """Return the type of a failure without its module: it is the name of a class, not a value. `{word}` for
        anything that does not look like a class name."""
        last = name.rpartition(".")[2]
        fits = _TYPE.fullmatch(last) and _digits(last) <= MOST_DIGITS and masked(last) == last
        return last if fits else UNKNOWN

    def _vocabulary(self, library: Library) -> Iterator[str]:
        """Yield the words of the content's glossary, tags, programs and failure families."""
        logs = library.log_knowledge
        tags = [tag for facet in FACETS for tag in library.taxonomy.facet(facet).values()]
        names = (name for tag in tags for name in (tag.id, *tag.name.values()))
        groups = (word for group in library.glossary for word in group.words)
        programs = (name for program in logs.programs.by_id.values() for name in program.names)
        families = (family.name for family in logs.failures.families)
        for text in (*names, *groups, *programs, *families):
            for word, _, _ in split_runs(fold_text(text).text.casefold()):
                yield word

    def _redacted(self, text: str, *, dictionary: bool) -> str:
        folded = masked(fold_text(text[:LONGEST_READ]).text[:LONGEST_READ])
        parts: list[str] = []
        end = 0
        for value in _value().finditer(folded):
            parts += self._words(folded[end : value.start()], dictionary=dictionary)
            parts.append(f"{{{(value.lastgroup or '').rstrip('0123456789')}}}")
            end = value.end()
        parts += self._words(folded[end:], dictionary=dictionary)
        return _joined(part for part, _ in groupby(parts))

    def _words(self, text: str, *, dictionary: bool) -> Iterator[str]:
        """Redact a piece of text without values; a message keeps its punctuation, which belongs to its signature."""
        said = 0
        for run, start, is_han in split_runs(text):
            if not dictionary:
                yield from _punctuation(text[said:start])
                said = start + len(run)
            if is_han:
                yield from self._han(run, dictionary=dictionary)
            elif is_code(run):
                yield self._public(run)
            else:
                yield run if self._is_plain(run, dictionary=dictionary) else UNKNOWN
        if not dictionary:
            yield from _punctuation(text[said:])

    def _is_plain(self, written: str, *, dictionary: bool) -> bool:
        word = written.casefold()
        if len(word) > LONGEST_WORD or not word.isascii():
            return False
        if is_function_word(word) or word in self._said or self._searcher.has_word(word):
            return True
        is_common = written.islower() and word.removesuffix("'s") not in _PEOPLE
        return dictionary and is_common and self._analyzer.is_word(word)

    def _is_public(self, name: str) -> bool:
        """Whether an identifier may stay: it is in the content and cannot be a host, or it is a common exception."""
        folded = name.casefold()
        if not _NAME.fullmatch(name) or len(name) > 2 * LONGEST_WORD or _digits(name) > MOST_DIGITS:
            return False
        may_be_host = ("." in name and name == folded and "_" not in name) or (
            "-" in name.lstrip("-") and _digits(name) > 0
        )
        if folded in self._said or self._searcher.has_word(folded):
            return not may_be_host
        parts = [name[start:end].casefold() for start, end in word_spans(name)]
        is_exception = name.endswith(PYTHON_ENDINGS) and "." not in name and "-" not in name
        return is_exception and all(
            self._searcher.has_word(part) or self._analyzer.is_word(part) for part in parts
        )

    def _public(self, name: str) -> str:
        """Return an identifier that may stay, an exception's name without its module, or `{word}`."""
        last = name.rpartition(".")[2]
        return next(
            (each for each in (name, last if last.endswith(PYTHON_ENDINGS) else "") if self._is_public(each)),
            UNKNOWN,
        )

    def _han(self, run: str, *, dictionary: bool) -> Iterator[str]:
        """Redact a Chinese text; adjacent words that stay form one piece. A single known character stays between known
        words; two in a row may be a name. Of a name, no part stays that is a word by itself."""
        known = [False] * len(run)
        for word_run in self._analyzer.analyze(run).runs:
            for token in sorted(word_run.of_kind(TokenKind.TERM), key=lambda each: each.end - each.start):
                is_known = self._is_known(token.text, dictionary=dictionary)
                if is_known or token.text in self._names:
                    known[token.start : token.end] = [is_known] * (token.end - token.start)
        for is_known, places in groupby(range(len(run)), key=known.__getitem__):
            stretch = "".join(run[place] for place in places)
            alone = len(stretch) == 1 and (is_function_word(stretch) or self._searcher.has_word(stretch))
            functional = all(map(is_function_word, stretch))
            yield stretch if is_known or alone or functional else UNKNOWN

    def _is_known(self, word: str, *, dictionary: bool) -> bool:
        if is_function_word(word) or word in self._said or self._searcher.has_word(word):
            return True
        return dictionary and word not in self._names


def _punctuation(separator: str) -> Iterator[str]:
    """Redact the text between two words: a harmless stop stays, anything else becomes `{word}`."""
    stop = separator.strip()
    if stop:
        yield stop if stop in _STOPS_OF_TEXT and separator == f"{stop} " else UNKNOWN


def _digits(name: str) -> int:
    return sum(map(str.isdigit, name))


def _joined(parts: Iterable[str]) -> str:
    """Join parts into one text, Chinese ones without a space; empty if no part is meaningful."""
    text, says_something = "", False
    for part in parts:
        glue = "" if not text or part in _STOPS_OF_TEXT or (has_han(text[-1]) and has_han(part[0])) else " "
        if len(text) + len(glue) + len(part) > LONGEST_KEPT:
            break
        text += glue + part
        silent = part in _STOPS_OF_TEXT or PLACEHOLDER.fullmatch(part) or is_function_word(part.casefold())
        says_something |= not silent
    return text.rstrip(_STOPS_OF_TEXT) if says_something else ""
