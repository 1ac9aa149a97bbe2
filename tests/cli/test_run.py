"""`jieda run`: output, signals and exit code pass through, and a failure is explained."""

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import jieda
from tests.support.shipped import copy_data

JIEDA = [sys.executable, "-P", "-c", "from jieda.cli.launch import main; main()"]
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB."
FAILING = f"import sys; print('step 1', flush=True); print({OOM!r}, file=sys.stderr); sys.exit(3)"

pytestmark = pytest.mark.server


@pytest.fixture(autouse=True, scope="module")
def _built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What explains a failure is there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JIEDA_DATA", str(copy_data(tmp_path_factory.mktemp("run"))))
        yield


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [*JIEDA, "run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload, no-any-return] # options of any type


def python(program: str) -> tuple[str, ...]:
    return "--", sys.executable, "-c", program


def test_output_and_exit_code_are_the_commands_and_a_failure_is_explained_beside_them(tmp_path: Path) -> None:
    report, log = tmp_path / "report.json", tmp_path / "-"
    plain = run("--lang", "en", *python(FAILING))
    assert (plain.returncode, plain.stdout) == (3, "step 1\n")
    assert plain.stderr.startswith(f"{OOM}\n")
    assert "CUDA out of memory" in plain.stderr.removeprefix(OOM)
    kept = run("--format", "json", "--report", str(report), "--log", "-", *python(FAILING), cwd=tmp_path)
    assert (kept.returncode, kept.stdout, kept.stderr) == (3, "step 1\n", f"{OOM}\n")
    assert sorted(log.read_text().splitlines()) == sorted(["step 1", OOM])
    assert json.loads(report.read_text())["matches"]


def test_an_output_or_a_log_that_cannot_be_written_does_not_end_the_command(tmp_path: Path) -> None:
    program = "import os; os.write(1, b'step 1\\n'); open('saved', 'w').close(); os._exit(3)"
    kept = run("--log", "/dev/full", *python(program), cwd=tmp_path)
    assert (kept.returncode, kept.stdout, (tmp_path / "saved").exists()) == (3, "step 1\n", True)
    assert "/dev/full: No space left on device" in kept.stderr
    unreported = run("--report", "/dev/full", *python(FAILING)).stderr.removeprefix(OOM)
    assert "CUDA out of memory" in unreported.partition("No space left on device\n")[2]
    (tmp_path / "saved").unlink()
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*JIEDA, "run", *python(program)], stdout=full, stderr=full, check=False, cwd=tmp_path
        )
    assert (ended.returncode, (tmp_path / "saved").exists()) == (3, True)


def test_an_output_that_does_not_wait_gets_everything() -> None:
    ours, theirs = os.pipe()
    os.set_blocking(theirs, False)
    with subprocess.Popen([*JIEDA, "run", *python("print('x' * 1_000_000)")], stdout=theirs) as started:
        os.close(theirs)
        with os.fdopen(ours, "rb") as opened:
            time.sleep(0.5)
            assert len(opened.read()) == 1_000_001
        assert started.wait(60) == 0


def test_a_failure_without_output_has_no_report(tmp_path: Path) -> None:
    report, log = tmp_path / "report.json", tmp_path / "train.log"
    ended = run("--format", "gitlab", "--report", str(report), "--log", str(log), "--", "sh", "-c", "exit 3")
    assert (ended.returncode, ended.stdout, ended.stderr, report.exists()) == (3, "", "", False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (python("print('well')"), 0),
        (("--", "no-such-command"), 127),
        (("--", "/"), 126),
        (("--", "sh", "-c", "kill -9 $$"), 137),
        # A shell that runs this in the background has it ignored.
        (python("import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), 2)"), 130),
    ],
)
def test_an_end_is_told_as_a_shell_tells_it(command: tuple[str, ...], code: int) -> None:
    assert run(*command).returncode == code


def test_what_a_build_server_reads_names_the_line_and_the_entry(tmp_path: Path) -> None:
    """`jieda run` has `jieda diagnose` write it, as below."""
    log = tmp_path / "a,b.log"
    log.write_text(f"step 1\n{OOM}\n", encoding="utf-8")
    github, gitlab, summary = (
        jieda("diagnose", "--lang", "en", "--format", form, log, JIEDA_DATA=os.environ["JIEDA_DATA"]).stdout
        for form in ("github", "gitlab", "summary")
    )
    assert f"::notice file={str(log).replace(',', '%2C')},line=2," in github
    assert "%0A" in github
    issue = json.loads(gitlab)[0]
    assert (issue["location"]["path"], issue["severity"]) == (str(log), "info")
    assert issue["location"]["lines"]["begin"] == 2
    assert " jieda " in summary.splitlines()[0]
    log.write_text("FooError: alpha beta\nstep 2\nBarError: gamma delta\n", encoding="utf-8")
    gitlab = jieda("diagnose", "--format", "gitlab", log, JIEDA_DATA=os.environ["JIEDA_DATA"]).stdout
    unknown = [each["fingerprint"] for each in json.loads(gitlab)]
    assert len(set(unknown)) == len(unknown) == 2


