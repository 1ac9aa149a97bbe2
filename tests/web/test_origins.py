"""Absolute addresses: as configured, else of the name that a request was sent to, if that is one of ours."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.small_content import edition, write

EVIL = "evil.example"
CONTENT = {
    f"{lang}/roll/first.md": edition(
        "node2pg lost", "## Fix\n\nSee [it](second.md).\n", kind="error", signatures="['KeyError: 1 node2pg']"
    )
    for lang in ("en", "zh")
} | {f"{lang}/roll/second.md": edition("A stuck job") for lang in ("en", "zh")}
TEXTS = (
    "/sitemap.xml",
    "/robots.txt",
    "/en/feed.xml",
    "/zh/opensearch.xml",
    "/llms.txt",
    "/en/llms-full.txt",
)
PAGES = (
    "/en/",
    "/en/entries/roll/first",
    "/zh/entries/roll/first",
    "/en/search?q=node2pg",
    "/docs",
    "/en/agents",
)
ANSWERS = (
    *("/api/v1/search?q=node2pg", "/api/v1/suggest?q=node", "/api/v1/entries", "/api/v1/frameworks"),
    *("/api/v1/entries/roll/first", "/api/v1/translations", "/openapi.json"),
)
EVERYTHING = (*TEXTS, *PAGES, *ANSWERS)
ADDRESSES = {"url", "api_url"}
PING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "read", "arguments": {"id": "roll/first"}},
}
AGENT = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}
Serve = Callable[..., httpx.Client]


@pytest.fixture
def content(tmp_path: Path) -> Path:
    return write(tmp_path, CONTENT)


def addresses(answer: Any) -> list[str]:
    """All addresses of ours in an answer of the API; `source` has those of others."""
    if isinstance(answer, list):
        return [found for each in answer for found in addresses(each)]
    if not isinstance(answer, dict):
        return []
    own = [value for name, value in answer.items() if name in ADDRESSES and isinstance(value, str)]
    return own + [found for name, each in answer.items() if name != "source" for found in addresses(each)]


def structured_data(page: str) -> str:
    return "".join(re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL))


def everything(client: httpx.Client, **headers: str) -> str:
    """All that is served, headers included, as one text."""
    answers = [client.get(path, headers=headers) for path in (*EVERYTHING, "/", "/nope", "/api/v1/nope")]
    log = {"text": "KeyError: 1 node2pg"}
    answers += [client.post("/api/v1/diagnose", json=log, headers=headers)]
    answers += [client.post("/en/diagnose", data=log, headers=headers)]
    return "".join(f"{answer.headers} {answer.text}" for answer in answers)


def test_each_name_of_ours_sees_its_own_addresses_however_answers_are_kept(
    serve: Serve, content: Path
) -> None:
    with serve(content, chat="1") as client:
        port = client.base_url.port
        ours = (f"127.0.0.1:{port}", f"localhost:{port}", "LOCALHOST:8443")
        for host in (*ours, *ours):
            base, headers = f"http://{host.lower()}", {"Host": host}
            others = {f"//{each.lower()}/" for each in ours if each != host}
            texts = {path: client.get(path, headers=headers).text for path in EVERYTHING}
            for path in TEXTS:
                assert f"{base}/" in texts[path], path
            for path in ANSWERS[:-1]:
                found = addresses(json.loads(texts[path]))
                assert found, path
                assert all(each.startswith(f"{base}/") for each in found), path
            assert f'href="{base}/en/entries/roll/second"' in json.loads(texts[ANSWERS[4]])["html"]
            for path in PAGES[:3]:
                assert base in structured_data(texts[path]), path
            assert "canonical" not in texts["/en/"]
            read = client.post("/mcp", json=PING, headers=AGENT | headers).json()["result"]
            assert read["structuredContent"]["url"] == f"{base}/en/entries/roll/first"
            asked = {"messages": [{"role": "user", "content": "node2pg lost"}]}
            assert (
                f"{base}/en/entries/roll/first"
                in client.post("/v1/chat/completions", json=asked, headers=headers).text
            )
            assert not {each for each in others if any(each in text for text in texts.values())}


def test_what_a_stranger_writes_into_host_is_repeated_to_nobody(serve: Serve, content: Path) -> None:
    forged = {
        "X-Forwarded-Host": EVIL,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Prefix": f"//{EVIL}",
        "Forwarded": f"host={EVIL}",
        "Referer": f"https://{EVIL}/",
    }
    settings: tuple[dict[str, str], ...] = (
        {},
        {"allowed_hosts": "*"},
        {"base_url": "https://faq.example.com"},
    )
    for chosen in settings:
        with serve(content, **chosen) as client:
            own = f"127.0.0.1:{client.base_url.port}"
            assert EVIL not in everything(client, Host=EVIL, **forged)
            assert EVIL not in everything(client, Host=own, **forged)
            found = client.get("/api/v1/search?q=node2pg", headers={"Host": EVIL}).json()
            base = chosen.get("base_url", "")
            assert found["hits"][0]["url"] == f"{base}/en/entries/roll/first"
            asked = {path: client.get(path, headers={"Host": EVIL}) for path in TEXTS[:4]}
            assert {path for path, answer in asked.items() if answer.status_code == 404} == (
                set() if base else {"/sitemap.xml", "/zh/opensearch.xml"}
            )
            assert ("Sitemap:" in asked["/robots.txt"].text) == bool(base)
            page = client.get("/zh/", headers={"Host": EVIL}).text
            assert ("opensearch.xml" in page) == bool(base)


def test_a_proxy_says_which_name_and_scheme_readers_see(serve: Serve, content: Path) -> None:
    names = "faq.example.com,*.corp.example"
    forwarded = {"X-Forwarded-For": "198.51.100.7", "X-Forwarded-Proto": "https", "X-Forwarded-Host": EVIL}

    def hit(client: httpx.Client, host: str, **headers: str) -> str:
        answer = client.get("/api/v1/search?q=node2pg", headers={"Host": host, **headers})
        return str(answer.json()["hits"][0]["url"])

    with serve(content, allowed_hosts=names, trusted_proxies="127.0.0.1") as client:
        for host in ("faq.example.com", "faq.example.com:8443", *(f"{n}.corp.example" for n in range(12))):
            assert hit(client, host, **forwarded) == f"https://{host}/en/entries/roll/first"
            assert hit(client, host) == f"http://{host}/en/entries/roll/first"
    with serve(content, allowed_hosts=names, trusted_proxies="10.0.0.1") as client:
        assert hit(client, "faq.example.com", **forwarded) == "http://faq.example.com/en/entries/roll/first"
    with serve(content, trusted_proxies="127.0.0.1") as client:
        # A proxy that asks by the name it has for us: readers would be sent to their own machine.
        assert hit(client, "localhost:8000", **forwarded) == "/en/entries/roll/first"
        assert hit(client, "localhost:8000", **{"X-Forwarded-For": "127.0.0.1"}) == "/en/entries/roll/first"
