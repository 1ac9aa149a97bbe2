"""Whatever is edited, in whatever order: what a builder makes of it step by step is what a plain load makes of it."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.analysis.pipeline import Analyzer
from jieda.content.catalog import Catalog
from jieda.content.library import Library
from jieda.entry import Language
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FILE_NAME, FactStore
from jieda.snapshot.store.generation import Generation, read_entry
from jieda.taxonomy import FACETS

from tests.support.examples import examples
from tests.support.small_content import TAXONOMY, edition, load_checked, write

SLUGS = ("a", "b", "c", "d")
PNG = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + b"\0\0\0\x07\0\0\0\x05" + b"\x08\x02\0\0\0"
SECTION = {"en": "## Fix", "zh": "## 解决办法"}


@dataclass(frozen=True)
class Edit:
    """A file written, or removed where `text` is None."""

    where: str
    text: str | bytes | None


def body(lang: str, link: str, anchor: str) -> str:
    return (
        f"{SECTION[lang]}\n\nSee [it]({link}.md{anchor}) and [here]{anchor or '(#fix)'} `code_{link}`.\n\n"
        f"![p](pic.png)\n\n### Part {link}\n\nText.\n"
    )


signature_lines = st.sampled_from(["chunk {int} is lost", "moon {int} is dark", "sun {int}"])
slugs, langs = st.sampled_from(SLUGS), st.sampled_from(["en", "zh"])


@st.composite
def editions(draw: st.DrawFn) -> Edit:
    lang, slug, link = draw(langs), draw(slugs), draw(slugs)
    lines = draw(st.lists(signature_lines, max_size=2, unique=True))
    fields = {
        "kind": draw(st.sampled_from(["error", "concept"])),
        "related": f"[roll/{draw(slugs)}]",
        "signatures": str(lines),
        "formerly": draw(st.sampled_from(["[]", "[roll/old]", "[roll/c]"])),
        "topics": draw(st.sampled_from(["[memory]", "[cooking]", "[]"])),
        "draft": draw(st.sampled_from(["false", "false", "true"])),
        "aliases": f"['name of {draw(slugs)}']",
        "synced_with": draw(st.sampled_from(["'0123456789ab'", "''"])),
    }
    title = draw(st.sampled_from(["One", "Two", slug]))
    text = edition(title, body(lang, link, draw(st.sampled_from(["", "#part-a", "#fix"]))), **fields)
    return Edit(f"{lang}/roll/{slug}.md", draw(st.sampled_from([text, text, text, "broken", None])))


@st.composite
def other_files(draw: st.DrawFn) -> Edit:
    slug = draw(slugs)
    return draw(
        st.sampled_from(
            [
                Edit(f"samples/roll/{slug}/1.log", "x\nchunk 12 is lost\n"),
                Edit(f"samples/roll/{slug}/2.log", "moon 3 is dark and sun 4"),
                Edit(f"samples/roll/{slug}/1.log", b"\xff\xfe"),
                Edit(f"samples/roll/{slug}/1.log", None),
                Edit("en/roll/pic.png", PNG),
                Edit("en/roll/pic.png", None),
                Edit("zh/roll/pic.png", PNG + b"more"),
                Edit("glossary.yaml", "- {en: [moon], zh: [月亮]}\n"),
                Edit("taxonomy.yaml", TAXONOMY.replace("memory", "cooking")),
                Edit("taxonomy.yaml", TAXONOMY),
                Edit("en/roll/Wrong.md", "x"),
                Edit("en/roll/notes.txt", "x"),
            ]
        )
    )


edits = st.lists(
    st.tuples(st.booleans(), st.one_of(editions(), editions(), other_files())), min_size=1, max_size=3
)


def apply(folder: Path, edit: Edit) -> None:
    path = folder / edit.where
    if edit.text is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(edit.text.encode() if isinstance(edit.text, str) else edit.text)


def served(data: Path, name: str) -> dict[str, object]:
    """Everything that a generation says."""
    generation = Generation(data, name)
    facts = FactStore(data / FILE_NAME, writable=False)
    rows = list(generation.rows())
    try:
        entries = {row.summary.id: read_entry(facts.get, row) for row in rows}
    finally:
        facts.close()
    header, vocabulary = generation.header, generation.header.vocabulary
    catalog = Catalog(generation.ask, lambda entry_id: generation.row(entry_id).summary)
    listed = (catalog.listed(), *map(catalog.stale, Language))
    return {
        "entries": entries,
        "summaries": tuple(row.summary for row in rows),
        "lists": [[each.id for each in found] for found in listed],
        "counts": {facet: catalog.counts(facet) for facet in FACETS},
        "problems": header.problems,
        "formerly": header.old_ids,
        "vocabulary": (vocabulary.taxonomy, vocabulary.glossary, vocabulary.dictionary),
        "samples": sorted((row.entry_id, row.where) for row in header.samples),
    }


def loaded(library: Library) -> dict[str, object]:
    """The same of a library."""
    samples = [each for entry_id in library.ids for each in library.samples(entry_id)]
    return {
        "entries": dict(library.entries),
        "summaries": tuple(map(library.summary, library.ids)),
        "lists": [[each.id for each in found] for found in (library.listed(), *map(library.stale, Language))],
        "counts": {facet: library.counts(facet) for facet in FACETS},
        "problems": library.problems,
        "formerly": dict(library.current_ids),
        # A generation holds the frequencies, too.
        "vocabulary": (library.taxonomy, library.glossary, Analyzer(library.dictionary).dictionary),
        "samples": sorted((each.entry_id, "/".join(each.path.parts[-4:])) for each in samples),
    }


@pytest.mark.quick
@settings(max_examples=examples(15), deadline=None)
@given(steps=st.lists(edits, min_size=1, max_size=5))
def test_step_by_step_is_the_same_as_all_at_once(
    analyzers: Analyzers, steps: list[list[tuple[bool, Edit]]]
) -> None:
    place = Path(tempfile.mkdtemp(prefix="jieda-test-"))
    try:
        always = {"en/roll/always.md": edition("Always"), "zh/roll/a.md": edition("甲", body("zh", "b", ""))}
        content = [write(place / "content", always), write(place / "later", {})]
        builder = Builder(content, place / "data", analyzers)
        builder.build()
        for step in steps:
            for later, edit in step:
                apply(content[later], edit)
            built = builder.build()
            assert served(place / "data", built.generation) == loaded(load_checked(*content))
        # A builder that remembers nothing, over what the other one left on disk.
        again = Builder(content, place / "data", analyzers).build()
        assert (again.generation, again.changed) == (built.generation, False)
    finally:
        shutil.rmtree(place)


def rename_both(content: Path) -> None:
    for lang in ("en", "zh"):
        (content / lang / "roll/b.md").rename(content / lang / "roll/new.md")


def touch(content: Path) -> None:
    (content / "en/roll/a.md").touch()


def lose_picture(content: Path) -> None:
    (content / "en/roll/pic.png").unlink()


def free_old_id(content: Path) -> None:
    for path in content.glob("*/roll/a.md"):
        text = path.read_text("utf-8")
        path.write_text(text.replace("formerly: [roll/old]", "formerly: []"), encoding="utf-8")


def collide_by_case(content: Path) -> None:
    write(content, {"en/Roll/b.md": edition("B of another case")})


def collide_no_more(content: Path) -> None:
    (content / "en/Roll/b.md").unlink()


@pytest.mark.quick
@pytest.mark.parametrize(
    "changes",
    [[rename_both], [touch], [lose_picture], [free_old_id], [collide_by_case, collide_no_more]],
)
def test_neighbors_of_what_changed_are_looked_at_again(
    tmp_path: Path, analyzers: Analyzers, changes: list[Callable[[Path], None]]
) -> None:
    files = {
        f"{lang}/roll/{slug}.md": edition(
            f"{slug} {lang}", body(lang, "b", ""), related="[roll/b]", formerly="[roll/old]"
        )
        for lang in ("en", "zh")
        for slug in ("a", "b")
    }
    content = write(tmp_path / "content", files)
    apply(content, Edit("en/roll/pic.png", PNG))
    builder = Builder([content], tmp_path / "data", analyzers)
    builder.build()
    for change in changes:
        change(content)
        built = builder.build()
        assert served(tmp_path / "data", built.generation) == loaded(load_checked(content))
