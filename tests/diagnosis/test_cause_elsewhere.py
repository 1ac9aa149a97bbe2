"""A log that only reports a failure of another process says where the cause stands and how that process is named."""

from pathlib import Path

import pytest
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language
from jieda.snapshot.snapshot import Analyzers, Snapshot
from jieda.usecases.secrets import without_secrets

from tests.support import small_content
from tests.support.shipped import open_snapshot

HINT = "To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html"
TRACEBACK = """Traceback (most recent call last):
  File "/opt/conda/bin/torchrun", line 8, in <module>
    sys.exit(main())
  File "/opt/conda/lib/python3.10/site-packages/torch/distributed/launcher/api.py", line 269, in launch_agent
    raise ChildFailedError(
torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
"""
TORCH_1_9 = f"""{TRACEBACK}***************************************
             train.py FAILED
=======================================
Root Cause:
[0]:
  time: 2021-09-29_16:54:13
  rank: 5 (local_rank: 1)
  exitcode: 1 (pid: 12345)
  error_file: <N/A>
  msg: "Process failed with exitcode 1"
=======================================
Other Failures:
  <NO_OTHER_FAILURES>
***************************************
"""
TORCHRUN = f"""{TRACEBACK}============================================================
train.py FAILED
------------------------------------------------------------
Failures:
[1]:
  time      : 2026-06-08_19:04:45
  host      : node-3.cluster.local
  rank      : 26 (local_rank: 2)
  exitcode  : 1 (pid: 932)
  error_file: <N/A>
  traceback : {HINT}
------------------------------------------------------------
Root Cause (first observed failure):
[0]:
  time      : 2026-06-08_19:04:45
  host      : node-3.cluster.local
  rank      : 24 (local_rank: 0)
  exitcode  : 1 (pid: 930)
  error_file: <N/A>
  traceback : {HINT}
============================================================
"""
KILLED = TORCHRUN.replace(HINT, "Signal 9 (SIGKILL) received by PID 930")
RECORDED = TORCHRUN.replace(
    HINT,
    '\n  Traceback (most recent call last):\n    File "a.py", line 3, in f\n      load()\n  ValueError: no gearbox',
)
ACTOR = """ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.
\tclass_name: WorkerDict
\tactor_id: 9f7d2c0e5a1b3c4d5e6f708101000000
\tpid: 21877
\tnamespace: 5f7d6a10-3c55-4a0f-9d7a-1d5c4d3a2b10
\tip: 10.0.0.7
The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR
"""
WORKER = "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task."
MPIRUN = """--------------------------------------------------------------------------
mpirun detected that one or more processes exited with non-zero status, thus causing
the job to be terminated. The first process to do so was:

  Process name: [[35302,1],3]
  Exit code:    1
--------------------------------------------------------------------------
"""
SEGFAULT = (
    "mpirun noticed that process rank 9 with PID 0 on node gpu-12 exited on signal 11 (Segmentation fault)."
)
SRUN = """srun: error: node-7: tasks 10-11: Exited with exit code 1
slurmstepd: error: *** STEP 52222788.0 ON node-7 CANCELLED AT 2026-04-29T23:36:37 ***
"""


@pytest.mark.parametrize(
    ("log", "places", "told"),
    [
        (TORCH_1_9, ["rank: 5 (local_rank: 1)"], "--redirects 3"),
        (TORCHRUN, ["host : node-3.cluster.local", "rank : 24"], "--redirects 3"),
        (
            TORCHRUN[TORCHRUN.index("Root Cause") :],
            ["host : node-3.cluster.local", "rank : 24"],
            "--redirects 3",
        ),
        (KILLED, ["host : node-3.cluster.local", "rank : 24"], "--redirects 3"),
        (ACTOR, ["ip: 10.0.0.7", "pid: 21877"], "/tmp/ray/session_latest/logs"),
        (WORKER, [], "/tmp/ray/session_latest/logs"),
        (MPIRUN, ["Process name: [[35302,1],3]"], "--tag-output"),
        (SEGFAULT, ["rank 9 with PID 0 on node gpu-12"], "--tag-output"),
        (SRUN, ["srun: error: node-7: tasks 10-11"], "--label"),
        ("java.util.concurrent.ExecutionException: task failed", [], ""),
        ("RuntimeError: Engine core initialization failed. See root cause above.", [], "engine"),
    ],
    ids="torch-1.9 torchrun summary killed actor worker mpirun segfault srun nobody-known engine".split(),
)
@pytest.mark.parametrize("lang", Language)
def test_a_log_without_the_cause_says_where_it_stands(
    log: str, places: list[str], told: str, lang: Language, diagnoser: Diagnoser
) -> None:
    found = diagnoser.diagnose(log, lang)
    assert found.elsewhere
    assert list(found.elsewhere.places) == places
    assert told in found.elsewhere.advice
    assert found.verdict in {"unknown", "near"}


@pytest.mark.parametrize(
    "log",
    [
        RECORDED,
        f"ValueError: no such gearbox\n{TORCHRUN}",
        f"(WorkerDict pid=21877) ValueError: no such gearbox\n{ACTOR}",
        # An entry explains it.
        f"KeyError: 1\n    self.node2pg[node_rank]\n{ACTOR}",
        "/usr/bin/ld: cannot find -lgearbox\ncollect2: error: ld returned 1 exit status",
        "train: step 4 of rank : 3 is done",
        "slurmstepd: error: *** JOB 4 ON dgx-12 CANCELLED AT 2025-11-26T22:00:08 DUE TO TIME LIMIT ***",
    ],
    ids="recorded above actor known linker healthy limit".split(),
)
def test_a_log_with_its_cause_or_without_failures_says_nothing_of_it(log: str, diagnoser: Diagnoser) -> None:
    assert diagnoser.diagnose(log, Language.EN).elsewhere is None


def test_a_team_adds_its_launcher_and_no_secret_is_shown(tmp_path: Path, analyzers: Analyzers) -> None:
    reports = (
        "reports:\n  - name: frob\n    lines: ['frob: {int} of its wheels stopped']\n    places: ['wheel {word}']\n"
        "    advice: {en: Look under the wheel., zh: 看看轮子下面。}\n    examples: ['frob: 2 of its wheels stopped']\n"
    )
    content = small_content.write(tmp_path / "content", {"failures.yaml": reports})
    diagnoser = open_snapshot(tmp_path / "data", analyzers, content).diagnoser
    log = "frob: 2 of its wheels stopped\n  first: wheel ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    found = without_secrets(diagnoser.diagnose(log, Language.ZH)).elsewhere
    assert found
    assert found.advice == "看看轮子下面。"
    assert "ghp_16C7" not in str(found.places)
    assert diagnoser.diagnose(MPIRUN, Language.EN).elsewhere


def test_reports_are_found_in_their_examples(shipped: Snapshot) -> None:
    reports = shipped.diagnoser.known.knowledge.failures.reports
    assert reports
    for report in reports:
        for example in report.examples:
            told = shipped.diagnoser.diagnose(example, Language.EN).elsewhere
            assert told, example
            assert told.advice == report.advice["en"]
