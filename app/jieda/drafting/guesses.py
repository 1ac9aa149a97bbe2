"""Guesses slug, signatures and tags of a new entry from titles, answers and lines of a log; and doubts, the choices
that an import could not make, written in the language of the draft: `jieda check` reports each until it is removed.

Texts of doubts are in the locales, by rule. The rule precedes the text, as in the problems that `jieda check` finds.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from itertools import count

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.content.markdown.body import SourceBlock, parse_page
from jieda.content.read.corpus import Corpus
from jieda.entry import Language, Sample
from jieda.han import EAST_ASIAN, has_han
from jieda.locales.translations import Translations
from jieda.signature import SignatureSyntaxError, compile_signature_line
from jieda.taxonomy import Tag

MAX_SLUG_WORDS = 8
MAX_SLUG_CHARS = 60

_SMALL_WORDS = frozenset(
    """
    a an and are as at be been by can could did do does for from get has have how i if in is it its me my of on or
    our shall should so some than that the their them then there these this those to us was we were what when
    where which who why will with would you your
    """.split()
)


class SlugAllocator:
    """Assigns unused slugs; `taken` are those of the content."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {each.casefold() for each in taken}

    def take(self, title_en: str, title_zh: str, anchor: str, fallback: str) -> tuple[str, bool]:
        """Return a slug from the English title, an anchor, or the Latin words of the Chinese title; and False if it had
        to be made from `fallback`."""
        candidates = (words_of(title_en), words_of(anchor), words_of(title_zh))
        named = next((each for each in candidates if len("".join(each)) >= 4), None)
        wanted = slug = _joined(named or (*words_of(fallback), *words_of(title_zh)) or ("entry",))
        numbers = count(2)
        while slug in self._taken:
            slug = f"{wanted}-{next(numbers)}"
        self._taken.add(slug)
        return slug, named is not None


