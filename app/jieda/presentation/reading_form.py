"""An entry as Markdown to read: what a page shows of it, without what its authors keep in front matter."""

from collections.abc import Callable

from jieda.entry import Edition


def reading_form(edition: Edition, t: Callable[..., str]) -> str:
    """Return title, what the edition applies to, body and sources, as Markdown."""
    sources = [f"- [{each.title}]({each.url}){_license(each.license, t)}" for each in edition.source]
    parts = [f"# {edition.title}"]
    parts += [t("diagnosis.applies_to", text=edition.applies_to)] if edition.applies_to else []
    parts += [edition.markdown.strip()]
    parts += [f"## {t('entry.source')}", "\n".join(sources)] if sources else []
    return "\n\n".join(parts) + "\n"


def _license(name: str, t: Callable[..., str]) -> str:
    return t("list.parenthesis", text=name) if name else ""
