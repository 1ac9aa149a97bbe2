"""What is written into a content directory stays in it."""

from pathlib import Path

import pytest
from jieda.content.authoring.writing import opened
from jieda.errors import AuthoringError


@pytest.mark.parametrize("where", ["../outside.md", "en/../../outside.md", "/outside.md"])
def test_nothing_is_written_or_removed_outside_of_the_directory(tmp_path: Path, where: str) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("mine", encoding="utf-8")
    (tmp_path / "content/en").mkdir(parents=True)
    with opened(tmp_path / "content") as folder:
        with pytest.raises(AuthoringError, match="leads out"):
            folder.write({where: b"theirs"})
        with pytest.raises(AuthoringError, match="leads out"):
            folder.remove(where)
    assert outside.read_text("utf-8") == "mine"
