"""`jieda load` as it is run: lines in, files out, and what is in the way left as it was."""

import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from jieda.cli.main import main
from jieda.content.read.load import Loaded
from jieda.entry import Language
from jieda.importing.lines import MAX_LINE_BYTES

from tests.support.cost import assert_linear
from tests.support.server import COMMAND, environment, until
from tests.support.small_content import write

A, ZH = "en/roll/a.md", "zh/roll/a.md"
RECORD = "imports/load.jsonl"


def line(entry_id: str = "roll/a", lang: str = "en", **fields: Any) -> dict[str, Any]:
    """An edition that has nothing wrong with it, but for `fields`; one that is None is left out."""
    said = {
        "id": entry_id,
        "lang": lang,
        "title": "How do I resume?" if lang == "en" else "怎么续训？",
        "kind": "how-to",
        "topics": ["memory"],
        "source": [{"title": "T", "url": "https://example.com/", "license": "Apache-2.0"}],
        "updated": "2026-01-02",
        "markdown": "## Steps\n\nSet `--load`." if lang == "en" else "## 步骤\n\n设置 `--load`。",
    }
    return {name: value for name, value in (said | fields).items() if value is not None}


def text_of(*lines: dict[str, Any] | str) -> str:
    return "".join(f"{each if isinstance(each, str) else json.dumps(each)}\n" for each in lines)


