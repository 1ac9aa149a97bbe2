"""What content directories become: served, left out, overridden, reported."""

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jieda.content.library import Library
from jieda.content.read.directory import SourceFile, list_directory, read_file
from jieda.content.read.load import Loaded
from jieda.content.read.parse import parse_file
from jieda.entry import Kind, Language
from jieda.errors import ContentError

from tests.support.cost import assert_linear
from tests.support.small_content import TAXONOMY, edition, load_checked, write

EN, ZH = Language.EN, Language.ZH
FIX = "## Fix\n\nDo it.\n"


def load(folder: Path, files: dict[str, str], *more: Path) -> Library:
    return load_checked(write(folder, files), *more)


def only_problem(library: Library, rule: str) -> tuple[str, int, str, bool]:
    (problem,) = (each for each in library.problems if each.rule == rule)
    return problem.path, problem.line, problem.message, problem.served


def test_two_files_at_matching_paths_are_one_entry(tmp_path: Path) -> None:
    library = load(
        tmp_path,
        {
            "en/roll/a.md": edition("Alpha", aliases="[first]", applies_to="ROLL 1"),
            "zh/roll/a.md": edition("甲", body="## 回答\n\n是 `x`。\n"),
            "en/roll/b.md": edition("Beta", topics="[]"),
        },
    )
    entry = library.entries["roll/a"]
    assert (entry.kind, entry.topics, entry.framework, entry.slug) == (Kind.CONCEPT, ("memory",), "roll", "a")
    assert [entry.edition(lang).title for lang in (EN, ZH)] == ["Alpha", "甲"]
    assert entry.editions[EN].aliases == ("first",)
    assert entry.editions[ZH].code == ("x",)
    assert library.entries["roll/b"].edition(ZH).lang is EN


def test_a_signature_is_a_line_or_lines_that_belong_together(tmp_path: Path) -> None:
    signatures = (
        "\n  - 'assert self.lr_decay_steps > {int}'\n  - {all: ['KeyError: {int}', 'node2pg'], any: ['ray']}"
    )
    library = load(tmp_path, {"en/roll/a.md": edition("A", FIX, kind="error", signatures=signatures)})
    first, second = library.entries["roll/a"].signatures
    assert (first.all, first.any) == (("assert self.lr_decay_steps > {int}",), ())
    assert (second.all, second.any) == (("KeyError: {int}", "node2pg"), ("ray",))


UNSERVABLE = {
    "no front matter": (b"Just text.\n", 1, "front-matter"),
    "front matter without end": (b"---\ntitle: A\n", 1, "front-matter"),
    "broken YAML": (b"---\ntitle: A\nkind: [\n---\n\nx\n", 3, "yaml"),
    "duplicate key": (b"---\ntitle: A\nkind: concept\ntitle: B\n---\n\nx\n", 4, "yaml"),
    "a YAML tag": (b"---\ntitle: !!python/name:os.system\nkind: concept\n---\n\nx\n", 2, "yaml"),
    "a bare switch as title": (edition("A").replace("'A'", "on").encode(), 2, "field"),
    "UTF-16": (edition("A").encode("utf-16"), 1, "encoding"),
    "Latin-1": (edition("A", "## Answer\n\nna\xefve\n").encode("latin-1"), 11, "encoding"),
    "NUL": (edition("A", "## Answer\n\n\0\n").encode(), 11, "encoding"),
    "a terminal code": (edition("A", "## Answer\n\n\x9b31m\n").encode(), 11, "encoding"),
    "a terminal code in YAML": (edition("A", aliases='["\\e]0;x\\a"]').encode(), 7, "yaml"),
    "no title": (edition("A").replace("title: 'A'\n", "").encode(), 2, "field"),
    "empty title": (edition("").encode(), 2, "field"),
    "no kind": (edition("A").replace("kind: concept\n", "").encode(), 2, "field"),
    "unknown kind": (edition("A", kind="rant").encode(), 3, "field"),
    "no body": (edition("A", "\n \n").encode(), 8, "body"),
    "too large": (edition("A", "x" * 300_000).encode(), 1, "size"),
    "too many brackets": (edition("A", "[" * 6000).encode(), 8, "size"),
    "a draft that may be one": (edition("A", draft="tru").encode(), 7, "field"),
}


