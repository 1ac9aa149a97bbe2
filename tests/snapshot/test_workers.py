"""Several workers, one content: all of them serve the same, whoever asks for it, whatever happens to one."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from jieda.snapshot.store.processes import has_leader
from jieda.snapshot.watch.follow import FILES_INTERVAL

from tests.snapshot.conftest import two
from tests.support import server as servers
from tests.support.server import PATIENCE, Server, until
from tests.support.small_content import TAXONOMY, edition, write

WORKERS = 2
TOKEN = "s3cret-token"

Shared = tuple[Server, Path]


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Shared]]:
    folder = tmp_path_factory.mktemp("shared-workers")
    # Workers get the very settings of their parent: as a variable, the path would lose its space.
    content = two(folder).rename(folder / "content ")
    named = Path(f"{content}{os.pathsep}")
    with servers.lasting(folder, named, workers=str(WORKERS), reload_token=TOKEN) as get:
        yield lambda: (ready(get()), content)


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[], Shared]]:
    folder = tmp_path_factory.mktemp("watching-workers")
    with servers.lasting(folder, content := two(folder), workers=str(WORKERS), reload_content="1") as get:
        yield lambda: (ready(get()), content)


@pytest.fixture
def shared(asked: Callable[[], Shared]) -> Shared:
    """A server that builds when it is asked to, for tests that leave it well or ended, and its content."""
    return asked()


@pytest.fixture
def watching(seeing: Callable[[], Shared]) -> Shared:
    """A server that builds when its content changes, for tests that leave it well or ended, and its content."""
    return seeing()


def ready(server: Server) -> Server:
    """The server, once all its workers answer."""
    until(
        lambda: (
            len(list((server.data / "workers").glob("*.json")))
            == len(children(server.process.pid))
            == WORKERS
        )
    )
    return server


def figures_of(worker: int) -> Path:
    """The folder in which the workers of a server count."""
    started_with = Path(f"/proc/{worker}/environ").read_text(encoding="utf-8")
    return Path(started_with.partition("PROMETHEUS_MULTIPROC_DIR=")[2].partition("\0")[0])


def answers(server: Server, path: str = "/readyz", count: int = 12) -> Iterator[dict[str, object]]:
    """Of several connections, so that any worker may answer."""
    for _ in range(count):
        with server.client() as client:
            yield client.get(path).json()


def generations(server: Server) -> set[object]:
    return {answer["generation"] for answer in answers(server)}


def reload(server: Server) -> httpx.Response:
    with server.client() as client:
        return client.post("/api/v1/reload", headers={"Authorization": f"Bearer {TOKEN}"}, timeout=PATIENCE)


def children(parent: int) -> list[int]:
    """Its worker processes."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="utf-8").split()
    return [pid for pid in map(int, found) if b"spawn_main" in command_line(pid)]


