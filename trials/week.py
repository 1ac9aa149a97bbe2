"""A week of questions in a minute: four workers, one killed, five gaps planted among what is found and what is rare.

    python -m trials.week [--requests 10000] [--workers 4] [--clients 8] [--seed 1] [--megabytes 1]
                          [--built DIRECTORY]

Readers of both languages ask. Each of the planted gaps is asked in several wordings, or pasted as a log, with other
secrets each time. Prints the figures, and ends with 1 where the report does not name the five first, the file is larger
than its bound, or a secret is in anything that was written. `--built` names a data directory of the shipped content to
begin with.
"""

import argparse
import http.client
import json
import os
import random
import re
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parent.parent
CONTENT = ROOT / "content"
SECONDS_TO_COUNT = 30.0
COUNTED = b"jieda_gaps_total"
BEFORE_THE_KILL = 0.25
"""Share of the requests. A killed worker takes along the questions that it holds: what comes later names the gaps."""
SECONDS_TO_THE_KILL = 0.1
SECONDS_TO_START = 300.0
FOUND = (
    "node2pg KeyError",
    "CUDA out of memory",
    "显存不足",
    "resume training",
    "Ray channel timeout",
    "怎么续训",
    "checkpoint conversion",
    "max_tokens_per_gpu",
)
GAPS: tuple[tuple[str, ...], ...] = (
    ("print a paper calendar for the kitchen", "how to print a paper calendar for the kitchen"),
    ("freeze the vision tower during training", "how do I freeze the vision tower during training"),
    ("训练时怎么播放音乐", "怎么在训练时播放音乐"),
    ("email the weekly invoice to the customer", "how to email the weekly invoice to the customer"),
)
"""Planted questions, each in its wordings. One more is a log."""
LOG = (
    'Traceback (most recent call last):\n  File "{path}/run.py", line {number}, in {user}\n    call()\n'
    "acme.robot.GripperError: gripper of {mail} at {address} on {host} did not open, token {token}\n"
)
RARE = (
    "banana",
    "violin",
    "castle",
    "garden",
    "umbrella",
    "candle",
    "marble",
    "pepper",
    "sailor",
    "thunder",
    "velvet",
)


@dataclass
class Week:
    """What was sent. `secrets` are all that were planted."""

    secrets: set[str] = field(default_factory=set)
    failed: int = 0
    answered: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass(frozen=True)
class Request:
    """One question of somebody: `log` is pasted where there is one."""

    who: str
    path: str
    log: str = ""


def secrets_of(rng: random.Random) -> dict[str, str]:
    """One of each kind, all of them new; the address is of another network than those who ask, whom the log names."""
    word = "".join(rng.choices("bcdfghjklmnpqrstvwxz", k=9))
    return {
        "mail": f"{word}.m@corp.example",
        "address": f"172.16.{rng.randrange(256)}.{rng.randrange(256)}.{rng.randrange(2, 250)}",
        "host": f"gpu-{rng.randrange(1000, 9999)}.{word}h.internal",
        "path": f"/data/{word}p",
        "user": f"{word}u",
        "token": "hf_" + "".join(rng.choices(string.ascii_letters + string.digits, k=24)),
        "number": str(rng.randrange(10**9, 10**10)),
    }


def requests(count: int, rng: random.Random, week: Week) -> Iterator[Request]:
    """As many questions, of as many people: most find something, and what does not is planted or rare."""
    for number in range(count):
        who = f"10.{1 + number % 200}.{number // 200 % 256}.{number % 250}"
        chance = rng.random()
        lang = rng.choice(("en", "zh"))
        if chance < 0.8:
            yield asked(who, rng.choice(FOUND), lang, rng)
        elif chance < 0.9:
            place = rng.randrange(len(GAPS) + 1)
            planted = secrets_of(rng)
            week.secrets.update(planted.values())
            if place == len(GAPS):
                yield Request(who, f"/api/v1/diagnose?lang={lang}", LOG.format(**planted))
            else:
                text = rng.choice(GAPS[place])
                secret = planted[rng.choice(sorted(planted))]
                yield asked(who, text if rng.random() < 0.5 else f"{text} {secret}", lang, rng)
        else:
            yield asked(who, " ".join(rng.sample(RARE, 3)), lang, rng)


def asked(who: str, text: str, lang: str, rng: random.Random) -> Request:
    """A search by page or API."""
    path = rng.choice((f"/{lang}/search?q=", f"/api/v1/search?lang={lang}&q="))
    return Request(who, path + quote(text))


