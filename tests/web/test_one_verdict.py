"""The same text has the same verdict, whatever box it came through, and an entry's own words are answered."""

import json
import os
import re
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from jieda.cli.main import main
from jieda.entry import Entry
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.usecases.judge import search_and_judge

from tests.agents.conftest import over_http
from tests.support.server import Server

FOREIGN = (
    "ModuleNotFoundError: No module named 'flash_attn'",
    "wandb: Network error (ConnectionError), entering retry loop.",
    "TypeError: forward() got an unexpected keyword argument 'use_cache'",
    "psycopg2.errors.DeadlockDetected: deadlock detected",
    "pydantic_core._pydantic_core.ValidationError: 1 validation error for Settings",
    'java.lang.NullPointerException: Cannot invoke "String.length()" because "name" is null',
    "panic: runtime error: index out of range [5] with length 3",
    "error[E0382]: borrow of moved value: `config`",
    "npm ERR! code ERESOLVE unable to resolve dependency tree",
    "fatal: refusing to merge unrelated histories",
    "redis.exceptions.ResponseError: WRONGTYPE Operation against a key holding the wrong kind of value",
    "kafka.errors.NoBrokersAvailable: NoBrokersAvailable",
    "Segmentation fault (core dumped) in libgtk-3.so.0",
    "sqlalchemy.exc.IntegrityError: UNIQUE constraint failed: users.email",
    'nginx: [emerg] unknown directive "proxy_passs" in /etc/nginx/nginx.conf:12',
    "botocore.exceptions.NoCredentialsError: Unable to locate credentials",
    "cv2.error: (-215:Assertion failed) !_src.empty() in function 'cvtColor'",
    "Error: Cannot find module 'express'",
    "django.core.exceptions.ImproperlyConfigured: The SECRET_KEY setting must not be empty.",
    "E: Unable to locate package libfoo-dev",
)
OURS = (
    "KeyError: 1 return self.node2pg[node_rank]",
    "AssertionError: batch_size 32 < chunks 64",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB. GPU 3 has a total capacity of 79.11 GiB.",
    "CUDA out of memory in ChatLearn",
    "RuntimeError: CUDA error: an illegal memory access was encountered",
    "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "assert self.lr_decay_steps > 0",
    "ModuleNotFoundError: No module named 'megatron.training'",
    "TypeError: BackendCompilerFailed.__init__() missing 1 required positional argument: 'inner_exception'",
    "(WorkerDict pid=1) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "(MegatronTrainRayActor pid=7) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
    "verl: CUDA error: uncorrectable ECC error encountered",
    "OSError: [Errno 24] Too many open files",
    "slime 训练 grad_norm 变成 nan",
    "训练速度慢",
    "显存不足怎么办",
    "how to resume training in slime",
    "保存模型时卡住",
    "iteration 10/ 100 | loss 1.2 | lr 1e-6",
    "all is well, 100 steps done",
    "torch.OutOfMemoryError",
    # Two entries explain it, of which the first is the one to show.
    "slime: TorchMemorySaver::malloc return OOM since memory_margin_bytes=5 torch.OutOfMemoryError: CUDA out of memory",
)


Verdict = tuple[str, list[str], list[str]]
"""The outcome, the entries that explain a text, and the frameworks that are asked about."""


def verdict(answer: Any) -> Verdict:
    """That of a judgement as JSON. Tools leave out what is empty."""
    ids = [match["id"] for match in answer.get("matches", ())]
    return answer["outcome"], ids, list(answer.get("asks", ()))


def verdicts(server: Server, text: str) -> tuple[dict[str, Verdict], dict[str, str]]:
    """That of each surface, and what the pages show."""
    with server.client() as client:
        pages = {
            "home": client.post("/en/search", data={"q": text}, follow_redirects=True).text,
            "search page": client.get("/en/search", params={"q": text}).text,
            "log page": client.post("/en/diagnose", data={"text": text}).text,
        }
        found = {
            "search": verdict(client.get("/api/v1/search", params={"q": text}).json()["judgement"]),
            "diagnose": verdict(client.post("/api/v1/diagnose", json={"text": text}).json()),
        }

    async def ask(agent: Any) -> Any:
        return (await agent.call_tool("diagnose", {"text": text})).structured_content

    found["agents"] = verdict(over_http(server, ask))
    told = CliRunner().invoke(
        main,
        ["diagnose", "--json", "--url", server.base],
        input=text,
        env={name: None for name in os.environ if name.startswith("JIEDA_")},
    )
    found["command line"] = verdict(json.loads(told.stdout))
    return found, pages


