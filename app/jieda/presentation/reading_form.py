"""An entry as Markdown: the content of its page, without front matter."""

from collections.abc import Callable

from jieda.content.authoring.edition_text import validity_data
from jieda.entry import Edition, Validity
from jieda.presentation.validity_text import applies_to_text


def reading_form(edition: Edition, validity: Validity, t: Callable[..., str]) -> str:
    """Return title, what the edition applies to, body and sources, as Markdown."""
    sources = [f"- [{each.title}]({each.url}){_license(each.license, t)}" for each in edition.source]
    parts = [f"# {edition.title}"]
    applies_to = applies_to_text(edition.applies_to, validity_data(validity), t)
    parts += [applies_to] if applies_to else []
    parts += [edition.markdown.strip()]
    parts += [f"## {t('entry.source')}", "\n".join(sources)] if sources else []
    return "\n\n".join(parts) + "\n"


def _license(name: str, t: Callable[..., str]) -> str:
    return t("list.parenthesis", text=name) if name else ""
