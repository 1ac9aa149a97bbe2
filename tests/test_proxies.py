"""The files for nginx and Caddy, with the programs themselves where they are installed."""

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path

import httpx
import pytest

from tests.support.inside import Inside
from tests.support.server import PATIENCE, ROOT, client_of, free_port, until
from tests.support.small_content import edition, write

DEPLOY = ROOT / "deploy"
LONGEST_LOG = b"KeyError: 1\n".ljust(1 << 26, b".")
HALF = b"POST /preferences HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nx"
NGINX = """daemon off;
{user}
worker_processes 1;
pid {folder}/nginx.pid;
error_log stderr;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/jieda.conf;
}}
"""


def nginx(folder: Path, port: int, behind: int) -> tuple[list[str], dict[str, str]]:
    """The command that starts it, and its environment."""
    text = (DEPLOY / "nginx.conf").read_text(encoding="utf-8")
    for ours, theirs in (
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("127.0.0.1:8000", f"127.0.0.1:{behind}"),
    ):
        assert ours in text
        text = text.replace(ours, theirs)
    user = "" if os.geteuid() else "user root;"
    (folder / "jieda.conf").write_text(text, encoding="utf-8")
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, user=user), encoding="utf-8")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], {}


def caddy(folder: Path, port: int, behind: int) -> tuple[list[str], dict[str, str]]:
    """The command that starts it, and its environment."""
    text = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
    # The socket that its administrators use would be the same for two of them.
    (folder / "Caddyfile").write_text(text.replace("{\n", "{\n\tadmin off\n", 1), encoding="utf-8")
    settings = {"JIEDA_SITE": f"http://127.0.0.1:{port}", "JIEDA_UPSTREAM": f"127.0.0.1:{behind}"}
    command = ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    return command, settings | {"HOME": str(folder)}


@pytest.fixture(params=[nginx, caddy], scope="module")
def proxied(
    request: pytest.FixtureRequest,
    inside: Callable[..., AbstractContextManager[Inside]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """The address of a proxy before a server."""
    name = request.param.__name__
    if not shutil.which(name):
        pytest.skip(f"{name} is not installed")
    port, folder = free_port(), tmp_path_factory.mktemp(name)
    content = write(folder / "content", {"en/roll/a.md": edition("显存 memory")})
    with inside(content) as server:
        command, settings = request.param(folder, port, int(server.base.rpartition(":")[2]))
        with (folder / "output").open("wb") as sink:
            process = subprocess.Popen(command, env=os.environ | settings, stdout=sink, stderr=sink)
        base = f"http://127.0.0.1:{port}"
        try:
            with client_of(base) as client:

                def is_up() -> bool:
                    assert process.poll() is None, (folder / "output").read_text(encoding="utf-8")
                    try:
                        return client.get("/healthz").status_code == 200
                    except httpx.TransportError:
                        return False

                until(is_up)
            yield base
        finally:
            process.terminate()
            process.wait(PATIENCE)


@pytest.mark.slow
def test_a_proxy_hands_on_what_readers_need_and_keeps_the_rest(proxied: str) -> None:
    port = int(proxied.rpartition(":")[2])
    with client_of(proxied) as client:
        assert client.get("/en/entries/roll/a").status_code == 200
        assert client.post("/api/v1/diagnose", content=LONGEST_LOG).status_code == 200
        assert client.get("/api/v1/search", params={"q": "显存" * 1000}).json()["total"] == 1
        chosen = client.post("/preferences", data={"theme": "dark"}, headers={"Origin": proxied})
        assert chosen.status_code == 303
        for forwarded in ("127.0.0.1", "203.0.113.4"):
            said = {"X-Forwarded-For": forwarded}
            assert client.get("/metrics", headers=said).status_code == 403
            assert client.get("/api/v1/search?q=memory", headers=said).json()["total"] == 1
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as raw:
        raw.sendall("GET /api/v1/search?q=显存 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
        assert raw.recv(1000).startswith(b"HTTP/1.1 200")


def test_half_sent_bodies_behind_a_proxy_keep_nobody_out(proxied: str) -> None:
    port = int(proxied.rpartition(":")[2])
    with ExitStack() as held, client_of(proxied) as client:
        for number in range(40):
            each = held.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            with suppress(ConnectionError):
                each.sendall(HALF)
            assert number % 10 or client.get("/healthz").status_code == 200
