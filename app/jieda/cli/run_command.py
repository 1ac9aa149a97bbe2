"""`jieda run`: passes a command's output through, and diagnoses it if the command fails.

This process stays small and only copies; the diagnosis runs in another one, which is started on failure.
"""

import contextlib
import fcntl
import os
import pty
import select
import selectors
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import BinaryIO

import click

from jieda.cli.launch import RUN
from jieda.cli.running import FORMATS, LANGUAGES, content_option, keep_language, translate, url_option
from jieda.cli.tail import Tail
from jieda.errors import JiedaError

CHUNK = 1 << 18
"""Most bytes copied at a time."""
LOOK = 0.2
"""Seconds between checks whether the command has ended although another process holds its output open."""
KEPT = 1 << 20
"""Bytes at the end of the output that are diagnosed."""
FORWARDED = (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)
FROM_TERMINAL = (signal.SIGINT, signal.SIGQUIT)
"""Signals that a terminal sends to both the command and this process."""
NOT_EXECUTABLE, NOT_FOUND, SIGNALLED = 126, 127, 128
"""Exit codes of a shell: not executable, not found, and the offset added to a signal number."""
NO_FAILURE = {0, SIGNALLED + signal.SIGINT, SIGNALLED + signal.SIGPIPE}
"""Exit codes that need no explanation: success, Ctrl-C, and a closed output."""


@click.command("run", context_settings={"allow_interspersed_args": False})
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    help="Format of the diagnosis.  [default: text]",
)
@click.option(
    "--report",
    type=click.Path(dir_okay=False),
    help="Write the diagnosis to this file instead of standard error.",
)
@click.option("--log", type=click.Path(dir_okay=False), help="Also write the whole output to this file.")
@click.option(
    "--lang",
    callback=keep_language,
    type=click.Choice(LANGUAGES),
    help="Language of the answer; by default the terminal's.",
)
@click.option("--framework", help="The framework that the command uses, if known.")
@url_option
@content_option
@click.argument("arguments", nargs=-1, required=True, type=click.UNPROCESSED, metavar="[--] COMMAND...")
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    arguments: tuple[str, ...],
    form: str,
    report: str | None,
    log: str | None,
    lang: str | None,
    framework: str | None,
    url: str,
    directories: tuple[Path, ...],
) -> int:
    """Run COMMAND and, if it fails, explain why.

    Output, signals and the exit code are those of the command. If it fails, the last MiB of its output is diagnosed,
    with --log all of it, and the answer goes to standard error. A process that outlives the command needs an output of
    its own.
    """
    place = Path(report or ".")  # need not exist yet
    if report and not os.access(place if place.exists() else place.parent, os.W_OK):
        raise JiedaError(f"{report}: cannot be written")
    tail, copy = Tail(KEPT), Path(log).open("wb", buffering=0) if log else None  # noqa: SIM115 - `_close` closes it
    code = run_and_copy(arguments, tail, copy)
    whole = log if log and copy and _close(copy) and Path(log).is_file() else None
    if code not in NO_FAILURE and tail.text().strip():
        values = {"--format": form, "--name": log, "--lang": lang, "--framework": framework, "--url": url}
        options = [text for name, value in values.items() if value for text in (name, value)]
        options += [text for path in directories for text in ("--content", str(path))]
        # "-" would be standard input.
        file = ["--", str(Path(whole).absolute())] if whole else []
        answer = explain(None if whole else tail.text(), [*options, *file])
        _deliver(answer, report)
        if not whole and tail.dropped_lines:
            _say(f"The output is long; line 1 of its last MiB is line {tail.dropped_lines + 1:,}.")
    return code


def _say(message: str) -> None:
    """Print a message, translated. If nobody can read it, that does not affect the command or its exit code."""
    _write(2, os.fsencode(f"{translate(message)}\n"))


def _close(copy: BinaryIO) -> bool:
    """Close the log and return whether it is complete: some file systems report only now that they are full."""
    if copy.closed:
        return False
    try:
        copy.close()
    except OSError as error:
        _say(f"jieda run: {copy.name}: {error.strerror}")
        return False
    return True


def _deliver(answer: bytes, report: str | None) -> None:
    """Write an answer, if there is one, to the report or, also if that fails, to standard error."""
    try:
        if answer and report:
            Path(report).write_bytes(answer)
            return
    except OSError as error:
        _say(f"jieda run: {report}: {error.strerror}")
    _write(2, answer)


