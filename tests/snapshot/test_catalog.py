"""Lists of entries, the same whether all entries are in memory or each is read from disk when it is looked at."""

from datetime import date
from itertools import product
from pathlib import Path

import pytest

from app.content.library import Library
from app.content.read.load import load_library
from app.entry import Language
from app.filters import Filters
from app.snapshot.analyzers import Analyzers
from app.snapshot.build import Builder
from app.snapshot.facts import FILE_NAME, FactStore
from app.snapshot.generation import ENTRIES, GENERATIONS, current_name, read_generation
from app.snapshot.records import RecordUnreadable
from app.snapshot.snapshot import open_snapshot
from app.taxonomy import FACETS
from tests.support.small_content import TAXONOMY, edition, write

EN, ZH = Language.EN, Language.ZH
TOPIC = "  memory: {name: {en: Memory, zh: 显存}, description: {en: About memory., zh: 关于显存。}}\n"
OTHERS = """\
  speed: {name: {en: Speed, zh: 速度}, description: {en: About speed., zh: 关于速度。}}
"""
SLIME = """\
  slime:
    name: {en: slime, zh: slime}
    description: {en: Another., zh: 另一个。}
    homepage: https://example.com/slime
    repository: https://example.com/slime.git
kinds:
"""
ANSWER = {EN: "## Answer\n\nYes.\n", ZH: "## 回答\n\n是。\n"}


def files() -> dict[str, str]:
    """Entries of two frameworks that differ in tags, days, versions and languages."""
    made = {"taxonomy.yaml": TAXONOMY.replace(TOPIC, TOPIC + OTHERS).replace("kinds:\n", SLIME)}
    for number, (framework, topics, langs) in enumerate(
        product(("slime", "roll"), ("[memory]", "[speed]", "[memory, speed]", "[]"), ((EN,), (ZH,), (EN, ZH)))
    ):
        for lang in langs:
            made[f"{lang}/{framework}/n{number}.md"] = edition(
                f"{'ab甲乙'[number % 4]} {number}",
                ANSWER[lang],
                topics=topics,
                kind=("concept", "how-to", "error")[number % 3],
                updated=f"2026-01-{1 + (number + (lang is ZH)) % 5:02}",
                applies_to=repr(f"{framework} {number % 3}.{number % 2}"),
                **({"error_types": "[oom]"} if number % 6 == 2 else {}),
                **({"synced_with": "'000000000000'"} if lang is ZH and number % 4 == 2 else {}),
                **({"related": "[roll/n13, roll/n14]"} if number == 12 else {}),
            )
    return made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A content directory."""
    return write(tmp_path_factory.mktemp("whole"), files())


@pytest.fixture(scope="module")
def held(whole: Path) -> Library:
    """All of it in memory."""
    return load_library([whole])


@pytest.fixture(scope="module")
def data(whole: Path, tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Path:
    """A data directory with a generation of it."""
    folder = tmp_path_factory.mktemp("stored")
    Builder([whole], folder, analyzers).build()
    return folder


@pytest.fixture(scope="module")
def stored(data: Path, analyzers: Analyzers) -> Library:
    """Each entry read from disk."""
    generation = read_generation(data, current_name(data))
    return open_snapshot(generation, data, FactStore(data / FILE_NAME, writable=False), analyzers).library


FILTERS = [
    Filters(),
    *(Filters(edition=lang) for lang in Language),
    Filters(framework=("roll",)),
    Filters(framework=("roll", "slime"), topic=("speed",)),
    Filters(topic=("memory", "speed"), kind=("error", "how-to"), edition=ZH),
    Filters(error_type=("oom",)),
    Filters(framework=("nowhere",)),
]


def names(library: Library, filters: Filters, since: date | None = None) -> list[str]:
    return [each.id for each in library.listed(filters, since)]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_lists_are_the_same_from_disk(held: Library, stored: Library, filters: Filters) -> None:
    for since in (None, date(2026, 1, 3), date(2027, 1, 1)):
        assert names(stored, filters, since) == names(held, filters, since)
    for lang in Language:
        assert list(stored.shelved(filters, lang)[:]) == list(held.shelved(filters, lang))
    for facet in FACETS:
        assert stored.counts(facet, filters) == held.counts(facet, filters)


def test_what_is_told_of_single_entries_is_the_same_from_disk(held: Library, stored: Library) -> None:
    assert list(stored.ids) == list(held.ids)
    assert list(stored.ids[3:9:2]) == list(held.ids[3:9:2])
    for entry_id in held.ids:
        assert stored.summary(entry_id) == held.summary(entry_id)
        assert stored.related(entry_id, 30) == held.related(entry_id, 30)
    for lang in Language:
        for listed in (Library.published, Library.missing, Library.stale):
            assert list(listed(stored, lang)) == list(listed(held, lang))
        assert held.missing(lang)
    assert held.stale(ZH)
    assert ("roll/n13" in stored, "roll/n0" in stored, "" in stored) == (True, False, False)
    with pytest.raises(KeyError):
        stored.summary("roll/n0")


def test_lists_are_in_the_order_that_readers_are_promised(stored: Library) -> None:
    latest = [(-each.updated.toordinal(), each.id) for each in stored.listed()]
    assert latest == sorted(latest)
    assert len(latest) == 24
    shelf = [(each.framework, each.edition(EN).applies_to) for each in stored.shelved(Filters(), EN)]
    assert [framework for framework, _ in shelf] == ["roll"] * 12 + ["slime"] * 12
    versions = [applies_to.split()[1] for framework, applies_to in shelf if framework == "roll"]
    assert versions == sorted(versions, reverse=True)
    related = [each.id for each in stored.related("roll/n12")]
    assert related[:2] == ["roll/n13", "roll/n14"], "what an entry names comes first"
    assert {each.framework for each in stored.related("roll/n15", 4)} == {"roll"}


def test_a_row_that_was_changed_on_disk_is_not_served(data: Path, analyzers: Analyzers) -> None:
    name = current_name(data)
    generation = read_generation(data, name)
    path = data / GENERATIONS / name / ENTRIES
    whole = path.read_bytes()
    try:
        path.write_bytes(whole.replace(b"2026-01-0", b"2027-01-0"))
        with pytest.raises(RecordUnreadable):
            generation.rows[0]
    finally:
        path.write_bytes(whole)
    assert generation.rows[0].head.summary.id == "roll/n12"