@pytest.mark.parametrize(("content", "line", "rule"), UNSERVABLE.values(), ids=UNSERVABLE)
def test_a_file_that_cannot_be_served_is_reported_and_the_rest_is_served(
    tmp_path: Path, content: bytes, line: int, rule: str
) -> None:
    write(
        tmp_path, {"en/roll/good.md": edition("Good"), "zh/roll/bad.md": edition("好", "## 回答\n\n是。\n")}
    )
    (tmp_path / "en/roll/bad.md").write_bytes(content)
    library = load_checked(tmp_path)
    assert set(library.entries) == {"roll/good", "roll/bad"}
    assert set(library.entries["roll/bad"].editions) == {ZH}
    unserved = [problem for problem in library.problems if not problem.served]
    assert [(problem.path, problem.line, problem.rule) for problem in unserved] == [
        ("en/roll/bad.md", line, rule)
    ]


@pytest.mark.parametrize("title", ["Error: it stops", "'unclosed", "[Errno 24] Too many open files"])
def test_a_title_that_needs_quotes_is_told_to_have_them(tmp_path: Path, title: str) -> None:
    library = load(tmp_path, {"en/roll/a.md": edition("A").replace("title: 'A'", f"title: {title}")})
    assert "quote values that contain `: `, quotes or brackets" in only_problem(library, "yaml")[2]


@pytest.mark.parametrize(
    "name", ["Upper.md", "under_score.md", "-dash.md", "dot.dot.md", "空.md", "a" * 81 + ".md", ".md.md"]
)
def test_a_slug_out_of_bounds_is_not_served(tmp_path: Path, name: str) -> None:
    library = load(tmp_path, {f"en/roll/{name}": edition("A"), "en/roll/" + "a" * 80 + ".md": edition("B")})
    assert set(library.entries) == {"roll/" + "a" * 80}
    if not name.startswith("."):
        assert only_problem(library, "slug")[0] == f"en/roll/{name}"


def test_a_name_in_the_wrong_case_is_refused_alone(tmp_path: Path) -> None:
    library = load(
        tmp_path, {"en/roll/a.md": edition("A"), "zh/roll/A.md": edition("B"), "en/roll/b.md": edition("C")}
    )
    assert set(library.entries) == {"roll/a", "roll/b"}
    assert {(each.path, each.rule) for each in library.problems} == {("zh/roll/A.md", "slug")}


def test_a_team_of_one_language_writes_names_once(tmp_path: Path) -> None:
    once = TAXONOMY.replace("{en: Memory, zh: 显存}", "显存").replace(
        "{en: About memory., zh: 关于显存。}", "关于显存。"
    )
    once += "site:\n  name: 问答库\n  examples: [显存不足怎么办]\n"
    library = load(tmp_path, {"taxonomy.yaml": once, "zh/roll/a.md": edition("A", "## 回答\n\n可以。\n")})
    memory = library.taxonomy.topic["memory"]
    assert set(memory.name.values()) == {"显存"}
    assert set(memory.description.values()) == {"关于显存。"}
    assert set(library.site.examples.values()) == {("显存不足怎么办",)}
    assert not library.problems


def test_ids_that_collide_by_case_are_not_served(tmp_path: Path) -> None:
    taxonomy = TAXONOMY.replace(
        "kinds:", "  Roll:\n    name: {en: R, zh: R}\n    description: {en: R, zh: R}\nkinds:"
    )
    files = {"en/roll/a.md": edition("A"), "zh/Roll/a.md": edition("B"), "en/roll/b.md": edition("C")}
    library = load(tmp_path, {"taxonomy.yaml": taxonomy} | files)
    assert set(library.entries) == {"roll/b"}
    assert {(each.path, each.rule) for each in library.problems} == {
        ("en/roll/a.md", "case"),
        ("zh/Roll/a.md", "case"),
    }


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    plain = load(tmp_path / "a", {"en/roll/a.md": edition("A", "## Answer\n\nYes.\n\n- x\n")})
    folder = write(tmp_path / "b", {})
    (folder / "en/roll").mkdir(parents=True)
    text = edition("A", "## Answer\n\nYes.\n\n- x\n").replace("\n", "\r\n")
    (folder / "en/roll/a.md").write_bytes(b"\xef\xbb\xbf" + text.encode())
    windows = load_checked(folder)
    one, other = (library.entries["roll/a"].editions[EN] for library in (plain, windows))
    assert (one.html, one.digest, one.raw) == (other.html, other.digest, other.raw)
    assert not windows.problems


