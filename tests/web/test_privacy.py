"""Pasted text is read, matched and forgotten: it is nowhere that the process writes."""

from collections.abc import Callable
from pathlib import Path

import httpx

from tests.support.server import Server

SECRET = "hf-planted-secret-5f1d"
TOKEN = "hf_plantedSecretToken0123456789"
"""One of the form that is known, which would be taken out, and one that nothing knows."""
LOG = (
    "Traceback (most recent call last):\n"
    f'  File "/home/{SECRET}/train.py", line 3, in f\n    return self.node2pg[node_rank]\nKeyError: 1\n'
    f"token={SECRET}\n"
)


def paste_in_every_way(client: httpx.Client) -> list[httpx.Response]:
    big = SECRET * 100_000
    return [
        client.post("/api/v1/diagnose", content=LOG),
        client.post("/api/v1/diagnose", json={"text": LOG, "lang": "zh"}),
        client.post("/api/v1/diagnose", json={"text": SECRET, "framework": "nosuch"}),
        client.post("/api/v1/diagnose", json={"text": [SECRET]}),
        client.post(
            "/api/v1/diagnose", content=f'{{"text": "{SECRET}', headers={"Content-Type": "application/json"}
        ),
        client.post("/api/v1/diagnose", content=big),
        client.post("/en/diagnose", data={"text": LOG}),
        client.post("/zh/diagnose", data={"text": big}),
        client.post("/api/v1/diagnose", json={"text": SECRET, "lang": "fr"}),
        client.post("/api/v1/diagnose", json={"text": f"the quick brown fox jumps over the lazy {SECRET}"}),
        client.post("/api/v1/diagnose", content=f"{LOG}RuntimeError: {TOKEN}\n"),
    ]


def test_a_planted_secret_is_nowhere(start_server: Callable[..., Server]) -> None:
    server = start_server()
    with server.client() as client:
        for path in ("/api/v1/search", "/api/v1/suggest", "/en/search"):
            for secret in (SECRET, TOKEN):
                client.get(path, params={"q": secret})
        answers = paste_in_every_way(client)
        metrics = client.get("/metrics").text
    assert answers[0].status_code == answers[1].status_code == answers[6].status_code == 200
    # Of what is too large a part is read.
    assert answers[5].status_code == answers[7].status_code == 200
    assert SECRET not in metrics
    assert TOKEN not in metrics
    for answer in answers:
        assert SECRET not in str(answer.url)
        assert not [name for name, value in answer.headers.items() if SECRET in value]
    # An error never quotes what was sent.
    assert not [answer.url for answer in answers if answer.status_code >= 400 and SECRET in answer.text]
    server.stop()
    assert "/api/v1/diagnose" in server.log()
    written = {path: path.read_bytes() for path in files(server.output.parent)}
    assert server.output in written
    assert not [
        path for path, content in written.items() for each in (SECRET, TOKEN) if each.encode() in content
    ]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]
