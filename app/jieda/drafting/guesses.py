"""Guesses the slug, signatures and tags of a new entry from titles, answers and log lines, and words its doubts.

A doubt is a choice that a person has to review. It is written into the draft, in the draft's language; `jieda check`
reports it until it is removed. Its text is in the locales, by rule, which precedes the text.
"""

import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import TokenKind
from jieda.content.markdown.body import SourceBlock, parse_page, walk
from jieda.content.read.corpus import Corpus
from jieda.entry import Language, Sample
from jieda.han import EAST_ASIAN, has_han
from jieda.locales.translations import translate
from jieda.signature import SignatureSyntaxError, compile_signature_line
from jieda.taxonomy import Tag

MAX_SLUG_WORDS = 8
MAX_SLUG_CHARS = 60

_DATA = tomllib.loads(Path(__file__).with_name("guesses.toml").read_text(encoding="utf-8"))
_SMALL_WORDS = frozenset(_DATA["small_words"].split())


class SlugAllocator:
    """Assigns unused slugs. `taken`: slugs of the content."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {each.casefold() for each in taken}

    def take(self, title_en: str, title_zh: str, anchor: str, fallback: str) -> tuple[str, bool]:
        """Return an unused slug, and whether it is descriptive: made from the English title, the anchor or the Latin
        words of the Chinese title instead of `fallback`."""
        candidates = (words_of(title_en), words_of(anchor), words_of(title_zh))
        descriptive = next((words for words in candidates if len("".join(words)) >= 4), None)
        base = slug = _join_words(descriptive or (*words_of(fallback), *words_of(title_zh)) or ("entry",))
        suffixes = count(2)
        while slug in self._taken:
            slug = f"{base}-{next(suffixes)}"
        self._taken.add(slug)
        return slug, descriptive is not None


def words_of(text: str) -> tuple[str, ...]:
    """Return the content words of a title in lower case; all words if there are only function words."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", " ", text.replace("'", "").replace("’", ""))
    words = re.findall(r"[a-z0-9]+", spaced.lower())
    return tuple(word for word in words if word not in _SMALL_WORDS) or tuple(words)


def _join_words(words: Iterable[str]) -> str:
    slug = ""
    for word in list(words)[:MAX_SLUG_WORDS]:
        longer = f"{slug}-{word}".strip("-")
        if len(longer) > MAX_SLUG_CHARS:
            break
        slug = longer
    return slug or next(iter(words))[:MAX_SLUG_CHARS]


MAX_SIGNATURES = 3
MAX_SIGNATURE_CHARS = 160

OUTPUTS = frozenset(["", *_DATA["output"].split()])
"""Info strings of code blocks that quote output, not commands."""
LOGS = OUTPUTS | frozenset(_DATA["shell"].split())
"""Info strings of code blocks that quote a terminal."""

_EXCEPTION_LINE, _ERROR_WORDS, _FRAME, _COMMAND, _STAMP = (
    re.compile(_DATA["line"][name]) for name in ("exception", "error", "frame", "command", "stamp")
)
_QUOTED_PHRASE = re.compile(r'`([^`]{8,})`|"([^"]{8,})"|“([^”]{8,})”|「([^」]{8,})」')
# Except the message of a log record, `msg="cannot open it"`: without it, the rest would match every record.
_QUOTED_VALUE = re.compile(
    r"""(?<![\w"'])(?!(?<==)["'](?:[^\s"']+ ){2})(?:"[^"\n]{1,80}"|'[^'\n]{1,80}')(?![\w"'])"""
)
_VALUES = tuple((re.compile(each["pattern"], re.ASCII), each["placeholder"]) for each in _DATA["value"])


def propose_signatures(
    titles: Iterable[str], answers: Iterable[str], samples: Sequence[Sample], symptoms: Iterable[str] = ()
) -> tuple[str, ...]:
    """Return a few lines of error text from titles, then from code blocks, with placeholders for values.

    `symptoms`: texts whose code blocks quote an error even if no line is worded like one. Lines that are not specific,
    or that match one of `samples` (those of other entries), are left out.
    """
    titles, texts = list(titles), list(answers)
    title_text = "\n".join(titles)
    outputs, shown = _quoted_lines(texts, OUTPUTS), _quoted_lines(symptoms, OUTPUTS)
    lines = [line for title in titles for line in _from_title(title)]
    lines += [line for block in outputs for line in block if line.count(" ") > 1 and line in title_text]
    lines += [block[0] for block in shown if block and not _error_lines(block)]
    lines += [line for block in _quoted_lines(texts, LOGS) for line in _error_lines(block)]
    # Chinese text on a page is an explanation, not the output of a program.
    signatures = signatures_of((line for line in lines if not has_han(line)), samples)
    return tuple(dict.fromkeys(signatures))[:MAX_SIGNATURES]


def signatures_of(lines: Iterable[str], samples: Sequence[Sample]) -> Iterator[str]:
    """Yield lines of error text as signatures, with placeholders for values; lines that are not specific, or that match
    one of `samples`, are left out."""
    for signature in filter(None, map(to_signature, lines)):
        line = compile_signature_line(signature)
        if not any(line.matches(sample.text) for sample in samples):
            yield signature


