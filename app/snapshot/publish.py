"""The last part of a build: a generation written, and what is not needed any more removed."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from app.content.read.corpus import Image
from app.content.read.load import content_hash
from app.disk import make_room, read_plain, write_aside
from app.search.index.array_file import write_arrays
from app.search.index.document import Document
from app.snapshot.catalog import catalog_arrays
from app.snapshot.engine import Engine, Wanted, index_digest
from app.snapshot.facts import FactStore, FactsUnreadable
from app.snapshot.files import Reading
from app.snapshot.generation import IMAGES, Generation, NewGeneration, generation_folder
from app.snapshot.index import document_from, keep_completions, update_index, write_all_completions
from app.snapshot.making import file_key
from app.snapshot.records import EntryRow, Header
from app.snapshot.rows import row_arrays
from app.snapshot.sources import image_bytes
from app.snapshot.stored import keys_of
from app.taxonomy import facet_values

log = logging.getLogger(__name__)

SPARE_FACTS = 1000
"""Facts that nobody needs any more are forgotten once they are more than these, and as many as the others."""

Rows = Mapping[str, EntryRow]


def copy_images(data: Path, images: Mapping[str, Image], *, verified: bool) -> None:
    """Keeps a copy of every image under the hash of its content. `verified`: copies that are there are read."""
    folder = data / IMAGES
    folder.mkdir(exist_ok=True)
    for where, image in images.items():
        target = folder / image_name(where, image.content)
        make_room(target)
        if not target.is_file() or (verified and not _is_copy(target, image)):
            write_aside(target, image_bytes(image, where))


def _is_copy(target: Path, image: Image) -> bool:
    try:
        return content_hash(read_plain(target)) == image.content
    except OSError:
        return False


def image_name(where: str, content: str) -> str:
    """The name of the copy of an image."""
    return f"{content}{Path(where).suffix.lower()}"


def publish(  # noqa: PLR0913, PLR0917 - what to write, what there is, and where
    data: Path,
    facts: FactStore,
    header: Header,
    rows: Rows,
    entries: bytes,
    previous: Generation | None,
    engine: Engine | None,
    fold: Callable[[], Callable[[str], str]],
    pause: Callable[[], None],
) -> Generation:
    """Writes a generation, taking from `previous` what its index has in common with it, and loads its documents into
    the cluster of `engine` where there is one.

    `entries` are the rows as they are written; `fold` gives the analyzer's folding where it is needed; `pause` is
    called now and then, and what it raises leaves nothing behind. Raises OSError, FactsUnreadable, ClusterUnavailable.
    """
    # What another engine keeps is of no use to this one.
    alike = previous if previous and previous.header.engine == header.engine else None
    old = {row.head.summary.id: _indexed(row) for row in alike.rows} if alike else {}
    changed = [entry_id for entry_id, row in rows.items() if old.get(entry_id) != _indexed(row)]
    removed, before = old.keys() - rows.keys(), alike.index if alike else None
    documents = _Documents(facts, rows, pause)
    new = NewGeneration(data, header.generation)
    try:
        if engine is None:
            update_index(new.index, before, documents, changed, removed)
        else:
            wanted = Wanted(index_digest(engine.name, rows), documents, changed, removed)
            engine.update(data, new.index, before, wanted, pause)
        pause()
        completions = _complete(new.index, facts, header, rows, previous, fold)
        catalog = _write_catalog(new.index, header, rows, entries)
        header = replace(header, completions=completions, catalog=catalog)
        new.finish(header, entries)
    except BaseException:  # however it ends, nothing half done stays
        new.abandon()
        raise
    folder = generation_folder(data, header.generation)
    return Generation(header.generation, header, tuple(rows.values()), folder / "index")


def _write_catalog(target: Path, header: Header, rows: Rows, entries: bytes) -> str:
    """Writes what lists need of all entries; the file's name. Raises OSError."""
    summaries = [row.head.summary for row in rows.values()]
    arrays = catalog_arrays(summaries, header.vocabulary.taxonomy)
    return write_arrays(target, {**arrays, **row_arrays(entries)})


def _complete(  # noqa: PLR0913, PLR0917 - as for `publish`
    target: Path,
    facts: FactStore,
    header: Header,
    rows: Rows,
    previous: Generation | None,
    fold: Callable[[], Callable[[str], str]],
) -> str:
    """The name of the file of completions: that of `previous` where nothing can be completed to anything else."""
    if previous and _completes_alike(facts, header, rows, previous):
        try:
            keep_completions(target, previous.index, previous.header.completions)
        except OSError:
            log.warning("the completions of generation %s are lost: they are made anew", previous.name)
        else:
            return previous.header.completions
    kept = [
        value for _, value in sorted(facts.get_all(bytes.fromhex(row.completions) for row in rows.values()))
    ]
    summaries = (row.head.summary for row in rows.values())
    return write_all_completions(target, kept, summaries, header.vocabulary, fold())


def _completes_alike(facts: FactStore, header: Header, rows: Rows, previous: Generation) -> bool:
    """Whether entries, tags in use and glossary offer what they offered before."""
    before = {row.head.summary.id: row for row in previous.rows}
    vocabulary, old = header.vocabulary, previous.header.vocabulary
    if before.keys() != rows.keys() or (vocabulary.glossary, vocabulary.taxonomy) != (
        old.glossary,
        old.taxonomy,
    ):
        return False
    changed = [entry_id for entry_id, row in rows.items() if before[entry_id].completions != row.completions]
    return all(
        facet_values(rows[entry_id].head.summary) == facet_values(before[entry_id].head.summary)
        and _kept(facts, rows[entry_id]) == _kept(facts, before[entry_id])
        for entry_id in changed
    )


def _kept(facts: FactStore, row: EntryRow) -> bytes | None:
    return facts.get(bytes.fromhex(row.completions))


def forget_old_facts(
    facts: FactStore,
    header: Header,
    rows: Rows,
    reading: Reading,
    others: Callable[[], Iterator[Generation]],
) -> None:
    """Lets go of facts that neither the content nor a generation on disk needs, once there are many of them."""
    files = [file for directory in reading.directories for file in directory.editions]
    if len(facts) <= 2 * (len(files) + 6 * len(rows) + len(header.background_words)) + SPARE_FACTS:
        return
    kept = {bytes.fromhex(key) for row in rows.values() for key in keys_of(row)}
    kept.update(map(bytes.fromhex, header.background_words))
    kept |= {file_key(file.where, file.content) for file in files}
    for other in others():
        kept |= {bytes.fromhex(key) for row in other.rows for key in keys_of(row)}
        kept.update(map(bytes.fromhex, other.header.background_words))
    log.info("%d facts that nobody needs any more were forgotten", facts.keep_only(frozenset(kept)))


def _indexed(row: EntryRow) -> tuple[str, str, str]:
    """The facts that an index is written from."""
    return row.document, row.diagnosis, row.meaning


class _Documents(Mapping[str, Document]):
    """Documents by id, each read when it is asked for and held by nobody here."""

    def __init__(self, facts: FactStore, rows: Rows, pause: Callable[[], None]) -> None:
        self._facts, self._rows, self._pause = facts, rows, pause

    def __getitem__(self, entry_id: str) -> Document:
        """Raises FactsUnreadable where a fact is lost."""
        self._pause()
        row = self._rows[entry_id]
        document, diagnosis, meaning = (self._facts.get(bytes.fromhex(key)) for key in _indexed(row))
        if document is None or diagnosis is None or (row.meaning and meaning is None):
            raise FactsUnreadable(f"the document of {entry_id} is lost")
        return document_from(document, diagnosis, meaning)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)
