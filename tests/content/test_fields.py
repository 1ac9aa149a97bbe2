"""The content of other fields is held to the rules that shipped content is held to."""

from pathlib import Path

import pytest
from jieda.content.check.everything import check_content

from tests.support.server import ROOT

FIELDS = sorted(path for path in (ROOT / "tests" / "fields").iterdir() if path.is_dir())


@pytest.mark.parametrize("field", FIELDS, ids=lambda path: path.name)
def test_the_check_finds_nothing_in_a_field(field: Path) -> None:
    report = check_content([field])
    assert [str(problem) for problem in report.problems] == []
    assert report.entries > 0
