"""Settings chosen on the command line."""

import os
from pathlib import Path

from jieda.settings import Settings


def content_directories(given: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the given directories, or those of the settings. Raises SettingsError."""
    return given or Settings.load(os.environ).content


def settings_of(directories: tuple[Path, ...], **given: str) -> Settings:
    """Return the settings of the environment, with these content directories if any. Raises SettingsError."""
    if directories:
        given["content"] = os.pathsep.join(str(path) for path in directories)
    return Settings.load(os.environ, **given)
