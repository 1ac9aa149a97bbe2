"""`jieda diagnose`: a log from a file or a pipe, explained by the local content or by a server."""

import os
import re
import sys
from pathlib import Path
from typing import BinaryIO

import click

from jieda.cli.asking import ask, lang_option, local_client, url_option
from jieda.cli.running import FORMATS, content_option, run, terminal_language
from jieda.client.local import Local
from jieda.client.remote import JSON, Remote
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.locales.translations import Translations
from jieda.presentation.annotations import FORMS
from jieda.presentation.diagnosis_text import COLORS, CONFIDENCE_HEADER, PLAIN, as_text, explained
from jieda.settings import Settings
from jieda.usecases.diagnose import diagnose

CHUNK = 1 << 20
UNPACKERS = {b"\x1f\x8b": "zcat", b"BZh": "bzcat", b"\xfd7zXZ": "xzcat", b"\x28\xb5\x2f\xfd": "zstdcat"}
"""What makes text of a compressed log, by its first bytes."""
SURE = frozenset({Confidence.EXACT.value, Confidence.LIKELY.value})
"""Answers that exit with 0."""


@click.command("diagnose")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), default="-")
@lang_option("terminal")
@click.option("--framework", default="", help="The framework that the log comes from, if you know it.")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    help="json: that of the REST API; github, gitlab: annotations of a build; summary: one line each.  [default: text]",
)
@click.option("--json", "form", flag_value="json", help="The same as --format json.")
@click.option("--name", default="", help="The name of the log in annotations.  [default: that of FILE]")
@click.option(
    "--explain", is_flag=True, help="Print why: the log-odds of each entry, by evidence (local content)."
)
@url_option
@content_option
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    /,
    *,
    file: Path,
    lang: str | None,
    framework: str,
    form: str,
    name: str,
    explain: bool,
    url: str,
    directories: tuple[Path, ...],
) -> None:
    """Explain the log in FILE (- or nothing: standard input) by the entries that are about it.

    Exit code: 0 for an exact or likely match, 1 for a weaker one or none, 2 where the log cannot be read.
    """
    if explain and (form != "text" or url):
        raise click.UsageError("--explain goes without --format and --url")
    log = read_log(file, Settings.load(os.environ).max_log_bytes)
    if not log:
        raise click.UsageError(
            "the log is empty; errors go to a pipe with `2>&1`: COMMAND 2>&1 | jieda diagnose"
        )
    shown = Language(lang) if lang else terminal_language()
    client = Remote.at(url) if url else local_client(directories)
    if form in FORMS:
        found = ask(client, client.diagnose(log.decode("utf-8", errors="replace"), shown, framework))
        where = name or ("" if str(file) == "-" else str(file))
        answer = FORMS[form](found, Translations.load().words(shown), where)
        confidence = found.matches[0].confidence if found.matches else ""
    elif isinstance(client, Remote):
        answer, confidence = _from_server(client, log, shown, framework, as_json=form == "json")
    else:
        text = log.decode("utf-8", errors="replace")
        answer, confidence = _from_content(
            client, text, shown, framework, as_json=form == "json", explain=explain
        )
    click.echo(answer, nl=not answer.endswith("\n"))
    context.exit(0 if confidence in SURE else 1)


def read_log(file: Path, limit: int) -> bytes:
    """The last `limit` bytes of the log, from the start of a line. Raises click.FileError, click.UsageError."""
    try:
        if str(file) == "-":
            if sys.stdin.isatty():
                click.echo("Paste the log, then press Ctrl-D.", err=True)
            return _tail(sys.stdin.buffer, limit)
        with file.open("rb") as opened:
            return _tail(opened, limit)
    except OSError as error:
        raise _Unreadable(str(file), error.strerror or str(error)) from error


class _Unreadable(click.FileError):
    exit_code = 2


def _tail(stream: BinaryIO, limit: int) -> bytes:
    """The end of a stream: a log can be endless, and what went wrong stands at its end."""
    kept, lines = b"", 0
    while chunk := stream.read(CHUNK):
        if not kept:
            _refuse_compressed(chunk)
        kept += chunk
        if len(kept) > limit:
            cut = kept.find(b"\n", len(kept) - limit) + 1 or len(kept) - limit
            lines += kept.count(b"\n", 0, cut)
            kept = kept[cut:]
    if lines:
        click.echo(
            f"The log is long; reading its last {limit:,} bytes, whose line 1 is line {lines + 1:,} of the log.",
            err=True,
        )
    return kept


def _refuse_compressed(beginning: bytes) -> None:
    """Raises click.UsageError: read as text, it would only seem that no entry knows the log."""
    for magic, unpacker in UNPACKERS.items():
        if beginning.startswith(magic):
            raise click.UsageError(
                f"the log is compressed; unpack it first: {unpacker} FILE | jieda diagnose"
            )


def _colored() -> bool:
    """On a terminal, unless NO_COLOR (https://no-color.org) asks for plain text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _from_content(  # noqa: PLR0913 - one parameter for each option that matters here
    client: Local, text: str, lang: Language, framework: str, *, as_json: bool, explain: bool
) -> tuple[str, str]:
    """Answer and confidence, by the content on this machine."""
    found = ask(client, diagnose(client.service, text, lang, framework))
    t = client.shapers.words(lang)
    if as_json:
        shaper = client.shapers.of(found.snapshot, lang)
        return shaper.diagnosis(found.diagnosis).model_dump_json(indent=2), found.confidence
    if explain:
        return explained(found.diagnosis, t), found.confidence
    colors = COLORS if _colored() else PLAIN
    return as_text(found.diagnosis, t, lambda _: "", colors), found.confidence


def _from_server(
    server: Remote, log: bytes, lang: Language, framework: str, *, as_json: bool
) -> tuple[str, str]:
    """Answer and confidence, by a server's REST API."""
    url = server.urls.api_diagnose(lang=lang.value, framework=framework)
    answer, headers = server.fetch(url, log, accept=JSON if as_json else "text/plain")
    return (_colors(answer) if _colored() and not as_json else answer), headers.get(CONFIDENCE_HEADER, "")


def _colors(text: str) -> str:
    """A plain answer with its headings in color, as `as_text` paints its own."""
    heading = re.compile(r"^(\d+\. .*)  \[([^\]]*)\]$", re.MULTILINE)
    return heading.sub(rf"{COLORS.strong}\1{COLORS.off}  [{COLORS.sure}\2{COLORS.off}]", text)


if __name__ == "__main__":
    run(command)
