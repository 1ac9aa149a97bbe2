"""What is closed to those who hold no token, what never goes out, and what is never read from a shared place."""

import marshal
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import httpx
import pytest
from jieda.settings import Settings
from jieda.web.app import create_app

from tests.support.server import ROOT, environment

CHANGING = {
    ("POST", "/api/v1/diagnose"): "open: reads a text and forgets it",
    ("POST", "/api/v1/diagnose.txt"): "open: as above",
    ("POST", "/api/v1/outcomes"): "open: a count and a redacted line; pages of other sites are refused",
    ("POST", "/api/v1/reload"): "closed without the token",
    ("POST", "/mcp"): "open: tools that read, and one that counts; pages of other sites are refused",
    ("POST", "/mcp/"): "open: as above",
    ("POST", "/preferences"): "open: a cookie; forms of other sites are refused",
    ("POST", "/{lang}/diagnose"): "open: as above",
    ("POST", "/{lang}/search"): "open: the field of the start page, read and forgotten",
    ("POST", "/{lang}/asked"): "open: files one redacted failure; forms of other sites are refused",
    ("POST", "/{lang}/entries/{framework}/{name}"): "open: a vote; forms of other sites are refused",
}
"""Every route that takes more than GET and HEAD, and who may: a new one needs a decision."""
RELOADS = [
    *("/api/v1/reload", "/api/v1/reload/", "//api/v1/reload", "/api/v1//reload", "/api/v1/x/../reload"),
    *(
        "/kb/../api/v1/reload",
        "/api/v1/reload%2f",
        "/API/V1/RELOAD",
        "/api/v1/reload?token=",
        "/api/v1/reload;x",
    ),
]
GOES_OUT = {
    *("jieda.cli.health", "jieda.client"),
    *("jieda.cluster.client", "jieda.search.meaning.endpoint"),
}
"""Who may open a connection: a health check of this server, a command that was given the address of one, and a search
of the cluster or by the encoder that the operator has named in the settings."""
IMPORTED = re.compile(r"^\s*(?:from|import) ([\w.]+)", re.MULTILINE)
WAYS_OUT = {"http.client", "urllib.request", "ftplib", "smtplib", "ssl", "requests", "httpx", "aiohttp"}
ANALYZE = """
from jieda.analysis.pipeline import Analyzer
print([token.text for token in Analyzer(()).analyze('显存不足').tokens])
"""


def test_every_route_that_takes_more_than_reading_is_known(tmp_path: Path) -> None:
    app = create_app(Settings.load({"JIEDA_DATA": str(tmp_path)}))
    found = {
        (method, route.path)  # type: ignore[attr-defined] # all of ours have one
        for route in app.routes
        for method in (getattr(route, "methods", None) or set()) - {"GET", "HEAD"}
    }
    assert found == CHANGING.keys()


@pytest.mark.parametrize("header", [{}, {"Authorization": "Bearer"}, {"Authorization": "Bearer x"}])
def test_no_way_of_writing_its_address_reloads_without_the_token(
    client: httpx.Client, header: dict[str, str]
) -> None:
    for path in RELOADS:
        for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "GET", "HEAD"):
            assert client.request(method, path, headers=header).status_code >= 400, (method, path)


def test_nothing_that_serves_content_opens_a_connection() -> None:
    """So that nothing in content or a request can name where to."""
    going_out = set()
    for path in (ROOT / "app").rglob("*.py"):
        if WAYS_OUT.intersection(IMPORTED.findall(path.read_text(encoding="utf-8"))):
            going_out.add(".".join(path.relative_to(ROOT / "app").with_suffix("").parts))
    assert going_out == GOES_OUT


def test_a_dictionary_planted_in_the_shared_temporary_directory_is_not_read(tmp_path: Path) -> None:
    """jieba's own start-up would take it, and leave one there."""
    told = []
    for name in ("clean", "planted"):
        folder = tmp_path / name
        folder.mkdir()
        if name == "planted":
            (folder / "jieba.cache").write_bytes(marshal.dumps(({"存不": 10**9}, 10**9)))
        before = [*folder.iterdir()]
        settings = environment({"TMPDIR": str(folder)})
        command = [sys.executable, "-c", ANALYZE]
        ended = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
        told.append(ended.stdout)
        assert [*folder.iterdir()] == before
    assert told[0] == told[1]
    assert "显存" in told[0]


def test_the_framework_is_past_its_known_holes() -> None:
    """CVE-2026-48710 (the Host header in the path), CVE-2025-62727 (ranges), CVE-2024-47874 (multipart)."""
    assert tuple(map(int, version("starlette").split(".")[:3])) >= (1, 0, 1)
