"""What an answer costs an agent, and how far one gets by rules alone; `bench.agents` has the measured figures."""

import asyncio
from pathlib import Path

import pytest
from jieda.agents.answering import Context
from jieda.evaluation.figures import read_judged

from bench.agents import JUDGED, context_of, costs, estimated, percentile, score
from tests.support.server import Server


@pytest.fixture(scope="module")
def context(agents_server: Server) -> Context:
    # The index of the server is the index of this content; building another takes seconds.
    return context_of(Path(agents_server.data))


def test_an_answer_fits_a_context_and_never_lacks_the_fix(context: Context) -> None:
    found = asyncio.run(costs(context, estimated))
    assert all(cost.whole for cost in found)
    for kind in ("text", "structured"):
        values = [getattr(cost, kind) for cost in found]
        assert percentile(values, 0.5) <= 600, kind
        assert percentile(values, 0.95) <= 1200, kind


@pytest.mark.slow
def test_an_agent_of_rules_alone_is_as_right_as_the_api_and_knows_when_nothing_is_known(
    context: Context,
) -> None:
    result = asyncio.run(score(context, read_judged(JUDGED)))
    assert result.agent_logs >= result.api_logs
    assert result.agent_queries >= result.api_queries
    assert result.unknown >= 0.95
    # More care with what other programs print as well makes more right answers mere leads: 0.101 of them.
    assert result.leads <= 0.11