def shown(page: str) -> tuple[str, str]:
    """What a page says of a text, and the first entry that it names below that."""
    said, _, below = page.partition('data-verdict="')[2].partition('"')
    return said, "".join(re.findall('href="/en/entries/([^"#?]*)', below)[:1])


@pytest.mark.parametrize("text", [*FOREIGN[::4], *OURS])
def test_a_text_has_one_verdict_everywhere(text: str, server: Server) -> None:
    found, pages = verdicts(server, text)
    said, ids, asks = found["diagnose"]
    assert found == dict.fromkeys(found, (said, ids, asks))
    told = {name: shown(page) for name, page in pages.items()}
    assert {name: outcome for name, (outcome, _) in told.items()} == dict.fromkeys(pages, said)
    assert not ids or {name for name, (_, first) in told.items() if first != ids[0]} == set(), told


@pytest.mark.parametrize(
    ("text", "entries", "asks"),
    [
        ("KeyError: 1 node2pg", {"roll/node2pg-keyerror"}, []),
        ("爆显存", {"chatlearn/cuda-oom-fsdp"}, []),
        # Which framework's is asked, as of the whole line.
        (
            "CUDA out of memory",
            {"chatlearn/cuda-oom-fsdp", "slime/oom-max-tokens-per-gpu", "slime/colocate-gpu-oom"},
            ["chatlearn", "slime"],
        ),
    ],
)
def test_a_failure_in_short_is_answered_and_not_doubted(
    text: str, entries: set[str], asks: list[str], client: httpx.Client
) -> None:
    found = client.get("/api/v1/search", params={"q": text}).json()
    said = found["judgement"]
    assert (said["outcome"], said["asks"], found["weak"]) == ("possible", asks, False)
    assert {match["id"] for match in said["matches"]} == entries
    assert not asks or not any(match["fix"] for match in said["matches"])
    below = client.post("/api/v1/diagnose", json={"text": f"\n\n{text}"}).json()["matches"]
    assert {line["line"] for match in below for line in match["matched"]} == {3}


@pytest.mark.parametrize(
    "text",
    [
        "CUDA out of memory",
        "out of memory",
        "NCCL timeout",
        "LoRA in ROLL",
        "HCCL port 16666 already in use",
        "loss is nan",
        "梯度 NaN",
        "AssertionError",
        "训推一体在 ROLL 里怎么配",
    ],
)
def test_a_framework_that_is_said_means_the_same_everywhere_and_takes_no_answer_away(
    text: str, client: httpx.Client
) -> None:
    asks = client.post("/api/v1/diagnose", json={"text": text}).json()["asks"]
    for framework in ("roll", "chatlearn", "slime"):
        found = client.get("/api/v1/search", params={"q": text, "framework": framework}).json()
        said = client.post("/api/v1/diagnose", json={"text": text, "framework": framework}).json()
        # None: what explains the text is of another framework, which the search leaves out.
        assert found["judgement"] is None or verdict(found["judgement"]) == verdict(said), framework
        if framework in asks:
            assert (said["outcome"], found["weak"]) == ("possible", False), framework
            assert said["matches"][0]["id"].startswith(f"{framework}/")


@pytest.mark.parametrize(
    "text", ["INFO", "[INFO]", "WARNING", "ok", "1", "5", "-1", "x", "docker", "failed", "H100", "好", "训练"]
)
def test_one_word_is_no_log_that_an_entry_explains(text: str, client: httpx.Client) -> None:
    found = client.post("/api/v1/diagnose", json={"text": text}).json()
    assert found["outcome"] in {"no_error", "unknown", "near"}, found["matches"]
    assert client.get("/api/v1/search", params={"q": text}).json()["weak"] is False


@pytest.mark.parametrize("text", ["AssertionError", "KeyError", "RuntimeError:", "ValueError", "error"])
def test_what_anything_raises_is_nobodys(text: str, client: httpx.Client) -> None:
    assert not client.post("/api/v1/diagnose", json={"text": text}).json()["matches"]


