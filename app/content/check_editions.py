"""What can be wrong with an edition, or between entries. Each rule yields the file, the line and the message."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from app.content.corpus import Corpus, link_fault
from app.content.parse import ParsedFile
from app.content.sections import allowed_titles, missing_section
from app.entry import Kind

LEFT_TO_WRITE = re.compile(r"\bTODO:|待填：|license: 'TODO'")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong. `where` is the file's path below its content directory."""

    where: str
    line: int
    message: str


def unknown_tags(corpus: Corpus) -> Iterator[Finding]:
    """Topics and error types that the taxonomy lacks."""
    known = {"topics": corpus.taxonomy.topic, "error_types": corpus.taxonomy.error_type}
    for file in corpus.files:
        for field, given in (("topics", file.front.topics), ("error_types", file.front.error_types)):
            for tag in given:
                if tag not in known[field]:
                    yield Finding(file.where, file.line(field), f"`{field}`: {tag!r} is not in the taxonomy")


def unfit_for_kind(corpus: Corpus) -> Iterator[Finding]:
    """Fields and sections that an entry of its kind must or must not have."""
    for file in corpus.files:
        front, kind = file.front, file.front.kind or Kind.CONCEPT
        if kind is not Kind.ERROR and front.error_types:
            message = f"`error_types` belong to errors, and this is a {kind}"
            yield Finding(file.where, file.line("error_types"), message)
        if kind is Kind.ERROR and not front.signatures and not front.symptoms:
            message = "an error entry needs `signatures`, or `symptoms` where nothing is printed"
            yield Finding(file.where, file.line("kind"), message)
        if lack := missing_section(kind, file.body.section_keys):
            yield Finding(file.where, file.line("kind"), lack)


def unfinished(corpus: Corpus) -> Iterator[Finding]:
    """What a skeleton left to be written, in a file that is no draft any more."""
    for file in corpus.files:
        if file.front.draft:
            continue
        for number, line in enumerate(file.raw.splitlines(), 1):
            if LEFT_TO_WRITE.search(line):
                message = "has text of the skeleton: write it, or keep the file a draft (`draft: true`)"
                yield Finding(file.where, number, message)


def odd_headings(corpus: Corpus) -> Iterator[Finding]:
    """H1, H2 titles outside the closed table or used twice, text in front of the first section."""
    for file in corpus.files:
        seen: set[str] = set()
        if not file.body.starts_with_section:
            yield Finding(file.where, file.body.first_line, "the body must start with a section (## …)")
        for placed in file.body.headings:
            text = placed.heading.text
            if placed.level == 1:
                yield Finding(file.where, placed.line, f"# {text}: the title is the H1; sections are ##")
            elif placed.section and not placed.known:
                message = f"## {text} is none of {allowed_titles(file.lang)}"
                yield Finding(file.where, placed.line, message)
            elif placed.section and text in seen:
                yield Finding(file.where, placed.line, f"## {text} stands twice")
            seen |= {text} if placed.section else set()


def broken_links(corpus: Corpus) -> Iterator[Finding]:
    """Links, anchors and images that lead nowhere or may not be written."""
    for file in corpus.files:
        for link in file.body.links:
            if fault := link_fault(corpus, file, link):
                yield Finding(file.where, link.line, fault)


def unrelated(corpus: Corpus) -> Iterator[Finding]:
    """Ids in `related` that are not there, or are the entry itself."""
    for file in corpus.files:
        shown = corpus.by_id if file.front.draft else corpus.published
        for other in file.front.related:
            if other == file.id:
                yield Finding(file.where, file.line("related"), f"`related`: {other} is this entry")
            elif other not in shown:
                state = "a draft" if other in corpus.by_id else "no entry"
                yield Finding(file.where, file.line("related"), f"`related`: {other} is {state}")


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
    owners: dict[str, list[tuple[ParsedFile, str, str]]] = defaultdict(list)
    for file in corpus.files:
        for field, names in (("title", (file.front.title,)), ("aliases", file.front.aliases)):
            for name in names:
                owners[_fold(name)].append((file, field, name))
    for named in owners.values():
        first = named[0][0]
        for file, field, name in named[1:]:
            if file.id != first.id:
                message = f"`{field}`: {name!r} is a title or alias of {first.id}, too"
                yield Finding(file.where, file.line(field), message)


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
