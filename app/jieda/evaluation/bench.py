"""The searches and the diagnosis that judged queries are run through."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import mkdtemp

from jieda.analysis.glossary import Glossary
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import load_library
from jieda.entry import Language
from jieda.errors import JiedaError
from jieda.evaluation.figures import DiagnosedQuery, Judged, Ranked, display_language, rank_of
from jieda.search.answers import SearchAnswer, SearchRequest
from jieda.search.index.document import build_documents
from jieda.search.meaning.embedder import Embedder
from jieda.search.searcher import Searcher
from jieda.search.translation import Dictionary
from jieda.snapshot.snapshot import build_index, build_snapshot

SHOWN_INSTEAD = 3
EXPLAINED = 8


class Bench:
    """The searches that judged queries are run through, each built from the content when first asked for."""

    def __init__(
        self,
        directories: Sequence[Path],
        folder: Path,
        embedder: Embedder | None = None,
        dictionary: Dictionary | None = None,
    ) -> None:
        self._directories = directories
        self._folder = folder
        library = load_library(directories)
        self._analyzer = Analyzer(library.dictionary)
        self._embedder = embedder
        self._dictionary = dictionary
        self._snapshot = build_snapshot(
            library, self._analyzer, Path(mkdtemp(dir=folder)), embedder, dictionary
        )
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
            glossary = Glossary(library.glossary, self._analyzer)
            documents = build_documents(library, self._analyzer, glossary, (lang.other,))
            index = build_index(Path(mkdtemp(dir=self._folder)), library, documents, self._embedder)
            self._without[lang] = Searcher(
                library, index, self._analyzer, glossary, self._embedder, dictionary=self._dictionary
            )
        return self._without[lang]
