"""The site texts of the local content, from which `jieda mcp` takes its name."""

from pathlib import Path

from jieda.cli.chosen import content_directories
from jieda.content.read.gather import load_site
from jieda.site_texts import SiteTexts


def texts(directories: tuple[Path, ...]) -> SiteTexts:
    """Return the site texts. Raises ContentError, SettingsError."""
    return load_site(content_directories(directories))
