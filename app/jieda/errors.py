"""All exceptions that Jieda raises on purpose and a surface may see."""

import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path


class JiedaError(Exception):
    """Base of all; `str(error)` may be shown to the operator."""


class SettingsError(JiedaError):
    """One or more settings are wrong. `problems` holds a sentence for each."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class ContentError(JiedaError):
    """A required content file is broken. Its text is `path:line: message`."""

    def __init__(self, path: Path, line: int, message: str) -> None:
        super().__init__(f"{path}:{line}: {message}")
        self.path = path
        self.line = line
        self.message = message


class AuthoringError(JiedaError):
    """A content file cannot be written or stamped as requested; nothing was changed."""


class ImportingError(JiedaError):
    """A page cannot be read, or cannot be imported as requested; nothing was written."""


class GitError(JiedaError):
    """The `git` command is missing or failed; the message includes its output."""


class RemoteError(JiedaError):
    """A server did not answer, or not as Jieda does. `status` is the HTTP status, 0 without an answer."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class RemoteRefusal(RemoteError):
    """A remote Jieda refused a request; the message has its reasons."""


class IndexUnreadable(JiedaError):
    """An index on disk cannot be read in full: rebuild it."""


class RequestError(JiedaError):
    """The request of a client cannot be answered; `status` is the HTTP status. `key` names the message in
    `app/jieda/locales/*.json`, which `args` fill; whatever answers the client translates it."""

    status = 400
    key = "problem.bad_request"
    retry_after = 0
    """Seconds after which a retry makes sense; 0 if it does not."""

    def __init__(self, **args: str | int) -> None:
        super().__init__(f"{self.key} {args}" if args else self.key)
        self.arguments = args


class UnknownEntry(RequestError):
    """No entry with this id is served."""

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
    """A value is not a program with a version. Arguments: `field` and `value`."""

    status = 422
    key = "problem.bad_version"


class TooLarge(RequestError):
    """A body is larger than the limit. Argument: `limit`, in bytes; shown in the largest unit that fits."""

    status = 413
    key = "problem.too_large"

    def __init__(self, limit: int) -> None:
        size, unit = next((size, unit) for size, unit in UNITS if limit >= size or size == 1)
        super().__init__(limit=f"{limit / size:.4g} {unit}")


UNITS = ((1 << 20, "MiB"), (1 << 10, "KiB"), (1, "bytes"))


class TooBusy(RequestError):
    """The server has more work than it can finish in a reasonable time."""

    status = 503
    key = "problem.busy"
    retry_after = 5


class ClusterUnavailable(RequestError):
    """The search cluster does not answer, or not in full. `reason` contains no address: anybody may read it."""

    status = 503
    key = "problem.search_unavailable"
    retry_after = 5

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason

    def __str__(self) -> str:
        return f"the search cluster: {self.reason}"


def frames_of(error: BaseException) -> str:
    """Return types and frames of an exception and its causes, without messages, which may quote pasted text."""
    return "\n".join(
        f"{type(link).__module__}.{type(link).__qualname__}\n{''.join(traceback.format_tb(link.__traceback__))}"
        for link in _chain(error)
    )


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
