"""What somebody hostile sends, and what must not come of it."""

import http.client
import threading
import time
import unicodedata
from contextlib import suppress
from urllib.parse import quote

import httpx
import pytest

from tests.support.server import PATIENCE, ROOT, Server

OPERATORS = [
    *("*", "***", "?", "id:roll*", "draft:true", "draft:true OR *", "NOT node2pg", "node2pg ANDNOT roll"),
    *("[a TO z]", "{a TO z}", "[TO]", "a^9999", "node2pg~9", '"', '""', '"node2pg', "(", ")", "(" * 900),
    *("--use-dynamic-batch-size", "-l", "C++", "a AND", "OR", "title:(x OR y)", "\\", "\\\\", "%", "_", "%s"),
    *("{{7*7}}", "${7*7}", "' OR 1=1 --", "<script>alert(1)</script>", "javascript:alert(1)"),
]
HEAVY = [
    *("(" * 5000, '"' * 5000, "word " * 3000, "字" * 5000, "*?" * 4000, "a" * 20_000, "_" * 5000, "-" * 5000),
    *(
        "a." * 5000,
        "e\u0301" * 4000,
        "\u0301" * 8000,
        "\u202e" * 3000,
        "1" * 20_000,
        "ａ" * 5000,
        "顯" * 5000,
    ),
    *("x9_" * 4000, "/" * 9000, "0x" + "f" * 9000, "::" * 4000, "\ufdfa" * 3000, "[" * 9000),
]
ODD = [
    *("\x00", "node2pg\x00", "\ufeff", "\u200b", "\u202enode2pg", "\ud7ff", "\U0010ffff", "\uffff", "\r\n"),
    *("\x1b[31m", "\t", "\u2028", "🤗", "👩‍👩‍👧", "e\u0301", "ｎｏｄｅ２ｐｇ"),
]
PATHS = [
    *(
        "/api/v1/entries/../../etc/passwd",
        "/api/v1/entries/..%2f..%2fetc/passwd",
        "/api/v1/entries/roll/..%2f",
    ),
    *("/api/v1/entries/%252e%252e/%252e%252e", "/api/v1/entries/..\\..\\x/y", "/api/v1/entries/roll/%00"),
    *("/api/v1/entries/roll/node2pg-keyerror%00.md", "/api/v1/entries/%ff%fe/%c0%af", "/api/v1/entries//"),
    *(
        "/static/../app/jieda/settings.py",
        "/static/..%2fapp%2fsettings.py",
        "/static/%2e%2e/README.md",
        "/static//etc",
    ),
    *(
        "/static/%2fetc%2fpasswd",
        "/docs/../app/jieda/settings.py",
        "/docs/index.html",
        "/docs/swagger-ui.css.map",
    ),
    *("/en/entries/roll/..%2f..%2f..%2fetc%2fpasswd", "/en/entries/roll/.git", "//evil.example/", "/%5cevil"),
    *(
        "/en/entries/roll/node2pg-keyerror/../../../../..",
        "/../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
    ),
]


@pytest.mark.parametrize("q", OPERATORS + ODD, ids=ascii)
def test_operators_and_odd_characters_are_text(client: httpx.Client, q: str) -> None:
    for path in ("/api/v1/search", "/api/v1/suggest"):
        answer = client.get(path, params={"q": q})
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("q", ["\ufdfa" * 2000, "㌀" * 2000, "oom " + "\ufdfa" * 500])
def test_a_query_is_measured_by_what_it_is_written_out_to(client: httpx.Client, q: str) -> None:
    """A ligature of Arabic is eighteen characters, and it is these that take time."""
    read = client.get("/api/v1/search", params={"q": q, "verbatim": "1"}).json()["query"]
    assert q.startswith(read)
    assert 1900 < len(unicodedata.normalize("NFKC", read)) <= 2000


STRUCTURES = {
    "nested": '{"text": "x", "x": [' + "[" * 500 + "]" * 500 + "," + "[" * 500 + "]" * 500 + "]}",
    "many": '{"text": "x", "x": [' + ",".join(["{}"] * 100_000) + "]}",
    "fields": "{" + ",".join(f'"f{number}": 1' for number in range(101)) + ', "text": "x"}',
    "behind a quotation mark": '{"text": "\\\\\\"", "x": [' + "[],\n" * 1000 + "1]}",
    "large": '{"text": "x", "x": ' + "[" * 2_000_000,
}


