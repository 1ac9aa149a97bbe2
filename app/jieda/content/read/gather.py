"""Merges the files of several content directories; later directories override earlier ones.

Each function is pure and reads one entry, or little of every file, so that the snapshot's builder can call it for
changed entries and a plain load for all, with the same result.
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
    idle_examples,
    lone_programs,
    merge_taxonomies,
    pale_colors,
    read_dictionary,
    read_glossary,
    read_log_knowledge,
    read_site,
    read_taxonomy,
    unknown_topics,
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
    """Outline of one edition's file, or None if it cannot be served; and its problems."""

    where: str
    outline: Outline | None
    problems: tuple[Problem, ...]

    @classmethod
    def of(cls, file: KnownFile, said: FileOutline | None, problems: tuple[Problem, ...]) -> Self:
        """Return what was read of a file; `said` depends on its bytes alone."""
        return cls(file.where, Outline.of(said, file) if said else None, problems)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The editions chosen for one id, drafts included, and the problems of their files."""

    editions: Editions
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The data that all entries share. `dictionary`: lines `word` or `word frequency`, without comments; `logs`:
    knowledge about logs in general; `site`: texts about the site; `problems`: harmless problems of the shared
    files."""

    taxonomy: Taxonomy
    glossary: tuple[GlossaryGroup, ...]
    dictionary: tuple[str, ...]
    logs: LogKnowledge
    site: SiteTexts = field(default_factory=SiteTexts)
    problems: tuple[Problem, ...] = ()


def entry_id_of(where: str) -> str:
    """Return the id in the path of an edition, whether or not it is well-formed."""
    return where.partition("/")[2].removesuffix(".md")


def find_collisions(ids: Iterable[str]) -> dict[str, str]:
    """Map each id that differs from another one by case only to that other one. Malformed ids do not take part: they
    are refused anyway."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for entry_id in ids:
        if ENTRY_ID.fullmatch(entry_id):
            spellings[entry_id.casefold()].add(entry_id)
    return {one: min(same - {one}) for same in spellings.values() if len(same) > 1 for one in same}


def choose_editions(
    directories: Iterable[Sequence[ReadFile]], taxonomy: Taxonomy, colliding: Mapping[str, str]
) -> Chosen:
    """Choose the editions of one id from `directories`: a later one replaces all editions of an earlier one if one of
    its files can be served. Problems of replaced files are dropped."""
    editions: dict[Language, Outline] = {}
    problems: list[Problem] = []
    for files in directories:
        here: dict[Language, Outline] = {}
        found: list[Problem] = []
        for file in files:
            misfit = _find_misfit(file, taxonomy, colliding)
            found += [misfit] if misfit else file.problems
            if file.outline and not misfit:
                here[file.outline.lang] = file.outline
        if here:
            editions, problems = here, []
        problems += found
    return Chosen(dict(sorted(editions.items())), tuple(problems))


def _find_misfit(file: ReadFile, taxonomy: Taxonomy, colliding: Mapping[str, str]) -> Problem | None:
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
"""Glossary words of this form are kept whole, as readers see them."""


def _add_glossary_words(lines: Sequence[str], groups: Sequence[GlossaryGroup]) -> tuple[str, ...]:
    """Return the lines of dictionary.txt, and the short Chinese words of the glossary."""
    listed = {line.partition(" ")[0] for line in lines}
    named = (word for group in groups for word in group.zh if SHORT_CHINESE.fullmatch(word))
    return tuple(dict.fromkeys([*lines, *(word for word in named if word not in listed)]))


def make_vocabulary(root: Path, shared: Sequence[SourceFile]) -> Vocabulary:
    """Merge the shared files of all directories, given in order. `root` is the first directory. Raises ContentError if
    the taxonomy is missing or a file is broken."""
    given: dict[str, list[tuple[Path, str]]] = defaultdict(list)
    for file in shared:
        given[file.where].append((file.path, _decode(file)))
    taxonomies = given[TAXONOMY]
    if not taxonomies:
        inside = root / "content"
        told = [each.message for each in list_directory(root, frozenset()).problems if each.path == TAXONOMY]
        if (inside / TAXONOMY).is_file():
            told.append(f"is missing, but {inside} has one: is that meant?")
        elif not any(root.glob("*")):
            told.append(
                "is missing, and the directory is empty; if no volume should be mounted here, `jieda init` makes one"
            )
        raise ContentError(root / TAXONOMY, 1, [*told, "is missing; `jieda init` makes one"][0])
    groups = tuple(dict.fromkeys(group for each in given[GLOSSARY] for group in read_glossary(*each)))
    lines = (line for each in given["dictionary.txt"] for line in read_dictionary(*each))
    taxonomy, site = merge_taxonomies(read_taxonomy(*each) for each in taxonomies), read_site(taxonomies)
    for message in unknown_topics(site.stages, taxonomy):
        raise ContentError(taxonomies[-1][0], 1, message)
    return Vocabulary(
        taxonomy=taxonomy,
        glossary=groups,
        dictionary=_add_glossary_words(tuple(lines), groups),
        # Refuses broken files, so it comes before their faults are looked for.
        logs=read_log_knowledge(tuple(given[PROGRAMS]), tuple(given[FAILURES])),
        problems=tuple(_faults_of(given, taxonomy)),
        site=site,
    )


def _faults_of(given: Mapping[str, list[tuple[Path, str]]], taxonomy: Taxonomy) -> Iterator[Problem]:
    """Yield what is wrong in valid shared files."""
    finders: tuple[tuple[str, str, Callable[[Path, str], Iterable[tuple[int, str]]]], ...] = (
        (GLOSSARY, "repeated-word", repeated_words),
        (TAXONOMY, "contrast", pale_colors),
        (PROGRAMS, "unknown-tag", partial(lone_programs, taxonomy)),
        (FAILURES, "example", idle_examples),
    )
    for name, rule, find in finders:
        for line, message in (found for each in given[name] for found in find(*each)):
            yield Problem(name, line, rule, message, served=True)


def _decode(file: SourceFile) -> str:
    try:
        return decode(file.content, limit=len(file.content))
    except UnservableError as error:
        raise ContentError(file.path, error.line, error.message) from error


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems without duplicates, sorted by file and line."""
    return tuple(sorted(set(problems), key=lambda each: (each.path, each.line, each.rule, each.message)))


def load_taxonomies(directories: Sequence[Path]) -> Vocabulary:
    """Load the taxonomies of all directories, with the texts about the site, and no other shared file. Raises
    ContentError if a taxonomy is missing or broken."""
    listings = [list_directory(directory, frozenset()) for directory in directories]
    found = [read_file(file) for listing in listings for file in listing.shared if file.where == TAXONOMY]
    return make_vocabulary(listings[0].root, found)
