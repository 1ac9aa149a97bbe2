"""The page of an entry: the symptom, the fix, the rest and the sources; and votes on whether it helped, and why not."""

from collections.abc import Sequence
from functools import partial
from operator import itemgetter
from pathlib import Path
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from jieda.content.authoring.edition_text import validity_data
from jieda.content.catalog import without_framework
from jieda.content.read.history import Change
from jieda.entry import Edition, Entry, Heading, Language, Section
from jieda.feedback import TriedOutcome
from jieda.presentation.entry_text import reading_form, validity_texts
from jieda.presentation.urls import fill_in, linked_entries
from jieda.settings import Settings
from jieda.usecases.entries import ReadEntry, read, report
from jieda.usecases.gaps.recorder import NOBODY, EntryRead
from jieda.web.http.files import send_file
from jieda.web.http.respond import UNCACHED, Body, Resource, cookies_of, preferred_media_type, respond
from jieda.web.pages.context import (
    FORM_LIMIT,
    HTML,
    MARKDOWN,
    PageContext,
    context_of,
    is_switched_on,
    page_answer,
    read_form,
    set_cookie,
)
from jieda.web.pages.layout import Head, render_page
from jieda.web.pages.parts import PageLink, crumb_data, entry_row, phrased, tag_link
from jieda.web.site import asker_of

ANSWERS = frozenset({"fix", "answer", "steps"})
"""Sections highlighted as the answer."""
SHORT = 10
"""Longest symptom, in lines of 80 characters, that leaves the fix on the first screen."""
LONG = 4
"""Number of headings from which a page has a table of contents beside it."""
VERY_LONG = 8
"""Number of headings from which it is also shown above the article, where there is no room beside it."""


def entry_page(
    context: PageContext, read: ReadEntry, changes: Sequence[Change] = (), *, voted: str = ""
) -> str:
    """Render an entry in the reader's language, or in the other one if that edition is missing."""
    entry, edition = read.entry, read.entry.edition(context.lang)
    first = f'<h2 id="{edition.sections[0].key}"' if edition.sections else "\0"
    home = PageLink(context.t("nav.home"), context.urls.home(context.lang))
    crumbs = (home, tag_link(context, "framework", entry.framework))
    linked = linked_entries("".join(section.html for section in edition.sections))
    return render_page(
        context,
        _head(context, entry, edition, crumbs),
        entry=entry,
        edition=edition,
        crumbs=crumbs,
        title=phrased(context, edition.title, edition.lang),
        # The framework is in the breadcrumbs.
        tags=[tag_link(context, "topic", each) for each in entry.topics]
        + [tag_link(context, "error_type", each) for each in entry.error_types],
        # Left out if it only repeats the framework.
        applies_to=edition.applies_to if without_framework(crumbs[-1].text, edition.applies_to) else "",
        validity=context.t("list.semicolon").join(validity_texts(validity_data(entry.validity), context.t)),
        intro=edition.html.partition(first)[0],
        sections=fix_early(edition.sections),
        answers=ANSWERS,
        toc=_toc(edition),
        very_long=VERY_LONG,
        edit=edit_address(context.site.settings, entry.id, edition.lang, edition.path),
        report=_report_address(context, entry, edition),
        voted=voted,
        reasons=REASONS,
        related=[entry_row(context, other) for other in read.related if other.id not in linked],
        history=changes,
    )


def _head(context: PageContext, entry: Entry, edition: Edition, crumbs: tuple[PageLink, ...]) -> Head:
    this_page = PageLink(edition.title, context.urls.entry(context.lang, entry.id))
    described = (edition.section("symptom"), edition.answer)
    return Head(
        name="entry",
        title=edition.title,
        description=" ".join(section.text for section in described if section) or edition.title,
        here=lambda lang: context.urls.entry(lang, entry.id),
        languages=frozenset(entry.editions),
        kind="article",
        data=(_article_data(context, entry, edition), crumb_data(context, (*crumbs, this_page))),
        canonical_lang=edition.lang,
    )


def fix_early(sections: tuple[Section, ...]) -> tuple[Section, ...]:
    """Return `sections` with the fix on the first screen: after a short symptom, before a long one.

    Readers need the fix before the cause, and a long symptom is a traceback that they have just seen.
    """
    symptom = next((section.text for section in sections if section.key == "symptom"), "")
    is_short = symptom.count("\n") + len(symptom) // 80 <= SHORT
    order = {"symptom": 0, "fix": 1} if is_short else {"fix": 0, "symptom": 1}
    return tuple(sorted(sections, key=lambda section: order.get(section.key, 2)))


def _toc(edition: Edition) -> tuple[Heading, ...]:
    places = {section.key: place for place, section in enumerate(fix_early(edition.sections))}
    placed, key = [], ""
    for heading in edition.headings:
        key = heading.anchor if heading.anchor in places else key
        if heading.level <= 3 and heading.text:
            placed.append((places.get(key, -1), heading))
    items = tuple(heading for _, heading in sorted(placed, key=itemgetter(0)))
    return items if len(items) >= LONG else ()


def edit_address(settings: Settings, entry_id: str, lang: Language, path: Path) -> str:
    """Return the address that edits the file of an edition; empty if none is configured for its directory."""
    relative_path = quote(f"{lang}/{entry_id}.md")
    for directory, address in zip(reversed(settings.content), reversed(settings.edit_url), strict=False):
        if path.is_relative_to(directory.resolve()):
            return address.replace("{path}", relative_path)
    return ""


