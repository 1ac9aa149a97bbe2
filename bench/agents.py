"""What an answer costs an agent in tokens, and how far an agent gets that knows nothing of the field.

    .venv/bin/python -m bench.agents [FILE]

FILE are judged queries, by default `tests/judged.jsonl`. Tokens are those of o200k_base where `bpe_openai` is installed
(`pip install bpe-openai`, 40 MiB, nothing else needs it), otherwise an estimate that errs on the high side. The agent
follows `agent` below and nothing else, and asks by the client of the official SDK; it is measured beside the REST API,
whose first match or hit is the answer. `agent_tasks.jsonl` are tasks as people hand them to an agent, written before
any of them was asked: 20 that entries answer, 12 that none does, 8 concepts.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jieda.agents.answering import Context
from jieda.agents.answers import schema_of
from jieda.agents.protocol import server_of
from jieda.agents.tools import TOOLS
from jieda.client import Local
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.evaluation.figures import JudgedQuery, read_judged
from jieda.han import has_han
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.service import Service
from mcp.client.client import Client

try:
    import bpe_openai
except ImportError:
    bpe_openai = None

ROOT = Path(__file__).parent.parent
JUDGED = ROOT / "tests/judged.jsonl"
TASKS = ROOT / "bench/agent_tasks.jsonl"
SURE = (Confidence.EXACT, Confidence.LIKELY)
LOGS = ("error", "traceback")
HELPING = ("fix", "answer", "steps")
"""Sections that contain the answer."""
QUERIES = ("question", "paraphrase")


def estimated(text: str) -> int:
    """Return an upper bound of tokens for all but odd texts: three ASCII characters, or one other, count as one."""
    ascii_count = sum(character.isascii() for character in text)
    return ascii_count // 3 + len(text) - ascii_count


def counter() -> tuple[str, Callable[[str], int]]:
    """Return name and function of the token counter."""
    if bpe_openai is None:
        return "estimate", estimated
    encoding = bpe_openai.get_encoding("o200k_base")
    return "o200k_base", lambda text: len(encoding.encode(text))


def context_of(data: Path) -> Context:
    """Open the shipped content with its index in `data`."""
    knowledge = Knowledge(settings := Settings.load({"JIEDA_DATA": str(data)}))
    knowledge.open()
    return Context(Local(Service.of(settings, knowledge), Shapers(Urls())))


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of a result as text and as structured content; `whole`: both contain the fix, uncut."""

    text: int
    structured: int
    whole: bool


@dataclass(slots=True)
class Agent:
    """Calls the tools with the SDK's client and collects the texts of the results."""

    client: Client
    read: list[str] = field(default_factory=list)

    async def ask(self, name: str, **asked: Any) -> tuple[str, dict[str, Any]]:
        """Call a tool that must succeed; return text and data, which the client validates against the schema."""
        answer = await self.client.call_tool(name, asked)
        (block,) = answer.model_dump()["content"]
        assert not answer.is_error, block["text"]
        self.read.append(block["text"])
        return block["text"], answer.structured_content or {}


async def costs(context: Context, count: Callable[[str], int], *, in_turn: bool = False) -> list[Cost]:
    """Measure the results of `diagnose` for all shipped samples, in both languages; `in_turn`: the samples of an entry
    in one language after the other, only one that is alone in both."""
    assert isinstance(context.client, Local)
    library = context.client.service.current().library
    found = []
    async with Client(server_of(context)) as client:
        agent = Agent(client)
        for entry_id in sorted(library.sampled):
            samples = library.samples(entry_id)
            for number, sample in enumerate(samples):
                for lang in list(Language)[number % 2 :: 2] if in_turn and len(samples) > 1 else Language:
                    asked = {"text": sample.text, "lang": lang.value}
                    text, answer = await agent.ask("diagnose", **asked)
                    if answer.get("asks"):
                        assert not any(match.get("fix") for match in answer["matches"])
                        framework = entry_id.partition("/")[0]
                        text, answer = await agent.ask("diagnose", **asked, framework=framework)
                    entry = await context.client.read(answer["matches"][0]["id"], lang)
                    fix = entry.fix.strip()
                    uncut = fix in text and fix == answer["matches"][0]["fix"]
                    structured = json.dumps(answer, ensure_ascii=False)
                    found.append(Cost(count(text), count(structured), uncut))
    return found


async def unexplained(
    context: Context, texts: Iterable[str], count: Callable[[str], int]
) -> Mapping[str, list[int]]:
    """Return the tokens of `diagnose` results without an explanation, as text or as data, whichever is more; by
    outcome."""
    found: dict[str, list[int]] = {"near": [], "unknown": []}
    async with Client(server_of(context)) as client:
        for asked in texts:
            text, answer = await Agent(client).ask("diagnose", text=asked)
            if answer["outcome"] in found:
                told = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
                found[answer["outcome"]].append(max(count(text), count(told)))
    return found


@dataclass(frozen=True, slots=True)
class Report:
    """What the agent reports: the entry it names first, and whether as the answer."""

    first: str
    known: bool


async def answered(agent: Agent, text: str) -> Report:
    """Diagnose; a sure match is the answer. Otherwise search; a fitting hit answers a question, but is only a lead
    where the text contains an error that no entry surely explains."""
    _, diagnosis = await agent.ask("diagnose", text=text)
    matches = diagnosis.get("matches", [])
    if matches and matches[0]["confidence"] in SURE:
        return Report(matches[0]["id"], known=True)
    failed = bool(diagnosis.get("errors"))
    if failed and matches:
        return Report(matches[0]["id"], known=False)
    _, found = await agent.ask("search", query=text, limit=1)
    explained = found.get("judgement", {}).get("matches", [])
    hits = [*explained, *found.get("hits", [])]
    return Report(hits[0]["id"] if hits else "", known=bool(hits) and not found.get("weak") and not failed)