@pytest.mark.parametrize("body", STRUCTURES.values(), ids=STRUCTURES)
def test_json_of_brackets_is_refused_before_it_is_read(client: httpx.Client, body: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/v1/diagnose", content=body.encode(), headers=headers)
    assert answer.status_code == 422
    assert "brackets" in answer.json()["errors"][0]["message"]


def test_brackets_and_quotation_marks_in_a_log_are_no_structure(client: httpx.Client) -> None:
    log = 'KeyError: 1\n{"a": [["\\\\", "\\u0022"]], "b": "c\\\\\\""}\n' * 1000
    answer = client.post("/api/v1/diagnose", json={"text": log, "lang": "en", "framework": ""})
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("raw", ["%ff", "%c0%af", "%ed%a0%80", "%", "%zz", "%u0041", "a%00b", "%f0%9f"])
def test_undecodable_queries_are_answered(client: httpx.Client, raw: str) -> None:
    for name in ("q", "lang", "framework", "limit"):
        answer = client.get(f"/api/v1/search?{name}={raw}")
        assert answer.status_code in ({200} if name == "q" else {422}), (name, answer.text)


@pytest.mark.parametrize("q", HEAVY, ids=lambda q: ascii(q[:6]))
def test_no_query_keeps_the_server_busy_for_good(client: httpx.Client, q: str) -> None:
    for path in ("/api/v1/search", "/api/v1/suggest"):
        answer = client.get(f"{path}?q={quote(q)[:60_000]}")
        assert answer.status_code == 200, path


def test_a_query_string_of_any_size_is_answered_somehow(server: Server) -> None:
    for size in (60_000, 300_000, 3_000_000):
        connection = http.client.HTTPConnection(server.base.removeprefix("http://"), timeout=PATIENCE)
        # The server may close before it has read such a line to its end.
        with suppress(ConnectionError):
            connection.request("GET", "/api/v1/search?q=" + "a" * size)
            assert connection.getresponse().status < 500
        connection.close()
        with server.client() as client:
            assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_no_path_leads_out_of_what_is_served(server: Server, path: str) -> None:
    # http.client sends the path as it stands; others tidy it up first.
    connection = http.client.HTTPConnection(server.base.removeprefix("http://"), timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    body = answer.read().decode("utf-8", "replace")
    connection.close()
    assert answer.status in {400, 404, 405, 422}, body[:200]
    for leaked in ("root:", "class Settings", "Traceback", str(ROOT), "site-packages"):
        assert leaked not in body


def test_what_is_reflected_is_escaped(client: httpx.Client) -> None:
    attack = '"><script>alert(1)</script>'
    for address in (
        f"/en/{quote(attack)}",
        f"/zh/search?q={quote(attack)}",
        f"/en/search?framework={quote(attack)}",
        f"/en/entries/roll/{quote(attack)}",
        f"/{quote(attack)}/",
    ):
        page = client.get(address, headers={"Referer": attack, "Accept": "text/html"})
        assert "<script>alert" not in page.text
        assert page.headers["content-security-policy"]
    answer = client.get(f"/api/v1/search?lang={quote(attack)}")
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_responses_cannot_be_split(client: httpx.Client) -> None:
    for address in (
        "/api/v1/entries/roll/x%0d%0aSet-Cookie:%20a=b",
        "/%0d%0aLocation:%20//evil",
        "/en%0d%0aX: y",
    ):
        answer = client.get(address)
        assert not {"set-cookie", "x"} & set(answer.headers)
        assert "evil" not in answer.headers.get("location", "")


def test_ranges_without_number_cost_nothing(client: httpx.Client) -> None:
    ranges = "bytes=" + ",".join(f"{start}-{start}" for start in range(0, 12_000, 2))
    answer = client.get("/static/docs.js", headers={"Range": ranges[:60_000]})
    assert answer.status_code in {200, 206, 400, 416}
    # The file, or an answer about the ranges; not one part with headers of its own for each of thousands.
    whole = client.get("/static/docs.js")
    assert len(answer.content) <= len(whole.content)


SLOW_TO_READ = {
    "escaped quotes in a cookie": ("/en/about", {"Cookie": 'jieda_lang="' + "\\" * 50_000 + '"'}),
    "cookies without number": ("/en/about", {"Cookie": "a=b;" * 12_000 + "jieda_lang=zh"}),
    "parameters of a type": ("/api/v1/diagnose", {"Content-Type": 'text/plain; charset="' + ";" * 50_000}),
    "unknown parameters": ("/api/v1/search?q=a&" + "&".join(f"lim{n}=1" for n in range(4000)), {}),
}


@pytest.mark.parametrize(("address", "headers"), SLOW_TO_READ.values(), ids=SLOW_TO_READ)
def test_no_head_of_a_request_keeps_the_server_busy(
    client: httpx.Client, address: str, headers: dict[str, str]
) -> None:
    method = "POST" if "Content-Type" in headers else "GET"
    began = time.process_time()  # of this process, in which the server runs
    answer = client.request(method, address, headers=headers, content=b"KeyError: 1" if headers else None)
    assert time.process_time() - began < 1
    assert answer.status_code in {200, 415, 422}
    assert len(answer.content) < 20_000


def test_probes_are_answered_while_big_logs_are_diagnosed(server: Server) -> None:
    """A probe that waited for a log each time would be one of as many as there are logs."""
    line = "(WorkerDict pid=1, ip=10.0.0.1) [rank3]: RuntimeError: CUDA error at 0x7f00\n"
    log = (line * 20_000)[: 1 << 19].encode()
    threads = [threading.Thread(target=diagnose, args=(server, log, LOGS)) for _ in range(3)]
    for thread in threads:
        thread.start()
    probes = 0
    with server.client() as client:
        while any(thread.is_alive() for thread in threads):
            assert client.get("/healthz").status_code == 200
            probes += 1
            time.sleep(0.005)  # asking all the time would take what the logs need
    assert probes > 2 * LOGS * len(threads)


LOGS = 2


def diagnose(server: Server, log: bytes, times: int) -> None:
    with server.client() as client:
        for _ in range(times):
            assert client.post("/api/v1/diagnose", content=log).status_code == 200
