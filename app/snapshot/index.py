"""The index of a generation and its completions: the one module that knows how they are kept and brought up to date."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.content.library import Library
from app.content.read.gather import Vocabulary
from app.diagnosis.facts import DiagnosisFacts
from app.entry import Edition, Entry, Summary
from app.errors import IndexUnreadable
from app.search.answers import Fit
from app.search.completion import (
    Completer,
    CompletionCandidate,
    entry_candidates,
    glossary_candidates,
    link_completions,
    read_completions,
    tag_candidates,
    write_completions,
)
from app.search.index import document, writer
from app.search.index.array_file import Array
from app.search.index.document import Document
from app.search.index.embedded import EmbeddedIndex
from app.search.meaning import sayings
from app.search.meaning.embedder import Embedder, Meaning
from app.search.searcher import Searcher
from app.search.show import concordance
from app.search.show.concordance import ReadPlaces
from app.search.weights import WEIGHTING
from app.snapshot.analyzers import Analyzers
from app.snapshot.engine import Engine, RemoteIndex
from app.snapshot.records import TELLING, from_json, to_json
from app.taxonomy import Taxonomy


def document_of(entry: Entry, analyzer: Analyzer, glossary: Glossary, taxonomy: Taxonomy) -> bytes:
    """An entry, analyzed, in the form it is kept in."""
    return to_json(document.document_of(entry, analyzer, glossary, taxonomy))


def meaning_of(entry: Entry, embedder: Embedder) -> bytes:
    """What an entry says, embedded, in the form it is kept in."""
    return to_json(sayings.meaning_of(entry, embedder))


def document_from(document: bytes, diagnosis: bytes, meaning: bytes | None = None) -> Document:
    """A kept document, with what a diagnosis counts of the entry, and its vectors. Raises RecordUnreadable."""
    made = from_json(document, Document)
    if meaning is not None:
        made = replace(made, meaning=from_json(meaning, Meaning))
    facts = from_json(diagnosis, DiagnosisFacts | None)  # type: ignore[arg-type] # a union is a type to decode to
    if facts is None:
        return made
    tags = {**made.facets, TELLING: (TELLING,)}
    return replace(made, facets=tags, failure_terms=facts.words)


def places_of(edition: Edition, glossary: Glossary) -> bytes:
    """Where index terms stand in an edition, in the form it is kept in."""
    return concordance.places_of(concordance.lines_of(edition), glossary)


def candidates_of(entry: Entry) -> bytes:
    """What an entry can be completed to, in the form it is kept in."""
    return to_json(tuple(dict.fromkeys(entry_candidates(entry))))


def update_index(
    target: Path,
    previous: Path | None,
    documents: Mapping[str, Document],
    changed: Collection[str],
    removed: Collection[str],
) -> None:
    """Writes into the empty `target` the index of all documents, with what `previous` has of it. Raises OSError."""
    writer.update_index(target, previous, documents, changed, removed)


def write_all_completions(
    target: Path,
    kept: Iterable[bytes],
    summaries: Iterable[Summary],
    vocabulary: Vocabulary,
    fold: Callable[[str], str],
) -> str:
    """Writes completions to `kept` candidates, tags in use and glossary words into `target`; the file's name.

    Raises OSError, RecordUnreadable.
    """
    found = [one for data in kept for one in from_json(data, tuple[CompletionCandidate, ...])]
    found += [*tag_candidates(summaries, vocabulary.taxonomy), *glossary_candidates(vocabulary.glossary)]
    return write_completions(target, tuple(dict.fromkeys(found)), fold)


def keep_completions(target: Path, previous: Path, name: str) -> None:
    """Has `target` hold the completions that `previous` has. Raises OSError."""
    link_completions(target, previous, name)


def check_index(directory: Path, completions: str, engine: Engine | None = None) -> None:
    """Raises IndexUnreadable where a kept index or its completions are not whole, ClusterUnavailable."""
    EmbeddedIndex(directory, WEIGHTING)
    read_completions(directory, completions)
    if engine is not None:
        engine.open(directory)
        if not engine.is_whole(directory):
            raise IndexUnreadable("the index in the cluster is not whole")


@dataclass(frozen=True, slots=True)
class OpenIndex:
    """A kept index and its completions, read."""

    index: EmbeddedIndex | RemoteIndex
    completions: str
    arrays: Mapping[str, Array]

    @classmethod
    def read(
        cls, directory: Path, completions: str, before: "OpenIndex | None", engine: Engine | None
    ) -> "OpenIndex":
        """What `before` has of it is not read again. Raises IndexUnreadable."""
        index = _opened(directory, before, engine)
        same = before is not None and before.completions == completions
        arrays = before.arrays if before and same else read_completions(directory, completions)
        return cls(index, completions, arrays)

    def search(
        self,
        library: Library,
        analyzer: Analyzer,
        glossary: Glossary,
        analyzers: Analyzers,
        read_places: ReadPlaces,
    ) -> tuple[Searcher, Completer]:
        """Search and completion over it."""
        waits = not isinstance(self.index, EmbeddedIndex)
        searcher = Searcher(
            library,
            self.index,
            analyzer,
            glossary,
            # Vectors stay at home: only the index in the process knows what lies near a query.
            None if waits else analyzers.embedder,
            dictionary=analyzers.dictionary,
            read_places=read_places,
            waits=waits,
        )
        return searcher, completer_of(self.arrays, searcher)

    def telling(self, ids: Iterable[str]) -> list[str]:
        """Those of some entries that tell a failure."""
        return list(filter(partial(self.index.is_tagged, TELLING), ids))


def _opened(directory: Path, before: OpenIndex | None, engine: Engine | None) -> EmbeddedIndex | RemoteIndex:
    if engine is not None:
        return engine.open(directory)
    known = before.index if before and isinstance(before.index, EmbeddedIndex) else None
    return EmbeddedIndex(directory, WEIGHTING, known)


def completer_of(arrays: Mapping[str, Array], searcher: Searcher) -> Completer:
    """Completion to these candidates, and to words of the glossary where a search for them finds what fits."""

    def leads_on(word: str) -> bool:
        # Nobody waits for a cluster at every key: what it has is known here, how well that fits is not.
        return searcher.has_words(word) if searcher.waits else searcher.fit(word) is Fit.GOOD

    return Completer(arrays, searcher.analyzer.fold, leads_on)
