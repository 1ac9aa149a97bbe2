"""What an answer costs an agent, and how far one gets by rules alone; `bench.agents` has the measured figures."""

import asyncio
import json
from itertools import chain

import pytest
from jieda.agents.answering import Context
from jieda.agents.answers import schema_of
from jieda.agents.tools import TOOLS
from jieda.evaluation.figures import read_judged

from bench.agents import (
    JUDGED,
    context_of,
    costs,
    done,
    estimated,
    percentile,
    read_tasks,
    score,
    unexplained,
)
from tests.support.shipped import copy_data

NEW = JUDGED.with_name("judged_new_entries.jsonl")


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    return context_of(copy_data(tmp_path_factory.mktemp("context")))


def test_an_answer_fits_a_context_and_never_lacks_the_fix(context: Context) -> None:
    found = asyncio.run(costs(context, estimated, in_turn=True))
    assert all(cost.whole for cost in found)
    for kind in ("text", "structured"):
        values = [getattr(cost, kind) for cost in found]
        assert percentile(values, 0.5) <= 600, kind
        assert percentile(values, 0.95) <= 1200, kind


def test_an_answer_that_explains_nothing_is_short(context: Context) -> None:
    judged = chain.from_iterable(map(read_judged, (JUDGED, NEW)))
    texts = [each.query for each in judged if each.kind == "negative"]
    found = asyncio.run(unexplained(context, texts, estimated))
    assert len(found["near"]) > 20
    assert max(found["near"]) <= 175
    assert len(found["unknown"]) > 5
    # One of them only reports that a process failed: its answer says where the cause is.
    assert sorted(found["unknown"])[-2] <= 70
    assert max(found["unknown"]) <= 125


def test_what_clients_are_told_about_answers_is_short() -> None:
    # Half of the 2,120 tokens that it once took.
    assert sum(estimated(json.dumps(schema_of(each.answer, each.view))) for each in TOOLS) <= 1400


def test_tasks_end_with_the_right_fix_or_an_honest_unknown(context: Context) -> None:
    found = asyncio.run(done(context, read_tasks(), estimated))
    assert len(found) == 40
    assert sum(each.right for each in found) >= 38, [each.task.id for each in found if not each.right]
    assert percentile((each.tokens for each in found), 0.5) <= 400


@pytest.mark.slow
def test_an_agent_of_rules_alone_is_as_right_as_the_api_and_knows_when_nothing_is_known(
    context: Context,
) -> None:
    # Every sixth, which has some of each kind; `python -m bench.agents` asks all of them.
    result = asyncio.run(score(context, list(read_judged(JUDGED))[::6]))
    assert result.agent_logs >= result.api_logs
    assert result.agent_queries >= result.api_queries
    assert result.unknown >= 0.95
    # More care with what other programs print as well makes more right answers mere leads: 0.101 of them.
    assert result.leads <= 0.11
