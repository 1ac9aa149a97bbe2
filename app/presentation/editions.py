"""What answers say of the editions of an entry."""

from typing import Any

from app.content.authoring.edition_text import signature_data
from app.entry import Edition, Entry, Language, Summary
from app.presentation import schemas
from app.presentation.urls import Urls


def edition_links(summary: Summary, urls: Urls) -> tuple[schemas.EditionLink, ...]:
    """The editions that an entry has, in the order of `Language`."""
    return tuple(
        schemas.EditionLink(
            lang=lang, title=edition.title, url=urls.entry(lang, summary.id), stale=edition.stale
        )
        for lang in Language
        if (edition := summary.editions.get(lang))
    )


def fix_of(edition: Edition) -> str:
    """The part of an edition that a reader came for, as Markdown; empty where it has none."""
    return edition.answer.markdown if edition.answer else ""


def told_by_file(entry: Entry, edition: Edition) -> dict[str, Any]:
    """What the file of an edition says beside what is shown, as `jieda load` takes it."""
    return {
        "signatures": tuple(signature_data(each) for each in entry.signatures),
        "symptoms": edition.symptoms,
        "aliases": edition.aliases,
        "formerly": entry.formerly,
        "synced_with": edition.synced_with,
    }
