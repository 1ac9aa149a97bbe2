"""`jieda diagnose` as it is used: from files, pipes and terminals, with and without a server."""

import gzip
import json
import os
import pty
import re
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command import Done, jieda, process
from tests.support.server import COMMAND, Server, environment
from tests.support.shipped import copy_data
from tests.support.small_content import write

KNOWN = 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    self.node2pg[node_rank]\nKeyError: 1\n'
UNKNOWN = "mytools.ToolError: no quota left for tenant 7\n"
WEAK = '  File "train_resnet.py", line 8, in <module>\nRuntimeError: CUDA out of memory. Tried to allocate 98.00 MiB\n'
ESCAPE = re.compile(r"\x1b\[")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the index is kept, built already."""
    return copy_data(tmp_path_factory.mktemp("cli-diagnose"))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Settings for what is told before any entry is looked at: less content, opened in less time."""
    folder = tmp_path_factory.mktemp("cli-few")
    return {"JIEDA_CONTENT": str(write(folder / "content", {})), "JIEDA_DATA": str(folder / "data")}


def run(data: Path, *arguments: str, log: str | bytes = "", **variables: str) -> Done:
    """Run the command with `log` on its standard input."""
    return jieda("diagnose", *arguments, given=log, **settings(data) | variables)


def settings(data: Path) -> dict[str, str]:
    return {"JIEDA_DATA": str(data), "LANG": "C.UTF-8", "LC_ALL": "", "LC_MESSAGES": ""}


def on_a_terminal(data: Path, *arguments: str, log: str, **variables: str) -> str:
    """What a command writes to a terminal, its log coming from a pipe."""
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [*COMMAND, *arguments],
            input=log.encode(),
            env=environment(settings(data) | {"TERM": "xterm"} | variables),
            stdout=theirs,
            stderr=subprocess.PIPE,
            check=False,
            timeout=120,
        )
        os.close(theirs)
        return b"".join(chunks(ours)).decode()
    finally:
        os.close(ours)


def chunks(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux says EIO where the other end of a terminal is closed
            return
        if not chunk:
            return
        yield chunk


@pytest.fixture(scope="module")
def answers(data: Path) -> dict[str, Done]:
    """What comes out for each of these logs through a pipe, of a process for the first one."""
    known = process("diagnose", given=KNOWN, **settings(data))
    return {KNOWN: known} | {log: run(data, log=log) for log in (WEAK, UNKNOWN)}


def test_a_pipe_gets_plain_text_with_the_fix(answers: dict[str, Done]) -> None:
    out = answers[KNOWN].stdout
    assert "roll/node2pg-keyerror" in out
    assert "device_mapping" in out
    assert "KeyError: 1" in out
    assert not ESCAPE.search(out)


def test_exit_code_tells_how_sure_the_answer_is(answers: dict[str, Done]) -> None:
    assert [answers[log].returncode for log in (KNOWN, WEAK, UNKNOWN)] == [0, 1, 1]


def test_nothing_of_the_log_goes_to_standard_error(answers: dict[str, Done]) -> None:
    assert {done.stderr for done in answers.values()} == {""}


def test_a_terminal_gets_color(data: Path) -> None:
    colored = on_a_terminal(data, "diagnose", log=KNOWN)
    assert re.search(r"\x1b\[1m1\. .*\x1b\[0m  \[\x1b\[32mlikely\x1b\[0m\]", colored)
    assert "   \x1b[2mroll/node2pg-keyerror\x1b[0m" in colored


def test_a_file_is_read_like_a_pipe(data: Path, tmp_path: Path, answers: dict[str, Done]) -> None:
    path = tmp_path / "train.log"
    path.write_text(KNOWN)
    assert run(data, str(path)).stdout == answers[KNOWN].stdout


def test_what_cannot_be_read_is_a_wrong_use(few: dict[str, str], tmp_path: Path) -> None:
    missing = jieda("diagnose", str(tmp_path / "no.log"), **few)
    assert missing.returncode == 2
    assert "no.log" in missing.stderr
    assert jieda("diagnose", "--framework", "nosuch", given=KNOWN, **few).returncode == 2
    assert jieda("diagnose", "--url", "file:///etc", given=KNOWN, **few).returncode == 2
    login = jieda(
        "diagnose", "--url", "https://planted-user:planted-word@faq.example.com", given=KNOWN, **few
    )
    assert (login.returncode, "a login" in login.stderr, "planted" in login.stderr) == (2, True, False)


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (b"", "2>&1"),
        (b"\x7fELF\0\0\1\0" * 99, "this is a binary file, not a text log"),
        (gzip.compress(KNOWN.encode()), "zcat FILE | jieda diagnose"),
    ],
    ids=["empty", "binary", "compressed"],
)
def test_what_is_no_log_is_told_before_an_index_is_built(
    few: dict[str, str], tmp_path: Path, log: bytes, told: str
) -> None:
    file, data = tmp_path / "file", tmp_path / "data"
    file.write_bytes(log)
    for done in (
        jieda("diagnose", str(file), **few | {"JIEDA_DATA": str(data)}),
        jieda("diagnose", given=log, **few | {"JIEDA_DATA": str(data)}),
    ):
        assert (done.returncode, done.stdout, told in done.stderr) == (2, "", True)
        assert not data.exists()


