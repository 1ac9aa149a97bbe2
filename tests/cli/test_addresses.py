"""Addresses as people type them: raw UTF-8 in a request line, over a real socket, whatever the packets are like."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import uvicorn
from jieda.cli import server
from jieda.settings import Settings

from tests.support import shipped
from tests.support.server import PATIENCE, free_port, until

TYPED = "/搜索?q=显存不足".encode()
ESCAPED = b"/%E6%90%9C%E7%B4%A2?q=%E6%98%BE%E5%AD%98%E4%B8%8D%E8%B6%B3"
LAST = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
BODY = "GET /显存 HTTP/1.1\r\n\r\n".encode() * 2


def get(address: bytes, headers: bytes = b"") -> bytes:
    return b"GET " + address + b" HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n"


def post(body: bytes, *, chunked: bool = False) -> bytes:
    if not chunked:
        return b"POST /post HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    half = len(body) // 2
    parts = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:]))
    return b"POST /post HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + parts + b"0\r\n\r\n"


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers with what it was asked, as a line of JSON."""
    if scope["type"] != "http":
        return
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    said = {
        "path": scope["path"],
        "query": scope["query_string"].decode(),
        "headers": [(name.decode(), value.decode("latin-1")) for name, value in scope["headers"]],
        "body": body.decode("latin-1"),
    }
    line = json.dumps(said).encode() + b"\n"
    headers = [(b"content-length", str(len(line)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": line})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Where `echo` answers, served as Jieda is."""
    settings = replace(Settings.load({}), port=free_port(), limits=False)
    options = server.uvicorn_options(settings) | {"log_config": None}
    running = uvicorn.Server(uvicorn.Config(echo, **options))
    thread = threading.Thread(target=running.run)
    thread.start()
    until(lambda: running.started)
    yield settings.port
    running.should_exit = True
    thread.join(PATIENCE)


def exchange(port: int, *packets: bytes) -> bytes:
    """All that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        received = b""
        try:
            for number, packet in enumerate(packets):
                if number:
                    time.sleep(0.001)
                client.sendall(packet)
            while chunk := client.recv(1 << 16):
                received += chunk
        except ConnectionError:
            pass
        return received


def echoed(received: bytes) -> list[dict[str, Any]]:
    """What `echo` said, answer by answer."""
    return [json.loads(line) for line in received.split(b"\n") if line.startswith(b"{")]


def one_by_one(text: bytes) -> list[bytes]:
    return [text[n : n + 1] for n in range(len(text))]


def test_an_address_may_be_typed_as_it_is_read(port: int) -> None:
    typed, escaped = (echoed(exchange(port, get(address) + LAST)) for address in (TYPED, ESCAPED))
    assert typed == escaped
    assert typed[0]["path"] == "/搜索"
    assert typed[0]["query"] == ESCAPED.decode().partition("?")[2]
    assert len(typed) == 2


STREAM = (
    b"\r\n"
    + get(TYPED, "X-Name: 显存\r\n".encode())
    + post(BODY)
    + get(ESCAPED)
    + post(BODY, chunked=True)
    + get(b"/three?a=%C3%A9")
    + post(b"")
    + LAST
)
"""Of requests that are sent without waiting for answers, only the first may be typed as it is read."""


def check_stream(said: list[dict[str, Any]]) -> None:
    paths = ["/搜索", "/post", "/搜索", "/post", "/three", "/post", "/last"]
    assert [each["path"] for each in said] == paths
    assert dict(said[0]["headers"])["x-name"].encode("latin-1").decode() == "显存"
    bodies = [each["body"].encode("latin-1") for each in said]
    assert bodies == [b"", BODY, b"", BODY, b"", b"", b""]
    assert said[0]["query"] == said[2]["query"] == ESCAPED.decode().partition("?")[2]


def test_requests_in_one_packet_are_told_apart(port: int) -> None:
    check_stream(echoed(exchange(port, STREAM)))


def test_a_byte_at_a_time_is_as_good(port: int) -> None:
    check_stream(echoed(exchange(port, *one_by_one(STREAM))))


def test_wherever_the_packets_are_split(port: int) -> None:
    for place in range(1, len(STREAM)):
        check_stream(echoed(exchange(port, STREAM[:place], STREAM[place:])))


@pytest.mark.parametrize("address", ["/?q=显存".encode("gbk"), b"/?q=caf\xe9", b"/\xff\xfe?q=\x80"])
def test_other_encodings_are_read_as_if_they_had_been_escaped(port: int, address: bytes) -> None:
    by_hand = b"".join(b"%%%02X" % byte if byte > 127 else bytes([byte]) for byte in address)
    said = echoed(exchange(port, get(address) + LAST))
    assert said == echoed(exchange(port, get(by_hand) + LAST))
    assert len(said) == 2


@pytest.mark.parametrize(
    "line",
    [
        b"GET /\xe6 x HTTP/1.1",
        b"GET /\xe6\x00 HTTP/1.1",
        b"GET /\xe6\t HTTP/1.1",
        b"GET /\xe6\rX: y HTTP/1.1",
        b"GET /\xe6\x7f HTTP/1.1",
        b"G\xc3\x89T / HTTP/1.1",
        b"GET\xa0/ HTTP/1.1",
        b"GET\xe3\x80\x80/ HTTP/1.1",
        b"GET /\xc2\xa0HTTP/1.1",
        b"GET / HTTP/1.1\xc2\x85",
        b"GET http://\xe6\x98\xbe/ HTTP/1.1",
        b"\xe6 / HTTP/1.1",
    ],
)
def test_what_is_no_request_line_stays_none(port: int, line: bytes) -> None:
    received = exchange(port, line + b"\r\nHost: x\r\n\r\n" + LAST)
    assert received.startswith(b"HTTP/1.1 400 ")
    assert not echoed(received)


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 6\r\n\r\nabcd",
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: +4\r\n\r\nabcd",
        b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: \xef\xbc\x94\r\n\r\nabcd",
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\xe6\r\n\r\nabcd",
        b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
        b"GET /a HTTP/1.1\nHost: x\n\n",
        b"GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET /a HTTP/1.1\r\n\r\n",
        b"GET /a HTTP/2.0\r\nHost: x\r\n\r\n",
        b"GET /a\r\nHost: x\r\n\r\n",
        b"CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://x HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
)
def test_nobody_smuggles_a_request(port: int, request_bytes: bytes) -> None:
    assert exchange(port, request_bytes + LAST).startswith(b"HTTP/1.1 400 ")
    for packets in ((request_bytes + LAST,), one_by_one(request_bytes + LAST)):
        assert not echoed(exchange(port, *packets))


def test_what_follows_a_body_is_no_header(port: int) -> None:
    whole = post(b"ab", chunked=True)[:-2] + b"X-Forwarded-For: 1.2.3.4\r\n\r\n" + LAST
    for packets in ((whole,), one_by_one(whole)):
        first, last = echoed(exchange(port, *packets))
        assert last["path"] == "/last"
        assert "x-forwarded-for" not in dict(first["headers"])


@pytest.mark.parametrize(
    "endless",
    [
        (b"GET /", "显".encode()),
        (b"GET / HTTP/1.1\r\nHost: x\r\nX: ", b"x"),
        (b"GET / HTTP/1.1\r\nHost: x\r\n", b"X: y\r\n"),
    ],
)
def test_a_head_without_end_is_refused_and_so_is_a_long_one(port: int, endless: tuple[bytes, bytes]) -> None:
    begin, more = endless
    packets = [begin, *[more * 4000] * (4 * server.MOST_HEAD // (4000 * len(more)))]
    long = [begin + more * (3 * server.MOST_HEAD // (2 * len(more))) + b"\r\n\r\n"]
    for sent in (packets, long):
        received = exchange(port, *sent)
        assert not echoed(received)
        assert b" 200 " not in received


def test_a_large_body_with_raw_bytes_arrives_whole(port: int) -> None:
    body = "日志：显存不足\r\n\r\n".encode() * 20_000
    for chunked in (False, True):
        said = echoed(exchange(port, post(body, chunked=chunked) + get(ESCAPED) + LAST))
        assert said[0]["body"].encode("latin-1") == body
        assert [each["path"] for each in said] == ["/post", "/搜索", "/last"]


def status_and_headers(received: bytes) -> tuple[str, dict[str, str]]:
    head = received.partition(b"\r\n\r\n")[0].decode("ascii")
    status, *lines = head.split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return status, {
        name: headers[name] for name in ("etag", "location", "content-language") if name in headers
    }


@pytest.mark.server
def test_jieda_answers_typed_addresses_like_escaped_ones(tmp_path: Path) -> None:
    running = shipped.start(tmp_path)
    port = int(running.base.rpartition(":")[2])
    close = b"Connection: close\r\n"
    try:
        for address, status in (("/api/v1/search?q=显存不足", 200), ("/zh?q=显存", 308), ("/zh/没有", 404)):
            by_hand = quote(address, safe="/?=").encode()
            typed = status_and_headers(exchange(port, get(address.encode(), close)))
            assert typed[0].split()[1] == str(status)
            assert typed == status_and_headers(exchange(port, get(by_hand, close)))
            if "etag" in typed[1]:
                known = f"If-None-Match: {typed[1]['etag']}\r\n".encode()
                again = exchange(port, get(address.encode(), close + known))
                assert again.startswith(b"HTTP/1.1 304 ")
        answer = httpx.get(
            f"{running.base}/api/v1/search", params={"q": "显存不足"}, headers={"Host": "x"}, trust_env=False
        )
        assert exchange(port, get("/api/v1/search?q=显存不足".encode(), close)).endswith(answer.content)
        log = running.log()
    finally:
        running.stop()
    assert "/zh/%E6%B2%A1%E6%9C%89 404" in log
    assert "显存" not in log
    assert "%E6%98%BE" not in log