def send(port: int, share: Sequence[Request], week: Week) -> None:
    """Sends a share of the requests over one connection, a new one where that broke."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for each in share:
        headers = {"X-Forwarded-For": each.who}
        try:
            connection.request("POST" if each.log else "GET", each.path, each.log.encode() or None, headers)
            answer = connection.getresponse()
            answer.read()
            is_well = answer.status == 200
        except (OSError, http.client.HTTPException):
            connection.close()
            is_well = False
        with week.lock:
            week.answered += is_well
            week.failed += not is_well
    connection.close()


def send_all(port: int, asked: Sequence[Request], week: Week, clients: int) -> None:
    """Sends requests as so many clients at once."""
    shares = (asked[place::clients] for place in range(clients))
    threads = [threading.Thread(target=send, args=(port, share, week)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def workers_of(data: Path) -> list[int]:
    """The processes that say that they answer requests."""
    return sorted(int(path.name.partition("-")[0]) for path in (data / "workers").glob("*.json"))


def serve(folder: Path, port: int, arguments: argparse.Namespace) -> subprocess.Popen[bytes]:
    """A server of several workers that keeps gaps. Raises SystemExit where it does not get ready."""
    settings = {
        "content": str(CONTENT), "data": str(folder / "data"), "port": str(port), "workers": str(arguments.workers),
        "gaps": "1", "gaps_megabytes": str(arguments.megabytes), "limits": "0", "semantic": "0",
    }  # fmt: skip
    environ = os.environ | {f"JIEDA_{name.upper()}": value for name, value in settings.items()}
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-c", "from jieda.cli.launch import main; main()", "serve"]
        process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=subprocess.STDOUT)
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        if fetched(port, "/readyz").startswith(b'{"status":"ready"'):
            return process
        time.sleep(0.2)
    process.kill()
    raise SystemExit((folder / "log").read_text())


def fetched(port: int, path: str) -> bytes:
    """What a page has, or nothing."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        return connection.getresponse().read()
    except OSError:
        return b""
    finally:
        connection.close()


def counted(port: int) -> bytes:
    """The figures, once gaps are among them: a question waits two minutes for its asker to find something, but one of
    which no word may be kept is counted at once."""
    fetched(port, "/api/v1/search?q=vbnmzxqk")
    deadline = time.monotonic() + SECONDS_TO_COUNT
    while COUNTED not in (metrics := fetched(port, "/metrics")) and time.monotonic() < deadline:
        time.sleep(0.2)
    return metrics


def report(folder: Path) -> list[dict[str, object]]:
    """The gaps as `jieda gaps` tells them."""
    environ = os.environ | {
        "JIEDA_CONTENT": str(CONTENT), "JIEDA_DATA": str(folder / "data"), "JIEDA_SEMANTIC": "0",
    }  # fmt: skip
    command = [
        sys.executable,
        "-c",
        "from jieda.cli.launch import main; main()",
        "gaps",
        "--json",
        "--limit",
        "10",
    ]
    printed = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    if printed.returncode:
        raise SystemExit(printed.stdout + printed.stderr)
    return list(json.loads(printed.stdout)["gaps"])


def named(gap: dict[str, object]) -> int | None:
    """Which of the planted gaps one is, the log being the last."""
    if gap["failure"] == "GripperError":
        return len(GAPS)
    texts = [str(gap["text"]), *map(str, gap["others"])]  # type: ignore[call-overload] # a list, as JSON
    kept = {re.sub(r"\s*\{\w+\}\s*", " ", text).strip() for text in texts}
    return next((place for place, wordings in enumerate(GAPS) if kept & set(wordings)), None)


def run(folder: Path, arguments: argparse.Namespace) -> bool:
    """The week; whether all was well."""
    week, rng, port = Week(), random.Random(arguments.seed), arguments.port
    asked_for = list(requests(arguments.requests, rng, week))
    if arguments.built:
        shutil.copytree(arguments.built, folder / "data", symlinks=True)
    process = serve(folder, port, arguments)
    cut = int(len(asked_for) * BEFORE_THE_KILL)
    send_all(port, asked_for[:cut], week, arguments.clients)
    victim = rng.choice(workers_of(folder / "data"))
    killing = threading.Timer(SECONDS_TO_THE_KILL, os.kill, (victim, signal.SIGKILL))
    killing.start()
    send_all(port, asked_for[cut:], week, arguments.clients)
    killing.join()
    metrics = counted(port)
    process.terminate()
    process.wait(60)
    sizes = {path.name: path.stat().st_size for path in (folder / "data").glob("gaps-1.sqlite*")}
    gaps = report(folder)
    first = {named(gap) for gap in gaps[:5]}
    written = [path for path in folder.rglob("*") if path.is_file()]
    contents = [metrics, *(path.read_bytes() for path in written)]
    leaked = [secret for secret in week.secrets if any(secret.encode() in content for content in contents)]
    for gap in gaps[:8]:
        print(f"{gap['count']:6}  {gap['failure']}  {gap['text']}")
    print(f"requests {len(asked_for)}, answered {week.answered}, lost with the killed worker {week.failed}")
    print(f"planted gaps named first {len(first - {None})} of 5, bytes {sum(sizes.values())}")
    print(f"secrets planted {len(week.secrets)}, found in files, log or metrics {len(leaked)}")
    whole = len(first - {None}) == 5 and sum(sizes.values()) <= arguments.megabytes << 20
    return whole and not leaked and COUNTED in metrics and week.failed <= 8 * arguments.clients


def main() -> None:
    """From the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, value in (("requests", 10_000), ("workers", 4), ("clients", 8), ("seed", 1), ("megabytes", 1)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--port", type=int, default=8120)
    parser.add_argument("--built", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jieda-week-") as folder:
        sys.exit(0 if run(Path(folder), arguments) else 1)


if __name__ == "__main__":
    main()
