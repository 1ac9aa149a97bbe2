"""Examples for the description of the API, made from the entries that are served: they cannot be wrong."""

from typing import Any

from app.content.library import Library
from app.entry import Entry, Kind, Language
from app.knowledge import Snapshot
from app.search.answers import SearchRequest
from app.web.api.common import new_shaper
from app.web.api.diagnose import diagnosis_shape
from app.web.dependencies import Site

Example = dict[str, Any]
MAX_LOG = 2000
"""Characters of a log in an example."""


def examples(site: Site, snapshot: Snapshot) -> dict[str, Example]:
    """By operation: `parameters`, the `body` sent, the JSON `answer`, the `text` answered instead."""
    library = snapshot.library
    chosen = choose(library)
    if chosen is None:
        return {}
    shape = new_shaper(site, snapshot, Language.EN)
    title = chosen.edition(Language.EN).title
    request = SearchRequest(text=title, limit=1)
    found = shape.search(request, snapshot.searcher.search(request))
    completions = snapshot.completer.complete(title[:8], Language.EN, 3)
    named = {"framework": chosen.framework, "slug": chosen.slug}
    raw = chosen.edition(Language.EN).raw
    return {
        "search": {"parameters": {"q": title}, "answer": found.model_dump(mode="json")},
        "suggest": {
            "parameters": {"q": title[:8]},
            "answer": [shape.completion(each).model_dump(mode="json") for each in completions],
        },
        "list_entries": {"parameters": {"framework": [chosen.framework]}},
        "get_entry": {
            "parameters": named,
            "answer": shape.entry(chosen).model_dump(mode="json"),
            "text": raw,
        },
        "get_entry_markdown": {"parameters": named, "text": raw},
        "diagnose": diagnosis(site, snapshot, chosen),
    }


def diagnosis(site: Site, snapshot: Snapshot, entry: Entry) -> Example:
    """A sample of an entry and what it is diagnosed as; nothing where the entry has no sample."""
    logs = [sample.text for sample in snapshot.library.samples if sample.entry_id == entry.id]
    if not logs:
        return {}
    text = min(logs, key=len)[:MAX_LOG]
    answer = snapshot.diagnoser.diagnose(text, Language.EN, "")
    shape = diagnosis_shape(answer, Language.EN, site.urls, snapshot.generation)
    return {"body": {"text": text, "lang": "en"}, "answer": shape.model_dump(mode="json")}


def choose(library: Library) -> Entry | None:
    """An error with a sample if there is one, otherwise any entry."""
    sampled = {sample.entry_id for sample in library.samples}
    ranked = sorted(
        library.entries.values(),
        key=lambda entry: (entry.id not in sampled, entry.kind is not Kind.ERROR, entry.id),
    )
    return ranked[0] if ranked else None
