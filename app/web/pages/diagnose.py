"""The page that takes a log and answers with the entries that explain it, their fix at once."""

from dataclasses import dataclass

from markupsafe import Markup

from app.search.answers import Confidence, Diagnosis, LogError, Match
from app.web.links import rewrite
from app.web.pages.parts import EntryRow, Link, entry_row, foreign, name_of, tag_link
from app.web.pages.shell import Head, Resubmit, render_page
from app.web.pages.visit import Visit
from app.web.templating import safe

FORM = "log-form"
LINES = 6
ERRORS = 6
WIDTH = 400
"""Characters of a log line that are shown."""


@dataclass(frozen=True, slots=True)
class Paste:
    """What the form sent: a log, and the framework it is said to come from, or empty."""

    text: str
    framework: str


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of the paste that speaks for an entry."""

    number: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class MatchView:
    """An entry that explains the paste."""

    row: EntryRow
    confidence: str
    confidence_name: str
    meaning: str
    lines: tuple[LineView, ...]
    fix_title: str
    fix: Markup
    fix_lang: str


@dataclass(frozen=True, slots=True)
class ErrorLine:
    """A failure that the paste tells of."""

    text: str
    where: str


@dataclass(frozen=True, slots=True)
class FrameworkChoice:
    """An option of the framework field."""

    value: str
    name: str
    chosen: bool


@dataclass(frozen=True, slots=True)
class DiagnoseView:
    """What `diagnose.html` shows. `done`: a paste was answered; `status` says how, in words."""

    form: str
    text: str
    frameworks: tuple[FrameworkChoice, ...]
    done: bool
    empty: bool
    status: str
    matches: tuple[MatchView, ...]
    errors: tuple[ErrorLine, ...]
    guessed: Link | None
    search: str
    """A search for what was understood. Offered as a form: nothing of a paste goes into an address."""


def diagnose_page(visit: Visit, paste: Paste | None = None, diagnosis: Diagnosis | None = None) -> str:
    """The page before anything was pasted, and after; a paste of nothing has no diagnosis."""
    text, framework = (paste.text, paste.framework) if paste else ("", "")
    view = DiagnoseView(
        form=FORM,
        text=text,
        frameworks=_frameworks(visit, framework),
        done=diagnosis is not None,
        empty=paste is not None and diagnosis is None,
        status=_status(visit, diagnosis) if diagnosis else "",
        matches=tuple(_match(visit, match) for match in diagnosis.matches) if diagnosis else (),
        errors=tuple(_error(visit, error) for error in diagnosis.errors[:ERRORS]) if diagnosis else (),
        guessed=_guessed(visit, diagnosis.framework) if diagnosis else None,
        search=diagnosis.query if diagnosis and not _is_certain(diagnosis) else "",
    )
    head = Head(
        name="diagnose",
        title=" · ".join(filter(None, (view.status, visit.say("diagnose.title"), visit.say("site.name")))),
        description=visit.say("diagnose.lead"),
        here=visit.urls.diagnose,
        indexed=paste is None,
        resubmit=Resubmit(FORM, visit.urls.diagnose) if paste else None,
    )
    return render_page(visit, "diagnose.html", head, view)


def _frameworks(visit: Visit, chosen: str) -> tuple[FrameworkChoice, ...]:
    tags = visit.library.taxonomy.framework.values() if visit.library else ()
    return tuple(FrameworkChoice(tag.id, tag.name[visit.lang], tag.id == chosen) for tag in tags)


def _status(visit: Visit, diagnosis: Diagnosis) -> str:
    count = len(diagnosis.matches)
    return visit.say("diagnose.found", count=count) if count else visit.say("diagnose.unknown")


def _is_certain(diagnosis: Diagnosis) -> bool:
    return any(match.confidence is Confidence.EXACT for match in diagnosis.matches)


def _match(visit: Visit, match: Match) -> MatchView:
    answer = match.edition.answer
    word = match.confidence.value
    return MatchView(
        row=entry_row(visit, match.entry),
        confidence=word,
        confidence_name=visit.say(f"confidence.{word}"),
        meaning=visit.say(f"confidence.{word}.meaning"),
        lines=tuple(
            LineView(line.line, _cut(line.text.strip()), visit.say(f"matched.{line.reason}"))
            for line in match.matched[:LINES]
        ),
        fix_title=answer.title if answer else "",
        fix=safe(rewrite(answer.html, visit.lang, visit.urls)) if answer else Markup(""),
        fix_lang=foreign(visit, match.edition),
    )


def _error(visit: Visit, error: LogError) -> ErrorLine:
    text = f"{error.type}: {error.message}" if error.message and error.type else error.type or error.message
    where = visit.say("diagnose.line", line=error.line)
    if error.count > 1:
        where += visit.say("list.aside", text=visit.say("diagnose.times", count=error.count))
    return ErrorLine(_cut(text), where)


def _guessed(visit: Visit, framework: str) -> Link | None:
    if not framework or not visit.library or framework not in visit.library.taxonomy.framework:
        return None
    link = tag_link(visit, "framework", visit.library.taxonomy.framework[framework])
    return Link(name_of(visit, "framework", framework), link.url)


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