def command_line(pid: int) -> bytes:
    """What the process was started with; nothing of one that ended since it was listed."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def is_alive(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_reload_is_answered_when_every_worker_serves_it(shared: Shared) -> None:
    server, content = shared
    before = generations(server)
    (content / "en/roll/a.md").write_text(edition("Zebrafish"), encoding="utf-8")
    answer = reload(server).json()
    assert (answer["changed"], answer["workers"], answer["behind"]) == (True, WORKERS, [])
    assert generations(server) == {answer["generation"]}
    assert {answer["generation"]}.isdisjoint(before)
    found = [each["total"] for each in answers(server, "/api/v1/search?q=zebrafish&verbatim=1")]
    assert found == [1] * len(found)
    assert reload(server).json()["changed"] is False


def test_a_failed_reload_is_told_by_every_worker_and_heals(shared: Shared) -> None:
    server, content = shared
    before = generations(server)
    (content / "taxonomy.yaml").write_text("frameworks: [", encoding="utf-8")
    refused = reload(server)
    assert refused.status_code == 409
    states = list(answers(server))
    assert {(each["status"], each["builder"]) for each in states} == {("degraded", "failed")}
    assert {each["generation"] for each in states} == before
    assert all("taxonomy.yaml:1" in str(each["degraded"]) for each in states)
    assert all(str(content) not in str(each) for each in states)
    (content / "taxonomy.yaml").write_text(TAXONOMY, encoding="utf-8")
    assert reload(server).json()["behind"] == []
    assert {each["status"] for each in answers(server)} == {"ready"}


def test_many_reloads_at_once_share_builds(shared: Shared) -> None:
    server, content = shared
    before = server.log().count("built generation")
    (content / "en/roll/a.md").write_text(edition("Other"), encoding="utf-8")
    with ThreadPoolExecutor(8) as at_once:
        assert [each.status_code for each in at_once.map(reload, [server] * 8)] == [200] * 8
    assert server.log().count("built generation") == before + 1


def test_an_edit_is_noticed_and_served_by_all(watching: Shared) -> None:
    server, content = watching
    before = generations(server)
    (content / "en/roll/new.md").write_text(edition("New"), encoding="utf-8")
    (content / "zh/roll").mkdir(parents=True)
    (content / "zh/roll/new.md").write_text(edition("新", "## 回答\n\n是。\n"), encoding="utf-8")
    until(lambda: {answer["entries"] for answer in answers(server)} == {3})
    assert generations(server).isdisjoint(before)


def test_a_build_that_failed_is_tried_again_until_it_succeeds(watching: Shared) -> None:
    server, content = watching
    entries = len(list((content / "en/roll").iterdir()))
    away = content.rename(content.with_name("away"))
    until(lambda: {answer["status"] for answer in answers(server)} == {"degraded"})
    (away / "en/roll/later.md").write_text(edition("Later"), encoding="utf-8")
    away.rename(content)
    well = {("ready", entries + 1)}
    until(lambda: {(each["status"], each["entries"]) for each in answers(server)} == well)


def test_a_generation_damaged_under_running_workers_is_made_anew(shared: Shared) -> None:
    server, _ = shared
    before = generations(server)
    for path in (server.data / "generations").rglob("*.sqlite"):
        path.write_bytes(b"noise")
    workers = children(server.process.pid)
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    until(lambda: len(children(server.process.pid)) == WORKERS and not any(map(is_alive, workers)))
    ready(server)
    well = {(generation, 2) for generation in before}
    until(lambda: {(each.get("generation"), each.get("entries")) for each in answers(server)} == well)


def test_a_data_directory_deleted_under_running_workers_costs_no_answer_and_no_figures(
    shared: Shared,
) -> None:
    server, _ = shared
    before = children(server.process.pid)
    server.data.rename(gone := server.data.with_name("gone"))
    shutil.rmtree(gone)
    until(lambda: has_leader(server.data) and {each["status"] for each in answers(server)} == {"ready"})
    assert children(server.process.pid) == before
    assert stat.S_IMODE(server.data.stat().st_mode) == 0o700
    assert f"{server.data} was deleted: starting anew" in server.log()
    assert (reload(server).json()["workers"], reload(server).json()["behind"]) == (WORKERS, [])
    with server.client() as client:
        told = client.get("/metrics")
    assert told.status_code == 200
    counted = 'jieda_requests_total{method="GET",route="/readyz",status="200"}'
    (line,) = [each for each in told.text.splitlines() if each.startswith(counted)]
    assert float(line.split()[-1]) >= 12


FULL = """
import os, pathlib, resource
from jieda.metrics import Metrics, ServedState

def count(*routes):
    for route in routes:
        metrics.seconds.labels("GET", route).observe(0.1)
        metrics.requests.labels("GET", route, "200").inc()
    text = metrics.expose(ServedState(1, False, 1.0)).decode()
    told = [line.split()[-1] for line in text.splitlines() if line.startswith("jieda_requests_total")]
    print(max(told, default="nothing"), len(told) > 100)

