"""The content's texts about itself, which replace the general texts of the locales."""

from collections.abc import Callable, Mapping

from jieda.entry import Language
from jieda.site_texts import SiteTexts, Words

SAID: Mapping[str, Callable[[SiteTexts], Words]] = {
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


def said_by(site: SiteTexts, lang: Language, key: str) -> str:
    """Return the content's text for a key; empty where the locales provide it."""
    say = SAID.get(key)
    return say(site).get(lang, "") if say else ""
