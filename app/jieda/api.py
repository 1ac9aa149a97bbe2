"""The Python API, which `import jieda` offers: content that is opened, searched, read, and asked about a log.

Changed only with the first number of the version; docs/python.md says what can be relied on.
"""

import os
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self, TypeVar

from jieda.client.local import Local
from jieda.entry import Language
from jieda.errors import JiedaError, RequestError, UnknownEntry
from jieda.han import has_han
from jieda.locales.translations import Translations
from jieda.presentation.schemas import ApiDiagnosis, ApiEntry, SearchResult
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.taxonomy import Filters
from jieda.usecases.service import Service

__all__ = (
    "ApiDiagnosis",
    "ApiEntry",
    "JiedaError",
    "KnowledgeBase",
    "SearchResult",
    "UnknownEntry",
    "open",
)
T = TypeVar("T")


def open(*content: str | os.PathLike[str], **settings: object) -> "KnowledgeBase":  # noqa: A001 - read as `jieda.open`
    """Open content directories, of which a later one overrides; without any, those that JIEDA_CONTENT names or the
    shipped one.

    `settings` are the options of `jieda serve`, such as `data="/var/tmp/index"` or `shipped=True`; what is not given is
    taken from the environment. The index is built first where it is missing or out of date, by this process alone
    unless `build_processes` says otherwise. Raises JiedaError.
    """
    # Others would import the program that calls this, and one without `if __name__ == "__main__"` run once more.
    given = {"build_processes": "1"} | {name: str(value) for name, value in settings.items()}
    if content:
        given["content"] = os.pathsep.join(os.fspath(path) for path in content)
    return KnowledgeBase(local_client(Settings.load(os.environ, **given)))


def local_client(settings: Settings) -> Local:
    """The content that settings name, opened. Raises JiedaError."""
    knowledge = Knowledge(settings)
    knowledge.open()
    urls = Urls(settings.root_path, settings.base_url)
    return Local(Service.of(settings, knowledge), Shapers(urls, Translations.load().words))


def language_of(text: str) -> Language:
    """Chinese for a text with Han characters in it, otherwise English."""
    return Language.ZH if has_han(text) else Language.EN


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """Content as it was when it was opened. Its answers are those of the REST API, as objects with types.

    May be asked by several threads; one at a time is answered.
    """

    client: Local
    _turn: Lock = field(default_factory=Lock, repr=False)

    def search(  # noqa: PLR0913 - one parameter for each option
        self,
        query: str,
        *,
        lang: str = "",
        framework: str | Iterable[str] = (),
        kind: str | Iterable[str] = (),
        topic: str | Iterable[str] = (),
        error_type: str | Iterable[str] = (),
        version: str | Iterable[str] = (),
        limit: int = 10,
        verbatim: bool = False,
    ) -> SearchResult:
        """Return what a query finds, shown in `lang` (by default that of the query): the entries with one of the
        frameworks, kinds, topics and error types, where such are given, without those that say that they do not apply
        to a `version` such as `slime 0.2.4`. `verbatim`: nothing is corrected.

        Raises JiedaError for a tag that the content lacks, and for what is no version.
        """
        filters = Filters(_all(framework), _all(kind), _all(topic), _all(error_type), version=_all(version))
        shown = Language(lang) if lang else language_of(query)
        return self._ask(self.client.search(SearchRequest(query, shown, filters, limit, verbatim=verbatim)))

    def diagnose(self, log: str, *, lang: str = "en", framework: str = "") -> ApiDiagnosis:
        """Return the entries that explain a log, or the verdict that none does. `framework`: where it comes from, if
        you know. Raises JiedaError for a log that is too large."""
        return self._ask(self.client.diagnose(log, Language(lang), framework))

    def read(self, entry_id: str, *, lang: str = "en") -> ApiEntry:
        """Return an entry, `<framework>/<slug>`, in `lang` where it has that edition. Raises UnknownEntry."""
        return self._ask(self.client.read(entry_id, Language(lang)))

    def close(self) -> None:
        """End what works in the background; `with jieda.open(…) as base` does so."""
        self.client.service.knowledge.stop()

    def __enter__(self) -> Self:
        """Return this."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close."""
        self.close()

    def _ask(self, question: Coroutine[Any, Any, T]) -> T:
        # Nothing that is asked of this process waits for anything, so it needs no event loop: a notebook has one that
        # runs already, in which no other may.
        with self._turn:
            try:
                question.send(None)
            except StopIteration as answered:
                answer: T = answered.value
                return answer
            except RequestError as error:
                error.add_note(self.client.shapers.words(Language.EN)(error.key, **error.arguments))
                raise
            finally:
                question.close()
        raise RuntimeError("an answer from local content waits for something")


def _all(given: str | Iterable[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given)
