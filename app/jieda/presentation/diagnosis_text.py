"""A diagnosis as text for terminals, the same from `curl` and from `jieda diagnose`; as Markdown for issues and chats;
as a table of the evidence; in the formats of CI servers; and as a summary like that of a test report."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from jieda.content.authoring.edition_text import code_block
from jieda.diagnosis.answers import Diagnosis, Match, Near, Verdict
from jieda.locales.translations import Translate
from jieda.log.window import LineRange
from jieda.presentation import schemas
from jieda.presentation.urls import link_pages

CONFIDENCE_HEADER = "Jieda-Confidence"
"""Header with the confidence of the best match, or `none`, for scripts that print the text without parsing it."""

MAX_MATCHED = 3
"""Lines of the log shown per match."""
MAX_LINE = 160
"""Characters shown of such a line."""


def as_text(diagnosis: Diagnosis, t: Translate, address: Callable[[str], str]) -> str:
    """Return the diagnosis in the language of `t`, ending in a line break.

    `address` returns the address of an entry's page by its id, or an empty string.
    """
    blocks = _TextWriter(t, address).blocks(diagnosis)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def read_ranges(parts: Iterable[LineRange], t: Translate) -> str:
    """List the lines of a long log that were read; empty if all were."""
    return t("list.join").join(_range_text(part, t) for part in parts)


def _range_text(part: LineRange, t: Translate) -> str:
    lines = f"{part.first:,}–{part.last:,}" if part.first < part.last else f"{part.first:,}"
    return t("diagnosis.lines_in_part", lines=lines) if part.in_part else lines


@dataclass(frozen=True, slots=True)
class _TextWriter:
    """Writes the blocks of a text, each as lines."""

    t: Translate
    address: Callable[[str], str]

    def blocks(self, diagnosis: Diagnosis) -> Iterator[Iterable[str]]:
        if diagnosis.parts:
            yield [self.t("diagnosis.read_lines", lines=read_ranges(diagnosis.parts, self.t))]
        if not diagnosis.matches:
            yield self._nothing(diagnosis)
        elif diagnosis.verdict is Verdict.POSSIBLE:
            yield [self._introduction(diagnosis)]
        for number, match in enumerate(diagnosis.matches, 1):
            yield self._match(number, match, fixed=not diagnosis.asks)

    def _introduction(self, diagnosis: Diagnosis) -> str:
        """Introduce possible matches, or ask which framework is meant."""
        if not diagnosis.asks:
            return self.t("diagnosis.verdict.possible")
        names = self.t("list.join").join(diagnosis.asks)
        question = self.t("diagnosis.ask_framework", names=names)
        return f"{self.t('diagnosis.ask')}  {question}"

    def _match(self, number: int, match: Match, *, fixed: bool) -> Iterator[str]:
        t, edition = self.t, match.edition
        yield f"{number}. {edition.title}  [{t(f'diagnosis.confidence.{match.confidence}')}]"
        if edition.applies_to:
            yield f"   {t('diagnosis.applies_to', text=edition.applies_to)}"
        if match.may_not_apply_to:
            yield f"   {t('diagnosis.may_not_apply', version=one_line(match.may_not_apply_to))}"
        for matched in match.matched[:MAX_MATCHED]:
            yield self._line(matched.line, one_line(matched.text))
        if edition.answer and fixed:
            yield ""
            yield from (f"   {line}".rstrip() for line in edition.answer.markdown.strip().splitlines())
        yield ""
        yield f"   {match.entry.id}  {self.address(match.entry.id)}".rstrip()

    def _nothing(self, diagnosis: Diagnosis) -> Iterator[str]:
        t, clean = self.t, diagnosis.verdict is Verdict.NO_ERROR
        yield t(f"diagnosis.verdict.{Verdict.NO_ERROR if clean else Verdict.UNKNOWN}")
        for error in diagnosis.errors[:MAX_MATCHED]:
            times = f"  ×{error.count}" if error.count > 1 else ""
            yield self._line(error.line, one_line(error_text(error.type, error.message)) + times)
        if elsewhere := elsewhere_text(diagnosis, t):
            yield elsewhere
        if diagnosis.near:
            yield (t("diagnose.similar" if clean else "diagnose.nearest") + t("list.colon")).rstrip()
            for near in diagnosis.near:
                shares = describe_near(near, diagnosis.framework, t)
                about = "  ".join(filter(None, (near.entry.id, near.edition.applies_to, shares)))
                yield f"   {near.edition.title}  {about}"
        if diagnosis.query:
            # Words instead of a link: nothing of a pasted log goes into an address.
            words = " ".join(dict.fromkeys(diagnosis.query.split()))
            yield t("diagnosis.search_instead", query=one_line(words))

    def _line(self, number: int, text: str) -> str:
        return f"   {self.t('diagnosis.line', line=str(number))}  {text}"


def error_text(kind: str, message: str) -> str:
    """Return an error in one line, without `kind` if the message starts with it: `[ERROR] …`."""
    if not message:
        return kind
    return message if re.match(rf"\W*{re.escape(kind)}\b", message, re.IGNORECASE) else f"{kind}: {message}"


def elsewhere_text(diagnosis: Diagnosis, t: Translate) -> str:
    """Say that the cause is in the log of another process, and where; empty if it is not known to be elsewhere."""
    if diagnosis.elsewhere is None:
        return ""
    names = one_line(t("list.join").join(diagnosis.elsewhere.places))
    places = t("list.parenthesis", text=names) if names else ""
    return str(t("diagnosis.elsewhere", places=places, advice=diagnosis.elsewhere.advice)).strip()


def describe_near(near: Near, framework: str, t: Translate) -> str:
    """Describe what a similar entry has in common with a log of `framework`; empty if there is nothing."""
    if near.foreign:
        return str(t("diagnosis.foreign", entry=near.entry.framework, log=framework))
    return str(t("diagnosis.shares", words=one_line(t("list.join").join(near.words)))) if near.words else ""


def one_line(text: str) -> str:
    """Return a text in one line of at most `MAX_LINE` characters, without control characters."""
    return cut("".join(char if char.isprintable() else " " for char in text).strip(), MAX_LINE)


def cut(text: str, most: int) -> str:
    """Shorten a text to at most `most` characters, the last of which is then an ellipsis."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def as_markdown(diagnosis: Diagnosis, t: Translate, address: Callable[[str], str]) -> str:
    """Return the best match; empty if there is none, or several fit equally. `address`: as for `as_text`."""
    if not diagnosis.matches or diagnosis.asks:
        return ""
    match = diagnosis.matches[0]
    title = re.sub(r"([\[\]])", r"\\\1", match.edition.title)
    parts = [f"**{t(f'confidence.{match.confidence}')}** · [{title}]({address(match.entry.id)})"]
    if match.matched:
        parts.append(code_block("\n".join(line.text.strip() for line in match.matched)))
    if match.edition.answer:
        fix = link_pages(match.edition.answer.markdown.strip(), match.entry.id, address)
        parts.append(f"**{match.edition.answer.title}**\n\n{fix}")
    return "\n\n".join(parts) + "\n"


