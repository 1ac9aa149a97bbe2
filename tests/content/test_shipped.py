"""The content that is shipped: nothing wrong with it, and every fact of its sources in it."""

import json
import re
from pathlib import Path

import pytest
from jieda.content.library import Library
from jieda.content.markdown.links import PAGE_IDS
from jieda.entry import Edition, Entry, Language

from tests.support.server import ROOT
from tests.support.small_content import load_checked

pytestmark = pytest.mark.slow

FACTS: dict[str, dict[str, list[str]]] = json.loads(Path(__file__).with_name("facts.json").read_text("utf-8"))
"""By entry id, what the sources of the first entries say exactly: code blocks as a whole, code spans, addresses,
and identifiers, versions and figures of the prose. `both` stands in each edition, `en` and `zh` in that one."""
SAID_IN_CHINESE = ("must be an integer multiple of:", "必须是以下值的整数倍：")
"""Words within a code block that a Chinese edition has in Chinese."""
STAY_IN_CHINESE = ("chat template", "stop token", "reward", "YAML", "Efficient memory sharing")


@pytest.fixture(scope="module")
def library() -> Library:
    return load_checked(ROOT / "content")


def code_of(edition: Edition) -> str:
    """All code, line ends trimmed: a trailing space in a log is not a fact."""
    lines = (line.rstrip() for code in edition.code for line in code.split("\n"))
    return "\n".join(lines)


def test_check_finds_nothing(library: Library) -> None:
    """Nor in the content of other fields, which is held to the same rules."""
    fields = [load_checked(file.parent) for file in (ROOT / "tests/fields").glob("*/taxonomy.yaml")]
    for each in (library, *fields):
        assert "\n".join(map(str, each.problems)) == ""
        assert each.entries


def test_every_entry_has_both_editions_and_neither_is_stale(library: Library) -> None:
    assert {entry.id for entry in library.entries.values() if set(entry.editions) != set(Language)} == set()
    assert {entry.id for entry in library.entries.values() if entry.stale} == set()


def test_the_first_entries_are_all_there(library: Library) -> None:
    assert len(FACTS) == 42
    assert set(FACTS) <= set(library.entries)


@pytest.mark.parametrize("entry_id", FACTS)
def test_every_fact_of_the_sources_stands_exactly_in_both_editions(library: Library, entry_id: str) -> None:
    for lang, edition in library.entries[entry_id].editions.items():
        text, code = f"{edition.title}\n{edition.markdown}", code_of(edition)
        wanted = FACTS[entry_id]["both"] + FACTS[entry_id][lang]
        assert [fact for fact in wanted if fact not in text and fact not in code] == [], lang
        blocks = {code.rstrip() for code in edition.code}
        lost = [
            fact
            for fact in wanted
            if "\n" in fact and not any(fact in code_of_block(block) for block in blocks)
        ]
        assert lost == [], lang


def code_of_block(block: str) -> str:
    return "\n".join(line.rstrip() for line in block.split("\n"))


@pytest.mark.parametrize("term", STAY_IN_CHINESE)
def test_terms_that_both_languages_use_stay_as_they_are(library: Library, term: str) -> None:
    for entry in library.entries.values():
        english, chinese = entry.editions[Language.EN], entry.editions[Language.ZH]
        if term in FACTS.get(entry.id, {}).get("both", ()):
            assert term in english.markdown + english.title
            assert term in chinese.markdown + chinese.title


def test_code_blocks_are_the_same_in_both_editions(library: Library) -> None:
    def blocks(entry: Entry, lang: Language) -> list[str]:
        return [code for code in entry.editions[lang].code if "\n" in code]

    different = [
        entry.id
        for entry in library.entries.values()
        if [code.replace(*SAID_IN_CHINESE) for code in blocks(entry, Language.EN)]
        != blocks(entry, Language.ZH)
    ]
    assert different == []


def test_every_error_can_be_found_by_what_one_sees(library: Library) -> None:
    for entry in library.entries.values():
        if entry.kind == "error":
            assert entry.signatures or all(edition.symptoms for edition in entry.editions.values()), entry.id


def test_the_glossary_is_as_rich_as_promised(library: Library) -> None:
    both = [group for group in library.glossary if group.en and group.zh]
    assert len(both) >= 60


SHOWING_ENTRIES = ("base.html", "_parts.html", "_verdict.html", "entry.html", "diagnose.html", "search.html")


def test_no_heading_can_take_an_id_that_the_pages_use() -> None:
    templates = ROOT / "app/jieda/web/templates"
    parts = [(templates / name).read_text("utf-8") for name in SHOWING_ENTRIES]
    used = {name for part in parts for name in re.findall(r'\bid="([\w-]+)"', part)}
    assert used <= PAGE_IDS


def test_content_names_no_file_of_this_machine() -> None:
    places = "|".join(re.escape(str(place)) for place in (ROOT, ROOT.parent / "shared"))
    suspects = re.compile(rf"{places}|\bshared/(seeds|upstream)")
    found = [
        str(path)
        for path in (ROOT / "content").rglob("*")
        if path.is_file() and suspects.search(text_of(path))
    ]
    assert found == []


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")
