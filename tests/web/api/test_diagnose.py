"""POST /diagnose: how a log may be sent, how it is answered, and what becomes of it."""

import bz2
import gzip
import json
import logging
import lzma
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import which
from typing import Any

import httpx
import pytest

from tests.support.server import PATIENCE, ROOT, Server, until
from tests.support.small_content import edition, write
from tests.web.api.test_protocol import assert_problem

SAMPLE = min((ROOT / "content/samples/roll/node2pg-keyerror").glob("*.log"))
LIMIT = 1 << 20
NOTHING_KNOWN = "the quick brown fox jumps over the lazy dog"


def post(client: httpx.Client, **options: object) -> httpx.Response:
    return client.post("/api/v1/diagnose", **options)  # type: ignore[arg-type]


def post_for_text(client: httpx.Client, **options: object) -> httpx.Response:
    return client.post("/api/v1/diagnose.txt", **options)  # type: ignore[arg-type]


def test_json_in_json_out_with_every_field_of_the_contract(client: httpx.Client) -> None:
    answer = post(client, json={"text": SAMPLE.read_text(), "lang": "zh", "framework": "roll"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert set(body) == {
        *(
            "outcome",
            "verdict",
            "asks",
            "matches",
            "near",
            "errors",
            "framework",
            "elsewhere",
            "read",
            "generation",
        )
    }
    assert (body["outcome"], body["verdict"], body["asks"]) == ("known", "matched", [])
    assert body["near"] == []
    first = body["matches"][0]
    named = {"id", "title", "applies_to", "lang", "confidence", "matched", "fix", "url", "api_url"}
    named |= {"framework", "may_not_apply_to"}
    assert set(first) == named
    assert first["applies_to"]
    assert (first["id"], first["lang"]) == ("roll/node2pg-keyerror", "zh")
    assert first["confidence"] in {"exact", "likely", "possible"}
    assert first["url"] == f"{str(client.base_url).rstrip('/')}/zh/entries/roll/node2pg-keyerror"
    assert first["fix"]


def test_the_text_reads_well_in_a_terminal(client: httpx.Client) -> None:
    answer = post_for_text(client, content=SAMPLE.read_bytes(), params={"lang": "en"})
    entry = client.get("/api/v1/entries/roll/node2pg-keyerror", params={"lang": "en"}).json()
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith(f"1. {entry['title']}")
    assert answer.text.splitlines()[1].strip() == f"Applies to: {entry['applies_to']}"
    assert answer.text.endswith("\n")
    assert all(line.strip() in answer.text for line in entry["fix"].splitlines())
    assert entry["url"] in answer.text


@pytest.mark.skipif(which("curl") is None, reason="curl is not installed here")
def test_curl_with_its_own_headers_gets_text_as_well(server: Server) -> None:
    command = [
        "curl",
        "-sS",
        "--noproxy",
        "*",
        "--data-binary",
        f"@{SAMPLE}",
        f"{server.base}/api/v1/diagnose.txt",
    ]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert answer.stdout.startswith("1. ")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/plain", "text/html,*/*;q=0.8"])
def test_each_address_answers_in_one_form_whatever_is_sent_or_asked_for(
    client: httpx.Client, accept: str
) -> None:
    bodies: tuple[dict[str, Any], ...] = (
        {"json": {"text": NOTHING_KNOWN}},
        {"content": NOTHING_KNOWN.encode()},
    )
    for body in bodies:
        as_json = post(client, headers={"Accept": accept}, **body)
        as_text = post_for_text(client, headers={"Accept": accept}, **body)
        assert as_json.headers["content-type"] == "application/json"
        assert as_text.headers["content-type"] == "text/plain; charset=utf-8"
        assert as_json.headers["vary"] == as_text.headers["vary"] == "Accept-Language, Accept-Encoding"


def test_a_log_that_nothing_explains_is_answered_with_nothing(client: httpx.Client) -> None:
    assert post(client, json={"text": NOTHING_KNOWN}).json()["matches"] == []
    assert (
        "no sign of an error"
        in post_for_text(client, content=NOTHING_KNOWN.encode(), params={"lang": "en"}).text
    )
    assert "看不出错误" in post_for_text(client, content=NOTHING_KNOWN.encode(), params={"lang": "zh"}).text


def test_the_level_of_an_unknown_error_line_is_said_once(client: httpx.Client) -> None:
    log = "2026-03-02 10:14:02.117 UTC [21877] app@shop ERROR:  deadlock detected"
    text = post_for_text(client, content=log.encode(), params={"lang": "en"}).text
    assert "line 1:  ERROR:  deadlock detected\n" in text
    page = client.post("/en/diagnose", data={"text": log}).text
    assert "ERROR:  deadlock detected" in page
    assert "error: ERROR" not in page


def test_a_log_without_an_error_says_so_even_where_entries_are_similar(client: httpx.Client) -> None:
    log = "loading weights from the checkpoint\nsaved model to /ckpt\nlearning rate 1e-6"
    answer = post(client, json={"text": log}).json()
    assert answer["outcome"] == answer["verdict"] == "no_error"
    text = post_for_text(client, content=log.encode(), params={"lang": "en"}).text
    assert "no sign of an error" in text
    assert all(
        near["applies_to"] in text for near in post(client, json={"text": log, "lang": "en"}).json()["near"]
    )
    assert "No entry explains this" not in text
    steps = "".join(f"INFO step {number} loss {number / 7} seconds\n" for number in range(300))
    text = post_for_text(client, content=steps.encode(), params={"lang": "en"}).text
    assert text.partition("Words to search for:")[2].count("loss") == 1


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"[1, 2]", "body"),
        (b'"text"', "body"),
        (b"[" * 100_000, "body"),
        (b"{}", "text"),
        (b'{"text": 1}', "text"),
        (b'{"text": null}', "text"),
        (b'{"text": "x", "lang": "fr"}', "lang"),
        (b'{"text": "x", "lang": 1}', "lang"),
        (b'{"text": "x", "framework": "nope"}', "framework"),
        (b'{"text": "x", "framework": ["roll"]}', "framework"),
    ],
)
def test_a_json_body_that_makes_no_sense_is_refused_by_field(
    client: httpx.Client, body: bytes, field: str
) -> None:
    answer = post(client, content=body, headers={"Content-Type": "application/json; charset=utf-8"})
    assert field in {error["field"] for error in assert_problem(answer, 422)["errors"]}


@pytest.mark.parametrize(
    ("body", "line", "column"),
    [
        (b"", 1, 1),
        (b"{", 1, 2),
        (b"{'text': 'x'}", 1, 2),
        (b'{"lang": "zh",\n "text": "one\ntwo"}', 2, 14),  # a line break that nobody has escaped
    ],
)
def test_a_body_that_is_not_json_is_a_bad_request_that_says_where(
    client: httpx.Client, body: bytes, line: int, column: int
) -> None:
    said = {
        "en": f"is not valid JSON from line {line}, column {column} on",
        "zh": f"从第 {line} 行第 {column} 列起不是合法的 JSON",
    }
    for lang, message in said.items():
        headers = {"Content-Type": "application/json", "Accept-Language": lang}
        answer = post(client, content=body, headers=headers)
        assert assert_problem(answer, 400)["errors"] == [{"field": "body", "message": message}]


def test_a_refusal_speaks_the_language_that_the_body_asks_for(client: httpx.Client) -> None:
    answer = post(client, json={"text": "x", "lang": "zh", "framework": "nope"})
    assert "没有这个分类" in assert_problem(answer, 422)["title"]
    for path, body in (("diagnose", {}), ("outcomes", {"id": "roll/x", "outcome": "bad"})):
        answer = client.post(f"/api/v1/{path}", json={**body, "lang": "zh"})
        assert assert_problem(answer, 422)["title"] == "参数有误"


def test_undecodable_text_is_read_with_replacement(client: httpx.Client) -> None:
    odd = SAMPLE.read_bytes() + b"\xff\xfe\x00\x1b[31m\xed\xa0\x80 \xf0\x9f"
    assert "roll/node2pg-keyerror" in post(client, content=odd).text
    escaped = "\ufeff" + json.dumps({"text": SAMPLE.read_text() + "\ud800 \udcff \x00"})
    answer = post(client, content=escaped.encode(), headers={"Content-Type": "application/json"})
    assert answer.json()["matches"][0]["id"] == "roll/node2pg-keyerror"
    half = post(client, content=b'{"level": "error", "message": "ValueError: bad \\ud83d text"}\nend\n')
    assert [each["message"] for each in half.json()["errors"]] == ["bad  text"]


@pytest.mark.parametrize("as_json", [False, True])
def test_of_a_long_log_the_end_and_the_first_failure_are_read(client: httpx.Client, *, as_json: bool) -> None:
    step = "INFO step done\n"
    whole = "\ufeff" + step * 100_000 + SAMPLE.read_text() + "\n" + step * 100_000
    sent = {"json": {"text": whole}} if as_json else {"content": whole.encode()}
    body = post(client, **sent).json()
    assert body["matches"][0]["id"] == "roll/node2pg-keyerror"
    lines = whole.split("\n")
    for each in body["matches"][0]["matched"]:
        assert lines[each["line"] - 1].strip() == each["text"].strip()
    first, last = body["read"]
    assert first["first"] < body["matches"][0]["matched"][0]["line"] < first["last"] < last["first"]
    assert last["last"] == len(lines) - 1
    told = post_for_text(client, params={"lang": "en"}, content=whole.encode()).text
    assert (
        f"these lines were read: {first['first']:,}–{first['last']:,}, {last['first']:,}–{last['last']:,}."
        in told
    )
    assert post(client, content=SAMPLE.read_bytes()).json()["read"] == []


def test_of_a_line_of_many_megabytes_a_part_is_read_and_the_answer_says_so(client: httpx.Client) -> None:
    log = "start\n" + "step done " * 300_000 + "\n" + SAMPLE.read_text()
    (read,) = post(client, content=log.encode()).json()["read"]
    assert read == {"first": 2, "last": 1 + len(log.rstrip().split("\n")) - 1, "in_part": True}
    told = post_for_text(client, params={"lang": "zh"}, content=log.encode()).text
    assert "（有的行太长，只读了一部分）" in told


def test_a_log_is_read_in_the_encoding_that_it_names(client: httpx.Client) -> None:
    headers = {"Content-Type": "text/plain; charset=GBK"}
    text = SAMPLE.read_text() + "\nRuntimeError: 显存不足"
    assert (
        post(client, content=text.encode("gbk"), headers=headers).json()["errors"][-1]["message"]
        == "显存不足"
    )
    unnamed = post(client, content=text.encode("gbk")).json()
    assert unnamed["errors"][-1]["message"] == "显存不足", "as Windows in Chinese writes it"
    as_json = json.dumps({"text": text}, ensure_ascii=False).encode("gbk")
    named = {"Content-Type": "application/json; charset=GBK"}
    assert post(client, content=as_json, headers=named).json()["errors"][-1]["message"] == "显存不足"
    # One that takes quadratic time, one that is not text, one in which any byte can end a line, one unknown.
    for charset in ("punycode", "zlib", "utf-16", "no-such"):
        refused = post(client, content=b"x", headers={"Content-Type": f"text/plain; charset={charset}"})
        assert_problem(refused, 415)


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize(("headers", "most"), [({}, 1024), (JSON, 96)])
def test_a_streamed_body_beyond_the_limit_is_413_and_not_held(
    server: Server, headers: dict[str, str], most: int
) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        for _ in range(count):
            yield b"x" * 65_536

    def resident() -> int:
        status = Path(f"/proc/{server.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0])

    before = resident()
    with server.client() as client:
        # As much as is still drained so that the answer arrives.
        assert_problem(post(client, content=chunks(most + 100), headers=headers), 413)
        # 128 MiB: the connection may be cut off, but nothing of it is kept.
        with suppress(httpx.TransportError):
            assert_problem(post(client, content=chunks(2048), headers=headers), 413)
    # Over a connection of its own: that one may be cut off after its answer was read.
    with server.client() as client:
        assert client.get("/healthz").status_code == 200
    assert resident() - before < 40_000, "kilobytes"


def test_a_compressed_body_is_refused_unread(client: httpx.Client) -> None:
    bomb = gzip.compress(b"\0" * 50_000_000)
    answer = post(client, content=bomb, headers={"Content-Encoding": "gzip"})
    assert_problem(answer, 415)
    assert answer.headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(SAMPLE.read_bytes()),
        bz2.compress(SAMPLE.read_bytes()),
        lzma.compress(SAMPLE.read_bytes()),
        b"PK\x03\x04\x14\0\0\0\x08\0" + bytes(40),
        b"\x28\xb5\x2f\xfd\x24\x41" + bytes(40),
    ],
    ids=["gzip", "bzip2", "xz", "zip", "zstd"],
)
def test_a_packed_file_is_refused_though_it_does_not_say_so(packed: bytes, client: httpx.Client) -> None:
    for headers in ({}, JSON):
        assert_problem(post(client, content=packed, headers=headers), 415)
    details = [post(client, content=packed, params={"lang": lang}).json()["detail"] for lang in ("en", "zh")]
    assert details[0].startswith("Unpack")
    assert "解压" in details[1]


def test_a_form_or_a_binary_file_is_no_log_without_errors(client: httpx.Client) -> None:
    log = SAMPLE.read_bytes()
    forms = [client.build_request("POST", "/api/v1/diagnose", files={"file": ("train.log", log)})]
    for request in (*forms, client.build_request("POST", "/api/v1/diagnose", content=bytes(range(256)) * 20)):
        answer = client.send(request)
        assert_problem(answer, 415)
        assert "curl --data-binary @train.log" in answer.json()["detail"]
    for before in (log.decode(), "step of no interest\n" * 30_000):
        wide = post(client, content=f"{before}\nRuntimeError: 显存不足".encode("utf-16")).json()
        assert wide["errors"][-1]["message"] == "显存不足", "UTF-16 is text"


def test_a_client_that_hangs_up_is_no_failure_of_ours(
    serve: Callable[..., httpx.Client], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    base = serve(write(tmp_path, {"en/roll/a.md": edition("A")})).base_url
    with socket.create_connection((base.host, base.port or 0)) as connection:
        connection.sendall(b"POST /api/v1/diagnose HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\nKeyErr")
        time.sleep(0.3)
    until(lambda: "/api/v1/diagnose" in caplog.text)
    (line,) = [line for line in caplog.messages if "/api/v1/diagnose" in line]
    assert " 499 " in line
    assert "Traceback" not in caplog.text


def test_an_unknown_framework_is_refused_also_where_the_body_names_a_known_one(client: httpx.Client) -> None:
    body = {"text": "KeyError: 1", "framework": "roll"}
    assert client.post("/api/v1/diagnose?framework=roll", json=body).status_code == 200
    assert client.post("/api/v1/diagnose?framework=none-such", json=body).status_code == 422
