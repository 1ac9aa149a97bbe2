"""Every exception that Jieda raises on purpose and a surface may see.

    JiedaError
    ├── SettingsError       settings that cannot be served with, all of them together
    ├── ContentError        a file that has to be right is not (taxonomy, glossary, dictionary)
    ├── AuthoringError      what `jieda new` or `jieda sync` was asked for cannot be done
    ├── ImportingError      a page cannot be read, or be imported as asked
    ├── LoadingError        lines of entries, or the record of those loaded before, cannot be read
    ├── GitError            git is missing, or does not know what it was asked about
    ├── JudgedFileError     a line of a file of judged queries is none
    ├── RemoteError         a server that was asked does not answer as Jieda does
    │   └── RemoteRefusal       it does, and says why it refuses
    ├── ExtraMissing        what was asked for needs an optional extra that is not installed
    ├── IndexUnreadable     an index on disk that cannot be read: rebuild it
    └── RequestError        what a client asked for cannot be answered
        ├── UnknownEntry        404
        ├── UnknownTag          422
        ├── BadParameter        422
        ├── BadVersion          422
        ├── TooLarge            413
        ├── TooBusy             503
        └── ClusterUnavailable  503

A `RequestError` carries a message key and its arguments; the surface that answers puts it into words
of the reader's language. The HTTP status hangs on the class.
"""

import traceback
from collections.abc import Iterator, Sequence
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


class ImportingError(JiedaError):
    """A page cannot be read, or cannot be imported as asked; nothing was written."""


class LoadingError(JiedaError):
    """What `jieda load` reads cannot be read; what it wrote before that stays."""


class GitError(JiedaError):
    """The `git` command is missing, or refuses what it was asked; the message has what it says."""


class JudgedFileError(JiedaError):
    """A line of a file of judged queries isn't what it has to be. Says `path:line: message`."""


class RemoteError(JiedaError):
    """A server did not answer as Jieda does, or nobody did. `status` is the HTTP status, 0 where there was none."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class RemoteRefusal(RemoteError):
    """A Jieda elsewhere refused, as it would have here: the message has its reasons."""


class ExtraMissing(JiedaError):
    """An optional extra is not installed; the message says how to."""


class IndexUnreadable(JiedaError):
    """An index that was on disk could not be read in full."""


class RequestError(JiedaError):
    """`key` names the message in `app/jieda/locales/*.json`; `args` fill it."""

    status = 400
    key = "problem.bad_request"
    retry_after = 0
    """Seconds after which trying again makes sense; 0 where it does not."""

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


class BadVersion(RequestError):
    """What is asked for is no program with a version. Arguments: `field` and `value`."""

    status = 422
    key = "problem.bad_version"


class TooLarge(RequestError):
    """A body is larger than the limit. Argument: `limit`, in bytes; told in the unit that makes it short."""

    status = 413
    key = "problem.too_large"

    def __init__(self, limit: int) -> None:
        size, unit = next((size, unit) for size, unit in UNITS if limit >= size or size == 1)
        super().__init__(limit=f"{limit / size:.4g} {unit}")


UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))


class TooBusy(RequestError):
    """More is being worked on, for all clients together, than can be done in any decent time."""

    status = 503
    key = "problem.busy"
    retry_after = 5


class ClusterUnavailable(RequestError):
    """The search cluster does not answer, or cannot answer in full. `reason` names no address: anybody may read it."""

    status = 503
    key = "problem.search_unavailable"
    retry_after = 5

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def __str__(self) -> str:
        return f"the search cluster: {self.reason}"


def frames_of(error: BaseException) -> str:
    """Types and frames of an exception and its causes, without messages: these may quote what was pasted."""
    return "\n".join(
        f"{type(each).__module__}.{type(each).__qualname__}\n{''.join(traceback.format_tb(each.__traceback__))}"
        for each in _chain(error)
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    each: BaseException | None = error
    while each is not None and id(each) not in seen:
        seen.add(id(each))
        yield each
        each = each.__cause__ or each.__context__
