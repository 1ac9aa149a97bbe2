"""`jieda votes`: what maintainers see of what readers said."""

import re
from collections.abc import Callable
from pathlib import Path

import httpx
from jieda.settings import data_of

from tests.support.command import jieda
from tests.support.small_content import edition, write


def test_the_entry_that_helped_least_comes_first(tmp_path: Path, serve: Callable[..., httpx.Client]) -> None:
    content = write(tmp_path / "content", {f"en/roll/{name}.md": edition(name) for name in ("good", "bad")})
    data = str(tmp_path / "data")
    with serve(content, data=data) as client:
        assert jieda("votes", JIEDA_DATA=data).stdout == "No votes yet.\n"
        for entry, solved in (("good", "yes"), ("good", "yes"), ("bad", "no"), ("bad", "yes")):
            client.cookies.clear()
            assert client.post(f"/en/entries/roll/{entry}", data={"solved": solved}).status_code == 303
    lines = [re.split(r"\s+", line.strip()) for line in jieda("votes", JIEDA_DATA=data).stdout.splitlines()]
    assert lines == ["1 no · 1 yes en roll/bad".split(), "0 no · 2 yes en roll/good".split()]
    assert jieda("votes", "--since", "2999-01-01", JIEDA_DATA=data).stdout == "No votes yet.\n"
    own = jieda("votes", "--content", str(content))
    assert (own.stdout, own.stderr) == ("No votes yet.\n", f"{data_of([content])}: votes\n")
