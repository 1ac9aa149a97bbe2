"""A diagnosis in the formats of CI servers, and as a summary like that of a test report."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from jieda.locales.translations import Translate
from jieda.presentation import schemas
from jieda.presentation.diagnosis_text import error_text, one_line

Form = Callable[[schemas.ApiDiagnosis, Translate, str], str]
MOST = 3
"""Most entries or errors in the output."""
WIDTH = 80
LEVELS: Mapping[str, tuple[str, str]] = {"exact": ("error", "major"), "likely": ("error", "major")}
"""GitHub level and GitLab severity, by confidence; all others are hints."""
HINT = "notice", "info"


class Finding(NamedTuple):
    """An entry that explains the log, or an error that none explains, with its GitHub level and GitLab severity."""

    level: str
    severity: str
    line: int
    key: str
    """Identifies the finding across runs: the id of the entry, or the error."""
    title: str
    text: str


def as_summary(found: schemas.ApiDiagnosis, t: Translate, name: str) -> str:
    """Return a heading and a line per entry or error, like the end of a test report."""
    lines = [f"{each.level.upper()} {name or 'log'}:{each.line} {each.title}" for each in _findings(found, t)]
    return "\n".join([" jieda ".center(WIDTH, "="), *lines]) + "\n"


def as_github(found: schemas.ApiDiagnosis, t: Translate, name: str) -> str:
    """Return GitHub workflow commands ("Workflow commands for GitHub Actions", "Setting an error message")."""
    commands = []
    for each in _findings(found, t):
        place = {"file": name, "line": str(each.line)} if name else {}
        properties = place | {"title": each.title}
        listed = ",".join(f"{key}={_escaped(value, ':,')}" for key, value in properties.items())
        commands.append(f"::{each.level} {listed}::{_escaped(each.text)}\n")
    return "".join(commands)


def as_gitlab(found: schemas.ApiDiagnosis, t: Translate, name: str) -> str:
    """Return a GitLab Code Quality report."""
    issues = [
        {
            "description": f"{each.title}\n\n{each.text}",
            "check_name": "jieda",
            "fingerprint": hashlib.sha256(f"{name}\n{each.key}".encode()).hexdigest(),
            "severity": each.severity,
            "location": {"path": name or "-", "lines": {"begin": each.line}},
        }
        for each in _findings(found, t)
    ]
    return json.dumps(issues, ensure_ascii=False, indent=2) + "\n"


def _findings(found: schemas.ApiDiagnosis, t: Translate) -> Iterator[Finding]:
    for match in found.matches[:MOST]:
        line = match.matched[0] if match.matched else None
        confidence = f"{t(f'diagnosis.confidence.{match.confidence}')}: {match.id}"
        parts = (
            confidence,
            match.applies_to,
            one_line(line.text) if line else "",
            match.fix.strip(),
            match.url,
        )
        number = line.line if line else 1
        text = "\n".join(filter(None, parts))
        yield Finding(*LEVELS.get(match.confidence, HINT), number, match.id, match.title, text)
    for error in found.errors[:MOST] if not found.matches else ():
        message = error_text(error.type, error.message)
        yield Finding(*HINT, error.line, message, t("diagnosis.none"), one_line(message))


def _escaped(text: str, others: str = "") -> str:
    """Escape text for a workflow command; in a property, colons and commas as well."""
    for character in f"%\r\n{others}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMS: Mapping[str, Form] = {"summary": as_summary, "github": as_github, "gitlab": as_gitlab}
