"""Names that more than one entry claims. Each rule looks at all entries at once, and at little of each."""

import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache

from app.content.check.finding import Finding
from app.content.read.corpus import Corpus
from app.content.read.outline import Outline


def colliding_old_ids(corpus: Corpus) -> Iterator[Finding]:
    """Old addresses that are in use, or that two entries claim."""
    claims: dict[str, str] = {}
    for file in corpus.files:
        for old in file.front.formerly:
            if old in corpus.by_id:
                message = f"`formerly`: {old} is an entry of today"
            elif claims.setdefault(old, file.id) != file.id:
                message = f"`formerly`: {old} is claimed by {claims[old]}, too"
            else:
                continue
            yield Finding(file.where, file.line("formerly"), message)


def duplicate_names(corpus: Corpus) -> Iterator[Finding]:
    """Titles and aliases by which more than one entry would be found."""
    shared = _shared_names(corpus)
    owners: dict[str, list[tuple[Outline, str, str]]] = defaultdict(list)
    for file in corpus.files if shared else ():
        for field, names in (("title", (file.front.title,)), ("aliases", file.front.aliases)):
            for name in names:
                if _fold(name) in shared:
                    owners[_fold(name)].append((file, field, name))
    for named in owners.values():
        first = named[0][0]
        for file, field, name in named[1:]:
            if file.id != first.id:
                message = f"`{field}`: {name!r} is a title or alias of {first.id}, too"
                yield Finding(file.where, file.line(field), message)


def _shared_names(corpus: Corpus) -> frozenset[str]:
    """Folded names that more than one entry has."""
    owner: dict[str, str] = {}
    return frozenset(
        name
        for entry_id, editions in corpus.by_id.items()
        for file in editions.values()
        for name in map(_fold, (file.file.front.title, *file.file.front.aliases))
        if owner.setdefault(name, entry_id) != entry_id
    )


@lru_cache(maxsize=1 << 17)
def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
