"""Finds and reads the pages of an import; gettext catalogues, paragraphs with translations, are read with Babel."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote

from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.importing.outline import code_lines
from jieda.importing.page import (
    SUFFIXES,
    MarkdownPage,
    PagePair,
    make_page,
    page_of,
    read_page,
    read_text,
)
from jieda.importing.restructured import EXTRA_MISSING
from jieda.importing.wording import WORDING

try:
    from babel.messages import pofile as babel_pofile
except ImportError:
    babel_pofile = None  # type: ignore[assignment]  # it is an optional extra

MAX_LINES = 60
"""Maximum of lines of a paragraph that is translated."""

_PREFIX = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+]|\d+[.)]|#\.|>|\|)[ \t]+)*")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")


def translate(text: str, catalogue: Mapping[str, str]) -> str:
    """Translate the paragraphs, titles and items of a page that are in the catalogue."""
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
                # Han characters are two columns wide, and an underline must be as long as its title.
                out.append(rule[1] * max(len(lines[at].rstrip()), 2 * len(said)))
                at += 1
        else:
            out.append(lines[at])
            at += 1
    return "\n".join(out)


def _catalogue_pages(path: Path) -> tuple[str, str]:
    """Return both pages of a catalogue without a source page, as Markdown; questions become headings."""
    source = translated = ""
    for original, translation in _messages(path):
        is_question = WORDING.marked(original) or (WORDING.asks(original) and len(original) < 200)
        heading = "## " if is_question else ""
        source += f"{heading}{original}\n\n"
        translated += f"{heading}{translation or original}\n\n"
    return source, translated


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of a catalogue with their translations, empty for fuzzy and missing ones; white space is
    collapsed. Raises ImportingError if Babel is not installed or the file is not a catalogue."""
    if babel_pofile is None:
        missing = EXTRA_MISSING.format(what="gettext catalogues", package="babel")
        raise ImportingError(f"{path}: {missing}")
    try:
        catalogue = babel_pofile.read_po(BytesIO(read_text(path).encode()), abort_invalid=True)
    except (babel_pofile.PoFileError, ValueError) as error:
        raise ImportingError(f"{path} is not a gettext catalogue: {error}") from error
    for message in catalogue:
        if isinstance(message.id, str) and message.id and isinstance(message.string, str):
            yield " ".join(message.id.split()), "" if message.fuzzy else " ".join(message.string.split())


