"""The language of a command's answer. Apart from `running`: a list of the commands needs no languages of entries."""

import os
from collections.abc import Callable
from typing import Any

import click

from jieda.entry import Language


def lang_option(default: str, of: str = "answer") -> Callable[[Any], Any]:
    """`--lang`; `default` says whose language is taken without it, `of` what it is the language of."""
    return click.option(
        "--lang",
        type=click.Choice([lang.value for lang in Language]),
        help=f"Language of the {of}; by default the {default}'s.",
    )


def terminal_language() -> Language:
    """Chinese where the environment says so, otherwise English."""
    told = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return Language.ZH if told.lower().startswith("zh") else Language.EN