def as_evidence(diagnosis: Diagnosis, t: Translate) -> str:
    """Return a table for each match and each similar entry, ending in a line break."""
    verdict = t(f"diagnosis.verdict.{diagnosis.verdict}")
    answers: list[Match | Near] = [*diagnosis.matches, *diagnosis.near]
    blocks = [verdict, *("\n".join(_table(answer, t)) for answer in answers)]
    return "\n\n".join(blocks) + "\n"


def _table(answer: Match | Near, t: Translate) -> Iterator[str]:
    key = f"diagnosis.confidence.{answer.confidence}" if isinstance(answer, Match) else "diagnosis.near"
    yield f"{answer.score:+7.2f}  {answer.entry.id}  [{t(key)}]"
    for evidence in answer.evidence:
        parts = t(f"diagnosis.evidence.{evidence.kind}"), one_line(evidence.detail)
        yield f"  {evidence.log_odds:+7.2f}  {': '.join(filter(None, parts))}"


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
        yield Finding(*HINT, error.line, message, t("diagnosis.verdict.unknown"), one_line(message))


def _escaped(text: str, others: str = "") -> str:
    """Escape text for a workflow command; in a property, colons and commas as well."""
    for character in f"%\r\n{others}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


def as_json(found: schemas.ApiDiagnosis, _t: Translate, _name: str) -> str:
    """Return the JSON of the REST API."""
    return found.model_dump_json(indent=2)


FORMS: Mapping[str, Form] = {"json": as_json, "summary": as_summary, "github": as_github, "gitlab": as_gitlab}
