"""Content that says nothing of logs in general: what is built in tells trouble from runs that go well."""

from pathlib import Path

import pytest
from jieda.diagnosis.answers import Verdict
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language
from jieda.snapshot.snapshot import Analyzers

from tests.support import small_content
from tests.support.shipped import open_snapshot

TEXTS = Path(__file__).parent / "any_field"
OWN_FAMILIES = "families:\n  - {name: replication, lines: ['replication slot {quoted}'], examples: ['x']}\n"


def logs(name: str) -> list[str]:
    """The logs of a file, which comments, `== program` and `--` divide."""
    found = [""]
    for line in (TEXTS / name).read_text(encoding="utf-8").splitlines():
        if line == "--" or line.startswith("== "):
            found.append("")
        elif not line.startswith("# ") or found[-1]:
            found[-1] += f"{line}\n"
    return [log for log in found if log.strip()]


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory, analyzers: Analyzers) -> Diagnoser:
    """Of a team with one entry and families of its own."""
    folder = tmp_path_factory.mktemp("team")
    entry = small_content.edition("Replication stands still", "## Fix\n\nDrop the slot.\n", kind="error")
    files = {
        "en/roll/slot.md": entry.replace(
            "kind:", "signatures: ['replication slot {quoted} is active']\nkind:"
        ),
        "failures.yaml": OWN_FAMILIES,
    }
    return open_snapshot(folder / "data", analyzers, small_content.write(folder / "content", files)).diagnoser


def test_logs_of_trouble_are_never_called_healthy(team: Diagnoser) -> None:
    troubled = logs("troubled.txt")
    assert len(troubled) == 14
    verdicts = [team.diagnose(log, Language.EN).verdict for log in troubled]
    assert set(verdicts) <= {Verdict.NEAR, Verdict.UNKNOWN}


def test_logs_of_runs_that_go_well_are_called_healthy(team: Diagnoser) -> None:
    healthy = logs("healthy.txt")
    assert len(healthy) == 200
    wrong = [log for log in healthy if team.diagnose(log, Language.EN).verdict is not Verdict.NO_ERROR]
    assert len(wrong) <= 6, wrong


@pytest.mark.parametrize(
    ("line", "troubled"),
    [
        ("training in cn-hangzhou, activation LeakyReLU, failover is on", False),
        ("the pod is in CrashLoopBackOff", True),
        ("the job hangs and LEAKS", True),
        ('{"severity":"error","message":"quota of disk used up"}', True),
        ('{"severity":"info","message":"quota of disk used by half"}', False),
        ("ERROR worker.py:12 -- the peer went away", True),
        ("INFO worker.py:12 -- the peer went away", False),
        ("2026-03-02 10:00:00,123 - app - ERROR - the peer went away", True),
        ("[ERR] OSD_FULL: 1 full osd(s)", True),
        ("E0302 10:14:02.113421    4312 memcache.go:265] the peer went away", True),
        ("I0302 10:14:02.113421    4312 memcache.go:265] the peer went away", False),
        ('time="2026-03-02T10:00:00Z" level=err msg="the peer went away"', True),
        ("a\n" * 2000 + "2026-03-02 10:00:00 ERROR the peer went away\n" + "b\n" * 2000, True),
        ("12:00:01 INFO  reads the file ERR at /var/lib/ERR", False),
        ("err=nil, stderr is /dev/null", False),
        (f"{'x' * 200} ERR ", False),
        ("cat: a: 没有那个文件或目录", True),
        ("run.sh: 行 12: ray: 未找到命令", True),
        ("make: *** No rule to make target 'foo'.  Stop.", True),
        ("502 Bad Gateway", True),
        ("command terminated with exit code 137", True),
        ("Process finished with exit code 0", False),
        ("进程已结束,退出代码0", False),
        ("Test error: 3.2%", False),
        ("Mean Squared Error: 0.31", False),
        ("gcc -c error.c -o error.o", False),
        ("open failed.", True),
        ("导入完成：成功 120，失败数：0，异常: 0，程序正常退出", False),
        ("导入失败：0 号表不存在", True),
        ("error: 3 of 4 are gone", True),
        ("2m12s       Warning   Unhealthy   pod/cart-1   Readiness probe returned 503", True),
    ],
)
def test_trouble_is_a_word_or_a_level(line: str, troubled: bool, team: Diagnoser) -> None:
    assert (team.diagnose(line, Language.EN).verdict is not Verdict.NO_ERROR) == troubled