@pytest.mark.parametrize("at", ["kind: concept\n", "```sh\n"])
def test_a_merge_conflict_is_named_where_it_starts(tmp_path: Path, at: str) -> None:
    text = edition("A", "## Answer\n\n```sh\nls\n```\n").replace(
        at, f"{at}<<<<<<< HEAD\ndraft: no\n=======\ndraft: yes\n>>>>>>> other\n"
    )
    (problem,) = load(tmp_path, {"en/roll/a.md": text}).problems
    assert "merge conflict" in problem.message
    assert text.split("\n")[problem.line - 1] == "<<<<<<< HEAD"


FAULTY = {
    "unknown key": ("colour: red", "unknown-key", "`colour`"),
    "unknown topic": ("topics: [memory, cooking]", "unknown-tag", "'cooking'"),
    "bare number as alias": ("aliases: [2024, good]", "field", "quote it, '2024'"),
    "bare word with a colon": ("aliases: [a: b]", "field", "must be a text"),
    "list for a text": ("applies_to: [x]", "field", "`applies_to`"),
    "text for a list": ("aliases: x", "field", "must be a list"),
    "text cut by a comment": ("applies_to: Yocto #4 (kirkstone)", "field", "quote the whole text"),
    "bad date": ("updated: yesterday", "field", "2026-01-31"),
    "week of a year": ("updated: 2026-W01-4", "field", "2026-01-31"),
    "long version": (f"fixed_in: {{roll: '{'1' * 5000}'}}", "field", "must be a version"),
    "long range": (f"versions: {{roll: '>={'1' * 5000}'}}", "field", "must be a range"),
    "impossible date": ("updated: 2026-02-30", "field", "2026-01-31"),
    "source without license": ("source: [{title: T, url: 'https://e.example'}]", "field", "`license`"),
    "source with a script": ("source: [{title: T, url: 'javascript:x', license: L}]", "field", "http(s)"),
    "unquoted signature": ("signatures: [KeyError: 1]", "signature", "single quotes"),
    "number as signature": ("signatures: [404]", "signature", "is a number: quote it"),
    "unspecific signature": ("signatures: ['KeyError: {int}']", "signature", "nothing specific"),
    "fields of any record": (
        "signatures: ['time={quoted} level=error caller={word} msg={quoted}']",
        "signature",
        "nothing specific",
    ),
    "unknown key of a signature": (
        "signatures: [{all: [a b c d e], bogus: 1}]",
        "signature",
        "`bogus` is not one of",
    ),
    "unknown placeholder": ("signatures: ['rank {rank} of training']", "signature", "{rank}"),
    "related to nothing": ("related: [roll/nothing]", "related", "roll/nothing"),
    "related to itself": ("related: [roll/a]", "related", "this entry"),
    "error type of a concept": ("error_types: [oom]", "kind", "error_types"),
    "old id in use": ("formerly: [roll/b]", "formerly", "roll/b"),
}


