"""`import jieda`: the answers of the command line and the REST API, as objects, without a server."""

import asyncio
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import jieda
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tests.support.server import COMMAND, ROOT, environment
from tests.support.small_content import edition, write

ENTRY = edition(
    "Out of memory in a worker",
    "## Symptom\n\nIt stops.\n\n## Cause\n\nNo room.\n\n## Fix\n\nMake room.\n",
    kind="error",
    signatures='["torch.OutOfMemoryError: CUDA out of memory"]',
)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> Path:
    files = {"en/roll/oom.md": ENTRY, "en/roll/other.md": edition("Another question")}
    return write(tmp_path_factory.mktemp("api") / "team-content", files)


@pytest.fixture
def base(content: Path, tmp_path: Path) -> jieda.KnowledgeBase:
    return jieda.open(content, data=tmp_path / "data", semantic=False)


@pytest.mark.slow
def test_it_answers_as_the_command_line_does(
    base: jieda.KnowledgeBase, content: Path, tmp_path: Path
) -> None:
    found = base.search("memory worker", kind="error", framework=["roll"])
    command = [*COMMAND, "search", "--json", "memory", "worker", "--kind", "error", "--limit", "10"]
    environ = environment({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data")})
    told = subprocess.run(command, env=environ, capture_output=True, check=True).stdout
    assert [hit.id for hit in found.hits] == [hit["id"] for hit in json.loads(told)["hits"]] == ["roll/oom"]
    assert base.read("roll/oom").sections()["fix"].strip().endswith("Make room.")
    with pytest.raises(jieda.UnknownEntry):
        base.read("roll/\ud83d")
    with pytest.raises(jieda.UnknownEntry) as refused:
        base.read("roll/none")
    assert str(refused.value) == "There is no entry “roll/none”. A search may find it under another id."
    with pytest.raises(jieda.JiedaError) as unknown:
        base.search("memory", framework="rol")
    assert "Choose from: roll" in str(unknown.value)
    half_of_a_character = base.search("memory \ud83d")
    assert json.loads(half_of_a_character.model_dump_json())["query"] == "memory ?"


def test_several_threads_and_a_running_event_loop_may_ask(base: jieda.KnowledgeBase) -> None:
    verdicts = []

    async def ask() -> None:
        verdicts.append(base.diagnose("torch.OutOfMemoryError: CUDA out of memory. Tried").verdict)

    threads = [threading.Thread(target=lambda: asyncio.run(ask())) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert verdicts == ["matched"] * 4


def test_the_program_that_asks_keeps_all_its_threads(content: Path, tmp_path: Path) -> None:
    """Meaning is computed on one thread; a training script that uses numpy afterwards is not."""
    with threadpool_limits(2, "blas"):
        meant = jieda.open(content, data=tmp_path / "data", semantic=True).search("memory")
        threads = [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]
    assert threads
    assert set(threads) == {2}
    assert meant.hits


def test_broken_content_is_an_error_with_its_file_and_line(content: Path, tmp_path: Path) -> None:
    broken = write(tmp_path / "broken", {"taxonomy.yaml": "frameworks: [\n"})
    with pytest.raises(jieda.JiedaError, match=r"taxonomy\.yaml:\d"):
        jieda.open(content, broken, data=tmp_path / "data")


def test_settings_are_taken_as_python_has_them_and_wrong_ones_named(
    base: jieda.KnowledgeBase, content: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with pytest.raises(jieda.JiedaError, match="no setting semantik: is semantic meant"):
        jieda.open(content, data=data, semantik=False)
    given = jieda.open(
        content=[content],
        data=data,
        semantic=False,
        help_url=None,
        allowed_hosts=("a.example", "b.example"),
        opensearch_password="geheim",
    )
    assert repr(given) == "KnowledgeBase()", "a notebook prints it"
    assert {given, base} == {base, given}
    settings = given.client.service.settings
    assert (settings.content, settings.help_url) == ((content,), "")
    assert settings.allowed_hosts == ("a.example", "b.example")
    for ask in (
        lambda: base.search("memory", lang="fr"),
        lambda: base.read("roll/oom", lang="zh-CN"),
        lambda: base.search("memory", limit=-1),
    ):
        with pytest.raises(jieda.JiedaError, match="must"):
            ask()


@pytest.mark.slow
def test_the_example_of_the_documentation_runs_as_a_program(content: Path, tmp_path: Path) -> None:
    """Without a guard against being imported again, which helpers that build would do."""
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0]
    (tmp_path / "program.py").write_text(code, encoding="utf-8")
    environ = environment({"JIEDA_DATA": str(tmp_path / "data")})
    run = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        check=False,
        cwd=content.parent,
        env=environ,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("roll/oom Out of memory in a worker\nknown ['roll/oom']\n")


def test_importing_it_imports_no_index() -> None:
    code = "import sys, jieda; print(sorted({'numpy', 'pydantic', 'jieda.api'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[]\n"
