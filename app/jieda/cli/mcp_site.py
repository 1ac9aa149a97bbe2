"""The name under which `jieda mcp` introduces itself: what the local content says of itself."""

from pathlib import Path

from jieda.cli.chosen import content_directories
from jieda.content.read.gather import load_site
from jieda.site_texts import SiteTexts


def texts(directories: tuple[Path, ...]) -> SiteTexts:
    """Return them. Raises ContentError, SettingsError."""
    return load_site(content_directories(directories))