@pytest.mark.parametrize(("field", "rule", "words"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_part_is_reported_with_its_line_and_left_out(
    tmp_path: Path, field: str, rule: str, words: str
) -> None:
    name, _, value = field.partition(": ")
    text = edition("A", **{name: value})
    library = load(tmp_path, {"en/roll/a.md": text, "en/roll/b.md": edition("B")})
    path, line, message, served = only_problem(library, rule)
    assert (path, served) == ("en/roll/a.md", True)
    assert text.split("\n")[line - 1].startswith(name)
    assert words in message
    entry = library.entries["roll/a"]
    served_text = repr(entry)[: repr(entry).index("raw=")] + entry.edition(EN).html
    for absent in ("red", "cooking", "javascript", "roll/nothing", "'oom'", "2024'"):
        assert absent not in served_text


def test_words_that_look_like_switches_or_numbers_are_good_tags(tmp_path: Path) -> None:
    tags = "  on: {name: {en: 'On', zh: '开'}, description: {en: 'x', zh: 'y'}}\n"
    tags += "  2024: {name: {en: 'Y', zh: '年'}, description: {en: 'x', zh: 'y'}}\n"
    taxonomy = TAXONOMY.replace("error_types:", tags + "error_types:")
    library = load(tmp_path, {"taxonomy.yaml": taxonomy, "en/roll/a.md": edition("A", topics="[on, 2024]")})
    assert library.entries["roll/a"].topics == ("on", "2024")
    assert not library.problems


def test_a_framework_that_the_taxonomy_lacks_is_not_served(tmp_path: Path) -> None:
    library = load(tmp_path, {"en/other/a.md": edition("A")})
    assert not library.entries
    assert only_problem(library, "unknown-tag")[3] is False


def test_links_between_entries_are_checked_and_broken_ones_unwrapped(tmp_path: Path) -> None:
    body = "## Answer\n\n[b](b.md#fix) [c](c.md) [d](b.md#none) [e](#answer) [f](#none) ![p](p.png) ![q](q.png)\n"
    write(tmp_path, {"en/roll/a.md": edition("A", body)})
    fix = edition("B", FIX, kind="error", symptoms="[it hangs]")
    library = load(tmp_path, {"zh/roll/b.md": fix.replace("## Fix", "## 解决办法"), "en/roll/p.png": "png"})
    html = library.entries["roll/a"].edition(EN).html
    assert '<a href="entry:roll/b#fix">b</a> c <a href="entry:roll/b">d</a>' in html
    assert '<a href="#answer">e</a> f <img src="entry-image:roll/p.png" alt="p" loading="lazy"> q' in html
    faults = [(each.line, each.message) for each in library.problems if each.rule == "link"]
    assert [line for line, _ in faults] == [11] * 4
    assert [message.split("'")[1] for _, message in faults] == ["#none", "b.md#none", "c.md", "q.png"]


def test_an_image_is_the_one_beside_the_edition_that_is_read(tmp_path: Path) -> None:
    files = {
        "en/roll/p.png": "english",
        "zh/roll/p.png": "chinese",
        "en/roll/only.gif": "x",
        "en/roll/x.svg": "<svg>",
    }
    library = load(tmp_path, files)
    assert library.image(EN, "roll/p.png") == tmp_path / "en/roll/p.png"
    assert library.image(ZH, "roll/p.png") == tmp_path / "zh/roll/p.png"
    assert library.image(ZH, "roll/only.gif") == tmp_path / "en/roll/only.gif"
    assert library.image(EN, "roll/x.svg") is None
    assert only_problem(library, "place")[0] == "en/roll/x.svg"


def test_a_draft_is_checked_and_shown_nowhere(tmp_path: Path) -> None:
    samples = {"samples/roll/d/1.log": "its own text"}
    library = load(
        tmp_path,
        {
            "en/roll/d.md": edition("D", draft="true", topics="[cooking]", formerly="[roll/old]"),
            "en/roll/yes.md": edition("Y", draft="yes"),
            "en/roll/a.md": edition("A", "## Answer\n\n[d](d.md)\n", related="[roll/d]"),
            "en/roll/half.md": edition("Half"),
            "zh/roll/half.md": edition("半", "## 回答\n\n是。\n", draft="true"),
        }
        | samples,
    )
    assert set(library.entries) == {"roll/a", "roll/half"}
    assert set(library.entries["roll/half"].editions) == {EN}
    assert library.entries["roll/a"].related == ()
    assert "<a" not in library.entries["roll/a"].edition(EN).html
    assert not library.current_ids
    assert not library.sampled
    assert all("roll/d" not in [other.id for other in library.related(each)] for each in library.ids)
    assert ("en/roll/d.md", "unknown-tag") in {(each.path, each.rule) for each in library.problems}


@pytest.mark.parametrize(
    "content",
    [
        edition("D", draft="true", colour="red"),
        edition("D", draft="yes", colour="red"),
        edition("D", draft="'on'", kind="rant"),
        "\ufeff" + edition("D", draft="true", kind="["),
        edition("D", draft="true", kind="[").replace("\n", "\r"),
        edition("D", draft="true").encode("utf-16"),
    ],
)
def test_what_is_wrong_with_a_draft_is_told_to_authors_only(tmp_path: Path, content: str | bytes) -> None:
    folder = write(tmp_path, {"en/roll/a.md": edition("A"), "en/roll/d.md": ""})
    (folder / "en/roll/d.md").write_bytes(content if isinstance(content, bytes) else content.encode())
    library = load_checked(folder)
    assert {each.draft for each in library.problems if each.path == "en/roll/d.md"} == {True}


def test_old_ids_lead_to_the_entry_of_today(tmp_path: Path) -> None:
    library = load(
        tmp_path,
        {
            "en/roll/a.md": edition("A", formerly="[roll/x, Old/y, ROLL/z]"),
            "en/roll/b.md": edition("B", formerly="[roll/x]"),
        },
    )
    assert library.current_ids == {"roll/x": "roll/a", "Old/y": "roll/a", "ROLL/z": "roll/a"}
    assert {*map(library.resolve, ("Roll/X", "Old/y", "old/Y", "ROLL/z", "roll/z"))} == {"roll/a"}
    assert library.entries["roll/a"].formerly == ("roll/x", "Old/y", "ROLL/z")
    assert library.entries["roll/b"].formerly == ()
    assert only_problem(library, "formerly")[0] == "en/roll/b.md"


def test_an_id_in_use_leads_to_no_other_entry(tmp_path: Path) -> None:
    files = {"en/roll/a.md": edition("A", formerly="[roll/b]"), "en/roll/b.md": edition("B")}
    assert load(tmp_path, files).current_ids == {}


# ---- several directories


def test_a_later_directory_overrides_by_id_and_adds_its_own(tmp_path: Path) -> None:
    base = write(
        tmp_path / "base",
        {
            "en/roll/a.md": edition("Base A", nonsense="1"),
            "zh/roll/a.md": edition("旧", "## 回答\n\n是。\n"),
            "en/roll/b.md": edition("Base B"),
            "samples/roll/a/1.log": "base sample",
            "glossary.yaml": "- {en: [VRAM], zh: [显存]}\n",
            "dictionary.txt": "显存\n",
        },
    )
    team = tmp_path / "team"
    for path, text in {
        "taxonomy.yaml": "frameworks:\n  mine: {name: {en: Mine, zh: 我的}, description: {en: D., zh: 描述。}}\n",
        "en/roll/a.md": edition("Team A"),
        "en/mine/c.md": edition("Team C"),
        "samples/roll/a/2.log": "team sample",
        "glossary.yaml": "- {en: [hang], zh: [卡住]}\n",
        "dictionary.txt": "训推一体 100  # whole\n",
    }.items():
        (team / path).parent.mkdir(parents=True, exist_ok=True)
        (team / path).write_text(text, encoding="utf-8")
    library = load_checked(base, team)
    titles = {
        entry.id: [each.title for each in entry.editions.values()] for entry in library.entries.values()
    }
    assert titles == {"mine/c": ["Team C"], "roll/a": ["Team A"], "roll/b": ["Base B"]}
    assert set(library.taxonomy.framework) == {"roll", "mine"}
    assert [group.zh for group in library.glossary] == [("显存",), ("卡住",)]
    assert library.dictionary == ("显存", "训推一体 100", "卡住")
    assert [sample.text for sample in library.samples("roll/a")] == ["team sample"]
    assert "unknown-key" not in {each.rule for each in library.problems}


def test_a_broken_override_leaves_the_earlier_entry_in_place(tmp_path: Path) -> None:
    base = write(tmp_path / "base", {"en/roll/a.md": edition("Base A")})
    team = write(tmp_path / "team", {"en/roll/a.md": "no front matter"})
    library = load_checked(base, team)
    assert library.entries["roll/a"].edition(EN).title == "Base A"
    assert only_problem(library, "front-matter")[3] is False


def test_only_the_asked_languages_are_there(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "en/roll/a.md": edition("A"),
            "zh/roll/a.md": edition("甲", "## 回答\n\n是。\n"),
            "en/roll/b.md": edition("B"),
        },
    )
    chinese = Loaded([tmp_path], languages=frozenset({ZH})).library()
    assert {entry.id: set(entry.editions) for entry in chinese.entries.values()} == {"roll/a": {ZH}}


# ---- what must be right


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("taxonomy.yaml", TAXONOMY.replace("{en: Memory, zh: 显存}", "{en: Memory}"), 12, "`name`"),
        ("taxonomy.yaml", TAXONOMY + "colors: {}\n", 15, "`colors`"),
        ("taxonomy.yaml", TAXONOMY.replace("  concept:", "  rant:"), 10, "'rant'"),
        ("taxonomy.yaml", TAXONOMY.replace("https://example.com/roll\n", "javascript:x\n"), 5, "`homepage`"),
        ("taxonomy.yaml", "kinds: [\n", 1, ""),
        ("glossary.yaml", "- {en: [a], zh: [b]}\n- {fr: [c]}\n", 2, "`fr`"),
        ("glossary.yaml", "- {en: [], zh: []}\n", 1, "empty"),
        ("glossary.yaml", "en: x\n", 1, "list"),
        ("dictionary.txt", "显存\n训推 一体 化\n", 2, "a word"),
        ("dictionary.txt", "显存 many\n", 1, "frequency"),
    ],
)
def test_a_broken_shared_file_says_where_and_why(
    tmp_path: Path, name: str, text: str, line: int, words: str
) -> None:
    write(tmp_path, {name: text})
    with pytest.raises(ContentError) as caught:
        load_checked(tmp_path)
    assert (caught.value.path.name, caught.value.line) == (name, line)
    assert words in caught.value.message


