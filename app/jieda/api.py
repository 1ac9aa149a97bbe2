"""The Python API of `import jieda`: opens content, searches and reads it, and diagnoses logs.

It changes incompatibly only with the major version; docs/python.md says what is stable.
"""

import os
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Self, TypeVar

from jieda.client import Local
from jieda.entry import Language
from jieda.errors import JiedaError, RequestError, UnknownEntry
from jieda.locales.translations import translator
from jieda.presentation.schemas import ApiDiagnosis, ApiEntry, SearchResult
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.taxonomy import Filters
from jieda.usecases.service import Service

__all__ = ("ApiDiagnosis", "ApiEntry", "JiedaError", "KnowledgeBase", "SearchResult", "UnknownEntry", "open")
T = TypeVar("T")


def open(*content: str | os.PathLike[str], **settings: object) -> "KnowledgeBase":  # noqa: A001 - read as `jieda.open`
    """Open content directories; later ones override earlier ones. Without any, open those of JIEDA_CONTENT or the
    shipped one.

    `settings` are the options of `jieda serve`, such as `data="/var/tmp/index"` or `shipped=True`; all others come from
    the environment. A missing or outdated index is built first, by this process alone unless `build_processes` says
    otherwise. Raises JiedaError.
    """
    # Other processes would import the calling program, and run it again if it lacks `if __name__ == "__main__"`.
    values: dict[str, Any] = {"build_processes": "1", **settings} | ({"content": content} if content else {})
    options = {
        name: value if value is None or isinstance(value, Sequence) else str(value)
        for name, value in values.items()
    }
    return KnowledgeBase(local_client(Settings.load(os.environ, **options)))


def local_client(settings: Settings) -> Local:
    """Open the content of some settings. Raises JiedaError."""
    knowledge = Knowledge(settings)
    knowledge.open()
    urls = Urls(settings.root_path, settings.base_url)
    return Local(Service.of(settings, knowledge), Shapers(urls))


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeBase:
    """Content as of the time it was opened. Its answers are those of the REST API, as typed objects.

    Several threads may use it; their calls run one at a time.
    """

    client: Local = field(repr=False)
    """Not shown: its settings hold passwords."""
    _lock: Lock = field(default_factory=Lock, repr=False)

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
        """Search for `query` and show hits in `lang`, by default that of the query. Frameworks, kinds, topics and error
        types filter the entries; `version`, such as `slime 0.2.4`, drops those that do not apply to it. `verbatim`
        turns spelling correction off.

        Raises JiedaError for a tag that the content lacks, and for a wrong version, language or limit.
        """
        if limit < 0:
            raise JiedaError(f"limit must not be negative; it is {limit}")
        filters = Filters(_all(framework), _all(kind), _all(topic), _all(error_type), version=_all(version))
        shown = _language(lang) if lang else Language.of(query)
        return self._run(self.client.search(SearchRequest(query, shown, filters, limit, verbatim=verbatim)))

    def diagnose(self, log: str, *, lang: str = "en", framework: str = "") -> ApiDiagnosis:
        """Return the entries that explain a log, or the verdict that none does. `framework`: the one that wrote the
        log, if known. Raises JiedaError for a framework that the content lacks."""
        return self._run(self.client.diagnose(log, _language(lang), framework))

    def read(self, entry_id: str, *, lang: str = "en") -> ApiEntry:
        """Return an entry, `<framework>/<slug>`, in `lang` if it has that edition. Raises UnknownEntry."""
        return self._run(self.client.read(entry_id, _language(lang)))

    def close(self) -> None:
        """Stop background work; `with jieda.open(…) as base` does so on exit."""
        self.client.service.knowledge.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        # Local coroutines never wait, so they need no event loop: a notebook runs one already and allows no second.
        with self._lock:
            try:
                coroutine.send(None)
            except StopIteration as stop:
                result: T = stop.value
                return result
            except RequestError as error:
                t = translator(Language.EN)
                error.args = (t(f"{error.key}.detail", **error.arguments),)
                raise
            finally:
                coroutine.close()
        raise RuntimeError("an answer from local content waits for something")


def _language(text: str) -> Language:
    if text not in [*Language]:
        raise JiedaError(f"lang must be {' or '.join(Language)}; it is {text!r}")
    return Language(text)


def _all(values: str | Iterable[str]) -> tuple[str, ...]:
    return (values,) if isinstance(values, str) else tuple(values)
