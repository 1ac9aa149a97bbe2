"""What the row of an entry names, read from the facts."""

from collections.abc import Iterator

from app.entry import Edition, Entry, Language
from app.search.show.concordance import Places
from app.snapshot.facts import FactStore
from app.snapshot.records import EntryRow, RecordUnreadable, edition_from_json


def keys_of(row: EntryRow) -> Iterator[str]:
    """The facts that a row names."""
    yield from row.editions.values()
    yield from row.places.values()
    yield row.document
    yield row.completions
    yield row.diagnosis
    if row.meaning:
        yield row.meaning


def read_entry(facts: FactStore, row: EntryRow) -> Entry:
    """A whole entry. Raises FactsUnreadable, RecordUnreadable, KeyError where its text is lost."""
    editions: dict[Language, Edition] = {}
    for lang, key in row.editions.items():
        value = facts.get(bytes.fromhex(key))
        if value is None:
            raise KeyError(row.head.summary.id)
        summary = row.head.summary.editions[lang]
        editions[lang] = edition_from_json(value, summary.path, summary.updated)
    return row.head.entry(editions)


def read_places(facts: FactStore, row: EntryRow, lang: Language) -> Places | None:
    """Where terms stand in an edition; None where that is lost. Raises FactsUnreadable, RecordUnreadable."""
    value = facts.get(bytes.fromhex(row.places[lang]))
    if value is None:
        return None
    try:
        return Places(value)
    except ValueError as error:
        raise RecordUnreadable(str(error)) from error
