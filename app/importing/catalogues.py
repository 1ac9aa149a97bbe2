"""The one door to Babel: gettext catalogues, which hold a page's text in two languages paragraph by paragraph."""

import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path

from app.errors import ImportingError
from app.importing.page import code_lines, read_text
from app.importing.wording import Wording

try:
    from babel.messages import pofile as babel_pofile
except ImportError:
    babel_pofile = None  # type: ignore[assignment]  # it is an optional extra

EXTRA_MISSING = (
    "{name}: reading gettext catalogues needs Babel, which is an optional extra; install it beside Jieda:"
    " pip install 'jieda[import]', in a checkout: .venv/bin/pip install babel"
)
MAX_LINES = 60
"""The longest paragraph that is looked for in a page."""

_PREFIX = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+]|\d+[.)]|#\.|>|\|)[ \t]+)*")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")


def read_catalogue(path: Path) -> Mapping[str, str]:
    """Paragraphs to their translations, white space folded; fuzzy and missing ones are left out.

    Raises ImportingError where Babel is not installed or the file is not a catalogue.
    """
    return {source: said for source, said in _messages(path) if said}


def translate(text: str, catalogue: Mapping[str, str]) -> str:
    """A page with the paragraphs, titles and items that the catalogue knows put into its language."""
    lines = text.split("\n")
    code = code_lines(lines)
    out: list[str] = []
    at = 0
    while at < len(lines):
        taken, said = _longest(lines, at, catalogue) if at not in code else (0, "")
        if taken:
            match = _PREFIX.match(lines[at])
            out.append(f"{match[0] if match else ''}{said}")
            at += taken
            if at < len(lines) and (rule := _UNDERLINE.match(lines[at])):
                # Han characters are two columns wide, and a title's line must be as long as the title.
                out.append(rule[1] * max(len(lines[at].rstrip()), 2 * len(said)))
                at += 1
        else:
            out.append(lines[at])
            at += 1
    return "\n".join(out)


def pages_of(path: Path, wording: Wording) -> tuple[str, str]:
    """Both pages of a catalogue that has come without its source, as Markdown: what asks becomes a heading."""
    source: list[str] = []
    said: list[str] = []
    for original, translation in _messages(path):
        heading = (
            "## " if wording.marked(original) or (wording.asks(original) and len(original) < 200) else ""
        )
        source.append(f"{heading}{original}")
        said.append(f"{heading}{translation or original}")
    return "\n\n".join(source) + "\n", "\n\n".join(said) + "\n"


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    if babel_pofile is None:
        raise ImportingError(EXTRA_MISSING.format(name=path))
    try:
        catalogue = babel_pofile.read_po(BytesIO(read_text(path).encode()), abort_invalid=True)
    except (babel_pofile.PoFileError, ValueError) as error:
        raise ImportingError(f"{path} is not a gettext catalogue: {error}") from error
    for message in catalogue:
        if isinstance(message.id, str) and message.id and isinstance(message.string, str):
            yield _folded(message.id), "" if message.fuzzy else _folded(message.string)


def _longest(lines: list[str], at: int, catalogue: Mapping[str, str]) -> tuple[int, str]:
    """How many lines from `at` on are one paragraph of the catalogue, and its translation."""
    match = _PREFIX.match(lines[at])
    joined = ""
    best = (0, "")
    for count, line in enumerate(lines[at : at + MAX_LINES], 1):
        if not line.strip():
            break
        joined = _folded(f"{joined} {line[match.end() :] if count == 1 and match else line}")
        if joined in catalogue:
            best = (count, catalogue[joined])
    return best


def _folded(text: str) -> str:
    return " ".join(text.split())
