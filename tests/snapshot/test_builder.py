"""A builder among accidents: what dead ones left, what stands in the way, files and folders that cannot be read."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from jieda.entry import Language
from jieda.errors import ContentError
from jieda.search.answers import SearchRequest
from jieda.search.index.array_file import read_arrays
from jieda.search.index.embedded import EmbeddedIndex
from jieda.settings import Settings
from jieda.snapshot.build.builder import BuildAbandoned, Builder
from jieda.snapshot.knowledge import Knowledge
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store.facts import FILE_NAME
from jieda.snapshot.store.generation import Generation, read_pointer
from jieda.snapshot.store.processes import ServingWorker, serving_workers

from tests.support.server import ROOT, environment, until
from tests.support.small_content import edition, write


def titles(data: Path) -> list[str]:
    """What the current generation serves."""
    rows = Generation(data, read_pointer(data).generation).rows()
    return [each.title for row in rows for each in row.summary.editions.values()]


def opened(content: Path, data: Path, analyzers: Analyzers) -> Knowledge:
    """What a start makes of both directories."""
    settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data)})
    knowledge = Knowledge(settings, analyzers=analyzers)
    knowledge.open()
    return knowledge


def problems(data: Path) -> dict[str, str]:
    """Path and rule of each problem of the current generation that keeps something from being served."""
    found = Generation(data, read_pointer(data).generation).header.problems
    return {problem.path: problem.rule for problem in found if not problem.served}


@pytest.mark.quick
def test_what_is_the_same_is_not_built_again(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers
) -> None:
    (content / "en/roll/bad.md").write_text("no front matter")
    first = builder.build()
    written = {path: path.stat().st_mtime_ns for path in data.rglob("*.sqlite")}
    second, restarted = builder.build(), Builder([content], data, analyzers).build()
    assert (first.changed, second.changed) == (True, False)
    assert first.problems
    assert second == restarted
    assert {path: path.stat().st_mtime_ns for path in data.rglob("*.sqlite")} == written


def test_a_doubt_of_an_import_is_told_until_it_is_deleted(
    builder: Builder, content: Path, data: Path
) -> None:
    def doubts() -> list[str]:
        found = Generation(data, read_pointer(data).generation).header.problems
        return [str(problem) for problem in found if problem.rule == "doubt"]

    path = content / "en/roll/a.md"
    path.write_text(edition("A", draft="true", doubts="['kind: a guess']"))
    assert builder.build().problems == (), "what a draft lacks is no problem of what is served"
    told = doubts()
    assert len(told) == 1
    assert told[0].endswith("doubt: kind: a guess")
    (content / "en/roll/b.md").write_text(edition("Another"))
    builder.build()
    assert doubts() == told
    path.write_text(edition("A", draft="true"))
    builder.build()
    assert doubts() == []


@pytest.mark.quick
def test_an_edit_that_is_taken_back_leads_to_the_generation_of_before(
    builder: Builder, content: Path, data: Path
) -> None:
    path = content / "en/roll/a.md"
    text, stamp = path.read_text(), path.stat()
    first = builder.build().generation
    path.write_text(edition("Another"))
    assert builder.build().generation != first
    path.write_text(text)
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert builder.build().generation == first
    assert titles(data) == ["A", "B"]


@pytest.mark.quick
def test_the_pointer_names_the_directories_of_now_whatever_is_in_them(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers, tmp_path: Path
) -> None:
    """A start with broken content asks whether what is there was built from the same ones."""
    first = builder.build().generation
    beside = write(tmp_path / "beside", {})
    assert Builder([content, beside], data, analyzers).build().generation == first
    assert read_pointer(data).content == (str(content), str(beside))


@pytest.mark.quick
def test_a_later_directory_may_have_a_copy_of_a_file(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(content, tmp_path / "copied"))
    (copied / "en/roll/b.md").write_text(edition("Another"))
    Builder([content, copied], data, analyzers).build()
    assert titles(data) == ["A", "Another"]


@pytest.mark.quick
def test_a_change_that_keeps_size_and_time_is_seen(builder: Builder, content: Path, data: Path) -> None:
    path = content / "en/roll/a.md"
    builder.build()
    stamp = path.stat()
    path.write_text(path.read_text().replace("'A'", "'Z'"))
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    builder.build()
    assert titles(data) == ["Z", "B"]


# ---- what stands in the way


def directory_for_pointer(data: Path) -> None:
    (data / "current").unlink()
    (data / "current").mkdir()


def dangling_generation(data: Path) -> None:
    folder = data / "generations" / read_pointer(data).generation
    shutil.rmtree(folder)
    folder.symlink_to("nowhere")


def looping_generation(data: Path) -> None:
    folder = data / "generations" / read_pointer(data).generation
    shutil.rmtree(folder)
    folder.symlink_to(folder.name)


def tables(data: Path) -> Path:
    return Generation(data, read_pointer(data).generation).path


def noise_in_tables(data: Path) -> None:
    path = tables(data)
    path.write_bytes(path.read_bytes().replace(b"roll", b"r0ll"))


def truncated_tables(data: Path) -> None:
    path = tables(data)
    path.write_bytes(path.read_bytes()[:-40])


def empty_index(data: Path) -> None:
    folder = data / "generations" / read_pointer(data).generation / "index"
    shutil.rmtree(folder)
    folder.mkdir()


def no_facts(data: Path) -> None:
    for path in data.glob(f"{FILE_NAME}*"):
        path.unlink()


def noise_for_facts(data: Path) -> None:
    no_facts(data)
    (data / FILE_NAME).write_bytes(b"noise" * 5000)


def directory_for_facts(data: Path) -> None:
    no_facts(data)
    (data / FILE_NAME).mkdir()


def segments(data: Path) -> list[Path]:
    return list((data / "generations" / read_pointer(data).generation).rglob("*.seg"))


def truncated_segments(data: Path) -> None:
    for path in segments(data):
        path.write_bytes(path.read_bytes()[:-64])


def noise_in_segments(data: Path) -> None:
    for path in segments(data):
        content = path.read_bytes()
        path.write_bytes(content[:-200] + bytes(byte ^ 1 for byte in content[-200:]))


def pipe_for_tables(data: Path) -> None:
    path = tables(data)
    path.unlink()
    os.mkfifo(path)


def pipes_for_segments(data: Path) -> None:
    for path in segments(data):
        path.unlink()
        os.mkfifo(path)


def pipe_beside_facts(data: Path) -> None:
    path = data / f"{FILE_NAME}-wal"
    path.unlink(missing_ok=True)
    os.mkfifo(path)


def nonsense_in_pointer(data: Path) -> None:
    (data / "current").write_text('{"generation": "../../etc"}')


DAMAGES = [
    directory_for_pointer,
    dangling_generation,
    looping_generation,
    noise_in_tables,
    truncated_tables,
    empty_index,
    no_facts,
    noise_for_facts,
    directory_for_facts,
    truncated_segments,
    noise_in_segments,
    pipe_for_tables,
    pipes_for_segments,
    pipe_beside_facts,
    nonsense_in_pointer,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_start_mends_whatever_is_damaged(
    builder: Builder, content: Path, data: Path, damage: Callable[[Path], None], analyzers: Analyzers
) -> None:
    builder.build()
    damage(data)
    knowledge = opened(content, data, analyzers)
    library = knowledge.snapshot.library
    assert [library.entries[entry_id].id for entry_id in library.ids] == ["roll/a", "roll/b"]
    assert knowledge.data == data
    found = knowledge.snapshot.searcher.search(SearchRequest(text="A", lang=Language.EN))
    assert "roll/a" in {hit.entry.id for hit in found.hits}
    assert not list(data.rglob(".damaged-*"))


def a_file(path: Path) -> None:
    path.write_bytes(b"noise")


def a_folder(path: Path) -> None:
    path.mkdir()
    (path / "x").write_text("x")


def a_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize(
    "name", ["current", "generations", "images", "workers", "build.lock", "builder.json", FILE_NAME]
)
@pytest.mark.parametrize("make", [a_file, a_folder, a_dangling_link, a_pipe])
def test_whatever_stands_in_the_way_is_set_aside(
    content: Path, data: Path, analyzers: Analyzers, name: str, make: Callable[[Path], None]
) -> None:
    (content / "en/roll/pic.png").write_bytes(b"\x89PNG\r\n\x1a\npicture")
    Builder([content], data, analyzers).build()
    remove(data / name)
    make(data / name)
    Builder([content], data, analyzers).build()
    assert [path.read_bytes() for path in (data / "images").glob("*.png")] == [b"\x89PNG\r\n\x1a\npicture"]
    (content / "en/roll/c.md").write_text(edition("C"))
    assert Builder([content], data, analyzers).build().changed
    assert titles(data) == ["A", "B", "C"]


@pytest.mark.parametrize("name", ["generations", "images", "workers", "current", "build.lock", FILE_NAME])
def test_nothing_is_removed_behind_a_link(
    content: Path, data: Path, tmp_path: Path, analyzers: Analyzers, name: str
) -> None:
    """Somebody else's folder, older than any generation that is kept."""
    elsewhere = tmp_path / "elsewhere"
    old = [
        elsewhere / each
        for each in ("folder/file", "file", "some.json", ".building-x", "0123456789abcdef/file")
    ]
    for path in old:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("mine")
    for path in [*old, *(path.parent for path in old)]:
        os.utime(path, (0, 0))
    Builder([content], data, analyzers).build()
    remove(data / name)
    (data / name).symlink_to(elsewhere)
    serving_workers(data)
    Builder([content], data, analyzers).build()
    (content / "en/roll/c.md").write_text(edition("C"))
    Builder([content], data, analyzers).build()
    assert sorted(path for path in elsewhere.rglob("*") if path.is_file()) == sorted(old)
    assert {path.read_text() for path in old} == {"mine"}
    assert titles(data) == ["A", "B", "C"]