@pytest.mark.parametrize(
    ("name", "outcome", "is_weak"),
    [
        ("torch.OutOfMemoryError", "near", False),
        ("OutOfMemoryError", "near", False),
        ("java.lang.NullPointerException", "unknown", True),
    ],
)
def test_the_name_of_an_exception_alone_is_a_query(
    name: str, outcome: str, is_weak: bool, client: httpx.Client
) -> None:
    """It tells too little to explain anything, and what is written about it is no bad hit."""
    found = client.get("/api/v1/search", params={"q": name}).json()
    assert (found["judgement"]["outcome"], found["weak"]) == (outcome, is_weak)
    assert is_weak or "OutOfMemoryError" in json.dumps(found["hits"][0])


@pytest.mark.parametrize("text", FOREIGN)
def test_what_does_not_fit_says_so_first_and_shows_two_titles(text: str, client: httpx.Client) -> None:
    page = client.get("/en/search", params={"q": text}).text
    assert 'data-verdict="known"' not in page
    shown, _, _folded = page.partition('<details class="more rest">')
    assert shown.count('class="card"') <= 2
    assert 'class="snippet"' not in shown
    assert page.count('class="card"') == 0 or shown.index('class="note warn"') < shown.index('class="card"')


def test_a_word_that_no_entry_has_is_named_by_every_surface(server: Server) -> None:
    text, told = "ModuleNotFoundError: No module named 'flash_attn'", "No entry mentions flash_attn."
    with server.client() as client:
        assert told in client.get("/en/search", params={"q": text}).text
        assert client.get("/api/v1/search", params={"q": text}).json()["absent_words"] == ["flash_attn"]

    async def ask(agent: Any) -> Any:
        return await agent.call_tool("search", {"query": text})

    answer = over_http(server, ask)
    assert answer.structured_content["absent_words"] == ["flash_attn"]
    assert told in answer.content[0].text
    ended = CliRunner().invoke(main, ["search", "--url", server.base, text])
    assert told in ended.stdout


def test_where_the_cause_stands_is_said_by_every_surface(server: Server) -> None:
    text = (
        "ChildFailedError:\nRoot Cause (first observed failure):\n  host      : node-3.cluster.local\n"
        "  rank      : 24 (local_rank: 0)\n"
    )
    line = "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task."
    told = "another process failed (host : node-3.cluster.local, rank : 24)"
    logs = "/tmp/ray/session_latest/logs"
    with server.client() as client:
        assert told in client.post("/en/diagnose", data={"text": text}).text
        assert logs in client.get("/en/search", params={"q": line}).text
        assert told in client.post("/api/v1/diagnose", json={"text": text}).json()["elsewhere"]
        assert told in client.post("/api/v1/diagnose", content=text).text
        assert "node-3.cluster.local、rank : 24" in client.post("/zh/diagnose", data={"text": text}).text

    async def ask(agent: Any) -> Any:
        named = await agent.call_tool("diagnose", {"text": text})
        return [named, await agent.call_tool("search", {"query": line})]

    diagnosed, searched = over_http(server, ask)
    assert told in diagnosed.structured_content["elsewhere"]
    assert told in diagnosed.content[0].text
    assert logs in searched.content[0].text
    assert logs in CliRunner().invoke(main, ["search", "--url", server.base, line]).stdout


def aliases(entry: Entry) -> set[str]:
    return {name.casefold() for edition in entry.editions.values() for name in edition.aliases}


@pytest.mark.slow
def test_what_an_entry_says_of_itself_is_answered_by_it_and_an_alias_finds_it_first(
    shipped: Snapshot,
) -> None:
    """Or another entry of the same alias. Every alias and symptom is searched for once, for both."""
    unanswered, later = [], []
    for entry in shipped.library.entries.values():
        for edition in entry.editions.values():
            for said in (*edition.aliases, *edition.symptoms):
                found, answer = search_and_judge(shipped, SearchRequest(said, edition.lang, limit=1))
                if entry.id not in {match.entry.id for match in found.matches}:
                    unanswered.append((entry.id, said))
                first = answer.hits[0].entry
                if said in edition.aliases and first != entry and said.casefold() not in aliases(first):
                    later.append((entry.id, said, first.id))
    assert (unanswered, later) == ([], [])