def test_without_any_taxonomy_nothing_is_loaded(tmp_path: Path) -> None:
    with pytest.raises(
        ContentError,
        match=r"taxonomy\.yaml:1: is missing, and the directory is empty; if no volume should be ",
    ):
        load_checked(tmp_path)
    (tmp_path / "README.md").touch()
    with pytest.raises(ContentError, match=r"taxonomy\.yaml:1: is missing; `jieda init` makes one$"):
        load_checked(tmp_path)


def test_a_taxonomy_that_leads_out_of_the_directory_is_told_from_a_missing_one(tmp_path: Path) -> None:
    folder = write(tmp_path / "content", {})
    (folder / "taxonomy.yaml").rename(tmp_path / "elsewhere.yaml")
    (folder / "taxonomy.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    with pytest.raises(ContentError, match=r"taxonomy\.yaml:1: leads out of the content directory$"):
        load_checked(folder)


def test_the_folder_around_the_content_is_told_from_it(tmp_path: Path) -> None:
    content = write(tmp_path / "content", {})
    with pytest.raises(ContentError, match=rf"is missing, but {re.escape(str(content))} has one"):
        load_checked(tmp_path)


# ---- files


def test_a_link_out_of_the_directory_is_refused_and_one_within_is_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text(edition("Secret"), encoding="utf-8")
    folder = write(tmp_path / "content", {"en/roll/a.md": edition("A"), "..data/b.md": edition("B")})
    (folder / "en/roll/secret.md").symlink_to(outside / "secret.md")
    (folder / "en/slime").symlink_to(outside)
    (folder / "en/roll/b.md").symlink_to(folder / "..data/b.md")
    (folder / "en/roll/loop.md").symlink_to(folder / "en/roll/loop.md")
    # The directory may be a whole repository, whose settings hold the token that it was cloned with.
    (folder / ".git").mkdir()
    (folder / ".git/config").write_text("token", encoding="utf-8")
    (folder / "en/roll/config.png").symlink_to("../../.git/config")
    (folder / "en/git").symlink_to("../.git")
    library = load_checked(folder)
    assert set(library.entries) == {"roll/a", "roll/b"}
    assert {each.path for each in library.problems if each.rule == "link"} == {
        "en/roll/secret.md",
        "en/slime",
        "en/roll/config.png",
        "en/git",
    }


def test_what_became_a_link_out_of_the_directory_since_it_was_listed_is_not_read(tmp_path: Path) -> None:
    outside = write(tmp_path / "outside", {"en/roll/a.md": edition("Secret")})
    folder = write(tmp_path / "content", {"en/roll/a.md": edition("A")})
    (listed,) = list_directory(folder).editions
    shutil.rmtree(folder / "en")
    (folder / "en").symlink_to(outside / "en")
    with pytest.raises(PermissionError, match="leads out"):
        read_file(listed)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/roll/a.md": edition("A")})
    os.mkfifo(folder / "en/roll/pipe.md")
    library = load_checked(folder)
    assert set(library.entries) == {"roll/a"}
    assert only_problem(library, "place")[0] == "en/roll/pipe.md"


def test_a_name_that_is_no_utf8_is_reported_in_printable_form(tmp_path: Path) -> None:
    folder = write(tmp_path, {"en/roll/a.md": edition("A")})
    (Path(os.fsdecode(os.fsencode(folder / "en/roll/x") + b"\xff.md"))).write_text("x", encoding="utf-8")
    odd = folder / "samples" / "roll" / os.fsdecode(b"\xff") / os.fsdecode(b"\xff.log")
    odd.parent.mkdir(parents=True)
    for path in (odd, folder / "en/roll" / os.fsdecode(b"\xff.png")):
        path.write_bytes(b"x")
    library = load_checked(folder)
    assert [str(each).encode() for each in library.problems]
    assert {each.path for each in library.problems} == {"en/roll/x?.md", "en/roll/?.png", "samples/roll/?"}
    assert set(library.entries) == {"roll/a"}
    listing = list_directory(folder)
    assert [each.encode() for each in (*listing.folders, *(file.path for file in listing.files))]


def test_hidden_and_backup_files_are_passed_over(tmp_path: Path) -> None:
    library = load(
        tmp_path,
        {"en/roll/a.md": edition("A"), "en/roll/.a.md.swp": "x", "en/roll/a.md~": "x", "en/.git/x": "y"},
    )
    assert not library.problems


def test_the_order_of_files_and_the_place_of_the_directory_do_not_matter(tmp_path: Path) -> None:
    files = {f"en/roll/{name}.md": edition(name.upper(), formerly="[roll/old]") for name in "abcdefgh"}
    one = load(tmp_path / "one", files)
    other = load(tmp_path / "other", dict(reversed(files.items())))
    assert list(one.entries) == list(other.entries) == sorted(one.entries)
    assert (one.problems, one.current_ids) == (other.problems, other.current_ids)


def test_the_cost_of_loading_is_linear_in_files(tmp_path: Path) -> None:
    body = "## Answer\n\nText with `code` and **bold**.\n\n```python\nimport os\nprint(os.environ)\n```\n"
    folders = {
        size: write(
            tmp_path / str(size),
            {f"en/roll/e{number}.md": edition(f"T{number}", body) for number in range(size)},
        )
        for size in (10, 80)
    }
    assert_linear(lambda size: load_checked(folders[size]), 10)


@pytest.mark.parametrize(
    ("body", "again", "field"),
    [
        ("## Fix\n\n", "<a ", ""),
        ("## Fix\n\n`", "a_b ", ""),
        ("## Fix\n\n" + "[" * 1000, "a", ""),
        ("## Fix\n\nDo it.", "", "a{:x}, "),
    ],
)
def test_the_cost_of_a_file_is_linear_in_its_size(body: str, again: str, field: str) -> None:
    def read(times: int) -> None:
        aliases = "".join(map(field.format, range(times))) if field else ""
        text = edition("A", body + again * times, aliases=f"[{aliases}]")
        parse_file(SourceFile("en/roll/a.md", Path("a.md"), text.encode(), 0.0))

    assert_linear(read, 1000)


@pytest.mark.parametrize("bad", ["lost {number}", "a lone { brace"])
def test_a_signature_that_must_have_a_faulty_line_is_left_out_whole(tmp_path: Path, bad: str) -> None:
    """What is left of it would be a broader signature, and find logs of other failures."""
    signatures = f"[{{all: ['Watchdog caught a timeout', '{bad}']}}, 'the moon is missing']"
    fields = {"kind": "error", "signatures": signatures}
    library = load(tmp_path, {"en/roll/a.md": edition("A", "## Fix\n\nF.\n", **fields)})
    assert [each.all for each in library.entries["roll/a"].signatures] == [("the moon is missing",)]
    assert any(problem.rule == "signature" for problem in library.problems)


NOBODY = 65534


@contextmanager
def as_nobody() -> Iterator[None]:
    """Run as a user who may not read everything, which root may."""
    if os.geteuid():
        yield
        return
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


@pytest.mark.parametrize("mode", [0, 0o311, 0o644])
def test_a_content_directory_that_must_not_be_read_is_said_to_be_so(mode: int) -> None:
    """Below /tmp, whose folders anybody may enter, unlike those of `tmp_path`."""
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        folder = write(Path(place, "content"), {"en/roll/a.md": edition("A")})
        folder.chmod(mode)
        try:
            with as_nobody(), pytest.raises(ContentError, match=r"content:1: .* is gone or cannot be read$"):
                list_directory(folder)
        finally:
            folder.chmod(0o700)
