"""Reload, probes, metrics, the log, several workers, proxies: what an operator relies on."""

import json
import logging
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest
from jieda.version import VERSION

from tests.support.server import Server, lasting, until
from tests.support.small_content import edition, write
from tests.web.api.test_protocol import assert_problem

FEW = {
    "en/roll/first.md": edition("Out of memory in node2pg"),
    "zh/roll/first.md": edition("node2pg 显存不足"),
}
"""Enough for tests of how things are served rather than what."""
RELOAD = "/api/v1/reload"
TOKEN = {"Authorization": "Bearer s3cret-token"}


SERVERS = {"1": "text", "2": "json"}
"""By how many workers: the form of their log."""

Processes = Callable[[str], Server]


@pytest.fixture(scope="module")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Processes]:
    """Gives a server of as many workers, for tests that leave it well or ended."""
    with ExitStack() as stack:
        getters = {}
        for workers, log in SERVERS.items():
            folder = tmp_path_factory.mktemp("workers")
            content = write(folder / "content", FEW)
            getters[workers] = stack.enter_context(lasting(folder, content, workers=workers, log_format=log))
        yield lambda workers: getters[workers]()


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic czNjcmV0", "Bearer None"])
def test_reloading_is_closed_where_no_token_is_configured(client: httpx.Client, header: str) -> None:
    assert_problem(client.post(RELOAD, headers={"Authorization": header} if header else {}), 403)


