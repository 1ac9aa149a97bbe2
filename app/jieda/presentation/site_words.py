"""The content's texts about itself, which replace the general texts of the locales."""

from collections.abc import Callable, Mapping

from jieda.entry import Language
from jieda.site_texts import SiteTexts, Words

CONTENT_TEXTS: Mapping[str, Callable[[SiteTexts], Words]] = {
    "site.name": lambda site: site.name,
    "site.tagline": lambda site: site.tagline,
    "opensearch.name": lambda site: site.short or site.name,
    "opensearch.description": lambda site: site.tagline,
    "feed.subtitle": lambda site: site.tagline,
    "home.lead": lambda site: site.lead,
    "llms.summary": lambda site: site.summary,
    "diagnose.placeholder": lambda site: site.paste,
}
"""By message key."""


def content_text(site: SiteTexts, lang: Language, key: str) -> str:
    """Return the content's text for a key; empty where the locales provide it."""
    text_of = CONTENT_TEXTS.get(key)
    return text_of(site).get(lang, "") if text_of else ""
