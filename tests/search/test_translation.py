"""Entries that lack the language they are asked for in are found by a dictionary that the operator names."""

import os
from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

import pytest
from jieda.analysis.pipeline import Analyzer
from jieda.content.read.load import Loaded
from jieda.errors import SettingsError
from jieda.search.answers import Reason, ReasonType
from jieda.search.query.translation import FOLDER, LARGEST, Dictionary, open_dictionary
from jieda.settings import Settings
from jieda.snapshot.snapshot import Snapshot, analyzers_of

from bench.made import build_snapshot
from tests.search.small import ask, concept, files_of, first, found
from tests.support import small_content
from tests.support.cost import assert_linear

LINES = """\
# A small dictionary, written for these tests.
硬盤 硬盘 [ying4 pan2] /hard disk/(computing) disk/
磁盤 磁盘 [ci2 pan2] /disk/
變慢 变慢 [bian4 man4] /to slow down/slow/
檢查點 检查点 [jian3 cha2 dian3] /checkpoint/
面包 面包 [mian4 bao1] /bread/CL:個|个[ge4]/
打 打 [da3] /to hit/to play; to write/to type/dozen/
維護 维护 [wei2 hu4] /to maintain/
網頁 网页 [wang3 ye4] /web page/
"""

FILES = {
    "en/disk": concept("Free space on a full disk", "Delete an old checkpoint."),
    "en/page": concept("Who maintains this web page", "A small team."),
    "zh/slow": concept("磁盘变慢", "换一块硬盘。"),
    "en/both": concept("Bread", "Bake bread."),
    "zh/both": concept("烘焙", "烤出来。"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The dictionary as an operator has it."""
    path = tmp_path / "small.u8"
    path.write_text(LINES, encoding="utf-8")
    return path


@pytest.fixture
def dictionary(file: Path, tmp_path: Path) -> Dictionary:
    """The same, opened."""
    return open_dictionary(file, tmp_path / "kept", "")


def snapshot_of(
    files: dict[str, str], folder: Path, analyzer: Analyzer, dictionary: Dictionary | None
) -> Snapshot:
    """What searches `files`."""
    content = small_content.write(folder / "content", files_of(files))
    store = Path(mkdtemp(dir=folder))
    return build_snapshot(Loaded([content]).library(), analyzer, store, dictionary=dictionary)


@pytest.fixture
def plain(tmp_path: Path, analyzer: Analyzer) -> Snapshot:
    """Search without a dictionary."""
    return snapshot_of(FILES, tmp_path, analyzer, None)


@pytest.fixture
def translating(tmp_path: Path, analyzer: Analyzer, dictionary: Dictionary) -> Snapshot:
    """Search with it."""
    return snapshot_of(FILES, tmp_path, analyzer, dictionary)


@pytest.mark.parametrize(
    ("query", "slug"),
    [
        ("检查点", "disk"),
        ("檢查點可以删吗", "disk"),
        ("谁来维护网页", "page"),
        ("my disk", "disk"),
        ("slow", "slow"),
        ("it slows down", "slow"),
    ],
)
def test_an_entry_in_the_other_language_is_found(translating: Snapshot, query: str, slug: str) -> None:
    assert found(translating, query)[:1] == [slug]


def test_without_a_dictionary_it_is_not(plain: Snapshot) -> None:
    assert found(plain, "检查点") == []
    assert found(plain, "it slows down") == []


def test_the_word_that_the_entry_has_is_the_reason_and_is_marked(translating: Snapshot) -> None:
    hit = first(translating, "检查点", "zh")
    assert hit.reasons == (Reason(ReasonType.GLOSSARY, "检查点", "checkpoint"),)
    assert "<mark>checkpoint</mark>" in hit.snippet.html


@pytest.mark.parametrize("query", ["free disk in zorblax_frobnicate", "磁盘 wandb"])
def test_a_name_that_no_entry_has_makes_an_answer_weak_with_a_dictionary_too(
    translating: Snapshot, plain: Snapshot, query: str
) -> None:
    assert ask(plain, query).weak
    assert ask(translating, query).weak


def test_a_run_without_words_is_translated_in_linear_time(translating: Snapshot) -> None:
    assert_linear(lambda size: ask(translating, "".join(chr(0x3400 + at) for at in range(size))), 150)


def test_an_expression_is_translated_whole(translating: Snapshot) -> None:
    """`hard disk` is 硬盘, which the entry has, and not 磁盘, which stands in its title."""
    (hit,) = (one for one in ask(translating, "hard disk", "zh").hits if one.entry.slug == "slow")
    assert {reason.via for reason in hit.reasons} == {"硬盘"}


def test_an_entry_that_has_the_language_is_found_by_its_own_words_alone(
    translating: Snapshot, plain: Snapshot
) -> None:
    assert "both" not in found(translating, "面包")
    for query in ("烘焙", "烤", "bread"):
        scores = [[(hit.entry.id, hit.score) for hit in ask(one, query).hits] for one in (translating, plain)]
        assert scores[0] == scores[1] != []


@pytest.mark.parametrize(
    ("query", "slugs"),
    [
        ("磁盘", ["slow", "disk"]),
        ("硬盘", ["slow", "disk"]),
        ("磁盘变慢", ["slow"]),
        ("换一块硬盘", ["slow"]),
    ],
)
def test_what_is_said_in_the_words_asked_comes_before_what_is_translated(
    translating: Snapshot, query: str, slugs: list[str]
) -> None:
    """`disk` stands in the title of an entry in English, 硬盘 in the text of one in Chinese only."""
    assert found(translating, query) == slugs


def test_where_every_entry_has_every_language_nothing_changes(
    tmp_path: Path, analyzer: Analyzer, dictionary: Dictionary
) -> None:
    files = {
        "en/disk": FILES["en/disk"],
        "zh/disk": concept("腾出空间", "删掉。"),
        "en/other": concept("Other"),
        "zh/other": concept("别的", "没什么。"),
    }
    both = snapshot_of(files, tmp_path, analyzer, dictionary)
    assert found(both, "检查点") == []


# ---- the file


@pytest.mark.parametrize(
    "content",
    [
        LINES.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + LINES.encode(),
        "硬盤 硬盘 [[ying4pan2]] /hard disk/\n".encode(),
    ],
    ids=["CRLF", "byte order mark", "newer readings"],
)
def test_its_usual_variants_are_read(file: Path, tmp_path: Path, content: bytes) -> None:
    file.write_bytes(content)
    assert open_dictionary(file, tmp_path, "").english("硬盘")[0] == ("hard", "disk")


def test_of_a_meaning_only_what_translates_is_kept(dictionary: Dictionary) -> None:
    assert [*dictionary.english("硬盘")] == [("hard", "disk"), ("disk",)]
    assert [*dictionary.english("面包")] == [("bread",)], "a measure word is no translation"
    assert [*dictionary.english("打")] == [("hit",), ("play",), ("write",), ("type",), ("dozen",)]
    assert [*dictionary.chinese(("disk",))] == ["磁盘", "硬盘"], "what means it first comes first"


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"<!DOCTYPE html>\n<p>not found\n", [1, 2]),
        (LINES.encode() + "硬盘,disk\n".encode(), [10]),
        ("硬盤 硬盘 [ying4 pan2] /disk/\n".encode() + "硬盤".encode("gb18030"), [2]),
        (b"no\n" * 100, [1, 2, 3, 4, 5]),
    ],
    ids=["a web page", "another format", "another encoding", "a long file"],
)
def test_lines_of_another_format_are_named(
    file: Path, tmp_path: Path, content: bytes, lines: Sequence[int]
) -> None:
    file.write_bytes(content)
    with pytest.raises(SettingsError) as raised:
        open_dictionary(file, tmp_path, "")
    named = [
        problem.partition(f"JIEDA_DICTIONARY (--dictionary): {file}:")[2] for problem in raised.value.problems
    ]
    assert [int(rest.partition(":")[0]) for rest in named] == lines


def test_a_file_that_is_too_large_is_not_read(file: Path, tmp_path: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(LARGEST + 1)  # a hole: it takes no room
    with pytest.raises(SettingsError, match=r"JIEDA_DICTIONARY.*67,108,865 bytes.*67,108,864 at most"):
        open_dictionary(file, tmp_path, "")


def test_it_is_read_once_and_again_when_it_changes(file: Path, tmp_path: Path) -> None:
    def kept() -> set[Path]:
        return {*(tmp_path / FOLDER).rglob("*.seg")}

    def stamps() -> set[tuple[Path, int]]:
        return {(path, path.stat().st_mtime_ns) for path in kept()}

    open_dictionary(file, tmp_path, "")
    before = stamps()
    open_dictionary(file, tmp_path, "")
    assert stamps() == before
    file.write_text(LINES + "水 水 [shui3] /water/\n", encoding="utf-8")
    assert [*open_dictionary(file, tmp_path, "").english("水")] == [("water",)]
    assert len(kept()) == 2, "another process may still open the other one"
    for made in (tmp_path / FOLDER).iterdir():
        os.utime(made, (0, 0))
    open_dictionary(file, tmp_path, "")
    file.write_text(LINES + "山 山 [shan1] /mountain/\n", encoding="utf-8")
    open_dictionary(file, tmp_path, "")
    assert len(kept()) == 2, "what nobody has opened for long is gone"


def test_what_was_kept_and_is_damaged_is_made_anew(file: Path, tmp_path: Path) -> None:
    open_dictionary(file, tmp_path, "")
    (kept,) = (tmp_path / FOLDER).rglob("*.seg")
    kept.write_bytes(kept.read_bytes()[:-1000])
    assert open_dictionary(file, tmp_path, "").english("磁盘") == [("disk",)]


def test_where_nothing_can_be_kept_it_works_all_the_same(file: Path, tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")
    assert open_dictionary(file, tmp_path, "").english("磁盘") == [("disk",)]


def test_the_setting_names_it(file: Path, tmp_path: Path) -> None:
    environ = {"JIEDA_DICTIONARY": str(file), "JIEDA_DATA": str(tmp_path), "JIEDA_SEMANTIC": "0"}
    made = analyzers_of(Settings.load(environ)).dictionary
    assert made is not None
    assert made.chinese(("disk",)) == ["磁盘", "硬盘"]
    assert analyzers_of(Settings.load({"JIEDA_SEMANTIC": "0"})).dictionary is None
    with pytest.raises(SettingsError, match="JIEDA_DICTIONARY"):
        Settings.load({"JIEDA_DICTIONARY": str(tmp_path / "missing")})
