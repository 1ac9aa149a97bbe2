"""Views of a diagnosis: matching entries, and links to other places where none matches."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from markupsafe import Markup

from jieda.diagnosis.answers import Confidence, Diagnosis, Match, MatchedLine, Near
from jieda.entry import Edition
from jieda.presentation.diagnosis_text import cut
from jieda.presentation.urls import fill_in, issue_search
from jieda.search.snippet import extend_to_name, merge_spans
from jieda.web.pages.context import PageContext
from jieda.web.pages.parts import ListedEntry, PageLink, broken, doubt_of, entry_row, phrased

LINES = 6
WIDTH = 400
"""Characters shown of a log line."""
MARKED = Markup("<mark>{}</mark>")
PREFIX = Markup('<span class="prefix">{}</span>')
LEAD = Markup('<span class="{}">{}</span><span class="dots" aria-hidden="true">…&#8288;</span>')
"""Text left out before a mark; its dots are glued to the mark, so that they never stand alone in a row."""
SHORT_LEAD, LONG_LEAD = 16, 90
"""Characters before a mark that keep it in the first row on a phone, and in the first two on a wide screen."""
LONG_WORD = re.compile(r"\S{14,}")
WORD_PART = re.compile(
    r"(?<=[^\W_][._/=:,(\[])(?!(?<=_)_)(?=[^\W\d])|(?<=[a-z])(?=[A-Z])|(?<![a-z\d]{17})(?<=[a-z\d]{16})(?=\w{4})",
    re.ASCII,
)
"""Start of a part of a long word; a word without parts may break once, and the style sheet breaks its rest."""


@dataclass(frozen=True, slots=True)
class MatchView:
    """An entry that explains the log. `lines`: those that support the match, as HTML with the matching parts marked."""

    row: ListedEntry
    title: Markup
    edition: Edition
    confidence: Confidence
    lines: tuple[tuple[MatchedLine, Markup], ...]


def match_view(context: PageContext, match: Match) -> MatchView:
    """Return the view of a match in the reader's language."""
    doubt = match.may_not_apply_to or doubt_of(context, match.entry)
    return MatchView(
        row=entry_row(context, context.library.summary(match.entry.id), doubt),
        title=phrased(context, match.edition.title, match.edition.lang),
        edition=match.edition,
        confidence=match.confidence,
        lines=tuple(
            (line, _mark_line(line, match.highlights.get(line.line, ()))) for line in match.matched[:LINES]
        ),
    )


def tied_rows(context: PageContext, diagnosis: Diagnosis) -> list[ListedEntry]:
    """Return equally good matches of several frameworks, to show until the framework is known; none where it is."""
    tied = diagnosis.matches if diagnosis.asks else ()
    return [entry_row(context, context.library.summary(each.entry.id)) for each in tied]


def near_row(context: PageContext, near: Near, log: str) -> tuple[ListedEntry, str]:
    """Return a similar entry with the words it shares, or its framework where that of the log, `log`, is another."""
    row = entry_row(context, context.library.summary(near.entry.id))
    if near.foreign:
        name = context.name_of("framework", log)
        return row, context.t("diagnosis.foreign", entry=row.framework.text, log=name)
    words = context.t("list.join").join(near.words)
    return row, context.t("diagnose.shares", words=words) if words else ""


def _mark_line(line: MatchedLine, highlights: Iterable[str]) -> Markup:
    """Return a line as HTML with its matching parts marked; the whole line where none is found. Parts hidden at first
    are wrapped: the prefixes, and whatever would push the first mark out of the two visible rows."""
    whole = cut(line.text.rstrip(), WIDTH)
    begins = len(whole) - len(whole[min(line.begins, len(whole)) :].lstrip())
    text = whole[begins:] or whole.lstrip()
    prefix = whole[: len(whole) - len(text)].lstrip()
    html = PREFIX.format(prefix) if prefix else Markup("")
    parts = sorted({part.strip() for part in highlights if part.strip()}, key=len, reverse=True)
    pattern = "|".join(map(re.escape, parts)) or "(?!)"
    # A match that begins inside a word is extended to the word.
    tries = (re.finditer(start + f"(?:{pattern})", text, re.IGNORECASE) for start in (r"(?<![^\W_])", ""))
    spans = next(filter(None, ([_whole_name(text, *each.span()) for each in found] for found in tries)), [])
    breaks = set(_breaks(text))
    if not spans:
        return html + MARKED.format(broken(text, 0, len(text), breaks))
    found = merge_spans(spans)
    place, lead = 0, found[0][0]
    if lead > SHORT_LEAD:
        html += LEAD.format("lead far" if lead > LONG_LEAD else "lead", broken(text, 0, lead, breaks))
        place = lead
    for start, end in found:
        html += broken(text, place, start, breaks) + MARKED.format(broken(text, start, end, breaks))
        place = end
    return html + broken(text, place, len(text), breaks)


def _whole_name(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a match to the name around it, except for a beginning long enough to fill the visible rows."""
    first, last = extend_to_name(text, start, end)
    return first if start - first <= SHORT_LEAD else start, last


def _breaks(text: str) -> Iterator[int]:
    """Yield positions for line breaks inside long words, which could otherwise leave the previous row empty."""
    for word in LONG_WORD.finditer(text):
        yield from (part.start() for part in WORD_PART.finditer(text, word.start() + 1, word.end()))


MOST_WORDS = 8
MOST_PROJECTS = 4
"""Most projects offered where the framework is unknown."""


def external_links_for_log(context: PageContext, diagnosis: Diagnosis) -> tuple[PageLink, ...]:
    """Return the links for a log that no entry explains. Only the type of its root error and words known from a
    dictionary or an entry get into an address."""
    failure = diagnosis.root
    kind = failure.type if failure else ""
    words = context.served.searcher.known_words(failure.message if failure else diagnosis.query)[:MOST_WORDS]
    return external_links(context, " ".join(filter(None, (kind, *words))), diagnosis.framework, kind)


def external_links(
    context: PageContext, words: str, framework: str = "", failure: str = ""
) -> tuple[PageLink, ...]:
    """Return links to places that may answer what no entry does: for `words` to search, and the framework and error
    type if known. A project with an unknown issue tracker or a missing setting yields none."""
    settings, t = context.site.settings, context.t
    tags = context.library.taxonomy.framework
    name = context.name_of("framework", framework) if framework in tags else ""
    repositories = [tags[framework]] if name else list(tags.values())[:MOST_PROJECTS]
    found = [
        PageLink(t("exit.upstream", name=tag.name[context.lang]), issue_search(tag.repository, words))
        for tag in repositories
        if words
    ]
    found.append(PageLink(t("exit.help"), fill_in(settings.help_url, query=words)))
    title = t("exit.missing_title", what=failure or words[:80] or t("exit.missing_what"))
    body = t(
        "exit.missing_body", failure=failure or "–", framework=name or "–", generation=context.generation
    )
    found.append(PageLink(t("exit.missing"), fill_in(settings.issue_url, title=title, body=body)))
    return tuple(link for link in found if link.url)
