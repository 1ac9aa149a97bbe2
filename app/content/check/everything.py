"""The whole check of content directories, as `jieda check` runs it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.content.check.glossary import placed_words, split_words, unanswered_groups
from app.content.check.rules import check_between, check_entry
from app.content.check.samples import SignatureFinder, Spoken
from app.content.read.gather import GLOSSARY, in_order
from app.content.read.load import Loaded
from app.entry import Language, Problem


@dataclass(frozen=True, slots=True)
class Report:
    """How much is served, and everything wrong, by file and line. `notes` are worth knowing and not wrong."""

    entries: int
    editions: int
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


KeepsWhole = Callable[[tuple[str, ...]], Callable[[str], bool]]
"""From the lines of a dictionary, what says whether a tokenizer with that dictionary keeps a word whole."""


@dataclass(frozen=True, slots=True)
class Answers:
    """What visitors of the content that is checked are answered: whether a search for some words finds anything, and
    the ids of the entries that a diagnosis of a log finds, best first."""

    finds: Callable[[str], bool]
    diagnosed: Callable[[str], Sequence[str]]


def check_content(
    directories: Sequence[Path], keeps_whole: KeepsWhole, answers: Answers | None = None
) -> Report:
    """Without `answers`, what takes a search or a diagnosis is left out.

    Raises ContentError where a taxonomy, glossary, dictionary, programs.yaml or failures.yaml is broken.
    """
    loaded = Loaded(directories, frozenset(Language))
    corpus = loaded.corpus
    spoken = Spoken.of(corpus)
    finder = SignatureFinder(spoken.holders)
    matches = {
        sample.content: finder.find(loaded.sample_texts[sample.path])
        for samples in (*corpus.samples.values(), corpus.background)
        for sample in samples
    }
    found = [problem for entry_id in corpus.by_id for problem in check_entry(corpus, entry_id)]
    return Report(
        entries=len(corpus.published),
        editions=sum(len(editions) for editions in corpus.published.values()),
        problems=in_order(
            (
                *loaded.problems,
                *_split_words(loaded, keeps_whole),
                *found,
                *check_between(corpus, spoken, matches),
            )
        ),
        notes=in_order((*_unanswered_groups(loaded, answers), *_undiagnosed_samples(loaded, answers)))
        if answers
        else (),
    )


def _undiagnosed_samples(loaded: Loaded, answers: Answers) -> Iterator[Problem]:
    """Samples that a diagnosis does not explain by their entry."""
    for entry_id in loaded.corpus.published:
        for sample in loaded.corpus.samples.get(entry_id, ()):
            found = answers.diagnosed(loaded.sample_texts[sample.path])
            if entry_id not in found[:1]:
                said = f"is taken for {found[0]}" if found else "is not explained by any entry"
                yield Problem(sample.where, 1, "undiagnosed", f"in a diagnosis, this log {said}", served=True)


def _unanswered_groups(loaded: Loaded, answers: Answers) -> Iterator[Problem]:
    """Groups of the glossaries that lead nowhere."""
    for text in loaded.glossaries:
        for found in unanswered_groups(GLOSSARY, placed_words(text), answers.finds):
            yield Problem(GLOSSARY, found.line, "unanswered", found.message, served=True)


def _split_words(loaded: Loaded, keeps_whole: KeepsWhole) -> Iterator[Problem]:
    """Short Chinese words of the glossaries that the tokenizer takes apart."""
    if not any(group.zh for group in loaded.vocabulary.glossary):
        return
    is_kept = keeps_whole(loaded.vocabulary.dictionary)
    for text in loaded.glossaries:
        for found in split_words(GLOSSARY, placed_words(text), is_kept):
            yield Problem(GLOSSARY, found.line, "split-word", found.message, served=True)
