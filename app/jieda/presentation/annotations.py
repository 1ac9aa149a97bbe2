"""A diagnosis in the formats of CI servers, and as a short summary at the end of a report."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping

from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import error_text, printable

Form = Callable[[schemas.ApiDiagnosis, Callable[..., str], str], str]
MOST = 3
"""Most entries or errors in the output."""
WIDTH = 80
LEVELS: Mapping[str, tuple[str, str]] = {"exact": ("error", "major"), "likely": ("error", "major")}
"""By confidence: level on GitHub and severity on GitLab; all others are hints."""
HINT = "notice", "info"


def as_summary(found: schemas.ApiDiagnosis, t: Callable[..., str], name: str) -> str:
    """Return a heading and a line per entry or error, like the end of a test report."""
    lines = [
        f"{level.upper()} {name or 'log'}:{line} {title}" for level, _, line, title, _ in _findings(found, t)
    ]
    return "\n".join([" jieda ".center(WIDTH, "="), *lines]) + "\n"


def as_github(found: schemas.ApiDiagnosis, t: Callable[..., str], name: str) -> str:
    """Return GitHub workflow commands (Workflow commands for GitHub Actions, "Setting an error message")."""
    lines = []
    for level, _, line, title, text in _findings(found, t):
        place = {"file": name, "line": str(line)} if name else {}
        properties = ",".join(
            f"{key}={_escaped(value, ':,')}" for key, value in {**place, "title": title}.items()
        )
        lines.append(f"::{level} {properties}::{_escaped(text)}\n")
    return "".join(lines)


def as_gitlab(found: schemas.ApiDiagnosis, t: Callable[..., str], name: str) -> str:
    """Return a GitLab Code Quality report."""
    issues = [
        {
            "description": f"{title}\n\n{text}",
            "check_name": "jieda",
            "fingerprint": hashlib.sha256(f"{name}\n{title}".encode()).hexdigest(),
            "severity": severity,
            "location": {"path": name or "-", "lines": {"begin": line}},
        }
        for _, severity, line, title, text in _findings(found, t)
    ]
    return json.dumps(issues, ensure_ascii=False, indent=2) + "\n"


def _findings(found: schemas.ApiDiagnosis, t: Callable[..., str]) -> Iterator[tuple[str, str, int, str, str]]:
    """Yield level, severity, log line, title and text of each entry that explains the log, or else of each error."""
    for match in found.matches[:MOST]:
        line = match.matched[0] if match.matched else None
        said = [f"{t(f'diagnosis.confidence.{match.confidence}')}: {match.id}", match.applies_to]
        said += [printable(line.text)] if line else []
        text = "\n".join(filter(None, [*said, "", match.fix.strip(), "", match.url]))
        yield *LEVELS.get(match.confidence, HINT), line.line if line else 1, match.title, text
    for error in found.errors[:MOST] if not found.matches else ():
        yield *HINT, error.line, t("diagnosis.none"), error_text(error.type, error.message)


def _escaped(text: str, others: str = "") -> str:
    """Escape text for a workflow command; in a property, colons and commas as well."""
    for character in f"%\r\n{others}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMS: Mapping[str, Form] = {"summary": as_summary, "github": as_github, "gitlab": as_gitlab}