def _report_address(context: PageContext, entry: Entry, edition: Edition) -> str:
    address = context.urls.external.entry(edition.lang, entry.id)
    body = context.t(
        "report.body", address=address, edition=edition.lang.value, generation=context.generation
    )
    title = context.t("report.title", title=edition.title)
    return fill_in(context.site.settings.issue_url, title=title, body=body)


def _article_data(context: PageContext, entry: Entry, edition: Edition) -> dict[str, object]:
    urls = context.urls.external
    data: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": edition.title,
        "url": urls.entry(edition.lang, entry.id),
        "inLanguage": edition.lang.tag,
        "dateModified": edition.updated.isoformat(),
        "about": [context.name_of("framework", entry.framework)],
        "isBasedOn": [source.url for source in edition.source],
    }
    other = entry.editions.get(edition.lang.other)
    if other:
        data["workTranslation"] = urls.entry(other.lang, entry.id)
    return data


VARY = ("Accept", "Cookie")
CACHE_OVERHEAD = 500
"""Approximate bytes of a cached page besides its body."""


async def show_entry(request: Request) -> Response:
    """Show an entry as a page or as Markdown, or an image stored beside the entries."""
    context = await context_of(request)
    framework, name = request.path_params["framework"], request.path_params["name"]
    image = context.library.image(context.lang, f"{framework}/{name}")
    if image:
        return await send_file(request, image)
    is_markdown_address = name.endswith(".md")
    entry_id = f"{framework}/{name.removesuffix('.md')}"
    request.state.note = EntryRead(NOBODY, entry_id)
    accepted = preferred_media_type(request.headers.get("accept", ""), (HTML, MARKDOWN))
    if not is_markdown_address and accepted != MARKDOWN:
        return await show_page(request, context, entry_id)
    found = await read(context.site.service, context.served, entry_id, asker_of(request))
    if isinstance(found, str):
        address = context.urls.entry_markdown if is_markdown_address else context.urls.entry
        return RedirectResponse(address(context.lang, found), 308)
    edition = found.entry.edition(context.lang)
    text = edition.raw
    if not is_switched_on(request, "source"):
        text = reading_form(edition, found.entry.validity, context.t)
    return await respond(request, text, MARKDOWN, lang=edition.lang, vary=() if is_markdown_address else VARY)


async def show_page(request: Request, context: PageContext, entry_id: str) -> Response:
    """Show an entry, cached under all that the page depends on, so that different browsers share it."""
    cache, service, voted = context.site.cache, context.site.service, previous_vote(request)
    reader = (context.lang, context.theme, context.framework, context.version, voted)
    key = ("entry", entry_id, context.urls.base_url, *reader)
    html: Body | None = cache.get(context.served, key)
    if html:
        service.note(EntryRead(asker_of(request), entry_id))
        return await page_answer(request, context, html, VARY)
    found = await read(service, context.served, entry_id, asker_of(request))
    if isinstance(found, str):
        return RedirectResponse(context.urls.entry(context.lang, found), 308)
    lang = found.entry.edition(context.lang).lang
    changes = await service.offload(partial(context.library.changes, entry_id, lang))
    html = entry_page(context, found, changes, voted=voted)
    if cache.capacity:
        html = await service.offload(partial(Resource.of, html, HTML))
        cache.put(context.served, key, html, CACHE_OVERHEAD + len(html.gzipped))
    return await page_answer(request, context, html, VARY)


VOTED = "jieda_voted"
"""Cookie that prevents a second vote on the entry at its path: `yes`, `no`, or `why` after a reason."""
VOTES = frozenset({"yes", "no", "why"})
REASONS = tuple(each for each in TriedOutcome if each is not TriedOutcome.SOLVED)
VOTE = "vote"
"""Anchor of the question whether the entry helped."""


async def record_vote(request: Request) -> Response:
    """Count, once per session, whether an entry solved the problem, and then why not; redirect back to the entry."""
    context = await context_of(request)
    entry_id = "{framework}/{name}".format_map(request.path_params)
    if entry_id not in context.library:
        raise HTTPException(404)
    fields = await read_form(request, FORM_LIMIT)
    address = context.urls.entry(context.lang, entry_id)
    response = RedirectResponse(f"{address}#{VOTE}", 303, UNCACHED)
    vote, reason, previous = fields.get("solved", ""), fields.get("reason", ""), previous_vote(request)
    outcome: TriedOutcome | None
    if reason in REASONS and previous == "no":
        vote, outcome = "why", TriedOutcome(reason)
    elif vote in {"yes", "no"} and not previous:
        outcome = TriedOutcome.SOLVED if vote == "yes" else None
    else:
        return response
    summary, service, line = context.library.summary(entry_id), context.site.service, fields.get("line", "")
    is_counted = context.site.askers.may_vote(request, f"{entry_id} why" if vote == "why" else entry_id)
    if is_counted and await report(service, summary, context.lang, outcome, line, voted=vote == "why"):
        set_cookie(response, VOTED, vote, context.site, path=address)
    return response


def previous_vote(request: Request) -> str:
    """Return the reader's vote in this session, or empty."""
    vote = cookies_of(request).get(VOTED, "")
    return vote if vote in VOTES else ""
