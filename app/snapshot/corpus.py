"""The corpus of what was read, carried from one build to the next."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from app.content.read.corpus import Corpus, Editions, Image, SampleFile, published
from app.content.read.gather import Chosen, by_place, not_utf8, sample_owner
from app.entry import Problem
from app.snapshot.files import KnownFile, Reading
from app.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class ReadCorpus:
    """A corpus with the reading it is of, and the problems of its samples and of the background."""

    reading: Reading
    corpus: Corpus
    sample_problems: tuple[Problem, ...]
    background_problems: tuple[Problem, ...]


def read_corpus(
    old: ReadCorpus | None, chosen: Mapping[str, Chosen], reading: Reading, taxonomy: Taxonomy
) -> ReadCorpus:
    """The corpus of what was chosen and read, with what `old` has of it."""
    by_id = {entry_id: each.editions for entry_id, each in sorted(chosen.items()) if each.editions}
    if old and _logs(reading) == _logs(old.reading):
        samples, problems = old.corpus.samples, old.sample_problems
    else:
        samples, problems = _samples(reading)
    background, background_problems = _background(reading)
    corpus = Corpus(
        by_id=by_id,
        published=_published(old.corpus if old else None, by_id),
        taxonomy=taxonomy,
        samples=samples,
        images={
            file.where: Image(file.path, file.content, _size(file.note))
            for directory in reading.directories
            for file in directory.images
        },
        background=background,
    )
    return ReadCorpus(reading, corpus, problems, background_problems)


def _published(before: Corpus | None, by_id: Mapping[str, Editions]) -> dict[str, Editions]:
    """The editions that are no drafts, of every entry that has any."""
    found = {
        entry_id: before.published.get(entry_id, {})
        if before and before.by_id.get(entry_id) is editions
        else published(editions)
        for entry_id, editions in by_id.items()
    }
    return {entry_id: shown for entry_id, shown in found.items() if shown}


def _logs(reading: Reading) -> list[tuple[KnownFile, ...]]:
    return [directory.samples for directory in reading.directories]


def _samples(reading: Reading) -> tuple[dict[str, tuple[SampleFile, ...]], tuple[Problem, ...]]:
    chosen: dict[str, tuple[SampleFile, ...]] = {}
    problems: list[Problem] = []
    for directory in reading.directories:
        here: dict[str, list[SampleFile]] = defaultdict(list)
        for file in directory.samples:
            if file.note:
                problems.append(not_utf8(file.where, int(file.note)))
                continue
            owner = sample_owner(file.where)
            here[owner].append(SampleFile(owner, file.where, file.path, file.content))
        chosen |= {owner: tuple(files) for owner, files in here.items()}
    return dict(sorted(chosen.items())), tuple(problems)


def _background(reading: Reading) -> tuple[tuple[SampleFile, ...], tuple[Problem, ...]]:
    files = [file for directory in reading.directories for file in directory.background]
    logs = (SampleFile("", file.where, file.path, file.content) for file in files if not file.note)
    return by_place(logs), tuple(not_utf8(file.where, int(file.note)) for file in files if file.note)


def _size(note: str) -> tuple[int, int] | None:
    width, _, height = note.partition("x")
    return (int(width), int(height)) if height else None
