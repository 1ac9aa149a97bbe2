"""`jieda diagnose`: a log from a file or a pipe, explained by the local content or by a server."""

import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from functools import partial
from pathlib import Path
from typing import BinaryIO

import click

from app.cli.content_commands import content_option
from app.cli.search_commands import knowledge_of
from app.entry import Language
from app.errors import JiedaError
from app.search.answers import Confidence
from app.settings import Settings
from app.web.api.diagnose import CONFIDENCE_HEADER, diagnosis_shape
from app.web.diagnosis_text import COLORS, PLAIN, as_text
from app.web.translations import Translations
from app.web.urls import Urls

CHUNK = 1 << 20
SERVER_SECONDS = 60.0
UNPACKERS = {b"\x1f\x8b": "zcat", b"BZh": "bzcat", b"\xfd7zXZ": "xzcat", b"\x28\xb5\x2f\xfd": "zstdcat"}
"""What makes text of a compressed log, by its first bytes."""
SURE = frozenset({Confidence.EXACT.value, Confidence.LIKELY.value})
"""Answers that exit with 0."""


@click.command("diagnose")
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True, path_type=Path), default="-")
@click.option(
    "--lang",
    type=click.Choice([lang.value for lang in Language]),
    help="Language of the answer; by default the terminal's.",
)
@click.option("--framework", default="", help="The framework that the log comes from, if you know.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, as the REST API answers it.")
@click.option("--server", metavar="URL", default="", help="Ask this server instead of the local content.")
@content_option
@click.pass_context
def command(  # noqa: PLR0913 - one parameter for each option
    context: click.Context,
    /,
    *,
    file: Path,
    lang: str | None,
    framework: str,
    as_json: bool,
    server: str,
    directories: tuple[Path, ...],
) -> None:
    """Explain the log in FILE (- or nothing: standard input) by the entries that are about it.

    Exit code: 0 for an exact or likely match, 1 for a weaker one or none, 2 where the log cannot be read.
    """
    log = _read(file, Settings.load(os.environ).max_log_bytes)
    shown = Language(lang) if lang else _terminal_language()
    if server:
        answer, confidence = _from_server(server, log, shown, framework, as_json=as_json)
    else:
        text = log.decode("utf-8", errors="replace")
        answer, confidence = _from_content(directories, text, shown, framework, as_json=as_json)
    click.echo(answer, nl=not answer.endswith("\n"))
    context.exit(0 if confidence in SURE else 1)


def _read(file: Path, limit: int) -> bytes:
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
    """A training log can be endless; what went wrong stands at its end."""
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
            f"The log is long: reading its last {limit:,} bytes; line 1 is line {lines + 1:,}.", err=True
        )
    return kept


def _refuse_compressed(beginning: bytes) -> None:
    """Raises click.UsageError: read as text, it would only seem that no entry knows the log."""
    for magic, unpacker in UNPACKERS.items():
        if beginning.startswith(magic):
            raise click.UsageError(
                f"the log is compressed; unpack it first: {unpacker} FILE | jieda diagnose"
            )


def _terminal_language() -> Language:
    """Chinese where the environment says so, otherwise English."""
    told = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return Language.ZH if told.lower().startswith("zh") else Language.EN


def _colored() -> bool:
    """On a terminal, unless NO_COLOR (https://no-color.org) asks for plain text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _from_content(
    directories: tuple[Path, ...], text: str, lang: Language, framework: str, *, as_json: bool
) -> tuple[str, str]:
    """Answer and confidence, by the content on this machine."""
    snapshot = knowledge_of(directories).snapshot
    known = snapshot.library.taxonomy.framework
    if framework and framework not in known:
        raise click.UsageError(f"no framework {framework!r}; there are {', '.join(known)}")
    diagnosis = snapshot.diagnoser.diagnose(text, lang, framework)
    confidence = diagnosis.matches[0].confidence.value if diagnosis.matches else ""
    if as_json:
        settings = Settings.load(os.environ)
        urls = Urls(settings.root_path, settings.base_url)
        shape = diagnosis_shape(diagnosis, lang, urls, snapshot.generation)
        return shape.model_dump_json(indent=2), confidence
    say = partial(Translations.load().translate, lang)
    return as_text(diagnosis, say, lambda _: "", COLORS if _colored() else PLAIN), confidence


def _from_server(
    server: str, log: bytes, lang: Language, framework: str, *, as_json: bool
) -> tuple[str, str]:
    """Answer and confidence, by a server's REST API."""
    parameters = {"lang": lang.value} | ({"framework": framework} if framework else {})
    address = f"{server.rstrip('/')}/api/v1/diagnose?{urllib.parse.urlencode(parameters)}"
    if not re.match(r"https?://[^/]", address):
        raise click.UsageError("--server takes an address such as https://faq.example.com")
    request = urllib.request.Request(  # noqa: S310 - http and https only, as just checked
        address,
        data=log,
        headers={"Content-Type": "text/plain", "Accept": "application/json" if as_json else "text/plain"},
    )
    try:
        with urllib.request.urlopen(request, timeout=SERVER_SECONDS) as response:  # noqa: S310 - see above
            answer = response.read().decode("utf-8", errors="replace")
            confidence = response.headers.get(CONFIDENCE_HEADER, "")
    except urllib.error.HTTPError as error:
        raise JiedaError(f"{server} answers {error.code} {error.reason}") from error
    except (urllib.error.URLError, TimeoutError) as error:
        raise JiedaError(f"{server} does not answer: {error}") from error
    return (_colors(answer) if _colored() and not as_json else answer), confidence


def _colors(text: str) -> str:
    """A plain answer with its headings in color, as `as_text` paints its own."""
    heading = re.compile(r"^(\d+\. .*)  \[([^\]]*)\]$", re.MULTILINE)
    return heading.sub(rf"{COLORS.strong}\1{COLORS.off}  [{COLORS.sure}\2{COLORS.off}]", text)
