"""Finds and reads the pages of an import; gettext catalogs, paragraphs with translations, are read with Babel."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
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
    convert_page,
    legible,
    make_page,
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
"""Maximum number of lines of a translated paragraph."""

_PREFIX = re.compile(r"^[ \t]*(?:(?:#{1,6}|[-*+]|\d+[.)]|#\.|>|\|)[ \t]+)*")
_UNDERLINE = re.compile(r"^([=\-~^\"'`#*+.:_])\1{2,}\s*$")


def translate(text: str, catalog: Mapping[str, str]) -> str:
    """Translate the paragraphs, titles and items of a page that are in the catalog."""
    lines = text.split("\n")
    code = code_lines(lines)
    translated: list[str] = []
    at = 0
    while at < len(lines):
        count, translation = _longest_paragraph(lines, at, catalog) if at not in code else (0, "")
        if count:
            match = _PREFIX.match(lines[at])
            translated.append(f"{match[0] if match else ''}{translation}")
            at += count
            if at < len(lines) and (rule := _UNDERLINE.match(lines[at])):
                # Han characters are two columns wide, and an underline must be as long as its title.
                translated.append(rule[1] * max(len(lines[at].rstrip()), 2 * len(translation)))
                at += 1
        else:
            translated.append(lines[at])
            at += 1
    return "\n".join(translated)


def _catalog_pages(path: Path) -> tuple[str, str]:
    """Return the source and the translated page of a catalog as Markdown; questions become headings."""
    source = translated = ""
    for original, translation in _messages(path):
        is_question = WORDING.marked(original) or (WORDING.asks(original) and len(original) < 200)
        heading = "## " if is_question else ""
        source += f"{heading}{original}\n\n"
        translated += f"{heading}{translation or original}\n\n"
    return source, translated


def _messages(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the paragraphs of a catalog with their translations, empty for fuzzy and missing ones; whitespace is
    collapsed. Raises ImportingError if Babel is not installed or the file is not a catalog."""
    if babel_pofile is None:
        missing = EXTRA_MISSING.format(what="gettext catalogs", package="babel")
        raise ImportingError(f"{path}: {missing}")
    try:
        catalog = babel_pofile.read_po(StringIO(read_text(path)), abort_invalid=True)
    except (babel_pofile.PoFileError, ValueError) as error:
        raise ImportingError(f"{path} is not a gettext catalog: {error}") from error
    for message in catalog:
        if isinstance(message.id, str) and message.id and isinstance(message.string, str):
            yield " ".join(message.id.split()), "" if message.fuzzy else " ".join(message.string.split())


def _longest_paragraph(lines: list[str], at: int, catalog: Mapping[str, str]) -> tuple[int, str]:
    """Return the number of lines from `at` that form the longest paragraph in the catalog, and its translation."""
    words = _PREFIX.sub("", lines[at]).split()
    best = (0, "")
    for count, line in enumerate(takewhile(str.strip, lines[at : at + MAX_LINES]), 1):
        words += line.split() if count > 1 else []
        if (paragraph := " ".join(words)) in catalog:
            best = (count, catalog[paragraph])
    return best


CATALOG = ".po"
READABLE = SUFFIXES | {CATALOG}
MAX_FILES = 20_000
KEY_PARTS = 3
"""Number of last path parts that identify a page in the records, so that the name of the checkout does not matter;
more if another page of the import has the same."""

