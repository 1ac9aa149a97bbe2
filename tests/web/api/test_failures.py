"""What a client and the log get when a handler fails: nothing of the inside, and that once."""

import logging
from pathlib import Path

import httpx
import pytest
from jieda.settings import Settings
from jieda.web.app import create_app
from starlette.requests import Request
from starlette.responses import Response

from tests.support.small_content import edition, write
from tests.web.api.test_protocol import assert_problem

SECRET = "hf_plantedSecretToken0123456789"


async def fail(_request: Request) -> Response:
    try:
        return Response(dict[str, str]()[SECRET])
    except KeyError as error:
        raise ValueError(f"could not read {SECRET}") from error


@pytest.fixture
def failing(tmp_path: Path) -> httpx.AsyncClient:
    """A client of an application that has two addresses more, which fail."""
    content = write(tmp_path / "content", {"en/roll/one.md": edition("One")})
    settings = Settings.load({"JIEDA_CONTENT": str(content), "JIEDA_DATA": str(tmp_path / "data")})
    app = create_app(settings)
    app.state.site.knowledge.open()
    app.add_api_route("/api/v1/fail", fail)
    app.add_api_route("/pages/fail", fail)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver")


@pytest.mark.parametrize("path", ["/api/v1/fail", "/pages/fail"])
@pytest.mark.anyio
async def test_a_failure_says_nothing_of_the_inside_and_is_logged_once(
    failing: httpx.AsyncClient, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    with caplog.at_level(logging.INFO):
        answer = await failing.get(path, headers={"Accept-Language": "zh"})
    assert answer.status_code == 500
    if path.startswith("/api/"):
        assert assert_problem(answer, 500)["title"] == "服务出错了"
    for inside in (SECRET, "Traceback", "ValueError", __file__):
        assert inside not in answer.text
    assert "content-security-policy" in answer.headers
    logged = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert len(logged) == 1
    message = logged[0].getMessage()
    assert "builtins.ValueError" in message
    assert "builtins.KeyError" in message
    assert Path(__file__).name in message
    assert SECRET not in caplog.text
    assert logged[0].request_id == answer.headers["x-request-id"]  # type: ignore[attr-defined]
