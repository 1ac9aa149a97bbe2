"""The guard of the pages for maintainers: off, they do not exist; on, whoever asks brings the token."""

import logging
from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from jieda.cli.serve import command
from jieda.errors import SettingsError
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.web.app import create_app
from jieda.web.http.maintainers import require_token
from jieda.web.http.respond import Route, respond
from starlette.requests import Request
from starlette.responses import Response

from tests.support.inside import PLAIN
from tests.support.small_content import edition, write

pytestmark = [pytest.mark.quick, pytest.mark.anyio]

TOKEN = "geheim:Schlüssel-42"
PAGE = "/en/desk"


async def desk(request: Request) -> Response:
    """A page of the kind that the guard is for."""
    return await respond(request, "the desk", "text/html")


@asynccontextmanager
async def visiting(folder: Path, **settings: str) -> AsyncIterator[httpx.AsyncClient]:
    content = write(folder / "content", {"en/roll/first.md": edition("Out of memory")})
    given = {
        "JIEDA_METRICS": "*",
        "JIEDA_CONTENT": str(content),
        "JIEDA_DATA": str(folder / "data"),
        **settings,
    }
    loaded = Settings.load(given)
    knowledge = Knowledge(loaded, analyzers=PLAIN)
    knowledge.open()
    app = create_app(loaded, knowledge)
    app.router.routes += [Route("/{lang}/desk", require_token(desk))]
    transport = httpx.ASGITransport(app, client=("203.0.113.5", 4321))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


