"""Merges the files of several content directories; later directories override earlier ones.

Each function is pure and needs one entry, or little of every file. The snapshot's builder can therefore call it for
changed entries only, and a plain load for all, with the same result.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Self

from jieda.content.check.findings import repeated_words
from jieda.content.read.corpus import Editions, FileOutline, Outline
from jieda.content.read.directory import KnownFile, SourceFile, list_directory, read_file
from jieda.content.read.forms import ENTRY_ID
from jieda.content.read.parse import UnservableError, decode
from jieda.content.read.shared_files import (
    FAILURES,
    PROGRAMS,
    low_contrast_colors,
    read_dictionary,
    read_glossary,
    read_log_knowledge,
    read_site,
    read_taxonomy,
    unknown_frameworks,
    unmatched_examples,
)
from jieda.entry import Language, Problem
from jieda.errors import ContentError
from jieda.han import HAN
from jieda.log_knowledge import LogKnowledge
from jieda.site_texts import SiteTexts
from jieda.taxonomy import GlossaryGroup, Taxonomy

GLOSSARY, TAXONOMY = "glossary.yaml", "taxonomy.yaml"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The outline of an edition's file, or None if it cannot be served; and its problems."""

    where: str
    outline: Outline | None
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, file: KnownFile, outline: FileOutline | None, problems: tuple[Problem, ...]) -> Self:
        """Return what was read from a file, whose bytes gave `outline`."""
        return cls(file.where, Outline.of(outline, file) if outline else None, problems)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The editions chosen for one id, drafts included, and the problems of their files."""

    editions: Editions
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The data that all entries share. `dictionary`: lines `word` or `word frequency`, without comments; `logs`:
    general knowledge about logs; `site`: texts about the site; `problems`: harmless problems in the shared files."""

    taxonomy: Taxonomy
    glossary: tuple[GlossaryGroup, ...]
    dictionary: tuple[str, ...]
    logs: LogKnowledge
    site: SiteTexts = field(default_factory=SiteTexts)
    problems: tuple[Problem, ...] = ()


def entry_id_of(where: str) -> str:
    """Return the id in the path of an edition, even if it is malformed."""
    return where.partition("/")[2].removesuffix(".md")


