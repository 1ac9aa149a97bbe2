"""Everything that was read and parsed, drafts included: what the checks look at and entries are made of."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.content.links import Link, LinkKind
from app.content.parse import ParsedFile
from app.entry import Language, Sample, Taxonomy

Editions = Mapping[Language, ParsedFile]


@dataclass(frozen=True, slots=True)
class Image:
    """A file that lies beside editions. `size`: width and height in pixels where the file tells."""

    path: Path
    size: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class Corpus:
    """`by_id` has every entry; `published` leaves out the editions that are drafts.

    `images`: `<lang>/<framework>/<file name>` to the file.
    """

    by_id: Mapping[str, Editions]
    published: Mapping[str, Editions]
    taxonomy: Taxonomy
    samples: tuple[Sample, ...]
    images: Mapping[str, Image]

    @property
    def files(self) -> tuple[ParsedFile, ...]:
        """All editions, sorted by id and language."""
        return tuple(file for editions in self.by_id.values() for file in editions.values())


def make_corpus(
    files: Iterable[ParsedFile], taxonomy: Taxonomy, samples: Iterable[Sample], images: Mapping[str, Image]
) -> Corpus:
    """A corpus of parsed files, in whatever order they come."""
    ordered = sorted(files, key=lambda file: (file.id, file.lang))
    return Corpus(
        by_id=_group(ordered),
        published=_group(file for file in ordered if not file.front.draft),
        taxonomy=taxonomy,
        samples=tuple(samples),
        images=images,
    )


def _group(files: Iterable[ParsedFile]) -> dict[str, dict[Language, ParsedFile]]:
    grouped: dict[str, dict[Language, ParsedFile]] = {}
    for file in files:
        grouped.setdefault(file.id, {})[file.lang] = file
    return grouped


def link_fault(corpus: Corpus, file: ParsedFile, link: Link) -> str:
    """What is wrong with a link or an image in `file`, in words; empty where it leads somewhere.

    A draft may link to drafts; a published edition may not.
    """
    if link.kind is LinkKind.REFUSED:
        return f"{link.written!r} is no http(s) or mailto address, #anchor, relative .md path or image beside"
    if link.kind is LinkKind.ANCHOR and link.anchor not in file.body.anchors:
        return f"{link.written!r}: this page has no such anchor"
    if link.kind is LinkKind.IMAGE and f"{file.lang}/{link.target}" not in corpus.images:
        return f"{link.written!r}: there is no such image beside the file"
    if link.kind is LinkKind.ENTRY:
        return _entry_link_fault(corpus, file, link)
    return ""


def _entry_link_fault(corpus: Corpus, file: ParsedFile, link: Link) -> str:
    target = (corpus.by_id if file.front.draft else corpus.published).get(link.target)
    if target is None:
        state = "a draft" if link.target in corpus.by_id else "no entry"
        return f"{link.written!r}: {link.target} is {state}"
    shown = target.get(file.lang) or next(iter(target.values()))
    if link.anchor and link.anchor not in shown.body.anchors:
        return f"{link.written!r}: {link.target} has no anchor {link.anchor}"
    return ""
