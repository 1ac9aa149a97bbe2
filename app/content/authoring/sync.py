"""Declare twins equal: write into each the digest of the other, and change nothing else in the file."""

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from app.content.read.corpus import Corpus, Editions
from app.content.read.outline import Outline
from app.errors import AuthoringError

_LINE_END = re.compile(rb"\r\n|\n|\r")


def sync_twins(corpus: Corpus, ids: Iterable[str]) -> tuple[Path, ...]:
    """Stamps both editions of each entry; the files that changed, for some may agree already.

    Raises AuthoringError, before anything is written, for an id that is not an entry or has one edition only.
    """
    twins = [_twins(corpus, entry_id) for entry_id in ids]
    stamped = [
        (file.path, stamp(file, twin.digest))
        for editions in twins
        for file, twin in zip(editions.values(), reversed(list(editions.values())), strict=True)
        if file.front.synced_with != twin.digest
    ]
    for path, content in stamped:
        _replace(path, content)
    return tuple(path for path, _ in stamped)


def twin_ids(corpus: Corpus) -> tuple[str, ...]:
    """The entries that have both editions."""
    return tuple(entry_id for entry_id, editions in corpus.by_id.items() if len(editions) == 2)


def _twins(corpus: Corpus, entry_id: str) -> Editions:
    editions = corpus.by_id.get(entry_id)
    if editions is None:
        raise AuthoringError(f"{entry_id} is not an entry that can be read; see `jieda check`")
    if len(editions) < 2:
        raise AuthoringError(f"{entry_id} has one edition only: {next(iter(editions.values())).path}")
    return editions


def stamp(file: Outline, digest: str) -> bytes:
    """The file's bytes with `synced_with` set."""
    try:
        return stamped(file.path.read_bytes(), file.lines.get("synced_with", 0), digest)
    except AuthoringError as error:
        raise AuthoringError(f"{file.path}: {error}") from error


def stamped(content: bytes, number: int, digest: str) -> bytes:
    """An edition with `synced_with` set: its line, the `number`th, replaced, or added as the last of the front matter
    where that is 0. Raises AuthoringError."""
    ends = list(_LINE_END.finditer(content))
    value = f"synced_with: '{digest}'".encode()
    if number:
        start, end = ends[number - 2].end(), ends[number - 1].start()
        return content[:start] + value + content[end:]
    fence = re.compile(rb"^---[ \t]*(?=[\r\n]|\Z)", re.MULTILINE)
    # The first match may be the opening one, unless a byte order mark stands before it.
    closing = fence.search(content, ends[0].end()) if ends else None
    if closing is None:
        raise AuthoringError("the front matter has no end")
    return content[: closing.start()] + value + ends[0][0] + content[closing.start() :]


def _replace(path: Path, content: bytes) -> None:
    """Written aside and renamed, so that a server that reloads never reads half a file."""
    target = path.resolve()
    aside = target.with_name(f".{target.name}.new")
    aside.write_bytes(content)
    shutil.copymode(target, aside)
    aside.replace(target)
