"""Facts about the changes of each edition, from one `git log` per new commit."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jieda.content.read.history import histories, repository_of
from jieda.errors import GitError
from jieda.git import Repository
from jieda.snapshot.store.facts import FactStore, code_version, fact_key, packed
from jieda.snapshot.store.records import from_note, to_json

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class KnownHistories:
    """Fact keys of the histories of a directory's files up to a commit, by path; `version`: that of the code."""

    version: str
    commit: str
    keys: Mapping[str, bytes]


class HistoryFacts:
    """The histories of content directories, read again only if another commit is checked out than last time, also by
    another process: `git log` takes half as long as checking unchanged content."""

    def __init__(self, facts: FactStore, content: Sequence[Path]) -> None:
        self._facts, self._content = facts, content
        self._last: dict[Path, KnownHistories] = {}

    def of_content(self) -> Mapping[Path, bytes]:
        """Return the keys of the histories of all files, by path. Raises FactsUnreadable."""
        keys: dict[Path, bytes] = {}
        for directory in map(Path.resolve, self._content):
            found = repository_of(directory)
            if found is not None:
                known = self._of(directory, *found)
                keys |= {Path(path): key for path, key in known.keys.items()}
        return keys

    def _of(self, directory: Path, repository: Repository, commit: str) -> KnownHistories:
        known = self._last.get(directory) or self._noted(directory)
        if known is None or known.commit != commit:
            known = self._made(directory, repository, commit)
        self._last[directory] = known
        return known

    def _noted(self, directory: Path) -> KnownHistories | None:
        known = from_note(self._facts.note(_name(directory)), KnownHistories, code_version())
        if known is None:
            return None
        wanted = frozenset(known.keys.values())
        # Facts that no entry needed may have been deleted.
        return known if self._facts.known(wanted) == wanted else None

    def _made(self, directory: Path, repository: Repository, commit: str) -> KnownHistories:
        try:
            told = histories(directory, commit, repository)
        except GitError as error:
            log.warning("no history of entries: %s", error)
            told = {}
        made = {str(path): to_json(changes) for path, changes in told.items()}
        keys = {path: fact_key("history", code_version(), value) for path, value in made.items()}
        self._facts.put_all([{keys[path]: packed(value) for path, value in made.items()}])
        known = KnownHistories(code_version(), commit, keys)
        if made:  # otherwise the clone may be shallow and be completed later
            self._facts.put_note(_name(directory), to_json(known))
        return known


def _name(directory: Path) -> str:
    return f"history {directory}"
