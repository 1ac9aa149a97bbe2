"""Views of a diagnosis: matching entries, or if there are none, links to other places."""

import re
from collections.abc import Iterable, Mapping

from markupsafe import Markup

from jieda.diagnosis.answers import Diagnosis, Match, MatchedLine, Near
from jieda.presentation.diagnosis_text import cut
from jieda.presentation.urls import fill_in, issue_search
from jieda.search.snippet import extend_to_name, merge_spans
from jieda.web.pages.context import PageContext
from jieda.web.pages.parts import NAME_PART, ListedEntry, PageLink, doubt_of, entry_row, phrased, with_breaks

LINES = 6
WIDTH = 400
"""Characters shown of a log line."""
MARKED = Markup("<mark>{}</mark>")
PREFIX = Markup('<span class="prefix">{}</span>')
LEAD = Markup('<span class="{}">{}</span><span class="dots" aria-hidden="true">…&#8288;</span>')
"""Text hidden before a mark; its dots are glued to the mark, so that they never stand alone in a row."""
SHORT_LEAD, LONG_LEAD = 16, 90
"""Characters before a mark that leave it in the first row of a phone, and in the first two of a wide screen."""
LONG_WORD = re.compile(r"\S{14,}")
"""What may break inside; a shorter word, such as a number with a decimal point, goes to the next row whole."""


def match_view(context: PageContext, match: Match) -> Mapping[str, object]:
    """Return an entry that explains the log, in the reader's language. `lines`: those that support the match, as HTML
    with the matching parts marked."""
    doubt = match.may_not_apply_to or doubt_of(context, match.entry)
    return {
        "row": entry_row(context, context.library.summary(match.entry.id), doubt),
        "heading": phrased(context, match.edition.title, match.edition.lang),
        "edition": match.edition,
        "confidence": match.confidence,
        "lines": [
            (line, _mark_line(line, match.highlights.get(line.line, ()))) for line in match.matched[:LINES]
        ],
    }


def tied_rows(context: PageContext, diagnosis: Diagnosis) -> list[tuple[ListedEntry, str]]:
    """Return equally good matches of several frameworks, to show until the framework is known, or nothing."""
    tied = diagnosis.matches if diagnosis.asks else ()
    return [(entry_row(context, context.library.summary(each.entry.id)), "") for each in tied]


def near_row(context: PageContext, near: Near, log_framework: str) -> tuple[ListedEntry, str]:
    """Return a similar entry with the words that it shares, or with its framework if that is not `log_framework`."""
    row = entry_row(context, context.library.summary(near.entry.id))
    if near.foreign:
        name = context.name_of("framework", log_framework)
        return row, context.t("diagnosis.foreign", entry=row.framework.text, log=name)
    words = context.t("list.join").join(near.words)
    return row, context.t("diagnose.shares", words=words) if words else ""


def _mark_line(line: MatchedLine, highlights: Iterable[str]) -> Markup:
    """Return a line as HTML with its matching parts marked, or all of it if none is found. What is hidden at first is
    wrapped: the prefixes, and whatever would push the first mark out of the two visible rows."""
    whole = cut(line.text.rstrip(), WIDTH)
    begins = len(whole) - len(whole[min(line.begins, len(whole)) :].lstrip())
    text = whole[begins:] or whole.lstrip()
    prefix = whole[: len(whole) - len(text)].lstrip()
    html = PREFIX.format(prefix) if prefix else Markup("")
    long = (word.span() for word in LONG_WORD.finditer(text))
    breaks = {part.start() for start, end in long for part in NAME_PART.finditer(text, start + 1, end)}
    spans = merge_spans(_matching_spans(text, highlights))
    if not spans:
        return html + MARKED.format(with_breaks(text, 0, len(text), breaks))
    position, lead = 0, spans[0][0]
    if lead > SHORT_LEAD:
        html += LEAD.format("lead far" if lead > LONG_LEAD else "lead", with_breaks(text, 0, lead, breaks))
        position = lead
    for start, end in spans:
        html += with_breaks(text, position, start, breaks)
        html += MARKED.format(with_breaks(text, start, end, breaks))
        position = end
    return html + with_breaks(text, position, len(text), breaks)


def _matching_spans(text: str, highlights: Iterable[str]) -> list[tuple[int, int]]:
    """Return where a text has one of `highlights`, at the start of words if possible, extended to whole names."""
    parts = sorted({part.strip() for part in highlights if part.strip()}, key=len, reverse=True)
    pattern = "|".join(map(re.escape, parts)) or "(?!)"
    for start in (r"(?<![^\W_])", ""):
        if matches := list(re.finditer(f"{start}(?:{pattern})", text, re.IGNORECASE)):
            return [_whole_name(text, *match.span()) for match in matches]
    return []


def _whole_name(text: str, start: int, end: int) -> tuple[int, int]:
    """Extend a match to the name around it, but not by a beginning that would fill the visible rows."""
    first, last = extend_to_name(text, start, end)
    return first if start - first <= SHORT_LEAD else start, last


MOST_WORDS = 8
MOST_PROJECTS = 4
"""Most projects offered if the framework is unknown."""


def external_links_for_log(context: PageContext, diagnosis: Diagnosis) -> tuple[PageLink, ...]:
    """Return the links for a log that no entry explains. An address contains only the type of its root error, and words
    from a dictionary or an entry."""
    failure = diagnosis.root
    kind = failure.type if failure else ""
    words = context.served.searcher.known_words(failure.message if failure else diagnosis.query)[:MOST_WORDS]
    return external_links(context, " ".join(filter(None, (kind, *words))), diagnosis.framework, kind)


def external_links(
    context: PageContext, words: str, framework: str = "", failure: str = ""
) -> tuple[PageLink, ...]:
    """Return links to places that may answer what no entry does, by words to search for and, if known, the framework
    and error type. A project with an unknown issue tracker, or a missing setting, yields no link."""
    settings, t = context.site.settings, context.t
    tags = context.library.taxonomy.framework
    name = context.name_of("framework", framework) if framework in tags else ""
    repositories = [tags[framework]] if name else list(tags.values())[:MOST_PROJECTS]
    links = [
        PageLink(t("exit.upstream", name=tag.name[context.lang]), issue_search(tag.repository, words))
        for tag in repositories
        if words
    ]
    links.append(PageLink(t("exit.help"), fill_in(settings.help_url, query=words)))
    title = t("exit.missing_title", what=failure or words[:80] or t("exit.missing_what"))
    body = t(
        "exit.missing_body", failure=failure or "–", framework=name or "–", generation=context.generation
    )
    links.append(PageLink(t("exit.missing"), fill_in(settings.issue_url, title=title, body=body)))
    return tuple(link for link in links if link.url)
