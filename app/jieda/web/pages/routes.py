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

MAINTAINER_ROUTES: tuple[Route, ...] = (
    Route(paths.WORKBENCH, require_token(workbench.open_entry)),
    Route(paths.WORKBENCH, require_token(workbench.act), "POST"),
    Route(paths.MAINTAIN, require_token(maintain.show_maintenance)),
)
"""Routes of an application with these pages; without them, their addresses are unknown."""