metrics = Metrics()
count("/a")
files = pathlib.Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*")
resource.setrlimit(resource.RLIMIT_FSIZE, (max((file.stat().st_size for file in files), default=0), -1))
count("/a", *map(str, range(1000)))
resource.setrlimit(resource.RLIMIT_FSIZE, (-1, -1))
count("/a", "/b")
"""
"""A file that may not grow is as a disk that is full."""


def test_a_full_disk_costs_figures_and_no_worker(tmp_path: Path) -> None:
    there, gone = ["1.0 False", "2.0 False", "3.0 True"], ["nothing False"] * 3
    for folder, told in ((tmp_path, there), (tmp_path / "none", gone)):
        environ = os.environ | {"PROMETHEUS_MULTIPROC_DIR": str(folder)}
        command = [sys.executable, "-c", FULL]
        ended = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        assert ended.stdout.splitlines() == told


def noise(path: Path) -> None:
    content = path.read_bytes()
    with path.open("r+b") as file:
        file.write(content[:64] + bytes(byte ^ 0xFF for byte in content[64:]))


def cut(path: Path) -> None:
    os.truncate(path, 64)


@pytest.mark.parametrize("damage", [noise, cut])
def test_an_index_damaged_in_place_under_running_workers_is_made_anew(
    shared: Shared, damage: Callable[[Path], None]
) -> None:
    """The workers have it mapped into memory: they read noise at once, and die of what is not there any more."""
    server, _ = shared

    def is_well() -> bool:
        try:
            found = answers(server, "/api/v1/search?q=B&lang=en")
            hits = [[hit["id"] for hit in each["hits"]] for each in found]  # type: ignore[attr-defined] # JSON
            return hits == [["roll/b"]] * len(hits) and {each["status"] for each in answers(server)} == {
                "ready"
            }
        except (httpx.TransportError, KeyError, ValueError):
            return False

    until(is_well)
    for file in (server.data / "generations").rglob("*.seg"):
        damage(file)
    # Until a worker has looked at its files, it may answer from what it keeps of earlier answers, and so seem well.
    time.sleep(2 * FILES_INTERVAL)
    until(is_well)
    until(lambda: len(children(server.process.pid)) == WORKERS)


def test_what_is_the_same_in_two_generations_is_not_sent_again(shared: Shared) -> None:
    server, content = shared
    with server.client() as client:
        tag = client.get("/api/v1/entries/roll/b.md").headers["ETag"]
        (content / "en/roll/a.md").write_text(edition("Something else"), encoding="utf-8")
        assert reload(server).json()["changed"]
        again = client.get("/api/v1/entries/roll/b.md", headers={"If-None-Match": tag})
        assert (again.status_code, again.headers["ETag"]) == (304, tag)


def test_a_second_server_on_a_data_directory_is_refused(shared: Shared) -> None:
    server, content = shared
    given = {"content": content, "data": server.data, "port": servers.free_port()}
    refused = subprocess.run(
        [*servers.COMMAND, "serve", *(f"--{name}={value}" for name, value in given.items())],
        env=servers.environment({}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert refused.returncode == 2
    assert f"process {server.process.pid}, http://127.0.0.1:" in refused.stderr
    assert "JIEDA_DATA" in refused.stderr
    assert {answer["status"] for answer in answers(server)} == {"ready"}


def test_workers_end_with_their_parent_and_take_their_figures_along(shared: Shared) -> None:
    """Those that it started at first, and one that it put in the place of another."""
    server, _ = shared
    first = children(server.process.pid)
    figures = figures_of(first[0])
    assert figures.is_dir()
    assert len(first) == WORKERS
    os.kill(first[0], signal.SIGKILL)
    until(lambda: not is_alive(first[0]) and len(children(server.process.pid)) == WORKERS)
    workers = children(server.process.pid)
    server.process.kill()
    until(lambda: not any(map(is_alive, workers)))
    server.process.wait()
    assert not figures.exists()


def test_figures_of_a_server_killed_with_its_workers_are_removed_by_the_next(
    asked: Callable[[], Shared],
) -> None:
    server, _ = asked()
    workers = children(server.process.pid)
    left = figures_of(workers[0])
    server.process.send_signal(signal.SIGSTOP)
    for each in workers:
        os.kill(each, signal.SIGKILL)
    server.process.kill()
    server.process.wait()
    assert left.is_dir()
    server, _ = asked()
    assert not left.exists()
    assert figures_of(children(server.process.pid)[0]).is_dir()


def test_a_worker_that_hangs_keeps_no_other_from_being_replaced_and_the_server_from_stopping(
    shared: Shared,
) -> None:
    server, _ = shared
    hanging, victim = children(server.process.pid)
    os.kill(hanging, signal.SIGSTOP)
    os.kill(victim, signal.SIGKILL)
    until(lambda: len(children(server.process.pid)) == WORKERS and not is_alive(victim))
    assert is_alive(hanging)
    workers = children(server.process.pid)
    server.process.terminate()
    server.process.wait(PATIENCE)
    until(lambda: not any(map(is_alive, workers)))


HINDER = """
import pathlib, sys, time

class Hinder:
    def find_spec(self, name, path=None, target=None):
        if name == "uvicorn":
            pathlib.Path({told!r}).touch()
            time.sleep(1000)

if "--multiprocessing-fork" in sys.orig_argv:
    sys.meta_path.insert(0, Hinder())
"""
"""Run at the start of an interpreter: a worker does not come beyond an import."""


@pytest.mark.server
def test_workers_that_still_import_end_with_their_parent(content: Path, tmp_path: Path) -> None:
    hindered, told = tmp_path / "hindered", tmp_path / "told"
    hindered.mkdir()
    (hindered / "sitecustomize.py").write_text(HINDER.format(told=str(told)))
    given = {"content": content, "data": tmp_path / "data", "port": servers.free_port(), "workers": "2"}
    settings = {f"JIEDA_{name.upper()}": str(value) for name, value in given.items()}
    settings["PYTHONPATH"] = f"{hindered}{os.pathsep}{servers.ROOT}"
    with (tmp_path / "output").open("wb") as sink:
        command = [*servers.COMMAND, "serve"]
        parent = subprocess.Popen(command, env=servers.environment(settings), stdout=sink, stderr=sink)
    workers: list[int] = []
    try:
        until(lambda: told.exists() and len(children(parent.pid)) == 2)
        workers = children(parent.pid)
        parent.kill()
        until(lambda: not any(map(is_alive, workers)))
    finally:
        parent.kill()
        parent.wait()
        for pid in filter(is_alive, workers):
            os.kill(pid, signal.SIGKILL)


def test_a_stop_does_not_wait_for_a_build(watching: Shared) -> None:
    server, content = watching
    # No two words are the same: each is worked out, which takes many times as long as a stop.
    many = {number: " ".join(f"{number}word{each}" for each in range(300)) for number in range(600)}
    texts = {
        f"en/roll/many-{number}.md": edition(f"T{number}", f"## Answer\n\n{words}.\n")
        for number, words in many.items()
    }
    before = int(str(next(answers(server, count=1))["entries"]))
    write(content, texts)
    until(lambda: {answer["builder"] for answer in answers(server, count=1)} == {"building"})
    server.stop()
    assert f"{before + len(texts)} entries" not in server.log()
    with server.output.open(encoding="utf-8") as lines:
        assert not [line for line in lines if "Traceback" in line]
