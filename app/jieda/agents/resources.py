"""Entries as resources: `jieda://entry/<framework>/<slug>`, with `?lang=` for a language."""

from urllib.parse import quote

from jieda.agents.answering import Context
from jieda.client.client import Client
from jieda.entry import Language
from jieda.presentation import schemas
from jieda.taxonomy import Filters, Window

TEMPLATE = "jieda://entry/{framework}/{slug}{?lang}"
DESCRIPTION = (
    "One entry as Markdown, in the language asked for where it has that edition. `framework` and `slug` are the "
    "parts of the id that `diagnose`, `search` and `list` give."
)
NONE_SUCH = "There is no such resource. `search` and `list` give ids of entries."
MEDIA_TYPE = "text/markdown"
PAGE = 50
MOST_PAGES = 20
"""Pages of entries that a completion searches."""
MOST_VALUES = 100
"""Completion values that the protocol allows."""


def address(entry_id: str) -> str:
    """Return the address of an entry, without a language."""
    return f"jieda://entry/{quote(entry_id)}"


async def page(client: Client, cursor: str | None) -> tuple[tuple[schemas.ApiSummary, ...], str | None]:
    """Return a page of all entries and the cursor of the next. Raises ValueError for an invalid cursor."""
    offset = int(cursor or "0")
    if offset < 0:
        raise ValueError("a cursor is not negative")
    found = await client.entries(Filters(), Language.EN, Window(PAGE, offset))
    end = offset + len(found.items)
    return found.items, str(end) if found.items and end < found.total else None


async def complete(context: Context, name: str, typed: str, framework: str) -> tuple[list[str], bool]:
    """Return the values of a variable of `TEMPLATE` that begin with `typed`, and whether there are more."""
    if name == "lang":
        values = [lang.value for lang in Language]
    elif name == "framework":
        values = [tag.id for tag in await context.client.tags("framework", Language.EN) if tag.count]
    elif name == "slug":
        values = await _slugs(context.client, framework)
    else:
        values = []
    matching = sorted(value for value in values if value.startswith(typed))
    return matching[:MOST_VALUES], len(matching) > MOST_VALUES


async def _slugs(client: Client, framework: str) -> list[str]:
    filters = Filters(framework=(framework,)) if framework else Filters()
    slugs: list[str] = []
    for number in range(MOST_PAGES):
        found = await client.entries(filters, Language.EN, Window(PAGE, number * PAGE))
        slugs += [each.id.partition("/")[2] for each in found.items]
        if len(slugs) >= found.total:
            break
    return slugs