def _longest(lines: list[str], at: int, catalogue: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of lines from `at` that form the longest paragraph in the catalogue, and its translation."""
    words = _PREFIX.sub("", lines[at]).split()
    best = (0, "")
    for count, line in enumerate(takewhile(str.strip, lines[at : at + MAX_LINES]), 1):
        words += line.split() if count > 1 else []
        if (paragraph := " ".join(words)) in catalogue:
            best = (count, catalogue[paragraph])
    return best


CATALOGUE = ".po"
READ = SUFFIXES | {CATALOGUE}
MAX_FILES = 20_000
KEY_PARTS = 3
"""Number of last path parts that identify a page in the records, whatever the name of the checkout, where no other page
of the import has the same."""

_LANGUAGE = re.compile(
    r"(?P<en>en|en[-_]us|english)|(?P<zh>zh|zh[-_]?(?:cn|hans|hans[-_]cn)|cn|chinese)", re.IGNORECASE
)
_SUFFIX = re.compile(r"[._-](?P<lang>en|en[-_]us|zh|zh[-_](?:cn|hans)|cn)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImportSources:
    """The requested sources: pages of one language below each of `roots`, or of undetermined language in `mixed`.

    `addresses`: web address of a page, or of the directory that contains it.
    """

    roots: Mapping[Language, Path]
    mixed: Sequence[Path]
    addresses: Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file with the language in its name or path, or None, and its key: its path without the language."""

    path: Path
    lang: Language | None
    key: str
    below: str
    """Path below the given directory; empty for a file given explicitly."""


def page_files(given: ImportSources) -> tuple[Mapping[Language, PageFile], ...]:
    """Return the files of every page, sorted by key. Raises ImportingError if there are none."""
    files = [each for lang, root in given.roots.items() for each in _files(root, lang)]
    files += [each for root in given.mixed for each in _files(root, None)]
    grouped: dict[str, dict[Language, PageFile]] = defaultdict(dict)
    roots = list(given.roots.values())
    alone = len(roots) == 2 and all(root.is_file() for root in roots)
    for file in {(each.path.resolve(), each.lang): each for each in files}.values():
        lang = file.lang or (Language.ZH if file.path.suffix == CATALOGUE else read_page(file.path).lang)
        key = "" if alone else file.key
        # A page of the same name with another suffix is a different page, unless it is in the other language.
        while lang in grouped[key]:
            key += file.path.suffix
        grouped[key][lang] = file
    if not grouped:
        places = ", ".join(map(str, [*given.roots.values(), *given.mixed]))
        raise ImportingError(f"no pages ({', '.join(sorted(READ))}) in {places}")
    return tuple(grouped[key] for key in sorted(grouped))


def page_keys(pages: Sequence[Mapping[Language, PageFile]]) -> list[str]:
    """Return what identifies each page in the records: the end of its path, long enough to differ from the others."""
    paths = [_first(files).path.resolve().parts for files in pages]
    keys = ["/".join(parts[-KEY_PARTS:]) for parts in paths]
    for count in range(KEY_PARTS + 1, max(map(len, paths)) + 1):
        times = Counter(keys)
        keys = [
            "/".join(parts[-count:]) if times[key] > 1 else key
            for key, parts in zip(keys, paths, strict=True)
        ]
    return keys


def read_pair(files: Mapping[Language, PageFile], key: str, given: ImportSources) -> PagePair:
    """Read the pages of one group of files, identified by `key`. Raises ImportingError."""
    first = _first(files)
    pages = _read(files)
    bases = {lang: given.addresses.get(lang, "") for lang in pages}
    addresses = {lang: _address(base, files.get(lang, first)) for lang, base in bases.items() if base}
    return PagePair(key, pages, addresses)


def _first(files: Mapping[Language, PageFile]) -> PageFile:
    return files.get(Language.EN) or files[Language.ZH]


def is_named_for_questions(file: PageFile) -> bool:
    """Whether a file or a folder that it is in, up to the given one, is named for questions; True for every file that
    was given explicitly."""
    stem = _SUFFIX.sub("", file.path.stem).casefold()
    named = "faq" in stem or bool(set(re.split(r"[-_. ]+", stem)) & WORDING.page_names)
    folders = file.path.resolve().parts[:-1][-len(Path(file.below).parts) :]
    return not file.below or named or any(map(WORDING.holds_questions, folders))


def _read(files: Mapping[Language, PageFile]) -> dict[Language, MarkdownPage]:
    """Read pages by language; a catalogue translates its source page, or gives both pages."""
    pages: dict[Language, MarkdownPage] = {}
    for lang, file in files.items():
        source = files.get(lang.other)
        if file.path.suffix != CATALOGUE:
            pages[lang] = read_page(file.path, lang)
        elif source and source.path.suffix != CATALOGUE:
            catalogue = {original: said for original, said in _messages(file.path) if said}
            pages[lang] = page_of(source.path, translate(read_text(source.path), catalogue), lang)
        else:
            original, translated = _catalogue_pages(file.path)
            pages[lang.other] = make_page(file.path, original, lang.other)
            pages[lang] = make_page(file.path, translated, lang)
    return pages


def _files(root: Path, lang: Language | None) -> Iterator[PageFile]:
    if root.is_file():
        if root.suffix not in READ:
            raise ImportingError(f"{root} is not one of {', '.join(sorted(READ))}")
        yield PageFile(root, lang or _lang_of_name(root.name), _key(Path(root.name)), "")
        return
    found = sorted(path for path in root.rglob("*") if path.suffix in READ and path.is_file())
    if len(found) > MAX_FILES:
        raise ImportingError(f"{root} has more than {MAX_FILES} pages: name a subdirectory")
    for path in found:
        below = path.relative_to(root)
        if not any(part.startswith(".") or part == "node_modules" for part in below.parts):
            yield PageFile(path, lang or _lang_of_name(below.as_posix()), _key(below), below.as_posix())


def _lang_of_name(name: str) -> Language | None:
    path = Path(name)
    suffix = _SUFFIX.search(path.stem)
    for part in (suffix["lang"] if suffix else "", *reversed(path.parts[:-1])):
        if match := _LANGUAGE.fullmatch(part):
            return Language.EN if match["en"] else Language.ZH
    return None


def _key(below: Path) -> str:
    """Return the path of a page without its language and markup."""
    parts = [part.casefold() for part in below.parts[:-1]]
    kept = [part for part in parts if not _LANGUAGE.fullmatch(part) and part not in {"locale", "lc_messages"}]
    return "/".join([*kept, _SUFFIX.sub("", below.stem).casefold()])


def _address(base: str, file: PageFile) -> str:
    """Return the web address of a page: the given one, or the file's path below that of the directory."""
    if not file.below:
        return base
    return f"{base.rstrip('/')}/{quote(file.below)}"
