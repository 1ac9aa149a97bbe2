"""Logs of runs that go well: they name many a trouble to say that there is none, and bring no entry for sure."""

import pytest
from jieda.diagnosis.answers import Confidence, Verdict
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language

SETTINGS = [
    "------------------------ arguments ------------------------",
    "  check_for_nan_in_loss_and_grad ................ True",
    "  error_injection_rate .......................... 0",
    "  exit_on_missing_checkpoint .................... False",
    "  distributed_timeout_minutes ................... 10",
    "  use_dynamic_batch_size ........................ True",
    "-------------------- end of arguments ---------------------",
    "WARNING: one_logger package is required to enable e2e metrics tracking.",
    " > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 3085938688",
    " loading distributed checkpoint from /ckpt/qwen3-4b at iteration 0",
    "  successfully loaded checkpoint from /ckpt/qwen3-4b [ t 1/2, p 1/1 ] at iteration 0",
    "setting training iterations to 500",
]
CLUSTER = [
    "======== Autoscaler status: 2026-03-02 08:11:07.104310 ========",
    "Active:",
    " 2 node_5c71",
    "Pending:",
    " (no pending nodes)",
    "Recent failures:",
    " (no failures)",
    "Resources",
    "Total Usage:",
    " 16.0/16.0 GPU",
    "Total Demands:",
    " (no resource demands)",
]


def iteration(number: int, norm: str = "", nans: int = 0) -> str:
    return (
        f" [2026-03-02 08:{number // 60 % 60:02}:{number % 60:02}] iteration {number:8}/     500 |"
        f" consumed samples: {256 * number:12} | elapsed time per iteration (ms): {8000 + number % 37}.4 |"
        f" learning rate: 1.000000E-06 | global batch size:   256 | lm loss: {0.4 + number % 9 / 100:.6E} |"
        f" loss scale: 1.0 | grad norm: {norm or f'{0.3 + number % 13 / 10:.3f}'} |"
        f" number of skipped iterations: {nans:3} | number of nan iterations: {nans:3} |"
    )


def answers(diagnoser: Diagnoser, log: str) -> list[tuple[str, str]]:
    matches = diagnoser.diagnose(log, Language.EN).matches
    return [(match.entry.id, match.confidence.value) for match in matches]


@pytest.mark.parametrize(
    "lines",
    [
        [*SETTINGS, *CLUSTER, *map(iteration, range(1, 480))],
        [iteration(7)],
        [*map(iteration, range(5))],
        CLUSTER,
        ["INFO serving on port 8000", "INFO request done in 3 ms"],
        ["NOTE: Attempted 12 tasks of which 9 didn't need to be rerun and all succeeded."],
        ["step 12: errors=0 failed: 0 timeouts: 0", "request stats: {'num_aborted': 0, 'num_retries': 0}"],
        ["training on cn-hangzhou, episode 12 finished, saving checkpoint", "activation: LeakyReLU(0.01)"],
        [
            "INFO failover is on",
            "INFO rejection sampling keeps 512 of 1024",
            "init(timeout=3600)",
            "error_rate 0.01",
        ],
    ],
    ids=[
        "500 lines",
        "a line",
        "some lines",
        "ray status",
        "INFO",
        "nothing to do",
        "counters",
        "a city",
        "settings",
    ],
)
def test_a_healthy_log_brings_no_sure_entry(lines: list[str], diagnoser: Diagnoser) -> None:
    answer = diagnoser.diagnose("\n".join(lines), Language.EN)
    assert {match.confidence for match in answer.matches} <= {Confidence.POSSIBLE}
    assert answer.verdict is (Verdict.POSSIBLE if answer.matches else Verdict.NO_ERROR)


@pytest.mark.parametrize("level", ["ERROR", "\x1b[31mERROR\x1b[0m", "[31mERROR[0m"])
def test_a_line_of_an_errors_level_in_any_color_is_a_sign_of_one(level: str, diagnoser: Diagnoser) -> None:
    fine = [f"2025-01-31 10:20:30 INFO turn {number} done" for number in range(1000)]
    log = "\n".join([*fine[:500], f"2025-01-31 10:20:30 {level} worker gave up", *fine[500:]])
    assert diagnoser.diagnose(log, Language.EN).verdict is Verdict.UNKNOWN


def test_the_same_log_with_nan_in_it_is_told_by_that(diagnoser: Diagnoser) -> None:
    log = "\n".join([*SETTINGS, *map(iteration, range(1, 240)), iteration(240, "nan", 1)])
    assert answers(diagnoser, log)[0][0] == "slime/grad-nan-inf"


def test_a_huge_norm_without_nan_is_a_huge_norm(diagnoser: Diagnoser) -> None:
    for healthy in (0, 3, 40):
        log = "\n".join([*map(iteration, range(healthy)), iteration(healthy, "5123.551")])
        assert answers(diagnoser, log)[0][0] == "slime/high-grad-norm"