def test_lines_of_a_long_output_are_named_by_their_numbers_in_all_of_it(tmp_path: Path) -> None:
    steps = "print('step {}, loss 0.1\\n' * 100_000, end='')"
    program = f"import sys; print('begin'); print({OOM!r}); {steps}; sys.exit(3)"
    log = tmp_path / "train.log"
    kept = run("--lang", "en", "--format", "github", "--log", str(log), *python(program)).stderr
    assert f"file={log},line=2," in kept
    unkept = run("--lang", "en", *python(program)).stderr
    first = int(unkept.split()[-1].rstrip(".").replace(",", ""))
    assert "The output is long" in unkept
    assert len("step {}, loss 0.1\n") * (100_002 - first) < 1 << 20
    endless = run(
        "--lang", "en", *python(f"import sys; print('begin'); print('x ' * 2_000_000, {OOM!r}); sys.exit(3)")
    )
    assert "CUDA out of memory" in endless.stderr
    assert "line 1 of its last MiB is line 2." in endless.stderr


def test_signals_reach_the_command() -> None:
    program = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('told', flush=True), sys.exit(0)))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [*JIEDA, "run", *python(program)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as started:
        assert started.stdout
        assert started.stdout.readline() == "ready\n"
        started.send_signal(signal.SIGTERM)
        assert started.stdout.readline() == "told\n"
        assert started.wait(60) == 0


def test_a_terminal_stays_one() -> None:
    """Progress bars and colors go on as before, and as wide, also once the window is another size."""
    program = (
        "import os, sys, time\n"
        "sizes = lambda: [tuple(os.get_terminal_size(each)) for each in (1, 2)]\n"
        "print(sys.stdout.isatty(), sys.stderr.isatty(), sizes(), flush=True)\n"
        "until = time.monotonic() + 10\n"
        "while sizes() != [(132, 50)] * 2 and time.monotonic() < until: time.sleep(0.01)\n"
        "print(sizes(), flush=True)\n"
    )
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(ours, (24, 80))
    with subprocess.Popen([*JIEDA, "run", *python(program)], stdout=theirs, stderr=theirs) as started:
        os.close(theirs)
        told = b""
        while b"\n" not in told:
            told += os.read(ours, 1000)
        assert told.startswith(b"True True [(80, 24), (80, 24)]")
        termios.tcsetwinsize(ours, (50, 132))
        started.send_signal(signal.SIGWINCH)  # this terminal controls no process
        assert os.read(ours, 1000).startswith(b"[(132, 50), (132, 50)]")
        assert started.wait(60) == 0
    os.close(ours)


def test_nothing_is_lost_of_much_output_and_a_reader_who_leaves_ends_the_command() -> None:
    program = "import sys; sys.stdout.write('x' * 20_000_000); sys.stdout.flush()"
    assert len(run(*python(program)).stdout) == 20_000_000
    command = [*JIEDA, "run", "--", "yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout
        assert started.stdout.readline() == "y\n"
        started.stdout.close()
        assert started.wait(60) == 128 + signal.SIGPIPE


def test_a_process_that_outlives_the_command_holds_nothing_up() -> None:
    begun = time.monotonic()
    ended = run("--", "sh", "-c", "sleep 300 & echo $!")
    os.kill(int(ended.stdout), signal.SIGKILL)
    assert ended.returncode == 0
    assert time.monotonic() - begun < 200


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--url", "htp://faq.example.com"), "is not the address of a server"),
        (("--lang", "fr"), "'fr' is not one of"),
        (("--report", "missing/report.json"), "missing/report.json: cannot be written"),
        (("--log", "missing/output.log"), "missing/output.log: No such file"),
        (("--report", "long" * 99), "long: File name too long"),
    ],
)
def test_a_wrong_option_is_told_before_the_command_runs(
    tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    """Not hours later, when what it printed is gone."""
    refused = run(*options, "--", "touch", "begun", cwd=tmp_path)
    assert (refused.returncode, reason in refused.stderr) == (2, True)
    assert not (tmp_path / "begun").exists()
