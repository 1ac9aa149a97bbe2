"""`jieda fmt`: the fields of a front matter in order, and nothing else."""

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jieda.content.authoring.source_text import SourceText, canonical_order, in_canonical_order
from jieda.content.read.forms import FIELDS
from jieda.errors import AuthoringError

from tests.content.test_check import GOOD, jieda, synced
from tests.support.shipped import CONTENT

MIXED = """\
---
# About this file.

updated: 2026-01-02   # when
# Where it is from.
# All of it.
source:
  - {title: T, url: 'https://example.com/', license: Apache-2.0}
  # inside the list
house: "of its own"
kind: concept

title: 'Not in order'
# the end
---

## Answer

kind: not a field
"""
ORDERED = """\
---
# About this file.

title: 'Not in order'
kind: concept

# Where it is from.
# All of it.
source:
  - {title: T, url: 'https://example.com/', license: Apache-2.0}
  # inside the list
updated: 2026-01-02   # when
house: "of its own"
# the end
---

## Answer

kind: not a field
"""


def test_fields_come_in_order_with_their_comments_and_quotes() -> None:
    assert in_canonical_order(MIXED.encode()).decode() == ORDERED
    assert in_canonical_order(ORDERED.encode()).decode() == ORDERED


def test_line_ends_and_a_byte_order_mark_are_kept() -> None:
    mixed = b"\xef\xbb\xbf" + MIXED.replace("\n", "\r\n").encode()
    assert in_canonical_order(mixed) == b"\xef\xbb\xbf" + ORDERED.replace("\n", "\r\n").encode()


@pytest.mark.parametrize(
    ("front", "words"),
    [
        ("{updated: 2026-01-02, title: x}\n", "two fields share a line"),
        ("updated: 'a\n# no comment'\ntitle: x\n", "by hand"),
        ("updated: [\n", "line "),
        ("title: x\ntitle: y\n", "appears twice"),
    ],
)
def test_what_cannot_be_put_in_order_safely_is_left_alone(front: str, words: str) -> None:
    with pytest.raises(AuthoringError, match=words):
        in_canonical_order(f"---\n{front}---\n\nText\n".encode())


WORDS = st.text("ab#:'\" é解\t-", min_size=1, max_size=8).map(lambda text: f"x{text}")
QUOTED = WORDS.map(lambda text: "'" + text.replace("'", "''") + "'")
LISTS = st.lists(QUOTED, min_size=1, max_size=3)
VALUES = st.one_of(
    QUOTED,
    st.sampled_from(
        ["plain", "2026-01-02", "true", "", "~", "|\n  # text\n  more\n", ">-\n  folded\n\n  more"]
    ),
    LISTS.map(lambda items: f"[{', '.join(items)}]"),
    LISTS.map(lambda items: f"[{', '.join(items)},\n# aside\n]"),
    LISTS.map(lambda items: "".join(f"\n  - {item}  # why" for item in items)),
    LISTS.map(lambda items: "".join(f"\n- {item}\n  # deeper" for item in items)),
)
NAMES = st.lists(st.sampled_from([*FIELDS, "own", "more"]), unique=True, max_size=8)
ASIDES = st.sampled_from(["", "", "\n", "# a comment\n", "# two\n# lines\n", "\n# apart\n\n", "  # deep\n"])


@st.composite
def files(draw: st.DrawFn) -> bytes:
    front = "".join(f"{draw(ASIDES)}{name}: {draw(VALUES)}\n" for name in draw(NAMES)) + draw(ASIDES)
    body = draw(st.text("ab\n#-:é", max_size=20))
    text = f"---\n{front}---\n{body}".replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


@given(files())
def test_what_a_file_says_stays_the_same(content: bytes) -> None:
    try:
        ordered = in_canonical_order(content)
    except AuthoringError:
        return
    before, after = SourceText.of(content), SourceText.of(ordered)
    assert after.fields() == before.fields()
    assert list(after.fields().values) == canonical_order(before.fields().values)
    assert (after.mark, after.body) == (before.mark, before.body)
    assert sorted(after.front.splitlines()) == sorted(before.front.splitlines())
    assert in_canonical_order(ordered) == ordered


def test_the_shipped_entries_stay_what_they_are_however_they_are_shuffled() -> None:
    for path in sorted(CONTENT.glob("*/*/*.md")):
        source = SourceText.of(path.read_bytes())
        assert in_canonical_order(source.content) == source.content, path
        last = list(source.fields().key_lines.values())[-1] - 2
        lines = source.front.splitlines(keepends=True)
        shuffled = source.content.replace(
            source.front.encode(), "".join(lines[last:] + lines[:last]).encode(), 1
        )
        assert in_canonical_order(shuffled) == source.content, path


def test_the_command_names_what_it_changes(tmp_path: Path) -> None:
    folder = synced(tmp_path, GOOD | {"en/roll/x.md": MIXED, "en/roll/bad.md": "no front matter"})
    path, bad = folder / "en/roll/x.md", folder / "en/roll/bad.md"
    path.chmod(0o640)
    for entry in ("en/roll/a.md", "zh/roll/a.md", "en/roll/b.md"):
        (folder / entry).write_bytes(in_canonical_order((folder / entry).read_bytes()))
    looked = jieda("fmt", "--check", "--content", folder)
    assert (looked.exit_code, looked.stdout) == (1, f"{path}\n")
    assert looked.stderr == f"{bad}: has no front matter between two lines of `---`\n"
    assert path.read_text(encoding="utf-8") == MIXED
    bad.unlink()
    done = jieda("fmt", "--content", folder)
    assert (done.exit_code, done.stdout) == (0, f"{path}\n")
    assert path.read_text(encoding="utf-8") == ORDERED
    assert path.stat().st_mode & 0o777 == 0o640
    for arguments in (["--check"], [], [str(path), "--check"]):
        again = jieda("fmt", *arguments, "--content", folder)
        assert (again.exit_code, again.output) == (0, "")


def test_only_the_files_that_are_named_are_put_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = synced(tmp_path / "content", GOOD | {"en/roll/x.md": MIXED})
    shutil.copy(folder / "en/roll/x.md", folder / "en/roll/y.md")
    monkeypatch.chdir(tmp_path)
    done = jieda("fmt", folder / "en/roll/y.md")
    assert (done.stdout, done.stderr) == (f"{folder / 'en/roll/y.md'}\n", "")
    assert (folder / "en/roll/x.md").read_text(encoding="utf-8") == MIXED
