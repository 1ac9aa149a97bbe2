"""Examples for the description of the API, made from the entries that are served: they cannot be wrong."""

from itertools import chain
from typing import Any

from app.content.library import Library
from app.entry import Entry, Kind, Language
from app.presentation.shaper import Shaper
from app.search.answers import SearchRequest
from app.snapshot.snapshot import Snapshot
from app.usecases.diagnose import Diagnosed
from app.usecases.entries import ReadEntry
from app.usecases.search import Found
from app.web.site import Site

Example = dict[str, Any]
MAX_LOG = 2000
"""Characters of a log in an example."""


def examples(site: Site, snapshot: Snapshot) -> dict[str, Example]:
    """By operation: `parameters`, the `body` sent, the JSON `answer`, the `text` answered instead.

    Searches, reads and diagnoses without being counted: no visitor asked for it.
    """
    library = snapshot.library
    chosen = choose(library)
    if chosen is None:
        return {}
    shape = Shaper(snapshot, site.urls, Language.EN, site.translations.words(Language.EN))
    title = chosen.edition(Language.EN).title
    request = SearchRequest(text=title, limit=1)
    searched = {} if snapshot.searcher.waits else {"answer": _searched(shape, request, snapshot)}
    read = ReadEntry(chosen, library.summary(chosen.id), library.related(chosen.id))
    completions = snapshot.completer.complete(title[:8], Language.EN, 3)
    named = {"framework": chosen.framework, "slug": chosen.slug}
    raw = chosen.edition(Language.EN).raw
    return {
        "search": {"parameters": {"q": title}, **searched},
        "suggest": {
            "parameters": {"q": title[:8]},
            "answer": [shape.completion(each).model_dump(mode="json") for each in completions],
        },
        "list_entries": {"parameters": {"framework": [chosen.framework]}},
        "get_entry": {
            "parameters": named,
            "answer": shape.entry(read).model_dump(mode="json"),
            "text": raw,
        },
        "get_entry_markdown": {"parameters": named, "text": raw},
        "diagnose": diagnosis(shape, snapshot, chosen),
    }


def diagnosis(shape: Shaper, snapshot: Snapshot, entry: Entry) -> Example:
    """A sample of an entry and what it is diagnosed as; nothing where the entry has no sample."""
    logs = [sample.text for sample in snapshot.library.samples(entry.id)]
    if not logs:
        return {}
    text = min(logs, key=len)[:MAX_LOG]
    answer = snapshot.diagnoser.diagnose(text, Language.EN, "")
    shown = shape.diagnosis(Diagnosed(answer, snapshot))
    return {"body": {"text": text, "lang": "en"}, "answer": shown.model_dump(mode="json")}


def _searched(shape: Shaper, request: SearchRequest, snapshot: Snapshot) -> object:
    found = Found(request, snapshot.searcher.search(request), snapshot)
    return shape.search(found).model_dump(mode="json")


def choose(library: Library) -> Entry | None:
    """An error with a sample if there is one, otherwise any entry."""
    sampled = map(library.summary, sorted(library.sampled))
    errors = (each.id for each in sampled if each.kind is Kind.ERROR)
    return next(map(library.entry, chain(errors, sorted(library.sampled), library.ids)), None)
