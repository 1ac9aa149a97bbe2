"""What is found to have gone wrong in a log, whether an entry knows it or not."""

import pytest
from jieda.log.failures import LoggedFailure

from tests.log.reading import parse


def failures(log: str) -> list[tuple[str, str]]:
    return [(each.type, each.message) for each in parse(log).raised]


def only(log: str) -> LoggedFailure:
    (one,) = parse(log).raised
    return one


@pytest.mark.parametrize(
    ("log", "type_", "message"),
    [
        ("ValueError: no", "ValueError", "no"),
        ("torch.OutOfMemoryError: CUDA out of memory.", "torch.OutOfMemoryError", "CUDA out of memory."),
        ("ray.exceptions.outofmemoryerror: killed", "ray.exceptions.outofmemoryerror", "killed"),
        ("[ERROR] RuntimeError: no", "RuntimeError", "no"),
        ("KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("httpx ConnectError all attempts failed", "ConnectError", "all attempts failed"),
        (
            "RuntimeError: Error(s) in loading:\n\tsize mismatch",
            "RuntimeError",
            "Error(s) in loading: size mismatch",
        ),
        ("NVRM: Xid (PCI:0000:9d:00): 94, pid=1", "Xid of memory", "NVRM: Xid (PCI:0000:9d:00): 94, pid=1"),
        ("NVRM: Xid (PCI:0000:9d:00): 31, pid=1", "Xid", "NVRM: Xid (PCI:0000:9d:00): 31, pid=1"),
        ("x.cpp:1 NCCL WARN Cuda failure 'oom'", "NCCL", "NCCL WARN Cuda failure 'oom'"),
        ("bash: nvcc: command not found", "shell", "bash: nvcc: command not found"),
        (
            "'nvcc' 不是内部或外部命令，也不是可运行的程序",
            "shell",
            "'nvcc' 不是内部或外部命令，也不是可运行的程序",
        ),
        (
            "/opt/a: error while loading shared libraries: libb.so.3: cannot open shared object file",
            "loader",
            "error while loading shared libraries: libb.so.3: cannot open shared object file",
        ),
        ("[ 1.6] Kernel panic - not syncing: VFS", "kernel", "Kernel panic - not syncing: VFS"),
        ("/bin/sh: 1: ray: not found", "shell", "sh: 1: ray: not found"),
        ("mapping values are not allowed here", "YAML", "mapping values are not allowed here"),
        ("Segmentation fault (core dumped)", "signal", "Segmentation fault (core dumped)"),
        ("subprocess died with <Signals.SIGKILL: 9>.", "signal", "<Signals.SIGKILL: 9>."),
        (
            "terminate called after throwing an instance of 'c10::Error'",
            "C++",
            "terminate called after throwing an instance of 'c10::Error'",
        ),
        (
            "Out of memory: Killed process 23 (python)",
            "out of memory",
            "Out of memory: Killed process 23 (python)",
        ),
        ("train/grad_norm: 48211.7", "gradient norm", "grad_norm: 48211.7"),
        (
            "      Traceback (most recent call last):\n"
            '        File "<string>", line 22, in <module>\n'
            "      ModuleNotFoundError: No module named 'torch'",
            "ModuleNotFoundError",
            "No module named 'torch'",
        ),
        (
            "huggingface_hub.errors.OfflineModeIsEnabled: cannot reach it",
            "huggingface_hub.errors.OfflineModeIsEnabled",
            "cannot reach it",
        ),
        (
            "triton.runtime.errors.OutOfResources: out of resource",
            "triton.runtime.errors.OutOfResources",
            "out of resource",
        ),
        (
            "a/cudnn_utils.h:11:10: fatal error: cudnn.h: No such file or directory",
            "compiler",
            "fatal error: cudnn.h: No such file or directory",
        ),
        (
            "util.cpp:4:13: error: expected ';' before 'return'",
            "compiler",
            "util.cpp:4:13: error: expected ';' before 'return'",
        ),
        (
            '{"msg":"job failed","error":"AssertionError: no gearbox","stacktrace":"main.run\\n\\t/a.go:7"}',
            "AssertionError",
            "no gearbox",
        ),
        ('{"event":"KeyError: 1","level":"error"}', "KeyError", "1"),
        ('trainer-0  | {"event":"KeyError: 1","level":"error"}', "KeyError", "1"),
        ('ts=17 level=error msg="job \\"a\\" failed" err="KeyError: 1"', "KeyError", "1"),
        ("up\n2026-03-01 10:00:00 ERROR the peer left\ndown", "error", "ERROR the peer left"),
        ('{"level":"crit","msg":"the peer left"}', "error", "the peer left"),
        ('{"@l":"Error","@m":"the peer left"}', "error", "ERROR: the peer left"),
        ("level=err msg=left", "error", "level=err msg=left"),
        ("[2026-03-01 10:00:00.117][12][error][upstream] left", "error", "[error][upstream] left"),
        ("03-01 10:00:00.117  4110  4132 E Shop    : java.lang.Error: left", "java.lang.Error", "left"),
        ("2026-03-01T10:00:00Z  WARN 1 --- [main] c.e.Shop : KeyError: 1", "KeyError", "1"),
        ("10:00:00.117 [main] INFO c.e.Shop - KeyError: 1", "KeyError", "1"),
        ("[2026-03-01 10:00:00,117] ERROR KeyError: 1", "KeyError", "1"),
        ("[main] ERROR KeyError: 1", "KeyError", "1"),
        ("thread 'main' (4110) panicked at a.rs:4:5:", "Rust", "thread 'main' (4110) panicked at a.rs:4:5:"),
        ("[FIRING:2] HeapUsageHigh ledger", "alert", "[FIRING:2] HeapUsageHigh ledger"),
        ("A.java:12: error: cannot find symbol", "compiler", "A.java:12: error: cannot find symbol"),
    ],
)
def test_failure_is_found(log: str, type_: str, message: str) -> None:
    assert failures(log) == [(type_, message)]


@pytest.mark.parametrize(
    "log",
    [
        "num_errors: 0",
        "raise ValueError(",
        "    except KeyError:",
        "class MyError(Exception):",
        "UserWarning: this is slow",
        "[error rate 0.01] epoch 1, loss [error: 0.02], levels [error, warn]",
        "Source: file:/data/a.jsonl: 1000 rows",
        "grad norm: 1.318 | number of nan iterations: 0",
        "如何选择 template？",
        "    at new ApiError (/app/src/errors.js:12:11)",
        "\tat com.mysql.jdbc.SQLError.createSQLException(SQLError.java:121)",
        "Test error: 3.2%",
        "val_mean_absolute_error: 0.12 - val_loss: 0.3",
        "WARNING: 'foo' is not recognized as a known option",
    ],
)
def test_what_only_looks_like_a_failure_is_none(log: str) -> None:
    assert not failures(log)


RAISED = 'Traceback (most recent call last):\n  File "/w/train.py", line 40, in <module>\n    run()\n'


@pytest.mark.parametrize(
    ("log", "root"),
    [
        (
            f"Exception ignored in: <function A.__del__>\n{RAISED}AttributeError: pool\n{RAISED}KeyError: 1",
            "KeyError",
        ),
        (f"--- Logging error ---\n{RAISED}TypeError: not all\n{RAISED}KeyError: 1", "KeyError"),
        (f"WARNING engine: caught ImportError: no flash_attn\n{RAISED}KeyError: 1", "KeyError"),
        (f"ERROR engine: caught ImportError: no flash_attn\n{RAISED}KeyError: 1", "ImportError"),
        ("WARNING engine: caught ImportError: no flash_attn", "ImportError"),
        (f"Exception ignored in: <function A.__del__>\n{RAISED}AttributeError: pool", "AttributeError"),
        (f"ERROR:    Exception in ASGI application\n{RAISED}KeyError: 1", "KeyError"),
        (
            "#11 3.480   ERROR: No matching distribution found for a\n"
            'ERROR: process "/bin/sh -c pip install a" did not complete successfully: exit code: 1',
            "error",
        ),
        (
            "Servlet.service() for servlet [a] threw exception [nested exception is a.BeanError: no bean] with"
            " root cause\n\na.SqlError: no table\n\tat a.B.c(B.java:1)",
            "a.SqlError",
        ),
        ("##[error]Process completed with exit code 1.\nerror CS0103: no name", "compiler"),
        (
            "a.BeanError: no bean\n\tat a.B.c(B.java:1)\nCaused by: a.SqlError: no table\n\t... 31 more\n"
            "Caused by: a.ConnectError: refused",
            "a.ConnectError",
        ),
        (
            "RuntimeError: Caught ValueError in DataLoader worker process 0.\n"
            "Original Traceback (most recent call last):\n"
            f"{RAISED.partition(chr(10))[2]}ValueError: stack expects equal sizes",
            "ValueError",
        ),
        (
            f"{RAISED}ExceptionGroup: unhandled errors (1 sub-exception)\n  +---------------- 1 ----------------\n"
            + "".join(f"    | {line}\n" for line in f"{RAISED}KeyError: 1".splitlines()),
            "KeyError",
        ),
        ("\x1b[33mWARNING\x1b[0m cache: KeyError: 1\nValueError: no such table", "ValueError"),
        (f"python : {RAISED}    + FullyQualifiedErrorId : NativeCommandError\n\nKeyError: 1", "KeyError"),
        (
            "a.service: Failed with result 'exit-code'.\na.service: Failed to execute /a: No",
            "service command",
        ),
    ],
    ids="ignored logging warning error lone lone-ignored uvicorn buildkit tomcat actions java dataloader group "
    "colored powershell systemd".split(),
)
def test_the_root_is_what_went_wrong(log: str, root: str) -> None:
    assert next(each.type for each in parse(log).raised if not each.wraps) == root


def test_frames_have_place_function_and_source() -> None:
    log = (
        "Traceback (most recent call last):\n"
        '  File "/a/b.py", line 12, in run\n    go(1)\n    ^^^^^\n'
        '  File "/a/c.py", line 3, in go\n    raise ValueError("no")\nValueError: no'
    )
    raised = only(log)
    assert [(f.path, f.line, f.function, f.source) for f in raised.frames] == [
        ("/a/b.py", 12, "run", "go(1)"),
        ("/a/c.py", 3, "go", 'raise ValueError("no")'),
    ]
    assert raised.line == 7


@pytest.mark.parametrize(
    "frame",
    [
        '  File "/a/b.py", line 12, in run',
        "File /a/b.py:12, in run(x)",
        "/a/b.py:12 in run",
        "/a/b.py:12: in run",
        "b.py, in run",
    ],
    ids=["python", "ipython", "rich", "pytest", "half remembered"],
)
def test_frames_are_known_in_every_form(frame: str) -> None:
    (found,) = only(f"{frame}\nKeyError: 1").frames
    assert (found.path.rpartition("/")[2], found.function[:3]) == ("b.py", "run")


def test_any_name_below_a_traceback_is_its_exception() -> None:
    log = (
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nmylib.Unplugged: no power'
    )
    assert failures(log) == [("mylib.Unplugged", "no power")]


def test_what_stands_between_chained_tracebacks_is_no_message() -> None:
    log = (
        'Traceback (most recent call last):\n  File "/usr/lib/python3.12/queue.py", line 179, in get\n'
        "    raise Empty\nqueue.Empty\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "/srv/a.py", line 3, in take\n    wait()\n'
        "TimeoutError: nothing came"
    )
    assert [(one.type, one.message) for one in parse(log).raised] == [
        ("queue.Empty", ""),
        ("TimeoutError", "nothing came"),
    ]


def test_a_bare_assertion_tells_its_condition() -> None:
    log = '  File "a.py", line 1, in f\n    assert x > 0\nAssertionError'
    assert failures(log) == [("AssertionError", "assert x > 0")]


def test_a_remote_traceback_that_breaks_off_names_its_exception() -> None:
    log = 'ray.exceptions.RayTaskError(ImportError): ray::W.f() (pid=1, ip=1.2.3.4)\n  File "a.py", line 1, in f'
    raised = only(log)
    assert (raised.type, len(raised.frames)) == ("ImportError", 1)


def test_the_same_failure_of_many_ranks_is_one() -> None:
    log = "\n".join(
        f"[rank{n}]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {n}.5 GiB. GPU {n} is full"
        for n in range(64)
    )
    assert (only(log).times, only(log).line) == (64, 1)


def test_different_messages_of_one_type_stay_apart() -> None:
    assert len(failures("ValueError: no such layer\nValueError: no such optimizer")) == 2


BROKEN_OFF = (
    '  File "a.py", line 1, in f\n    raise Unplugged("no power")\n'
    '  File "b.py", line 7, in g\n    raise FuseError(\n'
)


@pytest.mark.parametrize(
    ("below", "types"),
    [
        ("", ["FuseError"]),
        ("        'blown',\nworkshop.FuseError: blown", ["workshop.FuseError"]),
        ("ray.exceptions.ActorDiedError: died", ["FuseError", "ray.exceptions.ActorDiedError"]),
        ("HouseError: dark", ["HouseError"]),
        ('  File "c.py", line 2, in h\n    switch()\nKeyError: 1', ["KeyError"]),
        (
            "\nDuring handling of the above exception, another exception occurred:\n\n"
            "Traceback (most recent call last):\nKeyError: 1",
            ["FuseError", "KeyError"],
        ),
    ],
    ids=["at the end", "raised as said", "wrapped", "raised as another", "not innermost", "chained"],
)
def test_a_traceback_that_breaks_off_tells_what_its_source_raises(below: str, types: list[str]) -> None:
    assert [name for name, _ in failures(BROKEN_OFF + below)] == types
