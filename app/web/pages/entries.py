"""The page of all entries: by framework and version, narrowed by the same filters as a search."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.content.shelf import version_of
from app.usecases.search import Found
from app.web.pages.context import PageContext
from app.web.pages.filters import FilterBar, filter_bar
from app.web.pages.layout import Head, render_page
from app.web.pages.parts import EntryRow, Link, Pager, build_pager, entry_row

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class Group:
    """Entries of a framework, or of one version of it. `framework` is None where the group goes on with it."""

    framework: Link | None
    id: str
    version: str
    rows: tuple[EntryRow, ...]


@dataclass(frozen=True, slots=True)
class EntriesView:
    """What `entries.html` shows."""

    total: str
    bar: FilterBar
    groups: tuple[Group, ...]
    pager: Pager | None


def page_count(total: int) -> int:
    """How many pages list so many entries, at least one."""
    return max(1, -(-total // PAGE_SIZE))


def entries_page(context: PageContext, found: Found) -> str:
    """A page of all entries that pass the filters of the request."""
    request = found.request
    number = request.offset // PAGE_SIZE + 1
    listed = context.library.shelved(request.filters, context.lang)
    shown = [entry_row(context, each) for each in listed[request.offset : request.offset + PAGE_SIZE]]

    def address(page: int) -> str:
        return context.urls.entries_filtered(context.lang, request.filters, page=page if page > 1 else None)

    view = EntriesView(
        total=context.t("count.entries", count=len(listed)),
        bar=filter_bar(
            context,
            request,
            found.answer,
            lambda _, filters: context.urls.entries_filtered(context.lang, filters),
        ),
        groups=tuple(_groups(shown)),
        pager=build_pager(context, number, page_count(len(listed)), address),
    )
    head = Head(
        name="entries",
        title=f"{context.t('entries.title')} · {context.t('site.name')}",
        description=context.t("entries.lead"),
        here=lambda lang: context.urls.entries_filtered(
            lang, request.filters, page=number if number > 1 else None
        ),
        indexed=not request.filters,
    )
    return render_page(context, "entries.html", head, view)


def _groups(shown: Sequence[EntryRow]) -> Iterator[Group]:
    last = ""
    for (framework, version), members in groupby(
        shown, key=lambda row: (row.id.partition("/")[0], version_of(row.applies_to))
    ):
        rows = tuple(members)
        named = ".".join(map(str, version))
        yield Group(
            framework=rows[0].framework if framework != last else None,
            id=f"{framework}-{named.replace('.', '-')}".rstrip("-"),
            version=named,
            rows=rows,
        )
        last = framework