class Desk:
    """A content directory, and the command."""

    def __init__(self, folder: Path) -> None:
        self.content = write(folder / "content", {})

    def command(self, *options: str) -> list[str]:
        return ["load", "-", "--into", str(self.content), "--content", str(self.content), *options]

    def load(self, *lines: dict[str, Any] | str, options: tuple[str, ...] = (), code: int = 0) -> Result:
        result = CliRunner().invoke(main, self.command(*options), input=text_of(*lines))
        assert result.exit_code == code, result.output
        return result

    def files(self) -> dict[str, tuple[bytes, int]]:
        """What lies there, with the time of its last change."""
        found = (path for path in self.content.rglob("*") if path.is_file())
        return {
            path.relative_to(self.content).as_posix(): (path.read_bytes(), path.stat().st_mtime_ns)
            for path in found
        }

    def read(self, name: str) -> str:
        return (self.content / name).read_text(encoding="utf-8")

    def put(self, name: str, text: str) -> None:
        path = self.content / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--content", str(self.content)])

    @contextmanager
    def under_way(self, *lines: dict[str, Any]) -> Iterator[subprocess.Popen[bytes]]:
        """A load that has written these lines and waits for more."""
        process = subprocess.Popen(
            [*COMMAND, *self.command()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment({}),
        )
        try:
            assert process.stdin
            process.stdin.write(text_of(*lines).encode())
            process.stdin.flush()
            wheres = [f"{each['lang']}/{each['id']}.md" for each in lines]
            until(lambda: all((self.content / where).is_file() for where in wheres))
            yield process
        finally:
            process.kill()
            process.communicate()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


@pytest.mark.quick
def test_a_line_becomes_a_file_that_the_check_has_nothing_against(desk: Desk) -> None:
    umask = os.umask(0o002)
    try:
        result = desk.load(
            line(aliases=["it's `--load`"], related=[], markdown="\n## Steps\r\n\r\nDo: # it.\n\n")
        )
    finally:
        os.umask(umask)
    assert result.stdout == f"new {A}\n"
    assert result.stderr == "1 new, 0 changed, 0 unchanged, 0 removed, 0 refused\n"
    assert desk.read(A) == (
        "---\ntitle: 'How do I resume?'\nkind: how-to\ntopics:\n  - 'memory'\nerror_types: []\n"
        "aliases:\n  - 'it''s `--load`'\nrelated: []\nsource:\n  - title: 'T'\n    url: 'https://example.com/'\n"
        "    license: 'Apache-2.0'\nupdated: 2026-01-02\n---\n\n## Steps\n\nDo: # it.\n"
    )
    assert (desk.content / A).stat().st_mode & 0o777 == 0o664, "the umask decides"
    assert desk.run("check").output == "1 entry in 1 edition: no problems\n"


def test_signatures_are_taken_in_every_form_of_the_content_format(desk: Desk) -> None:
    signatures = [
        "RuntimeError: placement group wasn't ready after {int} tries: '%s' {{x}}",
        {
            "all": ["weights of the actor differ", "loaded {shape} into {shape}"],
            "any": ["x: y"],
            "near": 20,
            "shapes": {"rest": "differ"},
        },
        {"all": ["rollout engine died early"], "confidence": "likely", "near": None},
    ]
    desk.load(line(kind="error", signatures=signatures, markdown="## Fix\n\nDo."))
    found = Loaded([desk.content]).corpus.by_id["roll/a"][Language.EN].front.signatures
    assert [each.all for each in found] == [
        ("RuntimeError: placement group wasn't ready after {int} tries: '%s' {{x}}",),
        ("weights of the actor differ", "loaded {shape} into {shape}"),
        ("rollout engine died early",),
    ]
    assert (found[1].any, found[1].near, found[1].shapes) == (("x: y",), 20, (("rest", "differ"),))
    assert [each.likely for each in found] == [False, False, True]


def test_the_same_input_again_touches_no_file(desk: Desk) -> None:
    desk.load(line(), line(lang="zh"))
    before = desk.files()
    result = desk.load(line(), line(lang="zh"), line())
    assert result.stderr.startswith("0 new, 0 changed, 3 unchanged")
    assert not result.stdout
    assert desk.files() == before


@pytest.mark.quick
def test_only_what_changed_is_written(desk: Desk) -> None:
    desk.load(line(), line("roll/b"))
    before = desk.files()
    assert desk.load(line(), line("roll/b", title="Other")).stdout == "changed en/roll/b.md\n"
    assert "title: 'Other'" in desk.read("en/roll/b.md")
    assert desk.files()[A] == before[A]


WRONG: tuple[tuple[str, dict[str, Any] | str, str], ...] = (
    ("no JSON", '{"id": ', "is not JSON"),
    ("no object", "[1]", "must be one JSON object"),
    ("nested", "[" * 100_000, "is nested too deep"),
    (
        "number without end",
        f'{{"id": "roll/z", "lang": "en", "n": {"1" * 5000}}}',
        "is nested too deep to be an entry, or",
    ),
    ("nested in a field", line(topics=json.loads("[" * 50 + "]" * 50)), "topics: is nested too deep"),
    ("twice", '{"id": "roll/a", "id": "roll/b"}', "id: appears twice"),
    ("a typo", line(tilte="x"), "tilte: is not a field of an entry"),
    ("a typo below", line(related=[{"id": "roll/b", "nmaed": True}]), "related: has `nmaed`"),
    ("no id", line(id=None), "id: is missing"),
    ("out of the directory", line("roll/../../x"), "id: is 'roll/../../x', but must be"),
    ("out of it by the framework", line("../x"), "id: is '../x', but must be"),
    ("absolute", line("/etc/x"), "id: is '/etc/x', but must be"),
    ("id of several lines", line("roll/a\n"), "id: is 'roll/a\\n', but must be"),
    ("id is a number", line(id=5), "id: is '5', but must be"),
    ("another language", line(lang="../en"), "lang: is '../en', but must be en or zh"),
    ("another framework", line("verl/a"), "id: framework 'verl' is not in taxonomy.yaml, which has roll"),
    ("framework and id", line(framework="verl"), "framework: must be that of the id"),
    ("unknown topic", line(topics=["memroy"]), "topics: topic 'memroy' is not in taxonomy.yaml"),
    ("no title", line(title=None), "title: is missing"),
    ("long title", line(title="x" * 201), "title: must have at most 200 characters"),
    ("title of two lines", line(title="a\nb"), "title: must be one line"),
    ("line break of YAML", line(aliases=["a\u2028b"]), "aliases: must be one line"),
    ("wrong kind", line(kind="faq"), "kind: must be one of"),
    ("wrong type", line(aliases="x"), "aliases: must be a list"),
    ("number", line(aliases=[5]), "aliases: must be a text"),
    ("no day", line(updated="yesterday"), "updated: must be a day"),
    (
        "source without license",
        line(source=[{"title": "T", "url": "https://e.com/"}]),
        "source: needs `license`",
    ),
    ("no source", line(source=[]), "source: is empty"),
    ("bad signature", line(kind="error", signatures=["{int}"]), "signatures: has no literal text"),
    ("no body", line(markdown=None), "markdown: must be the Markdown"),
    ("control character", line(markdown="a\x00b"), "markdown: has the character U+0000"),
    ("half a character", line(title="\ud83d"), "title: has the character U+D83D"),
    ("large body", line(markdown="x" * (129 << 10)), "markdown: has "),
    ("brackets", line(markdown="[" * 5001), "markdown: the body has more than 5000 square brackets"),
)


@pytest.mark.quick
@pytest.mark.parametrize(("wrong", "told"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_a_bad_line_is_told_and_the_good_ones_are_loaded(
    desk: Desk, wrong: dict[str, Any] | str, told: str
) -> None:
    before = set(desk.files()) | {"en/roll/good.md", "en/roll/next.md", RECORD}
    result = desk.load(line("roll/good"), wrong, "", line("roll/next"), code=1)
    assert f"standard input:2: {told}" in result.stderr
    assert "2 new, 0 changed, 0 unchanged, 0 removed, 1 refused" in result.stderr
    assert set(desk.files()) == before


def test_a_line_over_the_limit_is_refused_by_its_number(desk: Desk) -> None:
    result = desk.load("x" * (2 * MAX_LINE_BYTES + 5), line(), code=1)
    assert f"standard input:1: is longer than {MAX_LINE_BYTES} bytes" in result.stderr
    assert result.stdout == f"new {A}\n"


def test_text_in_another_encoding_is_refused_by_its_number(desk: Desk) -> None:
    given = (
        json.dumps(line(title="怎么"), ensure_ascii=False).encode("gb18030")
        + b"\n"
        + text_of(line()).encode()
    )
    result = CliRunner().invoke(main, desk.command(), input=given)
    assert "standard input:1: must be UTF-8" in result.stderr
    assert result.stdout == f"new {A}\n"


def test_two_lines_for_one_edition_must_say_the_same(desk: Desk) -> None:
    result = desk.load(line(), line(title="Other"), code=1)
    assert "standard input:2: id: line 1 has this edition already" in result.stderr
    assert "How do I resume?" in desk.read(A)


@given(st.lists(st.text(max_size=20), max_size=4), st.text(max_size=40))
def test_whatever_is_loaded_reads_the_same(aliases: list[str], body: str) -> None:
    with TemporaryDirectory() as folder:
        desk = Desk(Path(folder))
        result = CliRunner().invoke(
            main, desk.command(), input=text_of(line(aliases=aliases, markdown=f"## Steps\n\n.{body}"))
        )
        assert result.exit_code in {0, 1}, result.output
        if result.exit_code:
            assert "standard input:1: " in result.stderr
            return
        front = Loaded([desk.content]).corpus.by_id["roll/a"][Language.EN].front
        assert front.aliases == tuple(alias.strip() for alias in aliases)


@pytest.mark.quick
def test_what_no_load_wrote_is_never_overwritten_nor_removed(desk: Desk) -> None:
    desk.put(A, "mine")
    result = desk.load(line(), code=1)
    assert f"standard input:1: id: {A} was not written by a load: move it away" in result.stderr
    desk.load(line("roll/b"), options=("--prune",))
    assert desk.read(A) == "mine"
    desk.load(line("roll/c"))
    shutil.rmtree(desk.content / "imports")
    assert "1 unchanged" in desk.load(line("roll/c")).stderr
    assert not desk.load(line("roll/b"), options=("--prune",)).stdout
    assert "How do I resume?" in desk.read("en/roll/c.md")


def test_nothing_is_written_through_a_link(desk: Desk, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.content / "en").symlink_to(elsewhere)
    assert "something is in the way" in desk.load(line(), code=1).stderr
    assert not list(elsewhere.iterdir())


def test_an_edit_by_hand_is_kept_and_told_until_the_source_has_it(desk: Desk) -> None:
    desk.load(line(), line("roll/b"))
    desk.put(A, desk.read(A).replace("--load", "--resume"))
    edited = desk.read(A)
    result = desk.load(line(title="Other"), line("roll/b"), code=1)
    assert f"id: {A} has been edited since it was loaded" in result.stderr
    result = desk.load(line("roll/b"), options=("--prune",), code=1)
    assert f"{A}: has been edited since it was loaded" in result.stderr
    assert desk.read(A) == edited
    desk.load(line(markdown="## Steps\n\nSet `--resume`."), line("roll/b"))
    assert desk.load(line("roll/b"), options=("--prune",)).stdout == f"removed {A}\n"


def test_twins_declared_equal_stay_so_until_one_changes(desk: Desk) -> None:
    """`jieda sync` writes into what was loaded, and the next load does not mind."""
    desk.load(line(), line(lang="zh"))
    assert desk.run("sync", "--all").exit_code == 0
    before = desk.files()
    desk.load(line(), line(lang="zh"))
    assert desk.files() == before
    assert desk.run("check").exit_code == 0
    desk.load(line(title="Other"), line(lang="zh"))
    told = desk.run("check").output
    assert told.startswith(f"{ZH}:14: sync: the twin has changed since")
    assert "1 problem in 1 file" in told


@pytest.mark.quick
def test_prune_removes_what_is_named_no_more(desk: Desk) -> None:
    desk.load(line(), line(lang="zh"), line("roll/b"))
    result = desk.load(line(), options=("--prune",))
    assert result.stdout == "removed en/roll/b.md\nremoved zh/roll/a.md\n"
    assert result.stderr == "0 new, 0 changed, 1 unchanged, 2 removed, 0 refused\n"
    assert {name for name in desk.files() if name.endswith(".md")} == {A}
    assert not desk.load(line(), options=("--prune",)).stdout


@pytest.mark.parametrize(
    ("given_lines", "told"),
    [
        ((), "nothing was removed: no line was loaded"),
        ((line("roll/b", kind="faq"),), "nothing was removed: no line was loaded"),
        ((line("roll/b"), '{"id": "roll/a", '), "nothing was removed: 1 refused lines do not tell"),
    ],
    ids=["empty", "all refused", "cut short"],
)
def test_prune_removes_nothing_where_the_input_failed(
    desk: Desk, given_lines: tuple[dict[str, Any] | str, ...], told: str
) -> None:
    desk.load(line(), line("roll/b"))
    result = desk.load(*given_lines, options=("--prune",), code=1)
    assert told in result.stderr
    assert A in desk.files()


def test_an_entry_that_is_refused_is_not_removed(desk: Desk) -> None:
    desk.load(line(), line("roll/b"))
    desk.load(line(title=""), line("roll/b"), options=("--prune",), code=1)
    assert A in desk.files()


def test_a_dry_run_says_the_same_and_writes_nothing(desk: Desk) -> None:
    desk.load(line(), line("roll/b"))
    before = desk.files()
    given_lines = (line(title="Other"), line("roll/c"), line(kind="x"))
    dry = desk.load(*given_lines, options=("--prune", "--dry-run"), code=1)
    assert desk.files() == before
    real = desk.load(*given_lines, options=("--prune",), code=1)
    assert dry.stdout == real.stdout == f"changed {A}\nnew en/roll/c.md\nremoved en/roll/b.md\n"
    assert "nothing was written (--dry-run)" in dry.stderr


def test_what_a_killed_load_wrote_is_still_the_loads_to_change_and_remove(desk: Desk) -> None:
    desk.load(line("roll/b"))
    with desk.under_way(line(), line("roll/b", title="Other")) as process:
        until(lambda: "Other" in desk.read("en/roll/b.md"))
        process.send_signal(signal.SIGKILL)
        process.wait()
    with (desk.content / RECORD).open("ab") as record:
        record.write(b'{"file": "en/roll/c.md", "pri')  # killed while it wrote that
    with desk.under_way(line(title="Second")) as process:
        until(lambda: "Second" in desk.read(A))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (
        desk.load(line(title="Third"), options=("--prune",)).stdout == f"changed {A}\nremoved en/roll/b.md\n"
    )
    assert desk.load(line(title="Third")).stderr.startswith("0 new, 0 changed, 1 unchanged")


def test_two_loads_into_one_directory_do_not_mix(desk: Desk) -> None:
    with desk.under_way(line()):
        result = desk.load(line("roll/b"), code=2)
    assert "another `jieda load` is at work there" in result.stderr


def test_a_record_that_cannot_be_read_stops_the_load(desk: Desk) -> None:
    desk.put(RECORD, "no record\n")
    assert f"{RECORD}:1: cannot be read: restore the file" in desk.load(line(), code=2).stderr


def test_what_cannot_be_written_stops_the_load_and_nothing_is_half_written(desk: Desk) -> None:
    """Files can have no more than a few KiB here, as on a disk that is full."""
    run = subprocess.run(
        ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *COMMAND, *desk.command()],
        input=text_of(
            line(), line("roll/b", markdown="## Steps\n\n" + "x" * 20_000), line("roll/c")
        ).encode(),
        env=environment({"PYTHONDONTWRITEBYTECODE": "1"}),
        capture_output=True,
        check=False,
    )
    assert run.returncode == 2, run.stderr
    assert b"en/roll/b.md: cannot be written: File too large; nothing was written" in run.stderr
    assert {name for name in desk.files() if name.endswith(".md")} == {A}
    assert desk.load(line(), line("roll/b")).stderr.startswith("1 new, 0 changed, 1 unchanged")


def test_a_file_that_is_not_there_is_a_wrong_call(desk: Desk) -> None:
    result = CliRunner().invoke(main, ["load", "nothing.jsonl", "--into", str(desk.content)])
    assert result.exit_code == 2
    assert "nothing.jsonl" in result.stderr


def test_the_cost_grows_with_the_lines_and_no_faster(desk: Desk) -> None:
    def load(size: int) -> None:
        desk.load(*(line(f"roll/made-{size}-{number}") for number in range(size)))

    assert_linear(load, 60)