def _from_title(title: str) -> Iterator[str]:
    """Yield the phrases that a title quotes, or else the part that starts with the name of an exception."""
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


def _error_lines(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines that tell the error; of exceptions, only the last one."""
    exceptions = [line for line in lines if _EXCEPTION_LINE.match(line)]
    return exceptions[-1:] or [line for line in lines if _ERROR_WORDS.search(line)][:2]


def _quoted_lines(texts: Iterable[str], infos: Set[str]) -> Iterator[Sequence[str]]:
    """Yield the lines of each code block with one of the info strings, without timestamps, frames and commands."""
    for block in (block for text in texts for block in _code_blocks(parse_page(text).blocks)):
        if block.kind == "fence" and block.markup.strip("`~ ").split(" ")[0].lower() not in infos:
            continue
        lines = [_STAMP.sub("", line).strip() for line in block.content.split("\n")]
        yield [line for line in lines if line and not _FRAME.match(line) and not _COMMAND.match(line)]


def _code_blocks(blocks: Sequence[SourceBlock]) -> Iterator[SourceBlock]:
    """Yield blocks that quote output: code, and paragraphs of block quotes with words of an error."""
    for block in walk(blocks):
        if block.kind in {"fence", "code_block"}:
            yield block
        elif block.kind == "blockquote":
            paragraphs = (child for child in block.children if child.kind == "paragraph")
            yield from (each for each in paragraphs if _ERROR_WORDS.search(each.content))


def to_signature(line: str) -> str:
    """Return a line as a signature with placeholders for values; empty if it is not specific."""
    if len(line) < 8:
        return ""
    text = line[:MAX_SIGNATURE_CHARS]
    if len(line) > MAX_SIGNATURE_CHARS:
        text = text.rpartition(" ")[0]
    text = text.replace("{", "{{").replace("}", "}}")
    # A quoted text distinguishes an exception; in other messages it is a value, unless too little would be left.
    masked = "" if _EXCEPTION_LINE.match(line) else _QUOTED_VALUE.sub("{quoted}", text)
    return (masked != text and _mask_values(masked)) or _mask_values(text)


def _mask_values(text: str) -> str:
    """Return a line with placeholders for unquoted values; empty if it is not specific."""
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


MIN_WEIGHT = 6.0
"""Minimum total weight of the words that a text shares with a tag."""
MAX_TAGS = 2


class TagFinder:
    """Finds the tags of one taxonomy list that fit a text. `titles`: titles of the entries with each tag."""

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
        """Return the ids of the best tags, at most two. Each shares two words, or one of its name, with the text."""
        terms = self._terms(text)
        scores: dict[str, float] = {}
        eligible: list[str] = []
        for tag, words in self._words.items():
            shared, in_name = terms & words, terms & self._names[tag]
            scores[tag] = math.fsum(self._weight[term] * (2 if term in in_name else 1) for term in shared)
            if in_name or len(shared) > 1:
                eligible.append(tag)
        threshold = max(MIN_WEIGHT, 0.7 * max(scores.values(), default=0.0))
        best = sorted(eligible, key=lambda tag: -scores[tag])[:MAX_TAGS]
        return tuple(tag for tag in best if scores[tag] >= threshold)

    def _terms(self, *texts: str) -> set[str]:
        tokens = (token for text in texts for token in self._analyzer.analyze(text).tokens)
        return {token.text for token in tokens if token.kind is TokenKind.TERM and len(token.text) > 1}


def finders_of(corpus: Corpus, analyzer: Analyzer) -> tuple[TagFinder, TagFinder]:
    """Return the finders of topics and of error types, from the taxonomy and the titles of a corpus."""
    topic_titles: defaultdict[str, list[str]] = defaultdict(list)
    type_titles: defaultdict[str, list[str]] = defaultdict(list)
    for file in corpus.files:
        for titles, tags in ((topic_titles, file.front.topics), (type_titles, file.front.error_types)):
            for tag in tags:
                titles[tag].append(file.front.title)
    topics = TagFinder(corpus.taxonomy.topic, topic_titles, analyzer)
    return topics, TagFinder(corpus.taxonomy.error_type, type_titles, analyzer)


MAX_CHARS = 300

VARIANTS = re.compile(r"-(?:from-log|from-threads|if-none|address|license)$")
"""Suffixes of rules that only select another text: for an entry made from a log or threads instead of a page, for a
guess that found nothing, or for the part of a source that is unknown."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice that a person has to review; `values` fill its text."""

    rule: str
    values: tuple[tuple[str, str], ...] = ()

    def render(self, lang: Language) -> str:
        told = translate(lang, f"doubt.{self.rule}", **dict(self.values))
        text = f"{VARIANTS.sub('', self.rule)}: {told}"
        return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def doubt(rule: str, **values: object) -> Doubt:
    """Create a doubt of a rule."""
    return Doubt(rule, tuple((name, str(value)) for name, value in values.items()))


def doubt_guess(rule: str, names: Sequence[str]) -> Doubt:
    """Create a doubt about guessed names, of which there may be none."""
    return doubt(rule, names=", ".join(names)) if names else doubt(f"{rule}-if-none")
