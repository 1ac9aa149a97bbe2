"""`/v1/chat/completions`: what chat clients get who think that they talk to a model."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import httpx
import pytest
from jieda.web.machine.chat import MODEL

from tests.support.inside import Inside, application
from tests.support.shipped import CONTENT
from tests.support.small_content import edition, write

LOG = (CONTENT / "samples/chatlearn/resume-lr-error/torchrun-total-iterations.log").read_text(
    encoding="utf-8"
)
CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def chatting(inside: Callable[..., AbstractContextManager[Inside]]) -> Iterator[httpx.Client]:
    with inside(chat="1", base_url="https://faq.example.com") as server, server.client() as client:
        yield client


def said(client: httpx.Client, content: object, **more: object) -> httpx.Response:
    earlier = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": "hello"}]
    messages = [*earlier, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": content}]
    return client.post(CHAT, json={"model": "x", "messages": messages, "temperature": 0} | more)


def answer(client: httpx.Client, content: object) -> str:
    body = said(client, content).json()
    assert (body["object"], body["model"]) == ("chat.completion", MODEL)
    assert body["choices"][0]["finish_reason"] == "stop"
    text: str = body["choices"][0]["message"]["content"]
    return text


def test_a_log_a_line_and_a_question_are_answered_in_their_language(chatting: httpx.Client) -> None:
    explained = answer(chatting, [{"type": "text", "text": LOG}, {"type": "image_url", "text": None}])
    assert "https://faq.example.com/en/entries/chatlearn/resume-lr-error" in explained
    assert "```" in explained
    how = answer(chatting, "slime 怎么续训")
    assert "https://faq.example.com/zh/entries/slime/resume-training" in how
    unsaid = answer(chatting, "ChildFailedError:\n  host      : node-3\n  rank      : 24 (local_rank: 0)")
    assert "another process failed (host : node-3, rank : 24)" in unsaid
    assert answer(chatting, "psycopg2.errors.DeadlockDetected: deadlock detected").startswith(
        "No entry explains"
    )


def test_links_between_entries_lead_to_this_site_and_nothing_found_is_one_paragraph(
    chatting: httpx.Client,
) -> None:
    linked = answer(chatting, "How to train with multiple reward models in ChatLearn?")
    assert "](https://faq.example.com/en/entries/chatlearn/yaml-config)" in linked
    assert ".md)" not in linked
    assert answer(chatting, "zzqqxx") == "Nothing found"


def test_of_a_long_log_no_more_is_read_than_anywhere_else(chatting: httpx.Client) -> None:
    """The end, and what stands around the first failure."""
    step = "INFO step done\n" * 100_000
    text = f"ValueError: zqx is not what it was\n{step}{LOG}{step}"
    assert chatting.post("/api/v1/diagnose", json={"text": text}).json()["outcome"] == "unknown"
    assert answer(chatting, text).startswith("No entry explains")


def test_the_answer_is_streamed_as_clients_expect(chatting: httpx.Client) -> None:
    response = said(chatting, LOG, stream=True)
    assert response.headers["content-type"].startswith("text/event-stream")
    *events, done, rest = response.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    chunks = [json.loads(event.removeprefix("data: ")) for event in events if event.startswith("data: ")]
    assert {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert len({chunk["id"] for chunk in chunks}) == 1
    choices = [chunk["choices"][0] for chunk in chunks]
    assert choices[0]["delta"] == {"role": "assistant", "content": ""}
    assert [choice["finish_reason"] for choice in choices][-1] == "stop"
    assert said(chatting, LOG, stream=None).json()["object"] == "chat.completion"
    streamed = "".join(choice["delta"].get("content", "") for choice in choices)
    assert streamed.strip() == answer(chatting, LOG).strip()
    counted = said(chatting, LOG, stream=True, stream_options={"include_usage": True}).text
    last = json.loads(counted.split("\n\n")[-3].removeprefix("data: "))
    assert (last["choices"], last["usage"]["total_tokens"]) == ([], 0)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"messages": []}', b'{"messages": [{"role": "user"}]}', b"[" * 10**5]
)
def test_what_is_no_conversation_is_refused_as_clients_read_it(chatting: httpx.Client, body: bytes) -> None:
    response = chatting.post(CHAT, content=body)
    assert response.status_code == 400
    assert response.json()["error"]["type"] == "invalid_request_error"
    assert "messages" in response.json()["error"]["message"]


@pytest.mark.anyio
async def test_questions_beyond_the_limit_are_refused_as_clients_read_it(tmp_path: Path) -> None:
    content = write(tmp_path / "content", {"en/roll/first.md": edition("Out of memory in node2pg")})
    app = application(tmp_path, content, chat="1", diagnoses_per_minute="2")
    transport = httpx.ASGITransport(app, client=("203.0.113.5", 4321))
    body = {"messages": [{"role": "user", "content": "out of memory"}]}
    async with httpx.AsyncClient(transport=transport, base_url="http://limits") as client:
        *answered, refused = [await client.post(CHAT, json=body) for _ in range(3)]
    assert [each.status_code for each in (*answered, refused)] == [200, 200, 429]
    assert 1 <= int(refused.headers["retry-after"]) <= 60
    assert refused.headers["retry-after"] in refused.json()["error"]["message"]


@pytest.mark.parametrize("half", [b"\\ud83d", "😀".encode()[:2]])
def test_a_text_cut_within_an_emoji_is_answered(chatting: httpx.Client, half: bytes) -> None:
    for text in (b"slime NCCL timeout ", b"step 1\\nRuntimeError: no such thing "):
        body = b'{"messages": [{"role": "user", "content": "' + text + half + b'"}]}'
        assert chatting.post(CHAT, content=body).status_code == 200


def test_it_is_off_by_default_and_offers_one_model(chatting: httpx.Client, client: httpx.Client) -> None:
    assert [model["id"] for model in chatting.get("/v1/models").json()["data"]] == [MODEL]
    assert client.post(CHAT, json={}).status_code == 404
    assert client.get("/v1/models").status_code == 404
    wrong = chatting.get(CHAT)
    assert (wrong.status_code, wrong.headers["content-type"]) == (405, "application/problem+json")
