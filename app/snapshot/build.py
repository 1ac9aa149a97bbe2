"""The builder: content directories to a generation on disk, working out only what changed since the last one."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from app.content.check.samples import Spoken
from app.disk import clear_the_way, set_aside
from app.errors import ContentError, IndexUnreadable
from app.snapshot.analyzers import Analyzers
from app.snapshot.built import BuildAbandoned, Built
from app.snapshot.engine import engine_name, is_kept
from app.snapshot.entries import EntryFacts
from app.snapshot.facts import FactsUnreadable
from app.snapshot.files import Reading
from app.snapshot.garbage import rarely_searched
from app.snapshot.generation import (
    GENERATIONS,
    IMAGES,
    Generation,
    GenerationUnreadable,
    clean,
    current_name,
    generation_names,
    point_to,
    prune,
    read_generation,
)
from app.snapshot.header import make_header, named, sample_rows
from app.snapshot.helpers import Helpers
from app.snapshot.index import check_index
from app.snapshot.last import Last
from app.snapshot.lock import building_alone
from app.snapshot.publish import copy_images, forget_old_facts, publish
from app.snapshot.records import EntryRow, Header, SampleRow, to_json
from app.snapshot.sources import ContentMoved
from app.snapshot.state import State, advance
from app.snapshot.stored import keys_of
from app.snapshot.versions import code_version
from app.snapshot.workers import WORKERS, served_generations
from app.snapshot.workshop import Workshop, discard_facts

log = logging.getLogger(__name__)


class Builder:
    """Builds generations of some content directories, one after another, each from what the last one left.

    Not safe to share between threads. What it carries from build to build it can do without.
    """

    def __init__(
        self,
        content: Sequence[Path],
        data: Path,
        analyzers: Analyzers,
        stopping: Callable[[], bool] = lambda: False,
        processes: int = 1,
    ) -> None:
        """`stopping` says that a build under way is to be abandoned; `processes` are those of `Helpers`."""
        # Taken at once: sources that are replaced while this process runs are not the code that it runs.
        code_version()
        self._data = data
        self._stopping = stopping
        self._helpers = Helpers(processes)
        self._open_workshop = partial(Workshop, tuple(content), data, analyzers, self._helpers, self._pause)
        self._workshop: Workshop | None = None
        self._lines: dict[str, tuple[EntryRow, bytes]] = {}
        self._samples: Last[tuple[SampleRow, ...]] = Last()
        self._state: State | None = None
        self._reading: Reading | None = None
        self._built: Built | None = None
        self._last: Generation | None = None
        self._rows: Mapping[str, EntryRow] = {}

    def build(self, suspect: str = "") -> Built:
        """Makes the content as it is now the current generation.

        `suspect` names a generation that somebody could not open: it is looked at closely, and made anew where
        it is damaged.

        Raises ContentError where a taxonomy, glossary or dictionary is broken, OSError where the data directory
        cannot be written, FactsUnreadable where the store cannot be used, BuildAbandoned.
        """
        self._data.mkdir(parents=True, exist_ok=True)
        with building_alone(self._data, self._pause), rarely_searched(), self._helpers:
            clear_the_way(self._data, GENERATIONS, IMAGES, WORKERS)
            clean(self._data)
            if suspect:
                self._examine(suspect)
            for _ in range(3):
                try:
                    return self._build()
                except ContentMoved:
                    continue
                except FactsUnreadable as error:
                    if error.passing:
                        self._forget(damaged=False)
                        raise
                    log.warning("the facts cannot be used (%s): everything is made anew", error)
                    self._forget(damaged=True)
                except BaseException:  # half of a state is worse than none
                    self._forget(damaged=False)
                    raise
            return self._build()

    def _build(self) -> Built:
        shop = self._open()
        reading = shop.read()
        before = current_name(self._data)
        if self._built and self._built.generation == before and reading == self._reading:
            return replace(self._built, changed=False)
        vocabulary = shop.vocabulary(reading)
        state = advance(self._state, reading, vocabulary, shop.outlines)
        maker = shop.maker(vocabulary)
        rows = self._new_rows(state, maker)
        if not rows and (previous := self._previous(before)) and previous.rows:
            raise ContentError(reading.directories[0].root, 1, "no entries are left")
        header, entries = self._header(shop, state, reading, maker), self._written(rows)
        header = named(header, engine_name(shop.engine), entries)
        written = self._publish(shop, maker, state, header, rows, entries)
        if written or header.generation != before:
            # Also where it bears the name of one that was damaged: whoever has that open is to leave it.
            point_to(self._data, header.generation)
        self._state, self._rows, self._reading = state, rows, reading
        prune(self._data, served_generations(self._data))
        forget_old_facts(shop.facts, header, rows, reading, self._kept_generations)
        changed = header.generation != before
        self._built = Built(header.generation, changed, len(rows), header.problems, reading.folders)
        return self._built

    def _publish(  # noqa: PLR0913, PLR0917 - a generation, and what it is made with
        self,
        shop: Workshop,
        maker: EntryFacts,
        state: State,
        header: Header,
        rows: Mapping[str, EntryRow],
        entries: bytes,
    ) -> bool:
        """Writes the generation unless it is there, whole; whether it was written."""
        before, name = current_name(self._data), header.generation
        if name == before and self._state is not None:
            return False
        copy_images(self._data, state.corpus.images, verified=self._state is None)
        if is_kept(shop.engine, self._data, name):
            return False
        fresh = {entry_id: row for entry_id, row in rows.items() if self._rows.get(entry_id) != row}
        maker.ensure(fresh, state.entries, state.corpus, self._pause)
        self._last = publish(
            self._data,
            shop.facts,
            header,
            rows,
            entries,
            self._previous(before),
            shop.engine,
            lambda: shop.tools(state.vocabulary).analyzer.fold,
            self._pause,
        )
        return True

    def _examine(self, name: str) -> None:
        facts = self._open().facts
        try:
            generation = read_generation(self._data, name)
            check_index(generation.index, generation.header.completions, self._open().engine)
            keys = {bytes.fromhex(key) for row in generation.rows for key in keys_of(row)}
            keys.update(map(bytes.fromhex, generation.header.background_words))
            whole = facts.known(keys) == keys
        except (GenerationUnreadable, IndexUnreadable):
            whole = False
        if not whole:
            log.warning("generation %s is damaged: it is made anew", name)
            self._forget(damaged=False)
            folder = self._data / GENERATIONS / name
            if os.path.lexists(folder):
                set_aside(folder)

    def _open(self) -> Workshop:
        if self._workshop is not None and not self._workshop.is_current:
            self._forget(damaged=False)
        if self._workshop is None:
            self._workshop = self._open_workshop()
        return self._workshop

    def _forget(self, *, damaged: bool) -> None:
        if self._workshop is not None:
            self._workshop.close()
        if damaged:
            discard_facts(self._data)
        self._workshop = self._state = self._reading = self._built = self._last = None
        self._rows = {}

    def _pause(self) -> None:
        if self._stopping():
            raise BuildAbandoned

    # ---- the parts of a build

    def _header(self, shop: Workshop, state: State, reading: Reading, maker: EntryFacts) -> Header:
        spoken = Spoken.of(state.corpus)
        matches = shop.signatures.matches(state, spoken)
        words = maker.background(state.corpus.background, self._pause)
        logs, ids = state.corpus.samples, tuple(state.entries)
        samples = self._samples.of(lambda: sample_rows(logs, state.entries), logs, ids)
        return make_header(state, reading, spoken, matches, words, shop.signatures.counts(state), samples)

    def _written(self, rows: Mapping[str, EntryRow]) -> bytes:
        """Rows as they are kept, a line each."""
        before = self._lines
        self._lines = {
            entry_id: before[entry_id]
            if entry_id in before and before[entry_id][0] is row
            else (row, to_json(row))
            for entry_id, row in rows.items()
        }
        return b"\n".join(line for _, line in self._lines.values())

    def _new_rows(self, state: State, maker: EntryFacts) -> dict[str, EntryRow]:
        before = self._state
        kept = before.entries if before and before.vocabulary == state.vocabulary else {}
        rows = {}
        for entry_id, prepared in state.entries.items():
            samples = state.corpus.samples.get(entry_id, ())
            if (
                kept.get(entry_id) is prepared
                and before
                and before.corpus.samples.get(entry_id, ()) == samples
            ):
                rows[entry_id] = self._rows[entry_id]
            else:
                rows[entry_id] = maker.row(prepared, state.corpus.published[entry_id], samples)
        return rows

    def _kept_generations(self) -> Iterator[Generation]:
        found = (self._previous(name) for name in generation_names(self._data))
        return (generation for generation in found if generation)

    def _previous(self, name: str) -> Generation | None:
        if self._last is not None and self._last.name == name:
            return self._last
        try:
            return read_generation(self._data, name) if name else None
        except GenerationUnreadable:
            return None
