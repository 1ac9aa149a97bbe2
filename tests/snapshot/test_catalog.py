"""Lists of entries, from memory and from disk: the same as a plain look at every entry gives."""

from collections import Counter
from collections.abc import Iterable
from datetime import date
from itertools import product
from pathlib import Path

import pytest
from jieda.content.catalog import version_of, without_framework
from jieda.content.library import Library
from jieda.content.read.load import Loaded
from jieda.entry import Language, Summary
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers, open_snapshot
from jieda.snapshot.store.facts import FILE_NAME, FactStore
from jieda.snapshot.store.generation import Generation, GenerationUnreadable, read_pointer
from jieda.taxonomy import FACETS, Filters, facet_values

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
                applies_to=repr(f"{framework} {number % 3}.{number % 2}{'9' * 5000 if number == 5 else ''}"),
                **({"error_types": "[oom]"} if number % 6 == 2 else {}),
                **({"versions": "{slime: '>=0.2'}"} if number % 3 else {}),
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
    return Loaded([whole]).library()


@pytest.fixture(scope="module")
def data(whole: Path, tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Path:
    """A data directory with a generation of it."""
    folder = tmp_path_factory.mktemp("stored")
    Builder([whole], folder, analyzers).build()
    return folder


@pytest.fixture(scope="module")
def stored(data: Path, analyzers: Analyzers) -> Library:
    """Each entry read from disk."""
    generation = Generation(data, read_pointer(data).generation)
    return open_snapshot(generation, data, FactStore(data / FILE_NAME, writable=False), analyzers).library


@pytest.fixture(params=["held", "stored"])
def library(request: pytest.FixtureRequest) -> Library:
    """Either of them."""
    found: Library = request.getfixturevalue(request.param)
    return found


FILTERS = [
    Filters(),
    *(Filters(edition=(lang,)) for lang in Language),
    Filters(edition=tuple(Language)),
    Filters(framework=("roll",)),
    Filters(framework=("roll", "slime"), topic=("speed",)),
    Filters(topic=("memory", "speed"), kind=("error", "how-to"), edition=(ZH,)),
    Filters(error_type=("oom",)),
    Filters(framework=("nowhere",)),
    Filters(ruled_out=("slime >=0.2 ", "roll <9 1.0"), topic=("memory",)),
]


def ids(summaries: Iterable[Summary]) -> list[str]:
    return [each.id for each in summaries]


def latest(summaries: Iterable[Summary]) -> list[Summary]:
    return sorted(summaries, key=lambda each: (-each.updated.toordinal(), each.id))


@pytest.mark.parametrize(
    ("applies_to", "rest"),
    [
        ("ChatLearn 1.0 on DLC", "1.0 on DLC"),
        ("ChatLearn", ""),
        ("ChatLearn (DLC)", "DLC"),
        ("ChatLearn 的 DLC 环境", "DLC 环境"),
        ("ChatLearn的多机任务", "多机任务"),
        ("chatlearn-py", "chatlearn-py"),
        ("在 DLC 上的 ChatLearn", "在 DLC 上的 ChatLearn"),
    ],
)
def test_what_an_entry_is_for_is_said_beside_the_name_of_its_framework(applies_to: str, rest: str) -> None:
    assert without_framework("ChatLearn", applies_to) == rest


@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_lists_are_what_passes_in_its_order(library: Library, filters: Filters) -> None:
    passing = latest(each for each in map(library.summary, library.ids) if filters.admit(each))
    for since in (date.min, date(2026, 1, 3), date(2027, 1, 1)):
        listed = library.listed(filters, since)
        assert ids(listed) == ids(each for each in passing if each.updated >= since)
        assert len(listed) == len(list(listed))
    for lang in Language:

        def place(each: Summary, lang: Language = lang) -> tuple[object, ...]:
            edition, name = each.edition(lang), library.taxonomy.framework[each.framework].name[lang]
            version = version_of(without_framework(name, edition.applies_to))
            frameworks = list(library.taxonomy.framework)
            return frameworks.index(each.framework), [-part for part in version], edition.title

        assert ids(library.shelved(filters, lang)[:]) == ids(sorted(passing, key=place))
    for facet in FACETS:
        counted = Counter(value for each in passing for value in facet_values(each)[facet])
        assert library.counts(facet, filters) == counted


@pytest.mark.parametrize("lang", Language)
def test_lists_of_a_language_are_what_they_say(library: Library, lang: Language) -> None:
    every = [library.summary(each) for each in sorted(library.ids)]
    held = [each for each in every if lang in each.editions]
    assert ids(library.published(lang)) == ids(
        sorted(held, key=lambda each: (-each.editions[lang].updated.toordinal(), each.id))
    )
    assert ids(library.missing(lang)) == ids(each for each in every if each not in held)
    assert ids(library.stale(lang)) == ids(each for each in every if lang in each.stale)
    assert library.missing(lang)
    assert library.stale(ZH)


def test_what_is_told_of_single_entries_is_the_same_from_disk(held: Library, stored: Library) -> None:
    assert list(stored.ids) == list(held.ids)
    assert list(stored.ids[3:9:2]) == list(held.ids[3:9:2])
    for entry_id in held.ids:
        assert stored.summary(entry_id) == held.summary(entry_id)
        assert stored.related(entry_id) == held.related(entry_id)
    assert ("roll/n13" in stored, "roll/n0" in stored, "" in stored) == (True, False, False)
    with pytest.raises(KeyError):
        stored.summary("roll/n0")


def test_neighbors_share_tags_and_what_an_entry_names_comes_first(library: Library) -> None:
    related = ids(library.related("roll/n12"))
    assert related[:2] == ["roll/n13", "roll/n14"]
    own = set(library.summary("roll/n12").topics)

    def worth(entry_id: str) -> tuple[int, str]:
        other = library.summary(entry_id)
        return -2 * len(own & set(other.topics)) - (other.framework == "roll"), entry_id

    assert related[2:] == sorted(related[2:], key=worth)
    assert all(own & set(library.summary(each).topics) for each in related[2:])
    assert {each.framework for each in library.related("roll/n15")[:4]} == {"roll"}


def test_what_was_changed_on_disk_is_not_opened(data: Path) -> None:
    path = Generation(data, read_pointer(data).generation).path
    whole = path.read_bytes()
    try:
        path.write_bytes(whole.replace(b"2026-01-0", b"2027-01-0"))
        with pytest.raises(GenerationUnreadable):
            Generation(data, read_pointer(data).generation)
    finally:
        path.write_bytes(whole)
    assert Generation(data, read_pointer(data).generation).row("roll/n12").summary.id == "roll/n12"
