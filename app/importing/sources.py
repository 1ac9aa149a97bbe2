"""Which files are pages, which of them are one page in two languages, and which of those hold questions."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from app.entry import Language
from app.errors import ImportingError
from app.importing.catalogues import pages_of, read_catalogue, translate
from app.importing.page import SUFFIXES, Page, make_page, read_page, read_text
from app.importing.proposal import PagePair
from app.importing.restructured import to_markdown
from app.importing.wording import Wording

CATALOGUE = ".po"
MAX_FILES = 20_000
KEY_PARTS = 3
"""Of a page's path, that name it in the records: enough to tell pages apart, whatever the checkout is called."""

_LANGUAGE = re.compile(
    r"(?P<en>en|en[-_]us|english)|(?P<zh>zh|zh[-_]?(?:cn|hans|hans[-_]cn)|cn|chinese)", re.IGNORECASE
)
_SUFFIX = re.compile(r"[._-](?P<lang>en|en[-_]us|zh|zh[-_](?:cn|hans)|cn)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Given:
    """What was asked for: pages of either language below `roots`, or of languages yet to be told in `mixed`.

    `addresses`: where a page, or the directory it lies in, is on the web.
    """

    roots: Mapping[Language, Path]
    mixed: Sequence[Path]
    addresses: Mapping[Language, str]


@dataclass(frozen=True, slots=True)
class File:
    """A file with the language that its name or place tells, or None, and its key: its place without language."""

    path: Path
    lang: Language | None
    key: str
    below: str
    """Its path below the directory that was given; empty for a file given by itself."""


def page_files(given: Given) -> tuple[Mapping[Language, File], ...]:
    """The files of every page, in order of their keys. Raises ImportingError where there is none."""
    files = [each for lang, root in given.roots.items() for each in _files(root, lang)]
    files += [each for root in given.mixed for each in _files(root, None)]
    grouped: dict[str, dict[Language, File]] = defaultdict(dict)
    roots = list(given.roots.values())
    alone = len(roots) == 2 and all(root.is_file() for root in roots)
    for file in files:
        lang = file.lang or _told(file)
        grouped["" if alone else file.key].setdefault(lang, file)
    if not grouped:
        raise ImportingError(f"no pages ({', '.join(sorted({*SUFFIXES, CATALOGUE}))}) in {_named(given)}")
    return tuple(grouped[key] for key in sorted(grouped))


def read_pair(files: Mapping[Language, File], given: Given, wording: Wording) -> PagePair:
    """The pages of one group of files. Raises ImportingError."""
    first = files.get(Language.EN) or files[Language.ZH]
    pages = _read(files, wording)
    addresses = {
        lang: address
        for lang in pages
        if (address := _address(given.addresses.get(lang, ""), files.get(lang, first)))
    }
    return PagePair("/".join(first.path.resolve().parts[-KEY_PARTS:]), pages, addresses)


def is_named_for_questions(file: File, wording: Wording) -> bool:
    """Whether a file's name says that it holds questions; one that was given by itself is always meant."""
    stem = _SUFFIX.sub("", file.path.stem).casefold()
    return not file.below or "faq" in stem or bool(set(re.split(r"[-_. ]+", stem)) & wording.page_names)


def _read(files: Mapping[Language, File], wording: Wording) -> dict[Language, Page]:
    """Pages by language; a catalogue is read together with its source, or makes both pages."""
    plain = {lang: file for lang, file in files.items() if file.path.suffix != CATALOGUE}
    catalogues = {lang: file for lang, file in files.items() if file.path.suffix == CATALOGUE}
    pages = {lang: read_page(file.path, lang) for lang, file in plain.items()}
    for lang, file in catalogues.items():
        if lang.other in plain:
            pages[lang] = _translated(plain[lang.other].path, file.path, lang)
        else:
            source, said = pages_of(file.path, wording)
            pages |= {
                lang.other: make_page(file.path, source, lang.other),
                lang: make_page(file.path, said, lang),
            }
    return pages


def _translated(source: Path, catalogue: Path, lang: Language) -> Page:
    text = translate(read_text(source), read_catalogue(catalogue))
    if source.suffix == ".rst":
        markdown, origin = to_markdown(text, str(source))
        return make_page(source, markdown, lang, origin)
    return make_page(source, text, lang)


def _files(root: Path, lang: Language | None) -> Iterator[File]:
    wanted = {*SUFFIXES, CATALOGUE}
    if root.is_file():
        if root.suffix not in wanted:
            raise ImportingError(f"{root} is not one of {', '.join(sorted(wanted))}")
        yield File(root, lang or _lang_of_name(root.name), _key(Path(root.name)), "")
        return
    found = sorted(path for path in root.rglob("*") if path.suffix in wanted and path.is_file())
    if len(found) > MAX_FILES:
        raise ImportingError(f"{root} has more than {MAX_FILES} pages: name a directory further down")
    for path in found:
        below = path.relative_to(root)
        if not any(part.startswith(".") or part == "node_modules" for part in below.parts):
            yield File(path, lang or _lang_of_name(below.as_posix()), _key(below), below.as_posix())


def _lang_of_name(name: str) -> Language | None:
    path = Path(name)
    suffix = _SUFFIX.search(path.stem)
    for part in (suffix["lang"] if suffix else "", *reversed(path.parts[:-1])):
        if match := _LANGUAGE.fullmatch(part):
            return Language.EN if match["en"] else Language.ZH
    return None


def _told(file: File) -> Language:
    if file.path.suffix == CATALOGUE:
        return Language.ZH
    return read_page(file.path).lang


def _key(below: Path) -> str:
    """The place of a page without what tells its language or markup."""
    parts = [part.casefold() for part in below.parts[:-1]]
    kept = [part for part in parts if not _LANGUAGE.fullmatch(part) and part not in {"locale", "lc_messages"}]
    return "/".join([*kept, _SUFFIX.sub("", below.stem).casefold()])


def _address(base: str, file: File) -> str:
    """The address of a page: that given, or the file's place below the directory's."""
    if not base or not file.below:
        return base
    return f"{base.rstrip('/')}/{quote(file.below)}"


def _named(given: Given) -> str:
    return ", ".join(map(str, [*given.roots.values(), *given.mixed]))