def run_and_copy(arguments: tuple[str, ...], tail: Tail, copy: BinaryIO | None) -> int:
    """Run a command, copying its output, and return its exit code as a shell would."""
    with contextlib.ExitStack() as stack:
        ends = {target: stack.enter_context(_output(target)) for target in (1, 2)}
        try:
            process = subprocess.Popen(arguments, stdout=ends[1][1], stderr=ends[2][1])  # noqa: S603 - what was asked for
        except OSError as error:
            _say(f"jieda run: {arguments[0]}: {error.strerror}")
            return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
        outputs = {read: target for target, (read, _) in ends.items()}
        _forward_signals(process, outputs, stack)
        for _, written in ends.values():
            os.close(written)
        for chunk in _copy(outputs, process):
            tail.add(chunk)
            if copy and not copy.closed and (failed := _write(copy.fileno(), chunk)):
                _say(f"jieda run: {copy.name}: {failed.strerror}; the rest of the output is not in it")
                _close(copy)
    code = process.wait()
    return SIGNALLED - code if code < 0 else code


@contextlib.contextmanager
def _output(target: int) -> Iterator[tuple[int, int]]:
    """Open a substitute for one of our outputs, a pseudoterminal for a terminal, otherwise a pipe; yield both ends, of
    which the caller closes the one that the command writes to."""
    if not os.isatty(target):
        read, written = os.pipe()
    else:
        read, written = pty.openpty()
        mode = termios.tcgetattr(written)
        mode[1] &= ~termios.OPOST  # our own terminal does this processing
        termios.tcsetattr(written, termios.TCSANOW, mode)
        _copy_size(target, read)
    try:
        yield read, written
    finally:
        os.close(read)


def _copy_size(terminal: int, copy: int) -> None:
    with contextlib.suppress(OSError):  # it is none, or was closed meanwhile
        size = fcntl.ioctl(terminal, termios.TIOCGWINSZ, bytes(8))
        fcntl.ioctl(copy, termios.TIOCSWINSZ, size)


def _forward_signals(
    process: subprocess.Popen[bytes], outputs: dict[int, int], stack: contextlib.ExitStack
) -> None:
    """Forward signals to the command, except those that a terminal has sent to it already, and sizes of terminals."""

    def forward(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGWINCH:
            for read, target in outputs.items():
                _copy_size(target, read)
        elif number not in FROM_TERMINAL or not _in_foreground():
            process.send_signal(number)

    for number in (*FORWARDED, *FROM_TERMINAL, signal.SIGWINCH):
        stack.callback(signal.signal, number, signal.signal(number, forward))


def _in_foreground() -> bool:
    """Return whether signals from the keyboard reach this process."""
    try:
        with open("/dev/tty", "rb") as terminal:  # noqa: PTH123 - the name of the terminal that controls us
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def _copy(outputs: dict[int, int], process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Copy each output to ours, yielding chunks, until it is closed, or the command has ended and nothing is left."""
    with selectors.DefaultSelector() as selector:
        for source in outputs:
            selector.register(source, selectors.EVENT_READ)
        while selector.get_map():
            has_ended = process.poll() is not None
            ready = [key.fd for key, _ in selector.select(0 if has_ended else LOOK)]
            if has_ended and not ready:
                return
            for source in ready:
                chunk = _read(source)
                yield chunk
                if not chunk:
                    selector.unregister(source)
                elif failed := _write(outputs[source], chunk):
                    selector.unregister(source)
                    _hang_up(source)
                    if not isinstance(failed, BrokenPipeError):
                        _say(f"jieda run: the output cannot be written: {failed.strerror}")


def _hang_up(source: int) -> None:
    """Close our end of an output, so that the command notices; its descriptor number stays reserved."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, source)
    os.close(nothing)


def _read(source: int) -> bytes:
    try:
        return os.read(source, CHUNK)
    except OSError:  # a pseudoterminal whose other end is closed
        return b""


def _write(target: int, chunk: bytes) -> OSError | None:
    """Write a whole chunk; return the error of a target that accepts no more: nobody reads it, or a disk is full."""
    while chunk:
        try:
            chunk = chunk[os.write(target, chunk) :]
        except BlockingIOError:  # another process that shares the target made it non-blocking
            select.select([], [target], [])
        except OSError as error:
            return error
    return None


def explain(text: bytes | None, options: list[str]) -> bytes:
    """Return what `jieda diagnose`, in a process of its own, says about a text or the file named in `options`."""
    command_line = [sys.executable, "-P", "-c", RUN, "diagnose", *options]
    return subprocess.run(command_line, input=text, stdout=subprocess.PIPE, check=False).stdout  # noqa: S603 - our own program