@dataclass(frozen=True, slots=True)
class Task:
    """A task for an agent. `expected`: entries any of which answers it; empty where none does."""

    id: str
    text: str
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The result of a task. `right`: the fix of an expected entry was given, or correctly none; `tokens`: of all its
    results."""

    task: Task
    report: Report
    right: bool
    tokens: int


def read_tasks() -> list[Task]:
    """Read the tasks stored beside this file."""
    lines = map(json.loads, TASKS.read_text(encoding="utf-8").splitlines())
    return [Task(each["id"], each["text"], tuple(each["expected"])) for each in lines]


async def done(context: Context, tasks: Iterable[Task], count: Callable[[str], int]) -> list[Done]:
    """Run each task separately: read only the fix or answer of the entry that the agent names, unless already seen."""
    found = []
    async with Client(server_of(context)) as client:
        for task in tasks:
            agent = Agent(client)
            report = await answered(agent, task.text)
            right = not report.known
            if report.known and task.expected:
                lang = Language.ZH if has_han(task.text) else Language.EN
                entry = await context.client.read(report.first, lang)
                fix = entry.fix.strip()
                if not any(fix in text for text in agent.read):
                    section = next(name for name in entry.sections() if name in HELPING)
                    await agent.ask("read", id=report.first, section=section, lang=lang.value)
                right = report.first in task.expected and any(fix in text for text in agent.read)
            elif task.expected:
                right = False
            found.append(Done(task, report, right, sum(map(count, agent.read))))
    return found


async def api_first(context: Context, judged: JudgedQuery) -> str:
    """Return what the REST API names first: logs are diagnosed, queries searched."""
    lang = Language.ZH if has_han(judged.query) else Language.EN
    if judged.kind in LOGS:
        matches = (await context.client.diagnose(judged.query, lang, "")).matches
        return matches[0].id if matches else ""
    hits = (await context.client.search(SearchRequest(judged.query, lang, limit=1))).hits
    return hits[0].id if hits else ""


@dataclass(frozen=True, slots=True)
class Score:
    """Shares between 0 and 1: right first results for logs and queries, by API and by agent; negatives that the agent
    calls unknown; and right entries that it names as a mere lead."""

    api_logs: float
    agent_logs: float
    api_queries: float
    agent_queries: float
    unknown: float
    leads: float


async def score(context: Context, judged: Iterable[JudgedQuery]) -> Score:
    """Score the agent and the API over judged queries."""
    listed = list(judged)
    async with Client(server_of(context)) as client:
        reports = {one.id: await answered(Agent(client), one.query) for one in listed}

    def of(*kinds: str) -> list[JudgedQuery]:
        return [one for one in listed if one.kind in kinds]

    def right(ones: list[JudgedQuery]) -> float:
        return share(reports[one.id].first in one.expected for one in ones)

    async def api(ones: list[JudgedQuery]) -> float:
        return share([await api_first(context, one) in one.expected for one in ones])

    named = [reports[one.id] for one in of(*LOGS, *QUERIES) if reports[one.id].first in one.expected]
    return Score(
        api_logs=await api(of(*LOGS)),
        agent_logs=right(of(*LOGS)),
        api_queries=await api(of(*QUERIES)),
        agent_queries=right(of(*QUERIES)),
        unknown=share(not reports[one.id].known for one in of("negative")),
        leads=share(not report.known for report in named),
    )


def share(results: Iterable[bool]) -> float:
    """Return the share of true results."""
    listed = list(results)
    return sum(listed) / len(listed) if listed else 0.0


def percentile(values: Iterable[int], part: float) -> int:
    """Return the value that the share `part` of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", nargs="?", type=Path, default=JUDGED)
    file = parser.parse_args().file
    name, count = counter()
    with tempfile.TemporaryDirectory() as data:
        context = context_of(Path(data))
        found = asyncio.run(costs(context, count))
        result = asyncio.run(score(context, read_judged(file)))
        nothing = asyncio.run(unexplained(context, (one.query for one in read_judged(file)), count))
        tasks = asyncio.run(done(context, read_tasks(), count))
    print(f"tokens of a diagnose answer ({name}), {len(found)} answers: median, 95th percentile")
    for kind in ("text", "structured"):
        values = [getattr(cost, kind) for cost in found]
        print(f"  {kind:<12}{percentile(values, 0.5):>6}{percentile(values, 0.95):>6}")
    print(f"  the whole fix: {sum(cost.whole for cost in found)} of {len(found)}")
    for outcome, values in nothing.items():
        print(
            f"  {outcome:<12}{percentile(values, 0.5):>6}, at most {max(values, default=0)} ({len(values)} answers)"
        )
    schemas = [count(json.dumps(schema_of(each.answer, each.view))) for each in TOOLS]
    print(f"tokens of the schemas of answers: {sum(schemas)}")
    print(f"tasks: {sum(each.right for each in tasks)} of {len(tasks)} right,", end=" ")
    print(f"median of tokens {percentile((each.tokens for each in tasks), 0.5)}")
    for each in tasks:
        if not each.right:
            print(f"  {each.task.id}: {each.report}")
    print("right first             API  agent")
    print(f"  logs              {result.api_logs:.3f}  {result.agent_logs:.3f}")
    print(f"  queries           {result.api_queries:.3f}  {result.agent_queries:.3f}")
    print(f"negatives called unknown     {result.unknown:.3f}")
    print(f"right ones called a lead     {result.leads:.3f}")


if __name__ == "__main__":
    main()