def test_a_folder_among_generations_that_is_none_is_left_alone(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    Builder([content], data, analyzers).build()
    foreign = data / "generations" / "lost+found"
    foreign.mkdir()
    os.utime(foreign, (0, 0))
    (content / "en/roll/c.md").write_text(edition("C"))
    Builder([content], data, analyzers).build()
    assert foreign.is_dir()


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


# ---- builders that die, that are two, that are told to stop


@pytest.mark.quick
def test_leftovers_of_a_dead_builder_go_with_the_next_build(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    Builder([content], data, analyzers).build()
    (data / "generations/.building-dead/index").mkdir(parents=True)
    (data / ".building-pointer").write_text("x")
    (data / "0123456789ab").mkdir()
    theirs = data / "0123456789ab/.building-pointer"  # content with a data directory inside this one
    theirs.write_text("x")
    Builder([content], data, analyzers).build()
    assert list(data.rglob(".building-*")) == [theirs]


def test_a_builder_killed_at_any_moment_leaves_nothing_that_harms(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    """As soon as it has the lock, has facts, writes a generation, has one."""
    write(content, {f"en/roll/many-{number}.md": edition(f"T{number}") for number in range(30)})
    for sign in ("build.lock", FILE_NAME, "generations/.building-*", "generations/[0-9a-f]*"):
        settings = {"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data)}
        command = [sys.executable, "-m", "jieda.cli.main", "index"]
        before = set(data.glob(sign))
        child = subprocess.Popen(command, env=environment(settings), cwd=ROOT, stdout=subprocess.DEVNULL)
        while child.poll() is None and before.issuperset(data.glob(sign)):
            time.sleep(0.001)
        child.send_signal(signal.SIGKILL)
        child.wait()
    built = Builder([content], data, analyzers).build()
    assert built.entries == 32
    assert len(titles(data)) == 32
    assert not list(data.rglob(".building-*"))


@pytest.mark.quick
def test_two_builders_take_turns(content: Path, data: Path, analyzers: Analyzers) -> None:
    builders = [Builder([content], data, analyzers) for _ in range(2)]
    found: list[str] = []

    def build(builder: Builder) -> None:
        found.extend(builder.build().generation for _ in range(3))

    threads = [threading.Thread(target=build, args=(builder,)) for builder in builders]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [read_pointer(data).generation] * 6


def test_a_build_that_is_told_to_stop_changes_nothing(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers
) -> None:
    name = builder.build().generation
    (content / "en/roll/a.md").write_text(edition("Another"))
    with pytest.raises(BuildAbandoned):
        Builder([content], data, analyzers, lambda: True).build()
    assert read_pointer(data).generation == name
    assert not list(data.rglob(".building-*"))


# ---- content as a careless colleague leaves it


@pytest.mark.quick
def test_a_broken_taxonomy_keeps_what_was_served(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers
) -> None:
    builder.build()
    (content / "taxonomy.yaml").write_text("frameworks: [")
    with pytest.raises(ContentError):
        builder.build()
    assert titles(data) == ["A", "B"]
    knowledge = opened(content, data, analyzers)
    assert "taxonomy.yaml:1" in knowledge.health().degraded
    assert str(content) not in knowledge.health().degraded
    assert len(knowledge.snapshot.library) == 2


def test_content_that_has_lost_all_entries_is_not_taken_up(
    builder: Builder, content: Path, data: Path
) -> None:
    builder.build()
    taxonomy = (content / "taxonomy.yaml").read_text()
    (content / "taxonomy.yaml").write_text(taxonomy.replace("  roll:", "  other:"))
    with pytest.raises(
        ContentError, match=r"no entries are left; problems: 2, the first: en/roll/a.md:\d+: "
    ):
        builder.build()
    (content / "taxonomy.yaml").write_text(taxonomy)
    shutil.rmtree(content / "en")
    with pytest.raises(ContentError, match=r"no entries are left$"):
        builder.build()
    assert titles(data) == ["A", "B"]
    content.rename(content.with_name("away"))
    with pytest.raises(ContentError, match=r"content:1: the content directory is gone or cannot be read$"):
        builder.build()
    assert titles(data) == ["A", "B"]


def test_a_content_directory_that_cannot_be_read_is_named_and_not_taken_for_an_empty_one(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    shipped = content.with_name("shipped")
    shutil.copytree(content, shipped)
    (content / "en/roll/c.md").write_text(edition("C"))
    builder = Builder([shipped, content], data, analyzers)
    builder.build()
    content.chmod(0)
    if os.access(content, os.R_OK):
        pytest.skip("nothing is unreadable for root")
    with pytest.raises(ContentError, match=r"content:1: the content directory is gone or cannot be read$"):
        builder.build()
    content.chmod(0o700)
    assert titles(data) == ["A", "B", "C"]


@pytest.mark.quick
def test_a_file_that_disappears_during_a_build_is_left_out(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    """At whichever moment that is."""
    calls, path = iter(range(1000)), content / "en/roll/b.md"
    text, served, moment, passed = path.read_text(), set(), 0, 0

    def delete() -> bool:
        nonlocal passed
        passed = next(calls)
        if passed == moment:
            path.unlink()
        return False

    while passed >= moment:
        moment, calls = moment + 1, iter(range(1000))
        path.write_text(text)
        Builder([content], data / str(moment), analyzers, delete).build()
        served.add(tuple(titles(data / str(moment))))
    assert ("A",) in served


@pytest.mark.quick
def test_a_file_that_is_written_all_the_time_is_named_and_what_was_served_stays(
    builder: Builder, content: Path, data: Path, analyzers: Analyzers
) -> None:
    builder.build()
    live, grows = content / "en/roll/b.md", True

    def write_on() -> bool:
        with live.open("a") as file:
            file.write("More of it.\n" * grows)
        return False

    growing = Builder([content], data, analyzers, write_on)
    with pytest.raises(ContentError, match=r"en/roll/b\.md:1: changes while it is read"):
        growing.build()
    assert titles(data) == ["A", "B"]
    grows = False
    assert growing.build().changed


@pytest.mark.parametrize(
    ("name", "target", "rule"),
    [
        ("en/roll/gone.md", "nowhere.md", "unreadable"),
        ("en/roll/self.md", "self.md", "unreadable"),
        ("en/roll/out.md", "/etc/hostname", "link"),
        ("en/loop", ".", None),
        ("en/tree", "/usr", "link"),
    ],
)
def test_a_bad_link_is_a_problem_of_its_own_path_alone(  # noqa: PLR0917 - three make a case
    builder: Builder, content: Path, data: Path, name: str, target: str, rule: str | None
) -> None:
    (content / name).symlink_to(target)
    built = builder.build()
    assert titles(data) == ["A", "B"]
    assert rule is None or problems(data) == {name: rule}
    assert not any(folder.startswith("/usr") for folder in built.folders)


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable for root")
def test_a_folder_that_cannot_be_read_is_a_problem_of_its_own(
    builder: Builder, content: Path, data: Path
) -> None:
    (content / "zh/roll").mkdir(parents=True)
    (content / "zh/roll").chmod(0)
    builder.build()
    assert titles(data) == ["A", "B"]
    assert problems(data) == {"zh/roll": "unreadable"}


@pytest.mark.parametrize("time_of_file", [253402387200, -62167305600])
def test_a_file_time_outside_of_the_calendar_is_no_reason_to_stop(
    builder: Builder, content: Path, data: Path, time_of_file: int
) -> None:
    path = content / "en/roll/c.md"
    path.write_text(edition("C").replace("updated: 2026-01-02\n", ""))
    os.utime(path, (time_of_file, time_of_file))
    if int(path.stat().st_mtime) != time_of_file:
        pytest.skip("this file system has no such times")
    builder.build()
    assert titles(data) == ["A", "B", "C"]


@pytest.mark.quick
def test_an_image_is_served_as_it_was_read(content: Path, data: Path, analyzers: Analyzers) -> None:
    picture = content / "en/roll/pic.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\npicture")
    knowledge = opened(content, data, analyzers)
    picture.unlink()
    picture.symlink_to("/etc/passwd")
    served = knowledge.snapshot.library.image(Language.EN, "roll/pic.png")
    assert served is not None
    assert served.read_bytes() == b"\x89PNG\r\n\x1a\npicture"


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4])


@pytest.mark.parametrize("damage", [truncated, a_file, a_folder, a_dangling_link, a_pipe])
def test_a_damaged_copy_of_an_image_is_made_anew(
    content: Path, data: Path, analyzers: Analyzers, damage: Callable[[Path], None]
) -> None:
    picture = b"\x89PNG\r\n\x1a\npicture"
    (content / "en/roll/pic.png").write_bytes(picture)
    Builder([content], data, analyzers).build()
    (copy,) = (data / "images").iterdir()
    if damage is not truncated:
        copy.unlink()
    damage(copy)
    Builder([content], data, analyzers).build()
    assert [path.read_bytes() for path in (data / "images").iterdir()] == [picture]


def test_segments_damaged_under_a_builder_go_into_no_other(
    builder: Builder, content: Path, data: Path
) -> None:
    builder.build()
    noise_in_segments(data)
    (content / "en/roll/c.md").write_text(edition("C"))
    builder.build()
    generation = Generation(data, read_pointer(data).generation)
    EmbeddedIndex(generation.index)
    read_arrays(generation.index, generation.header.completions)


FULL = """
import os, resource, signal, sys
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
no_byte = resource.getrlimit(resource.RLIMIT_FSIZE)
knowledge = Knowledge(Settings.load(os.environ))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, no_byte[1]))
knowledge.open()
knowledge.start()
print(len(knowledge.snapshot.library), knowledge.health().degraded, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, no_byte)
sys.stdin.readline()
"""
"""Serves from a disk on which no file can grow, until a line comes; says how many entries it has and what is wrong."""


def test_on_a_full_disk_what_there_is_is_served_and_space_heals_it(
    builder: Builder, content: Path, data: Path
) -> None:
    builder.build()
    (content / "en/roll/c.md").write_text(edition("C"))
    settings = environment({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(data)})
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", FULL], env=settings, text=True, **pipes) as child:  # type: ignore[call-overload] # pipes are options
        said = child.stdout.readline()
        assert said.startswith("2 the last build failed")
        assert str(data) not in said
        until(lambda: titles(data) == ["A", "B", "C"])
        child.communicate("\n")


def test_a_worker_that_serves_something_newer_than_was_reloaded_is_not_behind(
    content: Path, data: Path, analyzers: Analyzers, monkeypatch: pytest.MonkeyPatch
) -> None:
    knowledge = opened(content, data, analyzers)
    knowledge.start()

    def overtaken(folder: Path) -> tuple[ServingWorker, ...]:
        (content / "en/roll/c.md").write_text(edition("C"))
        knowledge.build()
        return serving_workers(folder)

    monkeypatch.setattr("jieda.snapshot.knowledge.serving_workers", overtaken)
    monkeypatch.setattr("jieda.snapshot.knowledge.RELOAD_TIMEOUT", 1.0)
    assert knowledge.reload().result().behind == ()
    knowledge.stop()


def test_a_data_directory_that_cannot_be_used_is_done_without(
    content: Path, tmp_path: Path, analyzers: Analyzers
) -> None:
    (tmp_path / "file").write_text("in the way")
    knowledge = opened(content, tmp_path / "file/data", analyzers)
    assert len(knowledge.snapshot.library) == 2
    assert "temporary" in knowledge.health().degraded
    assert str(tmp_path) not in knowledge.health().degraded


ANOTHER_VERSION = """
import sys
from pathlib import Path
import numpy as np
from jieda.snapshot.build import publish
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.store import facts
facts._LIBRARIES = ()
publish.completion_arrays = lambda candidates, fold: {"numbers": np.arange(len(candidates))}
Builder([Path(sys.argv[1])], Path(sys.argv[2]), Analyzers()).build()
"""
"""Builds as another version would whose completions have another form on disk."""


def test_a_start_reads_nothing_that_another_version_wrote_in_its_own_form(
    content: Path, data: Path, analyzers: Analyzers
) -> None:
    run = [sys.executable, "-c", ANOTHER_VERSION, str(content), str(data)]
    subprocess.run(run, env=environment({}), check=True)
    knowledge = opened(content, data, analyzers)
    assert [each.text for each in knowledge.snapshot.completer.complete("A", Language.EN, 1)] == ["A"]
