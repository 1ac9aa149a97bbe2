"""An entry that explains a log or an error line, as it is shown: how sure, by which lines, and the fix at once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup, escape

from app.diagnosis.answers import Match
from app.presentation.links import rewrite
from app.web.pages.context import PageContext
from app.web.pages.headings import phrased
from app.web.pages.parts import EntryRow, entry_row, lang_attribute
from app.web.templating import safe

LINES = 6
WIDTH = 400
"""Characters of a log line that are shown."""


@dataclass(frozen=True, slots=True)
class LineView:
    """A line of the paste that speaks for an entry. `html` is its text, what tells of it marked."""

    number: int
    html: Markup
    reason: str


@dataclass(frozen=True, slots=True)
class MatchView:
    """An entry that explains the paste."""

    row: EntryRow
    title: Markup
    confidence: str
    confidence_name: str
    meaning: str
    lines: tuple[LineView, ...]
    fix_title: str
    fix: Markup
    fix_lang: str


def match_view(context: PageContext, match: Match) -> MatchView:
    """A match for the reader's language."""
    answer = match.edition.answer
    word = match.confidence.value
    return MatchView(
        row=entry_row(context, context.library.summary(match.entry.id)),
        title=phrased(context, match.edition.title, match.edition.lang),
        confidence=word,
        confidence_name=context.t(f"confidence.{word}"),
        meaning=context.t(f"confidence.{word}.meaning"),
        lines=tuple(
            LineView(
                line.line,
                _marked(line.text, match.telling.get(line.line, ())),
                context.t(f"matched.{line.reason}"),
            )
            for line in match.matched[:LINES]
        ),
        fix_title=answer.title if answer else "",
        fix=safe(rewrite(answer.html, context.lang, context.urls)) if answer else Markup(""),
        fix_lang=lang_attribute(context, match.edition.lang),
    )


def _marked(line: str, telling: Iterable[str]) -> Markup:
    """A line as it is shown, its telling parts marked; all of it where none is found any more."""
    text = shortened(line.strip())
    parts = sorted({part.strip() for part in telling if part.strip()}, key=len, reverse=True)
    pattern = "|".join(rf"(?<![^\W_]){re.escape(part)}" for part in parts)
    found = list(re.finditer(pattern, text, re.IGNORECASE)) if parts else []
    if not found:
        return Markup("<mark>{}</mark>").format(text)
    html, place = Markup(""), 0
    for each in found:
        html += escape(text[place : each.start()]) + Markup("<mark>{}</mark>").format(each[0])
        place = each.end()
    return html + escape(text[place:])


def shortened(text: str) -> str:
    """A line of a log, cut to what is shown."""
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
