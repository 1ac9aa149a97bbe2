"""Signatures for an entry, out of the error text that its page quotes."""

import re
from collections.abc import Iterable, Iterator, Sequence

from app.content.markdown.body import SourceBlock, parse_page
from app.entry import Sample
from app.han import EAST_ASIAN, has_han
from app.signature.grammar import SignatureSyntaxError
from app.signature.line import compile_signature_line

MAX_SIGNATURES = 3
MAX_CHARS = 160

LOGS = frozenset(
    {
        "",
        "text",
        "txt",
        "log",
        "console",
        "bash",
        "sh",
        "shell",
        "plain",
        "plaintext",
        "output",
        "error",
        "traceback",
        "pytb",
    }
)
"""What the code blocks that quote a terminal say they are."""

_NAMED = re.compile(r"^(?:\w+\.)*\w*(?:Error|Exception|Interrupt|Fault|Failure)\b\s*(?::|$)")
_SAID = re.compile(
    r"(?:\b(?:error|fatal|panic|abort(?:ed|ing)?|failed|failure|exception|segfault|segmentation fault)\b\s*[:\]!(]"
    r"|^(?:error|fatal|failed|cannot|could not|unable to|no such|undefined|invalid)\b)",
    re.IGNORECASE,
)
_FRAME = re.compile(
    r'^\s*(?:File "|at \S+\(|\^+|~+|Traceback \(most recent|During handling|The above exception)'
)
_COMMAND = re.compile(
    r"^\s*(?:[$#>]|>>>|sudo\b|pip\b|python\d?\s|git\b|cd\b|export\b|apt|yum\b|npm\b|docker\b)"
)
_STAMP = re.compile(
    r"^\W*(?:\d{4}[-/]\d\d[-/]\d\d[T ]?)?\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\S*\W+|^\((?:\w+ )?pid=[^)]*\)\s*"
)
_QUOTED = re.compile(r'`([^`]{8,})`|"([^"]{8,})"|“([^”]{8,})”|「([^」]{8,})」')
_VALUES = (
    (re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"), "{addr}"),
    (re.compile(r"0x[0-9a-fA-F]+"), "{hex}"),
    (re.compile(r"\[[\d\s,x*]+\]|[A-Za-z]\w{0,20}\.\w{1,20}\(\[[^\]]*\]\)|\(\d+(?:,\s*\d+)+,?\)"), "{shape}"),
    (re.compile(r"(?<![\w/{}])(?:[A-Za-z]:\\|~?/)[\w.+@-]+(?:[/\\][\w.+@-]+)+/?"), "{path}"),
    (re.compile(r"\b\d+(?:\.\d+)?\s?(?:[KMGT]i?B|bytes)\b"), "{size}"),
    (re.compile(r"(?<![\w.{])\d+\.\d+(?![\w.])"), "{num}"),
    (re.compile(r"(?<![\w.{-])\d{2,}(?![\w.])"), "{int}"),
    (re.compile(r"\.{3,}|…|\bx{3,}\b|\*{3,}", re.IGNORECASE), "{any}"),
)


def propose_signatures(
    titles: Iterable[str], answers: Iterable[str], samples: Sequence[Sample]
) -> tuple[str, ...]:
    """Lines of error text in titles and code blocks, values made placeholders; those of the titles first.

    None that says nothing specific, and none that a sample of another entry has.
    """
    lines = [line for title in titles for line in _from_title(title)]
    lines += [line for answer in answers for line in _from_code(answer)]
    return tuple(dict.fromkeys(signatures_of(lines, samples)))[:MAX_SIGNATURES]


def signatures_of(lines: Iterable[str], samples: Sequence[Sample]) -> Iterator[str]:
    """Lines of error text with placeholders for their values; those left out that say nothing specific or that one of
    `samples` has."""
    for line in lines:
        if (signature := _signature(line)) and not _matches_any(signature, samples):
            yield signature


def _from_title(title: str) -> Iterator[str]:
    """What the title quotes, where that is a phrase; else its part that starts like an exception."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(title)]
    phrases = [text for text in quoted if len(text.split()) > 1 and not has_han(text)]
    if phrases:
        yield from phrases
        return
    latin = max(re.split(f"[{EAST_ASIAN}]+", title), key=len).strip(" \"'`:：")
    if match := re.search(r"(?:\w+\.)*\w*(?:Error|Exception)\b\s*:.*", latin):
        yield match[0]


def _from_code(answer: str) -> Iterator[str]:
    """Error lines of the blocks that quote a terminal: of a traceback its last line only."""
    for block in _code(parse_page(answer).blocks):
        if block.kind == "fence" and block.markup.strip("`~ ").split(" ")[0].lower() not in LOGS:
            continue
        lines = [_STAMP.sub("", line).strip() for line in block.content.split("\n")]
        kept = [line for line in lines if line and not _FRAME.match(line) and not _COMMAND.match(line)]
        named = [line for line in kept if _NAMED.match(line)]
        yield from named[-1:] or [line for line in kept if _SAID.search(line)][:2]


def _code(blocks: Sequence[SourceBlock]) -> Iterator[SourceBlock]:
    for block in blocks:
        if block.kind in {"fence", "code_block"}:
            yield block
        yield from _code(block.children)


def _signature(line: str) -> str:
    """The line as a signature, or nothing where it is none."""
    if has_han(line) or len(line) < 8:
        return ""
    text = line[:MAX_CHARS] if len(line) <= MAX_CHARS else line[:MAX_CHARS].rpartition(" ")[0]
    text = text.replace("{", "{{").replace("}", "}}")
    for pattern, placeholder in _VALUES:
        text = pattern.sub(placeholder, text)
    text = re.sub(r"(?:\{any\}\s*)+$|^(?:\{any\}\s*)+", "", text).strip().rstrip("\\")
    try:
        return text if compile_signature_line(text).specific else ""
    except SignatureSyntaxError:
        return ""


def _matches_any(signature: str, samples: Sequence[Sample]) -> bool:
    line = compile_signature_line(signature)
    return any(line.matches(sample.text) for sample in samples)
