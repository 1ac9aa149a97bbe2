"""What a process analyzes and searches with: costly to make, safe to share, and seldom another one."""

import threading
from pathlib import Path

from app.analysis.glossary import Glossary
from app.analysis.pipeline import Analyzer
from app.search.meaning.embedder import Embedder, embedder
from app.search.translation import Dictionary, open_dictionary
from app.settings import Settings
from app.snapshot.engine import Engine, engine_of
from app.snapshot.versions import code_version
from app.taxonomy import GlossaryGroup


class Analyzers:
    """The analyzer and the glossary of last time where their words are still the same.

    A new analyzer costs half a second, a new glossary most of what opening a generation costs without it.
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        engine: Engine | None = None,
        dictionary: Dictionary | None = None,
    ) -> None:
        """`embedder` is what builders and searches embed with, if they do; `engine` the cluster that they load and ask,
        where the index is not in the process; `dictionary` what queries are translated by."""
        self.embedder = embedder
        self.engine = engine
        self.dictionary = dictionary
        self._analyzer: tuple[tuple[str, ...], Analyzer] | None = None
        self._glossary: tuple[Analyzer, Glossary] | None = None
        self._lock = threading.Lock()

    def of(self, dictionary: tuple[str, ...]) -> Analyzer:
        """The analyzer that knows these words."""
        with self._lock:
            if self._analyzer is None or self._analyzer[0] != dictionary:
                self._analyzer = (dictionary, Analyzer(dictionary))
            return self._analyzer[1]

    def glossary(self, dictionary: tuple[str, ...], groups: tuple[GlossaryGroup, ...]) -> Glossary:
        """These groups, to be found in what the analyzer of `dictionary` makes of a text."""
        analyzer = self.of(dictionary)
        with self._lock:
            last = self._glossary
            if last is None or last[0] is not analyzer or last[1].groups != groups:
                last = self._glossary = (analyzer, Glossary(groups, analyzer))
            return last[1]


def analyzers_of(settings: Settings) -> Analyzers:
    """What settings ask for. Raises SettingsError where the certificates of a cluster or a dictionary cannot be read,
    JiedaError where the latter cannot be kept."""
    engine = engine_of(settings)
    if engine is not None:
        # A cluster finds by words alone, those of the query: nothing is embedded for it, and nothing translated.
        return Analyzers(engine=engine)
    return Analyzers(embedder(wanted=settings.semantic), dictionary=dictionary_of(settings, settings.data))


def dictionary_of(settings: Settings, data: Path) -> Dictionary | None:
    """The one that settings name, if they do, kept below `data`. Raises SettingsError, JiedaError."""
    if not settings.dictionary:
        return None
    return open_dictionary(Path(settings.dictionary), data, code_version())
