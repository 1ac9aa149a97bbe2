"""An entry as Markdown, without front matter, and the versions that it holds for, in words."""

from collections.abc import Iterator, Mapping

from jieda.content.authoring.edition_text import validity_data
from jieda.entry import Edition, Validity
from jieda.locales.translations import Translate
from jieda.presentation.schemas import ApiEntry

ValidityData = Mapping[str, Mapping[str, str]]
"""In the form of `edition_text.validity_data` and the API."""


def applies_to_text(applies_to: str, data: ValidityData, t: Translate) -> str:
    """Return what an entry applies to and its versions, in one line; empty if it states neither."""
    parts = [*([applies_to] if applies_to else []), *validity_texts(data, t)]
    return t("diagnosis.applies_to", text=t("list.semicolon").join(parts)) if parts else ""


def validity_texts(data: ValidityData, t: Translate) -> Iterator[str]:
    """Yield the versions of each program, the versions with a fix, and the last verification."""
    for program, versions in data.get("versions", {}).items():
        yield f"{program} {versions}"
    for program, version in data.get("fixed_in", {}).items():
        yield t("entry.fixed_in", version=f"{program} {version}")
    if verified := data.get("verified"):
        yield t("entry.verified", day=verified["on"], using=verified["with"])


def reading_form(edition: Edition, validity: Validity, t: Translate) -> str:
    """Return the reading form of an edition: title, what it applies to, body and sources, as Markdown."""
    return _reading_form(edition, applies_to_text(edition.applies_to, validity_data(validity), t), t)


def entry_form(entry: ApiEntry, t: Translate) -> str:
    """Return the reading form of an entry from the API, with a note if the other edition is newer."""
    notes = [t("entry.stale")] if entry.stale else []
    notes.append(applies_to_text(entry.applies_to, entry.model_dump(), t))
    return _reading_form(entry, "\n\n".join(filter(None, notes)), t)


def _reading_form(edition: Edition | ApiEntry, notes: str, t: Translate) -> str:
    sources = []
    for source in edition.source:
        note = t("list.parenthesis", text=source.stated_license) if source.stated_license else ""
        sources.append(f"- [{source.title}]({source.url}){note}")
    parts = [f"# {edition.title}", notes, edition.markdown.strip()]
    parts += [f"## {t('entry.source')}", "\n".join(sources)] if sources else []
    return "\n\n".join(filter(None, parts)) + "\n"