def basic(user: str, password: str) -> httpx.Headers:
    return httpx.Headers({"Authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()})


async def test_switched_off_the_address_is_as_unknown_as_any_other(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH_TOKEN=TOKEN) as client:
        asked, unknown = await client.get("/en/maintain"), await client.get("/en/no-such-page")
        assert asked.status_code == 404
        assert asked.text == unknown.text
        assert "www-authenticate" not in asked.headers


async def test_without_a_token_it_is_open_and_kept_by_nobody(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH="1") as client:
        answer = await client.get(PAGE)
        assert (answer.status_code, answer.text) == (200, "the desk")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-robots-tag"] == "noindex"
        assert "etag" not in answer.headers


async def test_the_token_is_the_password_of_anybody_or_a_bearer(tmp_path: Path) -> None:
    tokens = {"JIEDA_WORKBENCH_TOKEN": TOKEN, "JIEDA_RELOAD_TOKEN": TOKEN}
    async with visiting(tmp_path, JIEDA_WORKBENCH="1", **tokens) as client:
        for headers in (
            basic("", TOKEN),
            basic("wang", TOKEN),
            httpx.Headers([(b"authorization", f"bearer  {TOKEN}".encode())]),
        ):
            assert (await client.get(PAGE, headers=headers)).status_code == 200, headers
            reloaded = await client.post("/api/v1/reload", headers=headers)
            assert reloaded.status_code == (401 if "Basic" in headers["authorization"] else 200), headers
        for wrong in (
            httpx.Headers(),
            basic(TOKEN, ""),
            basic("wang", TOKEN[:-1]),
            basic("wang", ""),
            httpx.Headers({"Authorization": "Basic %%%"}),
            httpx.Headers({"Authorization": "Basic " + b64encode(TOKEN.encode()).decode() + "="}),
            httpx.Headers({"Authorization": "Bearer"}),
            httpx.Headers({"Authorization": "Digest " + "x" * 99}),
            httpx.Headers([(b"authorization", b"Bearer \xff\xfe")]),
        ):
            answer = await client.get(PAGE, headers=wrong)
            assert answer.status_code == 401, wrong
            assert answer.headers["www-authenticate"].startswith("Basic ")
            assert answer.headers["cache-control"] == "no-store"
            assert "desk" not in answer.text


async def test_whom_a_trusted_proxy_names_needs_no_token(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH="1", JIEDA_USER_HEADER="Remote-User") as client:
        assert (await client.get(PAGE)).status_code == 403
        assert (await client.get(PAGE, headers=[(b"Remote-User", "李雷".encode())])).status_code == 200
        # What a client sends stands beside what the proxy adds.
        twice = [("Remote-User", "mallory"), ("Remote-User", "alice")]
        assert (await client.get(PAGE, headers=twice)).status_code == 403
        bench = await client.get(
            "/en/workbench?entry=roll/first", headers={"Remote-User": "alice@example.com"}
        )
    assert bench.status_code == 200
    everybody = {"JIEDA_USER_HEADER": "Remote-User", "JIEDA_TRUSTED_PROXIES": "*"}
    with pytest.raises(SettingsError, match="JIEDA_USER_HEADER"):
        Settings.load(everybody)


@pytest.mark.parametrize(("trusted", "status"), [("127.0.0.1", 200), ("10.0.0.7", 403)])
def test_only_a_trusted_proxy_says_who_somebody_is(
    tmp_path: Path, serve: Callable[..., httpx.Client], trusted: str, status: int
) -> None:
    content = write(tmp_path, {"en/roll/first.md": edition("Out of memory")})
    options = {"workbench": "1", "user_header": "Remote-User", "trusted_proxies": trusted}
    with serve(content, **options) as client:
        assert client.get("/en/workbench", headers={"remote-user": "alice"}).status_code == status


async def test_whoever_lacks_the_token_is_told_in_his_language(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH="1", JIEDA_WORKBENCH_TOKEN=TOKEN) as client:
        english = await client.get(PAGE, headers={"Accept": "text/html"})
        chinese = await client.get(PAGE.replace("en", "zh", 1), headers={"Accept": "text/html"})
        assert "A token is needed" in english.text
        assert "需要令牌" in chinese.text
        as_json = await client.get(PAGE, headers={"Accept": "application/json"})
        assert as_json.json()["type"] == "urn:jieda:problem:token-needed"


async def test_a_server_of_this_machine_serves_it_under_its_own_names_only(tmp_path: Path) -> None:
    async with visiting(tmp_path, JIEDA_WORKBENCH="1") as client:
        assert (await client.get(PAGE, headers={"Host": "evil.example"})).status_code == 403
        assert (await client.get(PAGE, headers={"Host": "127.0.0.1:8000"})).status_code == 200


async def test_the_token_is_in_no_log_and_no_figure(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with visiting(tmp_path, JIEDA_WORKBENCH="1", JIEDA_WORKBENCH_TOKEN=TOKEN) as client:
            await client.get(PAGE, headers=basic("wang", TOKEN))
            await client.get(PAGE, headers=basic("wang", TOKEN + "x"))
            figures = (await client.get("/metrics")).text
    assert "/{lang}/desk" in figures
    assert any(PAGE in record.getMessage() for record in caplog.records)
    assert TOKEN not in figures + caplog.text
    assert b64encode(TOKEN.encode()).decode() not in figures + caplog.text


def test_the_help_shows_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JIEDA_WORKBENCH_TOKEN", TOKEN)
    shown = CliRunner().invoke(command, ["--help"]).output
    assert "--workbench-token" in shown
    assert TOKEN not in shown


def test_writing_without_a_token_is_refused_at_start() -> None:
    with pytest.raises(SettingsError, match="set JIEDA_WORKBENCH_TOKEN"):
        Settings.load({"JIEDA_WORKBENCH": "1", "JIEDA_WORKBENCH_WRITE": "1"})
    allowed = Settings.load({"JIEDA_WORKBENCH_WRITE": "1", "JIEDA_WORKBENCH_TOKEN": TOKEN})
    assert allowed.workbench_write


def test_the_form_for_new_files_has_a_place_for_path_and_content() -> None:
    for wrong in ("https://git.example.com/new?f={path}", "git.example.com/{path}/{content}"):
        with pytest.raises(SettingsError, match="JIEDA_NEW_URL"):
            Settings.load({"JIEDA_NEW_URL": wrong})