def words_of(text: str) -> tuple[str, ...]:
    """Return the content words of a title in lower case; all words if there are only function words."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text.replace("'", "").replace("’", ""))
    words = re.findall(r"[a-z0-9]+", parted.lower())
    return tuple(word for word in words if word not in _SMALL_WORDS) or tuple(words)


def _joined(words: Iterable[str]) -> str:
    slug = ""
    for word in list(words)[:MAX_SLUG_WORDS]:
        longer = f"{slug}-{word}".strip("-")
        if len(longer) > MAX_SLUG_CHARS:
            break
        slug = longer
    return slug or next(iter(words))[:MAX_SLUG_CHARS]


MAX_SIGNATURES = 3
MAX_SIGNATURE_CHARS = 160

LOGS = frozenset(
    ["", *"text txt log console bash sh shell plain plaintext output error traceback pytb".split()]
)
"""Info strings of code blocks that quote a terminal."""
OUTPUTS = LOGS - {"bash", "sh", "shell"}
"""Those of blocks that are no commands."""

_EXCEPTION_LINE = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Fault|Failure)\b\s*(?::|$)")
_ERROR_WORDS = re.compile(
    r"(?:\b(?:error|fatal|panic|abort(?:ed|ing)?|failed|failure|exception|segfault|segmentation fault)\b\s*[:\]!(]"
    r"|^(?:error|fatal|failed|cannot|could not|unable to|no such|undefined|invalid)\b)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r'^\s*(?:File "|at \S+\(|\^+|~+|Traceback \(most recent|During handling|The above exception)'
)
_COMMAND = re.compile(
    r"^\s*(?:[$#>]|(?:apt(?:-get)?|cd|curl|docker|export|git|helm|journalctl|kubectl|npm|pip3?|psql|python3?|sudo"
    r"|systemctl|yum)\s)"
)
_STAMP = re.compile(
    r"^\W*(?:\d{4}[-/]\d\d[-/]\d\d[T ]?)?\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\S*\W+|^\((?:\w+ )?pid=[^)]*\)\s*"
)
_QUOTED_PHRASE = re.compile(r'`([^`]{8,})`|"([^"]{8,})"|“([^”]{8,})”|「([^」]{8,})」')
# Not the message of a record, `msg="cannot open it"`: without it, the rest would fit every record.
_QUOTED_VALUE = re.compile(
    r"""(?<![\w"'])(?!(?<==)["'](?:[^\s"']+ ){2})(?:"[^"\n]{1,80}"|'[^'\n]{1,80}')(?![\w"'])"""
)
_COUNTED = (
    "attempts?|times|(?:re)?tries|seconds?|minutes?|hours?|days?|[次秒天个条行台块张份页项笔]|分钟|小时"
)
# ASCII: no space is between a value and a Chinese word.
_VALUES = tuple(
    (re.compile(pattern, re.ASCII), placeholder)
    for pattern, placeholder in (
        (
            r"(?<![\w.])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?(?!\w)",
            "{any}",
        ),
        (r"(?<![\w.{])(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|ns))+(?!\w)", "{any}"),
        (r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?", "{addr}"),
        (r"0x[0-9a-fA-F]+", "{hex}"),
        (
            r"\[(?!0\d+\])[\d\s,x*]+\]|[A-Za-z]\w{0,20}\.\w{1,20}\(\[[^\]]*\]\)|\(\d+(?:,\s*\d+)+,?\)",
            "{shape}",
        ),
        (r"(?<![\w/{}])(?:[A-Za-z]:\\|~?/)[\w.+@-]+(?:[/\\][\w.+@-]+)+/?", "{path}"),
        (r"(?i)(?<!\w)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?!\w)", "{word}"),
        (r"\b\d+(?:\.\d+)?\s?(?:[KMGT]i?B|bytes)\b", "{size}"),
        (r"(?<![\w./{])\d+/\d+(?![\w./])", "{int}/{int}"),
        (r"(?<![\w.{])\d+\.\d+(?![\w.])", "{num}"),
        (r"(?i)(?<![\w.])(?=[0-9a-f]*\d)[0-9a-f]{12,}(?!\w)", "{hex}"),
        (r"(?<![\w.{-])[A-Za-z][\w-]*\d{6,}[\w-]*", "{word}"),
        (rf"(?<![\w.{{-])\d+(?=\s?(?:{_COUNTED})(?![a-z]))", "{int}"),
        (r"(?<![\w.{-])(?<!\[(?=0))\d{2,}(?![\w.])", "{int}"),
        (r"(?i)\.{3,}|…|\bx{3,}\b|\*{3,}", "{any}"),
    )
)


def propose_signatures(
    titles: Iterable[str], answers: Iterable[str], samples: Sequence[Sample], symptoms: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return lines of error text from titles and code blocks with placeholders for values; those of titles first.

    `symptoms`: texts whose code blocks quote what goes wrong, whatever its words. Leaves out lines that are not
    specific, and lines that a sample of another entry has.
    """
    titles, texts = list(titles), list(answers)
    named = "\n".join(titles)
    lines = [line for title in titles for line in _from_title(title)]
    lines += [line for text in texts for line in _quoted_in(named, text)]
    lines += [line for text in symptoms for line in _from_output(text)]
    lines += [line for text in texts for line in _from_code(text)]
    # What pages say in Chinese is an explanation, and not what a program printed.
    found = signatures_of((line for line in lines if not has_han(line)), samples)
    return tuple(dict.fromkeys(found))[:MAX_SIGNATURES]


def signatures_of(lines: Iterable[str], samples: Sequence[Sample]) -> Iterator[str]:
    """Yield lines of error text with placeholders for values; without those that are not specific or that one of
    `samples` has."""
    for signature in filter(None, map(shape_of, lines)):
        line = compile_signature_line(signature)
        if not any(line.matches(sample.text) for sample in samples):
            yield signature


def _from_title(title: str) -> Iterator[str]:
    """Yield the phrases that a title quotes; else its part that starts like an exception."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED_PHRASE.finditer(title)]
    phrases = [
        text for text in quoted if len(text.split()) > 1 and not (has_han(text) or _COMMAND.match(text))
    ]
    if phrases:
        yield from phrases
        return
    latin = max(re.split(f"[{EAST_ASIAN}]+", title), key=len).strip(" \"'`:：")
    if match := re.search(r"(?:\w+\.)*\w*(?:Error|Exception)\b\s*:.*", latin):
        yield match[0]


def _quoted_in(titles: str, answer: str) -> Iterator[str]:
    """Yield the lines of output that a title says, too."""
    for kept in _quoted_lines(answer, OUTPUTS):
        yield from (line for line in kept if line.count(" ") > 1 and line in titles)


def _from_code(answer: str) -> Iterator[str]:
    """Yield error lines of blocks that quote a terminal: only the last line of a traceback."""
    for kept in _quoted_lines(answer, LOGS):
        yield from _error_lines(kept)


def _from_output(symptom: str) -> Iterator[str]:
    """Yield the first line of each block that quotes output, none of whose lines has the words of an error."""
    for kept in _quoted_lines(symptom, OUTPUTS):
        if not _error_lines(kept):
            yield from kept[:1]


def _error_lines(kept: Sequence[str]) -> Sequence[str]:
    named = [line for line in kept if _EXCEPTION_LINE.match(line)]
    return named[-1:] or [line for line in kept if _ERROR_WORDS.search(line)][:2]


def _quoted_lines(answer: str, infos: Set[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of each block of code with one of the info strings, without time stamps, frames and commands."""
    for block in _code(parse_page(answer).blocks):
        if block.kind == "fence" and block.markup.strip("`~ ").split(" ")[0].lower() not in infos:
            continue
        lines = [_STAMP.sub("", line).strip() for line in block.content.split("\n")]
        yield [line for line in lines if line and not _FRAME.match(line) and not _COMMAND.match(line)]


def _code(blocks: Sequence[SourceBlock]) -> Iterator[SourceBlock]:
    """Yield blocks that quote output: code, and those paragraphs of quotations that read like an error."""
    for block in blocks:
        if block.kind in {"fence", "code_block"}:
            yield block
        elif block.kind == "blockquote":
            paragraphs = (child for child in block.children if child.kind == "paragraph")
            yield from (each for each in paragraphs if _ERROR_WORDS.search(each.content))
        yield from _code(block.children)


def shape_of(line: str) -> str:
    """Return the line as a signature with placeholders for values; empty if that is not specific."""
    if len(line) < 8:
        return ""
    text = line[:MAX_SIGNATURE_CHARS]
    if len(line) > MAX_SIGNATURE_CHARS:
        text = text.rpartition(" ")[0]
    text = text.replace("{", "{{").replace("}", "}}")
    # A quotation distinguishes an exception; in any other message it is a value, unless nothing else would be left.
    opened = "" if _EXCEPTION_LINE.match(line) else _QUOTED_VALUE.sub("{quoted}", text)
    return (opened != text and _specific(opened)) or _specific(text)


def _specific(text: str) -> str:
    """Return the line with placeholders for values other than quotations; empty if that is not specific."""
    for pattern, placeholder in _VALUES:
        text = pattern.sub(placeholder, text)
    text = re.sub(r"(?:\{any\}\s*)+$|^(?:\{any\}\s*)+", "", text).strip().rstrip("\\")
    return text if is_specific(text) else ""


def is_specific(line: str) -> bool:
    """Whether a line is a valid and specific signature."""
    try:
        return compile_signature_line(line).specific
    except SignatureSyntaxError:
        return False


ENOUGH_WEIGHT = 6.0
"""Least total weight of the words of a tag in a text: at least two words, or one of its name."""
MOST_TAGS = 2


class TagFinder:
    """Finds tags of one list for a text. `titles`: titles of the entries with each tag."""

    def __init__(
        self, tags: Mapping[str, Tag], titles: Mapping[str, Iterable[str]], analyzer: Analyzer
    ) -> None:
        self._analyzer = analyzer
        self._names: dict[str, set[str]] = {}
        self._words: dict[str, set[str]] = {}
        for tag in tags.values():
            self._names[tag.id] = self._terms(*tag.name.values(), tag.id.replace("-", " "))
            texts = (*tag.description.values(), *titles.get(tag.id, ()))
            self._words[tag.id] = self._names[tag.id] | self._terms(*texts)
        frequency = Counter(term for terms in self._words.values() for term in terms)
        self._weight = {term: math.log((1 + len(tags)) / count) for term, count in frequency.items()}

    def find(self, text: str) -> tuple[str, ...]:
        """Return the ids of the tags that fit best, at most two; none if nothing fits well."""
        terms = self._terms(text)
        scores: dict[str, float] = {}
        fitting: list[str] = []
        for tag, words in self._words.items():
            shared, named = terms & words, terms & self._names[tag]
            scores[tag] = math.fsum(self._weight[term] * (2 if term in named else 1) for term in shared)
            if named or len(shared) > 1:
                fitting.append(tag)
        least = max(ENOUGH_WEIGHT, 0.7 * max(scores.values(), default=0.0))
        best = sorted(fitting, key=lambda tag: -scores[tag])[:MOST_TAGS]
        return tuple(tag for tag in best if scores[tag] >= least)

    def _terms(self, *texts: str) -> set[str]:
        tokens = (token for text in texts for token in self._analyzer.analyze(text).tokens)
        return {token.text for token in tokens if token.kind is TokenKind.TERM and len(token.text) > 1}


def finders_of(corpus: Corpus, analyzer: Analyzer) -> tuple[TagFinder, TagFinder]:
    """Return the finders of topics and of error types, from the taxonomy and the titles of a corpus."""
    topics: defaultdict[str, list[str]] = defaultdict(list)
    types: defaultdict[str, list[str]] = defaultdict(list)
    for file in corpus.files:
        for known, tags in ((topics, file.front.topics), (types, file.front.error_types)):
            for tag in tags:
                known[tag].append(file.front.title)
    taxonomy = corpus.taxonomy
    return TagFinder(taxonomy.topic, topics, analyzer), TagFinder(taxonomy.error_type, types, analyzer)


MAX_CHARS = 300

VARIANTS = re.compile(r"-(?:from-log|from-threads|if-none|address|license)$")
"""Suffix of a rule whose text differs: for entries made from a log or from threads instead of a page, where nothing was
guessed, or by what of the page is not known."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice that a person has to review; `values` fill its text."""

    rule: str
    values: tuple[tuple[str, str], ...] = ()

    def say(self, lang: Language) -> str:
        text = f"{VARIANTS.sub('', self.rule)}: {_texts().translate(lang, f'doubt.{self.rule}', **dict(self.values))}"
        return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


@cache
def _texts() -> Translations:
    return Translations.load()


def doubt(rule: str, **values: object) -> Doubt:
    """Create a doubt of a rule."""
    return Doubt(rule, tuple((name, str(value)) for name, value in values.items()))


def doubt_guess(rule: str, names: Sequence[str]) -> Doubt:
    """Create a doubt about what was guessed, which may be nothing."""
    return doubt(rule, names=", ".join(names)) if names else doubt(f"{rule}-if-none")
