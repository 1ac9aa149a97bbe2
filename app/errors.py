"""Every exception that Jieda raises on purpose and a surface may see.

    JiedaError
    ├── SettingsError       settings that cannot be served with, all of them together
    ├── ContentError        a file that has to be right is not (taxonomy, glossary, dictionary)
    ├── AuthoringError      what `jieda new` or `jieda sync` was asked for cannot be done
    ├── JudgedFileError     a line of a file of judged queries is none
    ├── IndexUnreadable     an index on disk that cannot be read: rebuild it
    └── RequestError        what a client asked for cannot be answered
        ├── UnknownEntry        404
        ├── UnknownTag          422
        ├── BadParameter        422
        └── TooLarge            413

A `RequestError` carries a message key and its arguments; the surface that answers puts it into words
of the reader's language. The HTTP status hangs on the class.
"""

from collections.abc import Sequence
from pathlib import Path


class JiedaError(Exception):
    """Base of all; `str(error)` is fit to be shown to the operator."""


class SettingsError(JiedaError):
    """One or more settings are wrong. `problems` holds a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class ContentError(JiedaError):
    """A file without which nothing can be served is broken. Says `path:line: message`."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


class AuthoringError(JiedaError):
    """A content file cannot be written or stamped as asked; nothing was changed."""


class JudgedFileError(JiedaError):
    """A line of a file of judged queries isn't what it has to be. Says `path:line: message`."""


class IndexUnreadable(JiedaError):
    """An index that was on disk could not be read in full."""


class RequestError(JiedaError):
    """`key` names the message in `app/web/locales/*.json`; `args` fill it."""

    status = 400
    key = "problem.bad_request"

    def __init__(self, **args: str | int) -> None:
        super().__init__(f"{self.key} {args}" if args else self.key)
        self.arguments = args


class UnknownEntry(RequestError):
    """No edition of such an id is served."""

    status = 404
    key = "problem.unknown_entry"


class UnknownTag(RequestError):
    """A filter or an address names a tag that the taxonomy lacks."""

    status = 422
    key = "problem.unknown_tag"


class BadParameter(RequestError):
    """A parameter's value is out of its range or form."""

    status = 422
    key = "problem.bad_parameter"


class TooLarge(RequestError):
    """A body is larger than the limit. Argument: `limit`, in bytes."""

    status = 413
    key = "problem.too_large"