def test_the_answer_is_in_the_language_asked_or_the_terminals(data: Path, answers: dict[str, Done]) -> None:
    assert "分配" in run(data, "--lang", "zh", log=KNOWN).stdout
    assert "分配" in run(data, log=KNOWN, LC_ALL="zh_CN.UTF-8").stdout
    assert "分配" not in answers[KNOWN].stdout


def test_json_is_what_the_api_answers(data: Path, server: Server) -> None:
    local = json.loads(run(data, "--json", log=KNOWN).stdout)
    with server.client() as client:
        remote = client.post("/api/v1/diagnose", json={"text": KNOWN, "lang": "en"}).text
    # Content that nobody serves has addresses without a host.
    assert local == json.loads(remote.replace(server.base, ""))
    assert json.loads(run(data, "--url", server.base, "--json", log=KNOWN).stdout) == json.loads(remote)


def test_a_server_gives_the_same_answer_and_exit_code_and_color_to_a_terminal_unless_it_says_no(
    data: Path, server: Server, answers: dict[str, Done]
) -> None:
    for log, here in answers.items():
        there = run(data, "--url", server.base, log=log)
        assert there.returncode == here.returncode
        assert there.stdout.splitlines()[0] == here.stdout.splitlines()[0]
    assert ESCAPE.search(on_a_terminal(data, "diagnose", "--url", server.base, log=KNOWN))
    for command, said in (("diagnose",), {"NO_COLOR": "1"}), (("search", "node2pg"), {"TERM": "dumb"}):
        plain = on_a_terminal(data, *command, "--url", server.base, log=KNOWN, **said)
        assert ("roll/node2pg-keyerror" in plain, ESCAPE.search(plain)) == (True, None)


def test_a_server_that_is_not_there_is_said_so(few: dict[str, str]) -> None:
    done = jieda("diagnose", "--url", "http://127.0.0.1:9", given=KNOWN, **few)
    assert done.returncode == 2
    assert "did not answer: Connection refused\n" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("address", ["http://faq..example.com", "http://127.0.0.1:9/知识"])
def test_what_is_no_address_is_said_to_be_none(few: dict[str, str], address: str) -> None:
    done = jieda("diagnose", "--url", address, given=KNOWN, **few)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"Error: {address} cannot be reached: ")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        ("SSH-2.0-OpenSSH_9.6\r\n", "did not answer like a web server"),
        ("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 500\r\n\r\n<html>", "answered 502 Bad Gateway"),
        ("HTTP/1.1 301 Gone\r\nLocation: https://a.b/c\r\n\r\n", "answered 301 Gone, to https://a.b/c"),
        ('HTTP/1.1 422 No\r\n\r\n{"detail": [{"loc": ["a"]}], "errors": []}', "answered 422 No"),
    ],
)
def test_what_does_not_answer_as_jieda_is_said_so(few: dict[str, str], reply: str, told: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(1 << 16)
                connection.sendall(reply.encode())

        threading.Thread(target=greet, daemon=True).start()
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        done = jieda("diagnose", "--url", address, given=KNOWN, **few)
    assert (done.returncode, done.stderr) == (2, f"Error: {address} {told}\n")


def test_of_an_endless_log_the_end_is_read_and_bytes_that_are_no_text_are_no_obstacle(data: Path) -> None:
    log = b"\xff\xfd\x00\n" + b"step done\n" * 300_000 + KNOWN.encode() + b"\xff"
    done = run(data, log=log)
    assert done.returncode == 0
    assert "300,006." in done.stdout
    assert "line 300004:" in done.stdout
