"""The searches and the diagnosis that judged queries are run through."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from jieda.analysis.glossary import Glossary
from jieda.content.library import Library
from jieda.content.read.load import load_library
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.evaluation.figures import DiagnosedQuery, Judged, Ranked, display_language, rank_of
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.search.index.document import Document, build_documents
from jieda.search.index.embedded import EmbeddedIndex
from jieda.search.index.writer import update_index
from jieda.search.meaning.embedder import Embedder
from jieda.search.meaning.sayings import with_meaning
from jieda.search.searcher import Searcher
from jieda.search.weights import WEIGHTING
from jieda.snapshot.analyzers import Analyzers
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.watch.follow import Follower

SHOWN_INSTEAD = 3
EXPLAINED = 8


def build_index(
    folder: Path, library: Library, documents: Iterable[Document], embedder: Embedder | None = None
) -> EmbeddedIndex:
    """The index of documents of a library, written into an empty folder."""
    made = {each.id: each for each in with_meaning(library, documents, embedder)}
    update_index(folder, None, made, (), ())
    return EmbeddedIndex(folder, WEIGHTING)


class Bench:
    """The searches that judged queries are run through, each built from the content when first asked for."""

    def __init__(self, directories: Sequence[Path], folder: Path, analyzers: Analyzers) -> None:
        self._directories, self._folder, self._analyzers = directories, folder, analyzers
        data = Path(mkdtemp(dir=folder))
        Builder(directories, data, analyzers).build()
        follower = Follower(data, analyzers, lambda: None)
        follower.catch_up()
        self._snapshot = follower.snapshot
        self._without: dict[Language, Searcher] = {}

    def full(self, _: Judged) -> Callable[[SearchRequest], SearchAnswer]:
        """Search over everything."""
        return self._snapshot.searcher.search

    def hidden(self, judged: Judged) -> Callable[[SearchRequest], SearchAnswer]:
        """Search without the editions in the query's own language. Raises JiedaError where nothing is left."""
        return self._hidden(Language(judged.lang)).search

    def diagnose(self, judged: Judged) -> DiagnosedQuery:
        """Diagnosis over everything."""
        found = self._snapshot.diagnoser.diagnose(judged.query, display_language(judged))
        ids = tuple(match.entry.id for match in found.matches)
        confidence = found.matches[0].confidence if found.matches else None
        return DiagnosedQuery(judged, rank_of(ids, judged.expected), ids, confidence)

    def misses(self, ranked: Sequence[Ranked], *, hidden: bool) -> Iterator[str]:
        """A block for each query whose right entry isn't first: what came instead, and what it scored by."""
        for one in (one for one in ranked if one.rank != 1):
            yield f"{one.judged.id} [{one.judged.kind}, {one.judged.lang}] {one.judged.query[:160]!r}"
            yield f"  expected {', '.join(one.judged.expected)}: " + (
                f"place {one.rank}" if one.rank else "not found"
            )
            searcher = self._hidden(Language(one.judged.lang)) if hidden else self._snapshot.searcher
            right = [one.found[one.rank - 1]] if one.rank else []
            for entry_id in [*one.found[:SHOWN_INSTEAD], *right]:
                yield f"  {entry_id}"
                for part in searcher.explain(one.judged.query, entry_id)[:EXPLAINED]:
                    yield f"    {part.score:6.2f} {part.label} ({part.source}, {part.zone}, {part.term})"

    def _hidden(self, lang: Language) -> Searcher:
        if lang not in self._without:
            library = load_library(self._directories, languages=frozenset({lang.other}))
            if not library.entries:
                raise JiedaError(f"no edition is left when those in {lang} are hidden")
            analyzer, embedder = self._snapshot.searcher.analyzer, self._analyzers.embedder
            glossary = Glossary(library.glossary, analyzer)
            documents = build_documents(library, analyzer, glossary, (lang.other,))
            index = build_index(Path(mkdtemp(dir=self._folder)), library, documents, embedder)
            dictionary = self._analyzers.dictionary
            self._without[lang] = Searcher(
                library, index, analyzer, glossary, embedder, dictionary=dictionary
            )
        return self._without[lang]
