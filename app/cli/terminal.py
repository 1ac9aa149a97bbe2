"""What the terminal that a command runs in tells about the person in front of it."""

import os

from app.entry import Language


def terminal_language() -> Language:
    """Chinese where the environment says so, otherwise English."""
    told = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return Language.ZH if told.lower().startswith("zh") else Language.EN
