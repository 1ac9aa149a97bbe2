"""What can be wrong with the editions of one entry. Each rule yields the file, the line and the message."""

from collections.abc import Iterator

from app.content.check.finding import Finding
from app.content.markdown.sections import allowed_titles, missing_section
from app.content.read.corpus import Corpus, link_fault
from app.entry import Kind


def unknown_tags(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Topics and error types that the taxonomy lacks."""
    known = {"topics": corpus.taxonomy.topic, "error_types": corpus.taxonomy.error_type}
    for file in corpus.by_id[entry_id].values():
        for field, given in (("topics", file.front.topics), ("error_types", file.front.error_types)):
            for tag in given:
                if tag not in known[field]:
                    yield Finding(file.where, file.line(field), f"`{field}`: {tag!r} is not in the taxonomy")


def unfit_for_kind(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Fields and sections that an entry of its kind must or must not have."""
    for file in corpus.by_id[entry_id].values():
        front, kind = file.front, file.front.kind or Kind.CONCEPT
        if kind is not Kind.ERROR and front.error_types:
            message = f"`error_types` belong to errors, and this is a {kind}"
            yield Finding(file.where, file.line("error_types"), message)
        if kind is Kind.ERROR and not front.signatures and not front.symptoms:
            message = "an error entry needs `signatures`, or `symptoms` where nothing is printed"
            yield Finding(file.where, file.line("kind"), message)
        if lack := missing_section(kind, file.section_keys):
            yield Finding(file.where, file.line("kind"), lack)


def dependent_fixes(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Fixes that cannot be followed without the rest of their page, as far as a program can see."""
    for file in corpus.by_id[entry_id].values():
        for line, message in file.file.leanings:
            yield Finding(file.where, line, message)


def unfinished(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """What a skeleton left to be written, in a file that is not a draft any more."""
    for file in corpus.by_id[entry_id].values():
        if file.front.draft:
            continue
        for number in file.file.unfinished:
            message = "has text of the skeleton: write it, or keep the file a draft (`draft: true`)"
            yield Finding(file.where, number, message)


def open_doubts(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """What `jieda import` could not decide, until somebody has looked at it and deleted the line."""
    for file in corpus.by_id[entry_id].values():
        for doubt in file.front.doubts:
            yield Finding(file.where, file.line("doubts"), doubt)


def odd_headings(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """H1, H2 titles outside the closed table or used twice, text in front of the first section."""
    for file in corpus.by_id[entry_id].values():
        seen: set[str] = set()
        if not file.file.starts_with_section:
            yield Finding(file.where, file.file.first_line, "the body must start with a section (## …)")
        for placed in file.file.headings:
            text = placed.heading.text
            if placed.level == 1:
                yield Finding(file.where, placed.line, f"# {text}: the title is the H1; sections are ##")
            elif placed.section and not placed.known:
                message = f"## {text} is not one of {allowed_titles(file.lang)}"
                yield Finding(file.where, placed.line, message)
            elif placed.section and text in seen:
                yield Finding(file.where, placed.line, f"## {text} stands twice")
            seen |= {text} if placed.section else set()


def broken_links(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Links, anchors and images that lead nowhere or may not be written."""
    for file in corpus.by_id[entry_id].values():
        for link in file.file.links:
            if fault := link_fault(corpus, file, link):
                yield Finding(file.where, link.line, fault)


def unrelated(corpus: Corpus, entry_id: str) -> Iterator[Finding]:
    """Ids in `related` that are not there, or are the entry itself."""
    for file in corpus.by_id[entry_id].values():
        shown = corpus.by_id if file.front.draft else corpus.published
        for other in file.front.related:
            if other == file.id:
                yield Finding(file.where, file.line("related"), f"`related`: {other} is this entry")
            elif other not in shown:
                state = "is a draft" if other in corpus.by_id else "does not exist"
                yield Finding(file.where, file.line("related"), f"`related`: {other} {state}")
