"""What logs would be answered with a draft in place is what they are answered once it is served."""

from pathlib import Path

import pytest
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language
from jieda.snapshot.snapshot import Analyzers
from jieda.usecases.workbench.review import with_entry

from tests.support import small_content
from tests.support.shipped import open_snapshot

SYMPTOMS = {
    "roll/anchor": "the anchor drags over gravel",
    "roll/boom": "the boom swings over the cabin",
    "roll/cleat": "the cleat tears out of the cabin",
}
LOGS = (
    "the anchor drags over gravel",
    "the boom swings over the cabin",
    "the cleat tears out of the cabin",
)


def page(entry_id: str) -> str:
    text = small_content.edition(f"About {entry_id}", "## Fix\n\nDo it.\n", kind="error", topics="[memory]")
    return text.replace("---\n", f"---\nsymptoms: [{SYMPTOMS[entry_id]}]\n", 1)


def scores(diagnoser: Diagnoser, log: str) -> dict[str, float]:
    answer = diagnoser.diagnose(log, Language.EN)
    return {each.entry.id: each.score for each in answer.matches} | {
        each.entry.id: each.score for each in answer.near
    }


@pytest.mark.parametrize("draft", SYMPTOMS)
def test_a_draft_answers_like_a_served_entry_wherever_its_id_stands(
    tmp_path: Path, analyzers: Analyzers, draft: str
) -> None:
    pages = {f"en/{entry_id}.md": page(entry_id) for entry_id in SYMPTOMS}
    whole = open_snapshot(tmp_path / "all", analyzers, small_content.write(tmp_path / "whole", pages))
    del pages[f"en/{draft}.md"]
    served = open_snapshot(
        tmp_path / "rest", analyzers, small_content.write(tmp_path / "part", pages)
    ).diagnoser

    tried = with_entry(served, whole.library, draft, (), ())

    for log in LOGS:
        found, expected = scores(tried, log), scores(whole.diagnoser, log)
        assert found
        assert found == {entry_id: pytest.approx(score) for entry_id, score in expected.items()}