_LANGUAGE = re.compile(
    r"(?P<en>en|en[-_]us|english)|(?P<zh>zh|zh[-_]?(?:cn|hans|hans[-_]cn)|cn|chinese)", re.IGNORECASE
)
_SUFFIX = re.compile(r"[._-](?P<lang>en|en[-_]us|zh|zh[-_](?:cn|hans)|cn)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImportSources:
    """The sources of an import: pages of one language in each of `roots`, of unknown languages in `mixed`. `addresses`:
    of a page or the directory that contains it, on the web."""

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
    """Path below the named directory; empty for a file named explicitly."""

    @property
    def is_catalog(self) -> bool:
        return self.path.suffix.lower() == CATALOG


def page_files(sources: ImportSources) -> tuple[Mapping[Language, PageFile], ...]:
    """Return the files of every page, sorted by key. Raises ImportingError if there are none."""
    files = [each for lang, root in sources.roots.items() for each in _files(root, lang)]
    files += [each for root in sources.mixed for each in _files(root, None)]
    grouped: dict[str, dict[Language, PageFile]] = defaultdict(dict)
    roots = list(sources.roots.values())
    single_pages = len(roots) == 2 and all(root.is_file() for root in roots)
    for file in {(each.path.resolve(), each.lang): each for each in files}.values():
        lang = file.lang or (Language.ZH if file.is_catalog else read_page(file.path).lang)
        key = "" if single_pages else file.key
        # A page of the same name with another suffix is a different page, unless it is in the other language.
        while lang in grouped[key]:
            key += file.path.suffix
        grouped[key][lang] = file
    if not grouped:
        places = ", ".join(map(str, [*sources.roots.values(), *sources.mixed]))
        raise ImportingError(f"no pages ({', '.join(sorted(READABLE))}) in {places}")
    return tuple(grouped[key] for key in sorted(grouped))


def page_keys(pages: Sequence[Mapping[Language, PageFile]]) -> list[str]:
    """Return what identifies each page in the records: the end of its path, long enough to differ from the others."""
    paths = [tuple(map(legible, _first(files).path.resolve().parts)) for files in pages]
    keys = ["/".join(parts[-KEY_PARTS:]) for parts in paths]
    for count in range(KEY_PARTS + 1, max(map(len, paths)) + 1):
        times = Counter(keys)
        keys = [
            "/".join(parts[-count:]) if times[key] > 1 else key
            for key, parts in zip(keys, paths, strict=True)
        ]
    return keys


def read_pair(files: Mapping[Language, PageFile], key: str, sources: ImportSources) -> PagePair:
    """Read the pages of one group of files, identified by `key`. Raises ImportingError."""
    first = _first(files)
    pages = _read_pages(files)
    bases = {lang: sources.addresses.get(lang, "") for lang in pages}
    below = {lang: quote(os.fsencode(files.get(lang, first).below)) for lang in pages}
    addresses = {
        lang: f"{base.rstrip('/')}/{below[lang]}" if below[lang] else base
        for lang, base in bases.items()
        if base
    }
    return PagePair(key, pages, addresses)


def _first(files: Mapping[Language, PageFile]) -> PageFile:
    return files.get(Language.EN) or files[Language.ZH]


def is_named_for_questions(file: PageFile) -> bool:
    """Whether a file, or a folder between it and the named directory, is named for questions; True for every file that
    was named explicitly."""
    stem = _SUFFIX.sub("", file.path.stem).casefold()
    named = "faq" in stem or bool(set(re.split(r"[-_. ]+", stem)) & WORDING.page_names)
    folders = file.path.resolve().parts[:-1][-len(Path(file.below).parts) :]
    return not file.below or named or any(map(WORDING.holds_questions, folders))


def _read_pages(files: Mapping[Language, PageFile]) -> dict[Language, MarkdownPage]:
    """Read the pages by language; a catalog translates its source page, or without one has both pages."""
    pages: dict[Language, MarkdownPage] = {}
    for lang, file in files.items():
        source = files.get(lang.other)
        if not file.is_catalog:
            pages[lang] = read_page(file.path, lang)
        elif source and not source.is_catalog:
            catalog = {original: text for original, text in _messages(file.path) if text}
            pages[lang] = convert_page(source.path, translate(read_text(source.path), catalog), lang)
        else:
            original, translated = _catalog_pages(file.path)
            pages[lang.other] = make_page(file.path, original, lang.other)
            pages[lang] = make_page(file.path, translated, lang)
    return pages


def _files(root: Path, lang: Language | None) -> Iterator[PageFile]:
    if root.is_file():
        if root.suffix.lower() not in READABLE:
            raise ImportingError(f"{root} is no page; the name of one ends in {', '.join(sorted(READABLE))}")
        yield PageFile(root, lang or _lang_of_name(root.name), _key(Path(root.name)), "")
        return
    below_root = (path.relative_to(root) for path in root.rglob("*") if path.suffix.lower() in READABLE)
    ours = (
        each for each in below_root if not any(re.match(r"\.|node_modules$", part) for part in each.parts)
    )
    paths = sorted(each for each in ours if (root / each).is_file())
    if len(paths) > MAX_FILES:
        raise ImportingError(f"{root} has more than {MAX_FILES} pages: name a subdirectory")
    for below in paths:
        yield PageFile(root / below, lang or _lang_of_name(below.as_posix()), _key(below), below.as_posix())


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