def test_content_can_switch_parts_of_it_off(tmp_path: Path, team: Diagnoser, analyzers: Analyzers) -> None:
    log = "Last state: OOMKilled"
    files = {"failures.yaml": "without: {families: [Kubernetes], troubled: [oomkill]}\n"}
    content = small_content.write(tmp_path / "quiet", files)
    quiet = open_snapshot(tmp_path / "quiet-data", analyzers, content).diagnoser
    assert team.diagnose(log, Language.EN).verdict is Verdict.UNKNOWN
    assert quiet.diagnose(log, Language.EN).verdict is Verdict.NO_ERROR


def test_an_entry_with_a_title_alone_is_near_what_its_words_are_printed_in(
    tmp_path: Path, analyzers: Analyzers
) -> None:
    """An imported page seldom says more: neither signatures nor symptoms."""
    titles = {
        "killed": "What does OOMKilled mean (exit code 137)?",
        "restarts": "How do I debug CrashLoopBackOff?",
        "scale": "How do I scale a deployment?",
        "namespace": "What is a namespace?",
    }
    files = {f"en/roll/{slug}.md": small_content.edition(title) for slug, title in titles.items()}
    team = open_snapshot(
        tmp_path / "data", analyzers, small_content.write(tmp_path / "content", files)
    ).diagnoser
    found = team.diagnose("State: Terminated\n  Reason: OOMKilled\n  Exit Code: 137", Language.EN)
    assert (found.verdict, [one.entry.id for one in found.near]) == (Verdict.NEAR, ["roll/killed"])
    found = team.diagnose('ERROR: relation "orders" does not exist', Language.EN)
    assert (found.verdict, found.near) == (Verdict.UNKNOWN, ())


@pytest.mark.parametrize(
    ("programs", "expected"),
    [
        ("{}", ("known", "exact")),
        ("{redis: {role: component}}", ("known", "exact")),
        ("{redis: {role: framework}}", ("near", "foreign")),
        ("{mysql: {role: framework}}", ("near", "foreign")),
        ("{nginx: {role: other}}", ("known", "exact")),
    ],
)
def test_a_log_may_name_several_parts_of_a_system_unless_they_are_listed_as_apart(
    programs: str, expected: tuple[str, str], tmp_path: Path, analyzers: Analyzers
) -> None:
    names = "\n".join(
        f"  {each}: {{name: {{en: {each}, zh: {each}}}, description: {{en: Ours., zh: 我们的。}}}}"
        for each in ("mysql", "redis")
    )
    entry = small_content.edition("Waits for a lock", "## Fix\n\nEnd the transaction.\n", kind="error")
    files = {
        "taxonomy.yaml": small_content.TAXONOMY.replace("kinds:", f"{names}\nkinds:"),
        "programs.yaml": f"programs: {programs}\n",
        "en/mysql/lock.md": entry.replace("kind:", "signatures: ['Lock wait timeout exceeded']\nkind:"),
    }
    content = small_content.write(tmp_path / "content", files)
    team = open_snapshot(tmp_path / "data", analyzers, content).diagnoser
    log = "10:00:01 INFO redis client is ready\n10:03:09 ERROR pay: Lock wait timeout exceeded; try again\n"
    found = team.diagnose(log, Language.EN)
    sure = [one.confidence.value for one in found.matches] or ["foreign" for one in found.near if one.foreign]
    assert (found.verdict.value, *sure) == expected
