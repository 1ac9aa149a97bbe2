"""Objects built from a library in memory, except for the index: for measurements and tests.

Servers open them from a generation instead.
"""

import hashlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from jieda.analysis.pipeline import Analyzer, Glossary
from jieda.content.library import Library
from jieda.diagnosis.diagnose import Diagnoser
from jieda.diagnosis.scoring import DiagnosisData
from jieda.diagnosis.signatures import count_signatures, signature_finder
from jieda.diagnosis.words import CountedWords, TermCounter, WordReader
from jieda.entry import Sample, Signature
from jieda.evaluation.figures import build_index
from jieda.log.formats import compile_formats
from jieda.log_knowledge import LogKnowledge
from jieda.search.completion import (
    CompletionCandidate,
    completion_arrays,
    entry_candidates,
    glossary_candidates,
    tag_candidates,
)
from jieda.search.index.document import build_documents
from jieda.search.meaning.embedder import Embedder, GuardedEmbedder
from jieda.search.query.translation import Dictionary
from jieda.search.searcher import Searcher
from jieda.search.whoosh.language import QueryLanguage
from jieda.snapshot.snapshot import SHORT_NAME, Snapshot, completer_of


def candidates_of(library: Library) -> tuple[CompletionCandidate, ...]:
    """Return all completion candidates of a library, each once."""
    entries = library.entries.values()
    found = (
        *(one for entry in entries for one in entry_candidates(entry)),
        *tag_candidates(library.listed(), library.taxonomy),
        *glossary_candidates(library.glossary),
    )
    return tuple(dict.fromkeys(found))


def collect(
    library: Library, words: WordReader, knowledge: LogKnowledge, background: Sequence[Sample]
) -> DiagnosisData:
    """Return the facts of a whole library: for commands, measurements and tests."""
    reader = TermCounter(words, compile_formats(knowledge.failures))
    samples = {id_: [sample.text for sample in library.samples(id_)] for id_ in library.sampled}
    entries = library.entries
    holders: dict[str, Sequence[Signature]] = {id_: entry.signatures for id_, entry in entries.items()}
    find = signature_finder(chain.from_iterable(holders.values()), reader.formats)
    own = ((id_, find(log)) for id_, logs in samples.items() if id_ in holders for log in logs)
    counts = count_signatures(holders, own, (find(log.text) for log in background))
    return DiagnosisData(
        knowledge,
        signatures=holders,
        samples={id_: len(logs) for id_, logs in samples.items()},
        words=CountedWords(
            {id_: reader.count_in_entry(each, samples.get(id_, ())) for id_, each in entries.items()}
        ),
        background=CountedWords(
            {str(log.path): dict.fromkeys(reader.terms_of_log(log.text), 1) for log in background}
        ),
        counts=counts,
        anywhere=frozenset(id_ for id_, entry in entries.items() if entry.applies_anywhere),
    )


def build_snapshot(
    library: Library,
    analyzer: Analyzer,
    folder: Path,
    embedder: Embedder | None = None,
    dictionary: Dictionary | None = None,
) -> Snapshot:
    """Build a snapshot of `library`, with its index in an empty folder.

    For measurements and tests; servers open snapshots from a generation.
    """
    glossary = Glossary(library.glossary, analyzer)
    documents = build_documents(library, analyzer, glossary, embedder=embedder)
    index = build_index(folder, documents, embedder)
    words = WordReader(analyzer, glossary)
    known = collect(library, words, library.log_knowledge, library.samples(""))
    searcher = Searcher(
        library,
        index,
        analyzer,
        glossary,
        GuardedEmbedder(embedder) if embedder else None,
        dictionary=dictionary,
        language=QueryLanguage(index, analyzer, library.taxonomy),
    )
    made_from = repr((library.vocabulary, [*library.listed()]))
    return Snapshot(
        library,
        index,
        searcher,
        completer_of(completion_arrays(candidates_of(library), analyzer.fold), searcher),
        Diagnoser(library, known, words),
        hashlib.sha256(made_from.encode()).hexdigest()[:SHORT_NAME],
    )
