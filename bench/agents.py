"""What an answer costs an agent in tokens, and how far an agent gets that knows nothing of the field.

    .venv/bin/python -m bench.agents [FILE]

FILE are judged queries, by default `tests/judged.jsonl`. Tokens are those of o200k_base where `bpe_openai` is installed
(`pip install bpe-openai`, 40 MiB, nothing else needs it), otherwise an estimate that errs on the high side. The agent
follows `agent` below and nothing else; it is measured beside the REST API, whose first match or hit is the answer.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jieda.agents import tools
from jieda.agents.answering import Context
from jieda.client.local import Local
from jieda.diagnosis.answers import Confidence
from jieda.entry import Language
from jieda.evaluation.figures import Judged, read_judged
from jieda.han import has_han
from jieda.locales.translations import Translations
from jieda.presentation.shaper import Shapers
from jieda.presentation.urls import Urls
from jieda.search.answers import SearchRequest
from jieda.settings import Settings
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.service import Service

try:
    import bpe_openai
except ImportError:
    bpe_openai = None

ROOT = Path(__file__).parent.parent
JUDGED = ROOT / "tests/judged.jsonl"
SURE = (Confidence.EXACT, Confidence.LIKELY)
LOGS = ("error", "traceback")
QUERIES = ("question", "paraphrase")


def estimated(text: str) -> int:
    """Tokens at most, in all but odd texts: three ASCII characters or one other make one."""
    ascii_count = sum(character.isascii() for character in text)
    return ascii_count // 3 + len(text) - ascii_count


def counter() -> tuple[str, Callable[[str], int]]:
    """Name and function of what counts tokens."""
    if bpe_openai is None:
        return "estimate", estimated
    encoding = bpe_openai.get_encoding("o200k_base")
    return "o200k_base", lambda text: len(encoding.encode(text))


def context_of(data: Path) -> Context:
    """The shipped content, its index kept in `data`."""
    knowledge = Knowledge(settings := Settings.load({"JIEDA_DATA": str(data)}))
    knowledge.open()
    words = Translations.load().words
    return Context(Local(Service.of(settings, knowledge), Shapers(Urls(), words)), words)


@dataclass(frozen=True, slots=True)
class Cost:
    """Tokens of an answer as text and as structured content; `whole`: the fix is in both, uncut."""

    text: int
    structured: int
    whole: bool


async def costs(context: Context, count: Callable[[str], int]) -> list[Cost]:
    """The answers of `diagnose` to all shipped samples, in both languages."""
    assert isinstance(context.client, Local)
    library = context.client.service.current().library
    found = []
    for entry_id in sorted(library.sampled):
        for sample in library.samples(entry_id):
            for lang in Language:
                asked = {"text": sample.text, "lang": lang.value}
                text, answer = await whole(context, asked)
                if answer.get("asks"):
                    assert not any(match.get("fix") for match in answer["matches"])
                    text, answer = await whole(context, asked | {"framework": entry_id.partition("/")[0]})
                entry = await context.client.read(answer["matches"][0]["id"], lang)
                fix = entry.fix.strip()
                uncut = fix in text and fix == answer["matches"][0]["fix"]
                structured = json.dumps(answer, ensure_ascii=False)
                found.append(Cost(count(text), count(structured), uncut))
    return found


async def whole(context: Context, asked: Mapping[str, str]) -> tuple[str, dict[str, Any]]:
    """A diagnosis that succeeds, as text and as data."""
    outcome = await tools.call(context, "diagnose", asked)
    assert outcome.content is not None, outcome.text
    return outcome.text, outcome.content


@dataclass(frozen=True, slots=True)
class Report:
    """What the agent says: the entry it names first, and whether it names it as the answer."""

    first: str
    known: bool


async def agent(context: Context, text: str) -> Report:
    """Diagnose; what is sure is the answer. Otherwise search; a hit that fits is the answer to a question, and no
    more than a lead where the text tells of a failure that no entry surely explains."""
    diagnosis = await content(context, "diagnose", {"text": text})
    matches = diagnosis.get("matches", [])
    if matches and matches[0]["confidence"] in SURE:
        return Report(matches[0]["id"], known=True)
    failed = bool(diagnosis.get("errors"))
    if failed and matches:
        return Report(matches[0]["id"], known=False)
    found = await content(context, "search", {"query": text, "limit": 1})
    hits = found.get("hits", [])
    return Report(hits[0]["id"] if hits else "", known=bool(hits) and not found.get("weak") and not failed)


async def content(context: Context, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The structured content of a call that succeeds."""
    outcome = await tools.call(context, name, arguments)
    assert outcome.content is not None, outcome.text
    return outcome.content


async def api_first(context: Context, judged: Judged) -> str:
    """What the REST API names first: logs are diagnosed, queries searched."""
    lang = Language.ZH if has_han(judged.query) else Language.EN
    if judged.kind in LOGS:
        matches = (await context.client.diagnose(judged.query, lang, "")).matches
        return matches[0].id if matches else ""
    hits = (await context.client.search(SearchRequest(judged.query, lang, limit=1))).hits
    return hits[0].id if hits else ""


@dataclass(frozen=True, slots=True)
class Score:
    """Shares between 0 and 1: right first of logs and of queries by the API and by the agent, negatives that the
    agent calls unknown, and right ones that it names as a mere lead."""

    api_logs: float
    agent_logs: float
    api_queries: float
    agent_queries: float
    unknown: float
    leads: float


async def score(context: Context, judged: Iterable[Judged]) -> Score:
    """The agent and the API over judged queries."""
    listed = list(judged)
    reports = {one.id: await agent(context, one.query) for one in listed}

    def of(*kinds: str) -> list[Judged]:
        return [one for one in listed if one.kind in kinds]

    def right(ones: list[Judged]) -> float:
        return share(reports[one.id].first in one.expected for one in ones)

    async def api(ones: list[Judged]) -> float:
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
    """How many of the results are true."""
    listed = list(results)
    return sum(listed) / len(listed) if listed else 0.0


def percentile(values: Iterable[int], part: float) -> int:
    """The value that `part` of all values do not exceed."""
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
    print(f"tokens of a diagnose answer ({name}), {len(found)} answers: median, 95th percentile")
    for kind in ("text", "structured"):
        values = [getattr(cost, kind) for cost in found]
        print(f"  {kind:<12}{percentile(values, 0.5):>6}{percentile(values, 0.95):>6}")
    print(f"  the whole fix: {sum(cost.whole for cost in found)} of {len(found)}")
    print("right first             API  agent")
    print(f"  logs              {result.api_logs:.3f}  {result.agent_logs:.3f}")
    print(f"  queries           {result.api_queries:.3f}  {result.agent_queries:.3f}")
    print(f"negatives called unknown     {result.unknown:.3f}")
    print(f"right ones called a lead     {result.leads:.3f}")


if __name__ == "__main__":
    main()
