"""How a draft leaves the workbench: as a patch, or written into its content directory and committed."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.content.authoring.patch import Change, patch_of
from app.content.authoring.place import digest_of, opened
from app.content.authoring.repository import Author, check_repository, commit
from app.entry import Language
from app.errors import GitError
from app.usecases.workbench.desk import Desk, OpenedEdition
from app.usecases.workbench.draft import Draft, where_of


@dataclass(frozen=True, slots=True)
class Wish:
    """A draft to be committed. `expected` are, by language, the digests that the files may have now: that of the file
    as it was opened and that of the one that the author has seen since; empty for a file that is not there."""

    draft: Draft
    expected: Mapping[Language, frozenset[str]]
    author: Author
    message: str


@dataclass(frozen=True, slots=True)
class Committed:
    """The files are written, and stand in a commit of this name."""

    commit: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """The files are written, and git did not take them."""

    reason: str
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Somebody else has changed these editions since they were opened; nothing was written."""

    theirs: Mapping[Language, OpenedEdition]


Finished = Committed | Uncommitted | Conflict


def patch(desk: Desk, draft: Draft) -> str:
    """What `git apply` needs to make the files of a content directory those of a draft. Raises AuthoringError."""
    files = draft.files()
    with opened(desk.directory_of(draft.id)) as place:
        before = {where: place.read(where) for where in files}
    return patch_of(
        Change(where, None if had is None else had.decode("utf-8", "surrogateescape"), files[where])
        for where, had in before.items()
    )


def write(desk: Desk, wish: Wish) -> Finished:
    """Writes the files of a draft that nothing keeps from being served, and commits them.

    Raises AuthoringError, GitError; nothing was written then, unless it says so.
    """
    draft, directory = wish.draft, desk.directory_of(wish.draft.id)
    files = {where: text.encode() for where, text in draft.files().items()}
    check_repository(directory)
    with opened(directory) as place:
        moved = [
            lang
            for lang in draft.texts
            if digest_of(place.read(where_of(draft.id, lang))) not in wish.expected.get(lang, frozenset({""}))
        ]
        if not moved:
            place.write(files)
            try:
                return Committed(
                    commit(directory, tuple(files), wish.author, wish.message or f"Write {draft.id}"),
                    tuple(files),
                )
            except GitError as error:
                return Uncommitted(str(error), tuple(files))
    held = desk.open(draft.id)
    return Conflict({lang: held.get(lang, OpenedEdition("", "")) for lang in moved})