def test_reloading_takes_up_what_changed_for_the_holder_of_the_token(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    content = write(tmp_path, {"en/roll/first.md": edition("First")})
    with serve(content, reload_token="s3cret-token") as client:
        for wrong in ({}, {"Authorization": "Bearer"}, {"Authorization": "Bearer s3cret-tokeN"}):
            answer = client.post(RELOAD, headers=wrong)
            assert_problem(answer, 401)
            assert answer.headers["www-authenticate"] == "Bearer"
        assert_problem(client.get(RELOAD, headers=TOKEN), 405)
        before = client.get("/readyz").json()["generation"]
        assert client.post(RELOAD, headers=TOKEN).json() == {
            "changed": False,
            "generation": before,
            "workers": 1,
            "behind": [],
        }

        (content / "en/roll/second.md").write_text(edition("Second"), encoding="utf-8")
        answer = client.post(RELOAD, headers=TOKEN).json()
        assert answer["changed"]
        assert answer["generation"] != before
        found = client.get("/api/v1/search", params={"q": "second"}).json()
        assert [hit["id"] for hit in found["hits"]] == ["roll/second"]
        assert found["generation"] == answer["generation"]


def test_a_failed_reload_keeps_serving_and_says_so(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    content = write(tmp_path, {"en/roll/first.md": edition("First")})
    with serve(content, reload_token="s3cret-token") as client:
        (content / "taxonomy.yaml").write_text("frameworks: [broken\n", encoding="utf-8")
        assert "taxonomy.yaml" in assert_problem(client.post(RELOAD, headers=TOKEN), 409)["detail"]
        chinese = assert_problem(client.post(f"{RELOAD}?lang=zh", headers=TOKEN), 409)["detail"]
        assert "taxonomy.yaml:1: 这里缺" in chinese
        assert client.get("/api/v1/entries/roll/first").status_code == 200
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "taxonomy.yaml" in ready.json()["degraded"]
        assert "jieda_degraded 1.0" in client.get("/metrics").text


def test_metrics_count_by_route_and_never_by_what_was_typed(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    with serve(write(tmp_path, FEW)) as client:
        for path in ("/api/v1/search?q=oom", "/api/v1/search?q=nan", "/nope/abc", "/nope/def"):
            client.get(path)
        client.get("/api/v1/entries/roll/first")
        client.get("/en/entries/roll/first")
        text = client.get("/metrics").text
    assert 'jieda_requests_total{method="GET",route="/api/v1/search",status="200"} 2.0' in text
    assert 'route="/api/v1/entries/{framework}/{slug}"' in text
    assert 'route="/{lang}/entries/{framework}/{name}"' in text
    assert 'jieda_requests_total{method="GET",route="unmatched",status="404"} 2.0' in text
    assert "jieda_request_seconds_bucket" in text
    assert "jieda_entries 1.0" in text
    assert not re.search("oom|nope|first", text)


def test_metrics_tell_what_an_operator_asks_for(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    known = edition("node2pg", "## Fix\n\nDo it.\n", kind="error", signatures="['KeyError: 1 node2pg']")
    content = write(tmp_path, {"en/roll/first.md": known})
    with serve(content, reload_token="s3cret-token") as client:
        for _ in range(3):
            client.get("/llms.txt")
        for log in ("KeyError: 1 node2pg", "all is well", "all is well"):
            client.post("/api/v1/diagnose", content=log)
        client.post(RELOAD, headers=TOKEN)
        text = client.get("/metrics").text
        ready = client.get("/readyz").json()
        for page in ("/en/", "/zh/entries", "/en/nowhere"):
            shown = client.get(page, headers={"Accept": "text/html"}).text
            assert f">{VERSION}</span>" in shown.partition("<footer")[2]
    assert f'jieda_info{{version="{VERSION}"}} 1.0' in text
    assert ready["version"] == VERSION
    assert 'jieda_cache_total{outcome="miss"} 1.0' in text
    assert 'jieda_cache_total{outcome="hit"} 2.0' in text
    assert 'jieda_diagnoses_total{confidence="none",verdict="no_error"} 2.0' in text
    assert re.search(r'jieda_diagnoses_total\{confidence="(exact|likely)",verdict="known"\} 1.0', text)
    assert 'jieda_reloads_total{outcome="unchanged"} 1.0' in text
    assert "jieda_builds_total 1.0" in text
    assert re.search(
        r"^jieda_build_seconds_total 0\.\d*[1-9]|^jieda_build_seconds_total [1-9]", text, re.MULTILINE
    )
    age = re.search(r"^jieda_generation_age_seconds (\S+)$", text, re.MULTILINE)
    assert age
    assert 0 < float(age[1]) < 3600


def test_metrics_are_for_those_who_were_named(serve: Callable[..., httpx.Client], tmp_path: Path) -> None:
    content, elsewhere = write(tmp_path, FEW), {"X-Forwarded-For": "192.0.2.7"}
    for named, here, there in (
        ("", 200, 403),
        ("192.0.2.0/24", 403, 200),
        ("192.0.2.8 2001:db8::/32", 403, 403),
        ("*", 200, 200),
        ("none", 403, 403),
    ):
        with serve(content, metrics=named) as client:
            assert client.get("/metrics").status_code == here, named
            answer = client.get("/metrics", headers=elsewhere)
            assert answer.status_code == there, named
            assert ("jieda_requests" in answer.text) == (there == 200)
            assert client.get("/readyz", headers=elsewhere).status_code == 200


@pytest.mark.server
def test_every_worker_answers_and_metrics_add_up_over_all_of_them(server_of: Processes) -> None:
    server = server_of("2")
    until(lambda: server.log().count("Application startup complete") == 2)
    for _ in range(40):
        with server.client() as client:
            assert client.get("/api/v1/kinds").status_code == 200
    with server.client() as client:
        text = client.get("/metrics").text
    counted = re.search(r'jieda_requests_total\{[^}]*route="/api/v1/kinds"[^}]*\} (\d+)', text)
    assert counted
    assert int(counted[1]) == 40


def votes(metrics: str) -> dict[str, float]:
    """The votes in /metrics, by the value of `solved`."""
    found = re.findall(r'jieda_votes_total\{entry="roll/first",lang="en",solved="(\w+)"\} (\S+)', metrics)
    return {solved: float(count) for solved, count in found}


@pytest.mark.server
def test_votes_are_counted_over_workers(server_of: Processes) -> None:
    server, address = server_of("2"), "/en/entries/roll/first"
    for said in ("yes", "yes", "no", "perhaps"):
        with server.client() as visitor:
            assert visitor.post(address, data={"solved": said}).status_code == 303
            visitor.post(address, data={"solved": said})
    with server.client() as visitor:
        visitor.post(address, data={"solved": "no"}, headers={"Sec-Fetch-Site": "cross-site"})
        assert votes(visitor.get("/metrics").text) == {"yes": 2, "no": 1}
        first = visitor.post(address, data={"solved": "yes"})
        assert "Max-Age" not in first.headers["set-cookie"]
        assert f"Path={address};" in first.headers["set-cookie"]
        assert 'name="solved"' not in visitor.get(address).text, "who has voted is thanked"
        assert visitor.post("/en/entries/roll/nope", data={"solved": "yes"}).status_code == 404


@pytest.mark.server
def test_log_lines_are_json_where_asked_and_never_have_a_query(server_of: Processes) -> None:
    server = server_of("2")
    with server.client() as client:
        client.get("/api/v1/search", params={"q": "zebra\n2026 ERROR fake \x1b[31m"})
        client.get("/en/zebra%0a2026%20ERROR%20fake%1b[31m")
    until(lambda: "fake" in server.log() and server.log().endswith("\n"))
    lines = [json.loads(line) for line in server.log().splitlines()]
    access = [line for line in lines if line["logger"] == "jieda.access"]
    search = next(line for line in access if line["path"] == "/api/v1/search")
    assert re.fullmatch(r"[\d-]{10}T[\d:]{8}\.\d{3}[+-]\d\d:\d\d", search["time"])
    assert set(search) >= {"time", "level", "request_id", "client", "method", "status", "bytes", "ms"}
    assert "zebra" not in json.dumps(search)
    assert "\x1b" not in server.log()


@pytest.mark.server
def test_a_text_log_has_one_line_for_a_request_whatever_its_path(server_of: Processes) -> None:
    server = server_of("1")
    with server.client() as client:
        client.get("/en/x%0a2026-01-01%20ERROR%20fake%1b[31m%e2%80%a8y")
    until(lambda: "fake" in server.log() and server.log().endswith("\n"))
    assert "ERROR fake" not in server.log()
    assert "\x1b" not in server.log()
    assert len([line for line in server.log().splitlines() if "fake" in line]) == 1


def is_refused(address: tuple[str, int]) -> bool:
    """Whether nobody listens there."""
    try:
        socket.create_connection(address).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        pass
    return False


@pytest.mark.server
@pytest.mark.parametrize("workers", SERVERS)
def test_a_stop_lets_answers_finish_takes_no_more_requests_and_ends_with_0(
    server_of: Processes, workers: str
) -> None:
    """What is asked too late is refused at once, so that whoever asks can go elsewhere, and not reset at the end; and a
    text that does not arrive in time is answered."""
    server = server_of(workers)
    base = httpx.URL(server.base)
    address = (base.host, base.port or 0)
    with (
        socket.create_connection(address) as under_way,
        under_way.makefile("rb") as answer,
        socket.create_connection(address) as slow,
        slow.makefile("rb") as told,
    ):
        head = f"Host: {base.host}\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n"
        for connection, said in ((under_way, answer), (slow, told)):
            connection.sendall(b"POST /api/v1/diagnose HTTP/1.1\r\n" + head.encode())
            assert said.readline().split()[1] == b"100"
        server.process.terminate()
        until(lambda: is_refused(address))
        assert server.process.poll() is None
        under_way.sendall(b"KeyError: 1")
        assert (answer.readline(), answer.readline().split()[1]) == (b"\r\n", b"200")
        given_up = told.read()
        assert given_up.startswith(b"\r\nHTTP/1.1 503 "), given_up
        assert b"being stopped" in given_up
    assert server.stop() == 0
    assert "Traceback" not in server.log()


@pytest.mark.parametrize("prefix", ["", "/kb"])
def test_under_a_prefix_both_styles_of_proxy_work(
    serve: Callable[..., httpx.Client], tmp_path: Path, prefix: str
) -> None:
    """`prefix` is what the proxy leaves on the path: nothing, or all of it."""
    with serve(write(tmp_path, FEW), root_path="/kb") as client:
        found = client.get(f"{prefix}/api/v1/search", params={"q": "node2pg"}).json()["hits"][0]
        own = str(client.base_url).rstrip("/") + "/kb"
        assert found["url"].startswith(f"{own}/en/entries/")
        assert found["api_url"].startswith(f"{own}/api/v1/entries/")
        assert all(each["url"].startswith(f"{own}/") for each in found["editions"])
        inside = found["url"].removeprefix(own)
        assert client.get(prefix + inside).status_code == 200
        docs = client.get(f"{prefix}/docs").text
        for address in re.findall(r'(?:src|href|data-openapi|data-bundle|data-sheet)="([^"#][^"]*)"', docs):
            assert address.startswith("/kb/")
            assert client.get(prefix + address.removeprefix("/kb")).status_code == 200, address
        document = client.get(f"{prefix}/openapi.json").json()
        assert document["servers"] == [{"url": "/kb"}]
        assert client.get(f"{prefix}/").headers["location"] == "/kb/en/"
        missing = client.get(f"{prefix}/api/v1/entries/roll/x")
        assert (missing.status_code, missing.json()["instance"]) == (404, "/kb/api/v1/entries/roll/x")
        assert client.get(f"{prefix}/healthz").status_code == 200


def test_only_named_hosts_are_answered_but_probes_always_are(
    serve: Callable[..., httpx.Client], tmp_path: Path
) -> None:
    with serve(write(tmp_path, FEW), allowed_hosts="faq.example.com,*.corp.example") as client:
        for host, status in {
            "faq.example.com": 200,
            "FAQ.example.com:8443": 200,
            "a.corp.example": 200,
            "corp.example": 400,
            "evil.example": 400,
            "faq.example.com.evil.example": 400,
            "faq.example.com/x?": 400,
            "faq.example.com@evil.example": 400,
        }.items():
            answer = client.get("/api/v1/kinds", headers={"Host": host})
            assert answer.status_code == status, host
        assert client.get("/readyz", headers={"Host": "10.0.0.7:8000"}).status_code == 200


@pytest.mark.parametrize(
    ("trusted", "seen"), [("127.0.0.1,203.0.113.9", "198.51.100.7"), ("10.0.0.1", "127.0.0.1")]
)
def test_forwarded_addresses_are_believed_from_trusted_proxies_only(
    serve: Callable[..., httpx.Client],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    trusted: str,
    seen: str,
) -> None:
    caplog.set_level(logging.INFO, "jieda.access")
    with serve(write(tmp_path, FEW), trusted_proxies=trusted) as client:
        client.get("/api/v1/kinds", headers={"X-Forwarded-For": "198.51.100.7, 203.0.113.9"})
    # Written when the answer has been sent.
    until(lambda: any(line.startswith(f"{seen} GET /api/v1/kinds") for line in caplog.messages))