def find_collisions(ids: Iterable[str]) -> dict[str, str]:
    """Map each id that differs from another only in case to the other. Malformed ids, refused anyway, are left out."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for entry_id in ids:
        if ENTRY_ID.fullmatch(entry_id):
            spellings[entry_id.casefold()].add(entry_id)
    return {each: min(ids - {each}) for ids in spellings.values() if len(ids) > 1 for each in ids}


def choose_editions(
    directories: Iterable[Sequence[ReadFile]], taxonomy: Taxonomy, colliding: Mapping[str, str]
) -> Chosen:
    """Choose the editions of an id from the files in each directory. If a file of a later directory can be served, all
    editions of earlier ones are replaced, and their problems dropped."""
    editions: dict[Language, Outline] = {}
    problems: list[Problem] = []
    for files in directories:
        own_editions: dict[Language, Outline] = {}
        own_problems: list[Problem] = []
        for file in files:
            misplaced = _find_misplaced(file, taxonomy, colliding)
            own_problems += [misplaced] if misplaced else file.problems
            if file.outline and not misplaced:
                own_editions[file.outline.lang] = file.outline
        if own_editions:
            editions, problems = own_editions, []
        problems += own_problems
    return Chosen(dict(sorted(editions.items())), tuple(problems))


def _find_misplaced(file: ReadFile, taxonomy: Taxonomy, colliding: Mapping[str, str]) -> Problem | None:
    where, framework = file.where, PurePosixPath(file.where).parts[1]
    if other := colliding.get(entry_id_of(where)):
        rule, message = "case", f"differs from {other} by case only"
    elif framework not in taxonomy.framework:
        rule, message = "unknown-tag", f"framework {framework!r} is not in the taxonomy"
    else:
        return None
    draft = file.outline.front.draft if file.outline else any(each.draft for each in file.problems)
    return Problem(where, 1, rule, message, served=False, draft=draft)


SHORT_CHINESE = re.compile(rf"[{HAN}]{{2,4}}")
"""Glossary words of this form are never split, as readers see them as one word."""


def _add_glossary_words(lines: Sequence[str], groups: Sequence[GlossaryGroup]) -> tuple[str, ...]:
    """Return the lines of dictionary.txt, followed by the short Chinese words of the glossary."""
    listed = {line.partition(" ")[0] for line in lines}
    short = (word for group in groups for word in group.zh if SHORT_CHINESE.fullmatch(word))
    return tuple(dict.fromkeys([*lines, *(word for word in short if word not in listed)]))


def make_vocabulary(root: Path, shared: Sequence[SourceFile]) -> Vocabulary:
    """Merge the shared files of all directories, in order. `root` is the first directory. Raises ContentError if the
    taxonomy is missing or a file is broken."""
    texts: dict[str, list[tuple[Path, str]]] = defaultdict(list)
    for file in shared:
        texts[file.where].append((file.path, _decode(file)))
    taxonomies = texts[TAXONOMY]
    if not taxonomies:
        raise ContentError(root / TAXONOMY, 1, _why_missing(root))
    groups = tuple(dict.fromkeys(group for each in texts[GLOSSARY] for group in read_glossary(*each)))
    lines = (line for each in texts["dictionary.txt"] for line in read_dictionary(*each))
    taxonomy = read_taxonomy(taxonomies)
    return Vocabulary(
        taxonomy=taxonomy,
        glossary=groups,
        dictionary=_add_glossary_words(tuple(lines), groups),
        # These two refuse broken files, so they come before `_find_problems`, which expects valid ones.
        site=read_site(taxonomies, taxonomy.topic),
        logs=read_log_knowledge(tuple(texts[PROGRAMS]), tuple(texts[FAILURES])),
        problems=tuple(_find_problems(texts, taxonomy)),
    )


def _why_missing(root: Path) -> str:
    """Return the message for a directory without a taxonomy that can be read."""
    for problem in list_directory(root, frozenset()).problems:
        if problem.path == TAXONOMY:
            return problem.message
    if (root / TAXONOMY).exists():
        return "cannot be read"
    if (root / "content" / TAXONOMY).is_file():
        return f"is missing, but {root / 'content'} has one: is that meant?"
    if any(root.glob("*")):
        return "is missing; `jieda init` makes one"
    return (
        "is missing, and the directory is empty; if no volume should be mounted here, `jieda init` makes one"
    )


def _find_problems(texts: Mapping[str, list[tuple[Path, str]]], taxonomy: Taxonomy) -> Iterator[Problem]:
    """Yield the problems of valid shared files."""
    finders: tuple[tuple[str, str, Callable[[Path, str], Iterable[tuple[int, str]]]], ...] = (
        (GLOSSARY, "repeated-word", repeated_words),
        (TAXONOMY, "contrast", low_contrast_colors),
        (PROGRAMS, "unknown-tag", partial(unknown_frameworks, taxonomy)),
        (FAILURES, "example", unmatched_examples),
    )
    for name, rule, find in finders:
        for path, text in texts[name]:
            for line, message in find(path, text):
                yield Problem(name, line, rule, message, served=True)


def _decode(file: SourceFile) -> str:
    try:
        return decode(file.content, limit=len(file.content))
    except UnservableError as error:
        raise ContentError(file.path, error.line, error.message) from error


def sort_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems without duplicates, sorted by file and line."""
    return tuple(sorted(set(problems), key=lambda each: (each.path, each.line, each.rule, each.message)))


def load_taxonomies(directories: Sequence[Path]) -> Vocabulary:
    """Load only the taxonomies of all directories, with the texts about the site. Raises ContentError."""
    listings = [list_directory(directory, frozenset()) for directory in directories]
    files = [read_file(file) for listing in listings for file in listing.shared if file.where == TAXONOMY]
    return make_vocabulary(listings[0].root, files)
