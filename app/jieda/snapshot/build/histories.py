"""Facts of what became of each edition, from one `git log` for a commit that was not seen before."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jieda.content.read.corpus import Corpus
from jieda.content.read.history import histories, repository_of
from jieda.errors import GitError
from jieda.snapshot.store.facts import FactStore, code_version, fact_key, packed
from jieda.snapshot.store.records import EntryRow, to_json

log = logging.getLogger(__name__)

Keys = Mapping[Path, str]
"""Files to the keys of what became of them."""


class HistoryFacts:
    """The histories of content directories, made anew only where another commit is checked out."""

    def __init__(self, facts: FactStore, content: Sequence[Path]) -> None:
        self._facts, self._content = facts, content
        self._last: dict[Path, tuple[str, Keys]] = {}

    def of_content(self) -> Keys:
        """Those of all files. Raises FactsUnreadable."""
        return {
            path: key for directory in self._content for path, key in self._of(directory.resolve()).items()
        }

    def _of(self, directory: Path) -> Keys:
        found = repository_of(directory)
        if found is None:
            return {}
        repository, commit = found
        if directory not in self._last or self._last[directory][0] != commit:
            try:
                told = histories(directory, commit, repository)
            except GitError as error:
                log.warning("no history of entries: %s", error)
                told = {}
            made = {path: to_json(changes) for path, changes in told.items()}
            keys = {path: fact_key("history", code_version(), value.decode()) for path, value in made.items()}
            self._facts.put_all([{keys[path]: packed(value) for path, value in made.items()}])
            self._last[directory] = commit, {path: key.hex() for path, key in keys.items()}
        return self._last[directory][1]


def told(keys: Keys, rows: Mapping[str, EntryRow], corpus: Corpus) -> dict[str, EntryRow]:
    """The rows, each with what became of its editions."""
    with_history = {}
    for entry_id, row in rows.items():
        files = corpus.published[entry_id]
        history = {lang: keys[file.path] for lang, file in files.items() if file.path in keys}
        with_history[entry_id] = row if row.history == history else replace(row, history=history)
    return with_history
