"""The pages for browsers, all of them."""

from app.presentation import paths
from app.web.http.routing import Route
from app.web.pages import forms, handlers, workbench_forms
from app.web.pages.maintain import maintain

ROUTES: tuple[Route, ...] = (
    Route(paths.ROOT, handlers.root),
    Route(paths.HOME, handlers.home),
    Route(paths.HOME_WITHOUT_SLASH, handlers.home_without_slash),
    Route(paths.SEARCH, handlers.search),
    Route(paths.SEARCH, forms.ask, "POST"),
    Route(paths.ENTRIES, handlers.entries),
    Route(paths.ENTRY, handlers.entry),
    Route(paths.ENTRY, forms.vote, "POST"),
    Route(paths.ABOUT, handlers.about),
    *(Route(path, handlers.tag(facet)) for facet, path in paths.TAG_PAGES.items()),
    Route(paths.DIAGNOSE, forms.ask_for_log),
    Route(paths.DIAGNOSE, forms.diagnose, "POST"),
    Route(paths.AGENTS, handlers.agents),
    Route(paths.AGENTS_FILE, handlers.agents_file),
    Route(paths.PREFERENCES, forms.preferences, "POST"),
)

MAINTAINER_ROUTES: tuple[Route, ...] = (
    Route(paths.WORKBENCH, workbench_forms.ask),
    Route(paths.WORKBENCH, workbench_forms.answer, "POST"),
    Route(paths.MAINTAIN, maintain),
)
"""Those that only maintainers have, behind their guard."""
