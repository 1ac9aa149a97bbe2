"""Content directories to a Library: shelves read, files parsed, later directories over earlier ones."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath

from app.content.assemble import claimed_ids, make_entries
from app.content.check import check_corpus
from app.content.corpus import Corpus, Image, make_corpus
from app.content.image_size import image_size
from app.content.library import Library
from app.content.parse import ParsedFile, SourceFile, UnservableError, decode, parse_file
from app.content.shelf import Shelf, read_shelf
from app.content.vocabulary import merge_taxonomies, read_dictionary, read_glossary, read_taxonomy
from app.entry import Entry, GlossaryGroup, Language, Problem, Sample, Taxonomy
from app.errors import ContentError


def load_library(
    directories: Sequence[Path], *, languages: frozenset[Language] = frozenset(Language)
) -> Library:
    """All that the content directories hold, cross-checked; a later one overrides by id and adds its own.

    Editions in other languages than `languages` are treated as if they were not there. An entry of a later
    directory replaces all editions of that id, once one of its files can be served. Raises ContentError
    where a taxonomy, glossary or dictionary is broken.
    """
    shelves = tuple(read_shelf(directory, languages) for directory in directories)
    corpus, problems = _read_corpus(shelves)
    entries = make_entries(corpus)
    return Library(
        entries=entries,
        taxonomy=corpus.taxonomy,
        glossary=_glossary(shelves),
        dictionary=_dictionary(shelves),
        samples=tuple(sample for sample in corpus.samples if sample.entry_id in entries),
        problems=in_order([*problems, *check_corpus(corpus)]),
        formerly=claimed_ids(corpus),
        images={where: image.path for where, image in corpus.images.items()},
        digest=_digest(shelves, entries, languages),
    )


def load_corpus(directories: Sequence[Path]) -> Corpus:
    """The parsed editions, drafts included, for commands that work on the files. Raises ContentError."""
    return _read_corpus(tuple(read_shelf(path, frozenset(Language)) for path in directories))[0]


def _read_corpus(shelves: Sequence[Shelf]) -> tuple[Corpus, list[Problem]]:
    taxonomy = _taxonomy(shelves)
    files, problems = _parse_all(shelves, taxonomy)
    samples, sample_problems = _samples(shelves)
    passed_over = (problem for shelf in shelves for problem in shelf.problems)
    corpus = make_corpus(files, taxonomy, samples, _images(shelves))
    return corpus, [*problems, *sample_problems, *passed_over]


def in_order(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Problems as they are shown: by file and line, each once."""
    return tuple(sorted(set(problems), key=lambda each: (each.path, each.line, each.rule, each.message)))


def _text(file: SourceFile) -> str:
    try:
        return decode(file.content, limit=len(file.content))
    except UnservableError as error:
        raise ContentError(file.path, error.line, error.message) from error


def _shared(shelves: Iterable[Shelf], name: str) -> list[tuple[Path, str]]:
    files = [file for shelf in shelves if (file := shelf.shared_file(name))]
    return [(file.path, _text(file)) for file in files]


def _taxonomy(shelves: Sequence[Shelf]) -> Taxonomy:
    given = _shared(shelves, "taxonomy.yaml")
    if not given:
        raise ContentError(shelves[0].root / "taxonomy.yaml", 1, "is missing")
    return merge_taxonomies(given[0][0], [read_taxonomy(path, text) for path, text in given])


def _glossary(shelves: Iterable[Shelf]) -> tuple[GlossaryGroup, ...]:
    groups = (group for given in _shared(shelves, "glossary.yaml") for group in read_glossary(*given))
    return tuple(dict.fromkeys(groups))


def _dictionary(shelves: Iterable[Shelf]) -> tuple[str, ...]:
    lines = (line for given in _shared(shelves, "dictionary.txt") for line in read_dictionary(*given))
    return tuple(dict.fromkeys(lines))


def _parse_all(shelves: Iterable[Shelf], taxonomy: Taxonomy) -> tuple[list[ParsedFile], list[Problem]]:
    colliding = _colliding(file.where for shelf in shelves for file in shelf.editions)
    chosen: dict[str, list[ParsedFile]] = {}
    problems: dict[str, list[Problem]] = defaultdict(list)
    for shelf in shelves:
        files_here: dict[str, list[ParsedFile]] = defaultdict(list)
        problems_here: dict[str, list[Problem]] = defaultdict(list)
        for file in shelf.editions:
            parsed, found = parse_file(file)
            misfit = _misfit(file.where, taxonomy, colliding)
            problems_here[_id(file.where)] += [misfit] if misfit else found
            if parsed and not misfit:
                files_here[parsed.id].append(parsed)
        for entry_id, found_here in problems_here.items():
            # What was wrong with files that are now replaced is no longer anybody's business.
            kept = [] if entry_id in files_here else problems[entry_id]
            problems[entry_id] = kept + found_here
        chosen |= files_here
    return list(chain.from_iterable(chosen.values())), list(chain.from_iterable(problems.values()))


def _id(where: str) -> str:
    return where.partition("/")[2].removesuffix(".md")


def _colliding(paths: Iterable[str]) -> dict[str, str]:
    """Ids that differ from another one by case only, each with that other one."""
    spellings: dict[str, set[str]] = defaultdict(set)
    for where in paths:
        spellings[_id(where).casefold()].add(_id(where))
    return {
        entry_id: min(same - {entry_id}) for same in spellings.values() if len(same) > 1 for entry_id in same
    }


def _misfit(where: str, taxonomy: Taxonomy, colliding: Mapping[str, str]) -> Problem | None:
    framework = PurePosixPath(where).parts[1]
    if other := colliding.get(_id(where)):
        return Problem(where, 1, "case", f"differs from {other} by case only", served=False)
    if framework not in taxonomy.framework:
        message = f"framework {framework!r} is not in the taxonomy"
        return Problem(where, 1, "unknown-tag", message, served=False)
    return None


def _samples(shelves: Iterable[Shelf]) -> tuple[list[Sample], list[Problem]]:
    chosen: dict[str, list[Sample]] = {}
    problems: list[Problem] = []
    for shelf in shelves:
        here: dict[str, list[Sample]] = defaultdict(list)
        for file in shelf.samples:
            _, framework, slug, _ = PurePosixPath(file.where).parts
            try:
                text = file.content.decode("utf-8")
            except UnicodeDecodeError as error:
                line = file.content.count(b"\n", 0, error.start) + 1
                problems.append(Problem(file.where, line, "encoding", "must be UTF-8", served=False))
                continue
            here[f"{framework}/{slug}"].append(Sample(f"{framework}/{slug}", file.path, text))
        chosen |= here
    return [sample for entry_id in sorted(chosen) for sample in chosen[entry_id]], problems


def _images(shelves: Iterable[Shelf]) -> dict[str, Image]:
    files = (file for shelf in shelves for file in shelf.images)
    return {file.where: Image(file.path, image_size(file.content)) for file in files}


def _digest(shelves: Iterable[Shelf], entries: Mapping[str, Entry], languages: frozenset[Language]) -> str:
    """Covers every file, and which editions are stale, for that may hang on file times."""
    total = hashlib.sha256(",".join(sorted(languages)).encode())
    for number, shelf in enumerate(shelves):
        for file in (*shelf.shared, *shelf.editions, *shelf.images, *shelf.samples):
            content = hashlib.sha256(file.content).hexdigest()
            total.update(f"\n{number} {file.where} {content}".encode())
    for entry in entries.values():
        total.update(f"\n{entry.id} {','.join(sorted(entry.stale))}".encode() if entry.stale else b"")
    return total.hexdigest()
