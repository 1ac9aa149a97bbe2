"""Routes of all HTML pages."""

from functools import partial

from jieda.presentation import paths
from jieda.web.http.maintainers import require_token
from jieda.web.http.respond import Route
from jieda.web.pages import (
    about,
    agents,
    asked,
    browse,
    context,
    diagnose,
    entry,
    home,
    maintain,
    search,
    workbench,
)

ROUTES: tuple[Route, ...] = (
    Route(paths.ROOT, home.redirect_to_language),
    Route(paths.HOME, home.show_home),
    Route(paths.SEARCH, search.show_search),
    Route(paths.SEARCH, diagnose.answer_field, "POST"),
    Route(paths.ENTRIES, browse.show_entries),
    Route(paths.ENTRY, entry.show_entry),
    Route(paths.ENTRY, entry.record_vote, "POST"),
    Route(paths.ABOUT, context.page_handler(about.about_page)),
    *(Route(path, partial(browse.show_tag, facet)) for facet, path in paths.TAG_PAGES.items()),
    Route(paths.DIAGNOSE, context.page_handler(diagnose.diagnose_page)),
    Route(paths.DIAGNOSE, diagnose.answer_form, "POST"),
    Route(paths.ASKED, asked.show_asked),
    Route(paths.ASKED, asked.ask, "POST"),
    Route(paths.AGENTS, context.page_handler(agents.agents_page)),
    Route(paths.AGENTS_FILE, agents.send_agents_file),
    Route(paths.PREFERENCES, context.take_preferences, "POST"),
)

MAINTAINER_ROUTES: tuple[Route, ...] = tuple(
    Route(path, require_token(handler), method)
    for path, handler, method in (
        (paths.WORKBENCH, workbench.open_entry, "GET"),
        (paths.WORKBENCH, workbench.act, "POST"),
        (paths.MAINTAIN, maintain.show_maintenance, "GET"),
    )
)
"""Routes of an application with these pages, each behind the maintainers' token; without them, their addresses are
unknown."""
