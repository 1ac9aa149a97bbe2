"""Asking a server, and reading what it answers."""

import re
from html import unescape
from typing import Any

import httpx

MARK = re.compile(r"<mark>(.*?)</mark>")


def search(client: httpx.Client, q: str, **params: Any) -> Any:
    """The whole answer of the API; asserts that there is one."""
    response = client.get("/api/v1/search", params=httpx.QueryParams({"q": q, **params}))
    assert response.status_code == 200, f"{q!r}: {response.text}"
    return response.json()


def ids(client: httpx.Client, q: str, **params: Any) -> list[str]:
    """Ids of the hits, best first."""
    return [hit["id"] for hit in search(client, q, **params)["hits"]]


def first(client: httpx.Client, q: str) -> str:
    """The id of the first hit, or empty."""
    return (ids(client, q, limit=1) or [""])[0]


def hit(client: httpx.Client, q: str, entry_id: str, **params: Any) -> Any:
    """The hit for an entry; asserts that there is exactly one."""
    found = [one for one in search(client, q, **params)["hits"] if one["id"] == entry_id]
    assert len(found) == 1, f"{q!r} finds {entry_id} {len(found)} times"
    return found[0]


def marks(found: Any) -> list[str]:
    """What is marked in the snippet of a hit, as text."""
    return [unescape(text) for text in MARK.findall(found["snippet"])]


def entries(client: httpx.Client) -> list[Any]:
    """Summaries of all entries."""
    found: list[Any] = []
    while True:
        page = client.get("/api/v1/entries", params={"limit": 50, "offset": len(found)}).json()
        found += page["items"]
        if len(found) >= page["total"]:
            return found
