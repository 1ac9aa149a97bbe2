"""The language of a command's output. Separate from `running`, because listing commands must not import languages."""

import os
from collections.abc import Callable
from typing import Any

import click

from jieda.entry import Language


def lang_option(default: str, of: str = "answer") -> Callable[[Any], Any]:
    """Create the option `--lang`; `default` names whose language is the default, `of` what the option applies to. It is
    None if the default is not the terminal's and none is given."""

    def parse(_context: click.Context, _option: click.Parameter, given: str | None) -> Language | None:
        if given:
            return Language(given)
        return terminal_language() if default == "terminal" else None

    return click.option(
        "--lang",
        callback=parse,
        type=click.Choice([lang.value for lang in Language]),
        help=f"Language of the {of}; by default the {default}'s.",
    )


def terminal_language() -> Language:
    """Return Chinese where the environment says so, otherwise English."""
    told = next(filter(None, (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return Language.ZH if told.lower().startswith("zh") else Language.EN
