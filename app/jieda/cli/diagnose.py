"""`jieda diagnose`: explains a log from a file or a pipe, using the local content or a server."""

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import click

from jieda.cli.asking import ask, client_of, lang_option
from jieda.cli.running import FORMATS, content_option, note, url_option, uses_color
from jieda.cli.tail import Tail
from jieda.client import Local, Remote
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.locales.translations import translator
from jieda.log.window import SEARCHED, Utf8Writer, is_binary, unpacker_of
from jieda.presentation.diagnosis_text import CONFIDENCE_HEADER, FORMS, as_evidence, as_text
from jieda.usecases.diagnose import NONE, diagnose_log, window

CHUNK = 1 << 20
SURE = frozenset({Confidence.EXACT.value, Confidence.LIKELY.value})
"""Confidences with exit code 0."""


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """Options of the command; `log_name` is the name of the log in annotations."""

    lang: Language
    framework: str
    form: str
    log_name: str
    explain: bool


@click.command("diagnose")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), default="-")
@lang_option("terminal")
@click.option("--framework", default="", help="The framework that the log comes from, if known.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    help="json: as in the REST API; github, gitlab: CI annotations; summary: one line per entry.  [default: text]",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--name", default="", help="The name of the log in annotations.  [default: FILE]")
@click.option(
    "--explain", is_flag=True, help="Show why: the log-odds of each entry by evidence (local content only)."
)
@url_option
@content_option
def command(  # noqa: PLR0913 - one parameter for each option
    *,
    file: Path,
    lang: Language,
    framework: str,
    form: str,
    name: str,
    explain: bool,
    url: str,
    directories: tuple[Path, ...],
) -> int:
    """Find the entries that explain the log in FILE (- or omitted: standard input).

    Of a log longer than 1 MiB, only the end and the lines around its first failure are read.

    Exit code: 0 for an exact or likely match, 1 for a weaker one or none, 2 if the log cannot be read.
    """
    if explain and (form != "text" or url):
        raise click.UsageError("--explain cannot be combined with --format or --url")
    log_name = name or ("" if str(file) == "-" else str(file))
    options = DiagnoseOptions(lang, framework, form, log_name, explain)
    rest = read_chunks(file)
    # Read before the index is opened, or even built: what cannot be read is told at once.
    if not (first := next(rest, b"")):
        raise click.UsageError(
            "the log is empty; to pipe errors as well, use `2>&1`: COMMAND 2>&1 | jieda diagnose"
        )
    client, log = client_of(url, directories), chain((first,), rest)
    if isinstance(client, Remote):
        answer, confidence = _ask_server(client, end_of(log, SEARCHED), options)
    else:
        answer, confidence = _ask_content(client, log, options)
    click.echo(answer, nl=not answer.endswith("\n"))
    return 0 if confidence in SURE else 1


def read_chunks(file: Path) -> Iterator[bytes]:
    """Yield the log in chunks, as UTF-8. Raises click.FileError, click.UsageError."""
    if str(file) == "-" and sys.stdin.isatty():
        note("Paste the log, then press Ctrl-D.")
    try:
        with click.open_file(str(file), "rb") as opened:
            to_utf8 = None
            for chunk in iter(partial(opened.read, CHUNK), b""):
                if to_utf8 is None:
                    _refuse_unreadable(chunk)
                    to_utf8 = Utf8Writer()
                yield to_utf8(chunk)
    except OSError as error:
        raise _Unreadable(str(file), error.strerror or str(error)) from error


class _Unreadable(click.FileError):
    exit_code = 2


def end_of(log: Iterable[bytes], limit: int) -> bytes:
    """Return the last `limit` bytes of a log in chunks, from the start of a line: its end has the error."""
    tail = Tail(limit)
    for chunk in log:
        tail.add(chunk)
    text, first = tail.text(), tail.dropped_lines + 1
    if first > 1:
        note(f"The log is long; reading its last {limit:,} bytes, whose line 1 is line {first:,} of the log.")
    return text


def _refuse_unreadable(beginning: bytes) -> None:
    """Raise click.UsageError for binary or compressed input, which would look like a log that no entry explains."""
    if unpacker := unpacker_of(beginning):
        raise click.UsageError(f"the log is compressed; unpack it first: {unpacker} FILE | jieda diagnose")
    if is_binary(beginning):
        raise click.UsageError("this is a binary file, not a text log")


def _ask_content(client: Local, log: Iterable[bytes], options: DiagnoseOptions) -> tuple[str, str]:
    read = window(client.service)
    for chunk in log:
        read.feed(chunk)
    found = ask(diagnose_log(client.service, read.extract(), options.lang, options.framework))
    t, diagnosis = translator(options.lang), found.diagnosis
    shaper = client.shapers.of(found.snapshot, options.lang)
    if options.form in FORMS:
        answer = FORMS[options.form](shaper.diagnosis(diagnosis), t, options.log_name)
    elif options.explain:
        answer = as_evidence(diagnosis, t)
    else:
        answer = _colored(as_text(diagnosis, t, lambda _: ""))
    return answer, diagnosis.confidence or NONE


def _ask_server(server: Remote, log: bytes, options: DiagnoseOptions) -> tuple[str, str]:
    if options.form in FORMS:
        text = log.decode("utf-8", errors="replace")
        found = ask(server.diagnose(text, options.lang, options.framework))
        t = translator(options.lang)
        confidence = found.matches[0].confidence.value if found.matches else ""
        return FORMS[options.form](found, t, options.log_name), confidence
    url = server.urls.api_diagnose(text=True, lang=options.lang.value, framework=options.framework)
    answer, headers = server.fetch(url, log)
    return _colored(answer), headers.get(CONFIDENCE_HEADER, "")


STYLES = (
    (re.compile(r"^(\d+\. .*)  \[([^\]]*)\]$", re.MULTILINE), "\x1b[1m\\1\x1b[0m  [\x1b[32m\\2\x1b[0m]"),
    (
        re.compile(r"^(   (?:\S.*?  )?)([a-z0-9-]+/[a-z0-9-]+(?:  .+)?)$", re.MULTILINE),
        "\\1\x1b[2m\\2\x1b[0m",
    ),
)
"""What a terminal shows bold, green and faint: the titles of an answer, how sure each is, and the id of an entry with
what stands behind it."""


def _colored(text: str) -> str:
    for pattern, styled in STYLES if uses_color() else ():
        text = pattern.sub(styled, text)
    return text
