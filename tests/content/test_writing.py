"""What is written into a content directory stays in it, whole or not at all, and leaves nothing behind."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jieda.content.authoring.writing import lock_directory
from jieda.errors import AuthoringError


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """No file can become longer than `size` bytes while this lasts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_what_does_not_fit_leaves_nothing_behind(tmp_path: Path) -> None:
    with lock_directory(tmp_path) as place:
        place.write({"en/a.md": b"before"})
        with room_for(100), pytest.raises(AuthoringError, match="nothing was written"):
            place.write({"en/a.md": b"after", "en/b.md": bytes(1000)})
    assert {path.name: path.read_bytes() for path in (tmp_path / "en").iterdir()} == {"a.md": b"before"}


@pytest.mark.parametrize("where", ["../outside.md", "en/../../outside.md", "/outside.md"])
def test_nothing_is_written_or_removed_outside_of_the_directory(tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine", encoding="utf-8")
    (tmp_path / "content/en").mkdir(parents=True)
    with lock_directory(tmp_path / "content") as folder:
        with pytest.raises(AuthoringError, match="leads out"):
            folder.write({where: b"theirs"})
        with pytest.raises(AuthoringError, match="leads out"):
            folder.remove(where)
    assert outside.read_text("utf-8") == "mine"
