"""What a builder works with: the store of facts, the reader of files, and what it can make of both."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from app.content.read.directory import read_file
from app.content.read.gather import ReadFile, Vocabulary, make_vocabulary
from app.disk import make_room, set_aside
from app.snapshot.analyzers import Analyzers
from app.snapshot.build.entries import EntryFacts, Tools, read_files
from app.snapshot.build.files import FileReader, KnownFile, Reading, same
from app.snapshot.build.helpers import Helpers
from app.snapshot.build.signatures import Last, LogSignatures
from app.snapshot.store.facts import FILE_NAME, FactStore

SUFFIXES = ("", "-wal", "-shm")
"""Of the files that a store consists of."""


def discard_facts(data: Path) -> None:
    """Takes a damaged store out of the way. Raises OSError."""
    for suffix in SUFFIXES:
        path = data / f"{FILE_NAME}{suffix}"
        if os.path.lexists(path):
            set_aside(path)


class Workshop:
    """The store of a data directory, open, and what is made with it. Not safe to share between threads."""

    def __init__(
        self,
        content: Sequence[Path],
        data: Path,
        analyzers: Analyzers,
        helpers: Helpers,
        pause: Callable[[], None],
    ) -> None:
        """Raises FactsUnreadable, OSError."""
        self._path = data / FILE_NAME
        for suffix in SUFFIXES:
            make_room(data / f"{FILE_NAME}{suffix}")
        self.facts = FactStore(self._path, writable=True)
        self.signatures = LogSignatures(self.facts, helpers, pause)
        self._analyzers = analyzers
        self.engine = analyzers.engine
        """The cluster that what is made is loaded into, where there is one."""
        self._helpers = helpers
        self._pause = pause
        self._reader = FileReader(self.facts, content, pause)
        self._vocabulary: Last[Vocabulary] = Last()
        self._tools: Last[Tools] = Last()

    @property
    def is_current(self) -> bool:
        """Whether the store is still the one in the data directory."""
        return self.facts.is_at(self._path)

    def close(self) -> None:
        """Ends the use of the store."""
        self.facts.close()

    def read(self) -> Reading:
        """The content as it is now."""
        return self._reader.read()

    def vocabulary(self, reading: Reading) -> Vocabulary:
        """The shared files as one. Raises ContentError where one of them is broken."""
        shared = tuple(file for directory in reading.directories for file in directory.shared)
        root = reading.directories[0].root
        return self._vocabulary.of(
            lambda: make_vocabulary(root, [same(read_file(file.found), file.content) for file in shared]),
            shared,
            root,
        )

    def outlines(self, files: Iterable[KnownFile]) -> Mapping[KnownFile, ReadFile]:
        """What files say."""
        return read_files(self.facts, files, self._helpers, self._pause)

    def maker(self, vocabulary: Vocabulary) -> EntryFacts:
        """Makes facts of entries."""
        return EntryFacts(
            self.facts,
            vocabulary,
            lambda: self.tools(vocabulary),
            self._helpers,
            self._analyzers.embedder,
        )

    def tools(self, vocabulary: Vocabulary) -> Tools:
        """What entries are analyzed with."""
        words = (vocabulary.glossary, vocabulary.dictionary, vocabulary.taxonomy, vocabulary.logs)
        return self._tools.of(lambda: Tools.of(vocabulary, self._analyzers), *words)
