"""Which of two twins has fallen behind: computed from the digests they were last synced at."""

from app.content.read.corpus import Editions
from app.content.read.outline import Outline
from app.entry import Language


def twin_changed(file: Outline, twin: Outline) -> bool:
    """Whether `twin` has changed since `file` was last synced with it. Never synced says nothing."""
    return bool(file.front.synced_with) and file.front.synced_with != twin.digest


def stale_languages(editions: Editions) -> frozenset[Language]:
    """The editions whose twin has moved on.

    Where only one has changed since the sync, the digests alone tell which. Where both have, the one
    changed last by its `updated`, then by its file time, is the newer. Git's times are not asked for: it
    would cost a process per file, is absent in an image, and knows nothing of edits not yet committed.
    Where nothing tells them apart, both lack what the other has.
    """
    if len(editions) < 2:
        return frozenset()
    one, other = editions.values()
    behind = {file.lang for file, twin in ((one, other), (other, one)) if twin_changed(file, twin)}
    if len(behind) < 2 or _time(one) == _time(other):
        return frozenset(behind)
    return frozenset({min(one, other, key=_time).lang})


def newest(editions: Editions) -> Outline:
    """The edition whose word counts where twins contradict each other: the one changed last."""
    return max(editions.values(), key=lambda file: (*_time(file), file.lang))


def _time(file: Outline) -> tuple[int, float]:
    return file.updated.toordinal(), file.modified
