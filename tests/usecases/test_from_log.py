"""`jieda new --from-log`: a draft made of a log that no entry explains."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jieda.cli.main import main

from bench.importing import check, unnamed_problems
from tests.support.small_content import TAXONOMY, edition, write

pytestmark = pytest.mark.slow

LOG = """\
\x1b[31mTraceback (most recent call last):
  File "/opt/train.py", line 7, in <module>
    main()
RuntimeError: shard 17 of /data/x/it's.bin is not aligned with `plan`\x1b[0m
export WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567
-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj
AgEAAoIBAQC7VJTUt9Us8cKj
-----END PRIVATE KEY-----
"""
KNOWN = {
    "zh/roll/known.md": edition(
        "已知", "## 解决办法\n\n照做。\n", kind="error", signatures="['the moon {int} is missing']"
    ),
    "en/roll/known.md": edition(
        "Connection refused",
        "## Fix\n\nDo it.\n",
        kind="error",
        signatures="['the moon {int} is missing']",
    ),
    **{f"samples/roll/known/{name}.log": f"RuntimeError: the moon {name} is missing\n" for name in "12"},
}


class Desk:
    """A content directory and the command."""

    def __init__(self, folder: Path) -> None:
        self.content = write(folder / "content", KNOWN)
        self.data = folder / "data"
        assert CliRunner().invoke(main, ["sync", "roll/known", "--content", str(self.content)]).exit_code == 0

    def new(self, *arguments: str, log: str = LOG) -> Result:
        environ = {"JIEDA_DATA": str(self.data), "JIEDA_SEMANTIC": "0"}
        given = ["new", *arguments, "--from-log", "-", "--content", str(self.content)]
        return CliRunner().invoke(main, given, input=log, env=environ)

    def files(self) -> dict[str, str]:
        return {
            path.relative_to(self.content).as_posix(): path.read_text(encoding="utf-8")
            for path in self.content.rglob("*")
            if path.is_file()
        }


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_an_exception_gives_a_signature_whatever_its_name_ends_in(desk: Desk) -> None:
    log = LOG.replace("RuntimeError: shard", "jieda.errors.ShardMismatch: shard")
    assert desk.new("roll/shard", log=log).exit_code == 0
    assert "'jieda.errors.ShardMismatch: shard {int} of " in desk.files()["en/roll/shard.md"]


@pytest.mark.parametrize(
    ("line", "signature"),
    [
        (
            "ERROR: [082]: WAL segment 00000003000000A4000000F1 was not archived before the 60000ms timeout",
            "ERROR: [082]: WAL segment {hex} was not archived before the {any} timeout",
        ),
        (
            "ERROR: segment 000000030000000400000001 of tensor [16] was not archived",
            "ERROR: segment {hex} of tensor {shape} was not archived",
        ),
        (
            "ERROR: sandbox 4c1b7f6d-9e0a-4d2b-8c3e-0123456789ab lost its container 9f86d081884c7d659a2feaa0c55ad015.",
            "ERROR: sandbox {word} lost its container {hex}.",
        ),
        ("致命错误:  对不起, 已经有太多的客户", "致命错误: 对不起, 已经有太多的客户"),
        ("错误:  检测到死锁", "错误: 检测到死锁"),
        ("错误：重试 3 次后放弃，已用45秒", "错误：重试 {int} 次后放弃，已用{int}秒"),
        (
            "ERROR: order P20260302117 was refused after 3 attempts",
            "ERROR: order {word} was refused after {int} attempts",
        ),
        (
            "2026-03-02 10:14:02,117 ERROR 支付渠道返回超时，订单号P20260302117未入账",
            "ERROR 支付渠道返回超时，订单号{word}未入账",
        ),
        (
            'time="2026-03-02T10:14:02Z" level=error msg="cannot sync partition 12: lease held by node-7"',
            "cannot sync partition {int}: lease held by node-7",
        ),
        (
            'web-1  | {"level":"error","msg":"cannot sync partition 12","err":"the lease is held"}',
            "cannot sync partition {int}",
        ),
    ],
)
def test_what_differs_between_two_logs_is_no_text_of_the_signature(
    desk: Desk, line: str, signature: str
) -> None:
    assert desk.new("roll/shard", log=f"{line}\n").exit_code == 0
    assert f"\nsignatures:\n  - '{signature}'\n" in desk.files()["en/roll/shard.md"]


def test_what_of_a_signature_may_be_a_value_is_a_doubt(desk: Desk) -> None:
    assert desk.new("roll/shard", log="ERROR: the lease of 12 shards is held by node-7\n").exit_code == 0
    assert "'values: the signature has node-7: put" in desk.files()["en/roll/shard.md"]
    assert desk.new("roll/lease", log="psycopg2.OperationalError: node-7 has the lease\n").exit_code == 0
    assert "'values: the signature has node-7: put" in desk.files()["en/roll/lease.md"]


def test_a_log_becomes_a_draft_in_both_languages_with_its_sample(desk: Desk) -> None:
    before = desk.files()
    run = desk.new("roll/shard")
    assert run.exit_code == 0, run.output
    new = {name: text for name, text in desk.files().items() if name not in before}
    assert set(new) == {"en/roll/shard.md", "zh/roll/shard.md", "samples/roll/shard/first.log"}
    assert all(str(desk.content / name) in run.stdout for name in new)
    for lang in ("en", "zh"):
        text = new[f"{lang}/roll/shard.md"]
        assert "\ndraft: true\n" in text
        assert "title: 'RuntimeError: shard 17 of /data/x/it''s.bin is not aligned with `plan`'\n" in text
        assert "\nsignatures:\n  - 'RuntimeError: shard {int} of " in text
    assert "\n  - 'title: 就是打印出来的报错行" in new["zh/roll/shard.md"]
    assert unnamed_problems(check(desk.content).problems) == ()


def test_secrets_are_masked_and_that_is_said(desk: Desk) -> None:
    run = desk.new("roll/shard")
    sample = desk.files()["samples/roll/shard/first.log"]
    assert "were masked" in run.stderr
    for secret in ("0123456789abcdef", "MIIEvQ", "AgEAAoIBAQ"):
        assert not any(secret in text for text in desk.files().values())
    assert "shard 17 of /data/x/it's.bin" in sample
    assert (
        "were masked" not in desk.new("roll/other", log="ValueError: nothing secret here at all\r\n").stderr
    )


def test_an_entry_that_explains_the_log_is_named_and_nothing_is_written(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, log = desk.files(), "RuntimeError: the moon 99 is missing\n"
    run = desk.new("roll/again", log=log)
    assert run.exit_code == 1
    assert run.stdout == "roll/known already explains this log (exact): Connection refused\n"
    assert desk.files() == before
    with monkeypatch.context() as context:
        context.setenv("LC_ALL", "zh_CN.UTF-8")
        told = desk.new("roll/again", log=log).stdout
    assert told == "roll/known 已经解释了这份日志（exact）：Connection refused\n"
    assert desk.new("roll/again", "--force", log=log).exit_code == 0
    assert "duplicate: roll/known may be about the same" in desk.files()["en/roll/again.md"]


def test_an_id_can_be_left_out(desk: Desk) -> None:
    run = desk.new()
    assert run.exit_code == 0, run.output
    assert any(name.startswith("en/roll/runtime-error-shard") for name in desk.files())
    other = TAXONOMY.replace("frameworks:\n", "frameworks:\n  other: {name: Other, description: Another.}\n")
    write(desk.content, {"taxonomy.yaml": other})
    assert "does not show which framework it is about" in desk.new().output


@pytest.mark.parametrize(
    ("arguments", "log", "words"),
    [
        (("roll/x",), "step 1\nstep 2\n", "shows no error"),
        (("roll/x",), "", "the log is empty"),
        (("rol/x",), LOG, "framework 'rol' is not in taxonomy.yaml, which has"),
        (("roll/Bad",), LOG, "must be <framework>/<slug>"),
        (("roll/known",), LOG, "already exists"),
        (("roll/x", "--kind", "concept"), LOG, "leave --kind out"),
    ],
)
def test_what_cannot_be_done_is_refused(desk: Desk, arguments: tuple[str, ...], log: str, words: str) -> None:
    before = desk.files()
    run = desk.new(*arguments, log=log)
    assert run.exit_code == 2
    assert words in run.output
    assert desk.files() == before
