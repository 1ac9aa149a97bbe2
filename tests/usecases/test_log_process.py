"""Large logs in a process of their own: the same answers, also where that process dies or does not answer."""

import gc
import multiprocessing
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from jieda.entry import Language
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.diagnose import explain
from jieda.usecases.service import LARGE_LOG, LogReader, Service

from tests.support.small_content import edition, write

pytestmark = pytest.mark.slow

LOG = "step 1\n" * LARGE_LOG + "RuntimeError: torn shard 7\npassword=hunter2secret\n"


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    """Of a process that serves one entry and does nothing else."""
    torn = edition("Torn shard", "## Fix\n\nMend it.\n", kind="error", signatures="['torn shard {int}']")
    content = write(tmp_path / "content", {"en/roll/torn.md": torn})
    settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data")})
    knowledge = Knowledge(settings)
    knowledge.open()
    service = Service.of(settings, knowledge, alone=True)
    yield service
    assert service.log_process
    service.log_process.end()
    knowledge.stop()


def test_the_answer_is_the_same_whatever_becomes_of_the_process(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot, elsewhere = service.current(), service.log_process
    assert elsewhere
    here = explain(replace(service, log_process=None), snapshot, LOG, Language.EN, "")
    assert [match.entry.id for match in here.matches] == ["roll/torn"]
    question = (snapshot.generation, LOG, Language.EN, "")
    assert elsewhere.explain(question, service.knowledge) == here
    assert elsewhere.explain(("another", *question[1:]), service.knowledge) is None
    (process,) = multiprocessing.active_children()
    process.kill()
    process.join()
    assert elsewhere.explain(question, service.knowledge) == here
    monkeypatch.setattr("jieda.usecases.service.SECONDS_TO_EXPLAIN", 0.0)
    assert explain(service, snapshot, LOG, Language.EN, "") == here
    assert multiprocessing.active_children() == []


def test_content_that_is_no_longer_served_is_freed(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jieda.usecases.service.NICE", 0)
    reader, opened = LogReader(service.settings), []
    for title in ("First", "Second"):
        write(tmp_path / "content", {"en/roll/other.md": edition(title)})
        service.knowledge.build()
        assert reader((service.current().generation, "x", Language.EN, "")) is not None
        assert reader._knowledge
        opened.append(weakref.ref(reader._knowledge.snapshot))
    gc.unfreeze()
    assert [each() is None for each in opened] == [True, False]
