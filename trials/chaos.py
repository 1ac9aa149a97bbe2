"""Kills and damage: whatever happens to a data directory, the next start answers rightly and leaves nothing behind.

    python -m trials.chaos [--kills 100] [--cases 0] [--servers 100] [--entries 24] [--seed 1] [--port 8767]
                           [--patience 10]

First processes that build, start, reload or stop are killed (SIGKILL) at random moments; then every file of a data
directory is damaged in every way that `trials.damage` knows, `--cases` of them at random where that is not 0. After
each, a start must succeed in the directory itself, answer exactly what it should, run nothing that was planted, and
leave nothing of dead builders. Processes are forked from this one, which has everything imported: a moment is a moment
of the work. Last, `--servers` whole servers are hit, which must end within `--patience` seconds: see `trials.servers`.
"""

import argparse
import contextlib
import logging
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from jieda.entry import Language
from jieda.search.answers import SearchRequest
from jieda.snapshot.build.builder import Builder
from jieda.snapshot.snapshot import Analyzers
from jieda.snapshot.watch.follow import Follower

from trials.damage import DAMAGES
from trials.servers import attack
from trials.site import Place, answers

WORDS = ("entry0", "error", "lost", "训练")
USUAL = {"kills": 100, "cases": 0, "servers": 100, "entries": 24, "seed": 1, "port": 8767, "patience": 10}
"""What is done where nothing else is asked for. No cases means all there are."""
SECONDS_TO_ANSWER = 120
"""A start that takes longer hangs."""


# ---- processes


def forked(work: Callable[[], None]) -> int:
    """The id of a new process that does some work and nothing else."""
    if pid := os.fork():
        return pid
    status = 1
    try:
        signal.alarm(SECONDS_TO_ANSWER)
        work()
        status = 0
    except BaseException:  # noqa: BLE001 - the process ends here, whatever it is
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


def ended(pid: int) -> int:
    """The exit code of a process, once it has ended; negative where a signal ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


class Chaos:
    """One place, and processes that work on it."""

    def __init__(self, folder: Path, entries: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.place = Place.make(folder, entries, seed)
        self.number = 0
        self.elsewhere = folder / "elsewhere"
        self.elsewhere.mkdir()
        (self.elsewhere / "file").write_text("mine", encoding="utf-8")
        self.analyzers = Analyzers()
        self.faults: list[str] = []
        self._warm_up(folder / "warm")

    def _warm_up(self, data: Path) -> None:
        """Does once all that is done only once in a process, without starting a thread: those do not fork."""
        Builder([self.place.content], data, self.analyzers).build()
        follower = Follower(data, self.analyzers, lambda: None)
        follower.catch_up()
        for word in WORDS:
            follower.snapshot.searcher.search(SearchRequest(text=word, lang=Language.EN))

    def start(self) -> str:
        """What a start answers."""
        knowledge = self.place.knowledge(self.analyzers)
        knowledge.open()
        if knowledge.data != self.place.data:
            raise RuntimeError("another data directory is used")
        return answers(knowledge, [*WORDS, f"change{self.number:06}"])

    def expected(self, folder: Path) -> str:
        """What is to be answered: what a data directory that nothing ever happened to says."""
        fresh = Place(self.place.content, folder)
        shutil.rmtree(folder, ignore_errors=True)
        told = folder.with_name("expected")

        def tell() -> None:
            knowledge = fresh.knowledge(self.analyzers)
            knowledge.open()
            told.write_text(answers(knowledge, [*WORDS, f"change{self.number:06}"]), encoding="utf-8")

        if ended(forked(tell)):
            raise RuntimeError("nothing to compare with")
        return told.read_text(encoding="utf-8")

    def check(self, what: str, expected: str) -> None:
        """Notes what is wrong with a start after something."""

        def compare() -> None:
            if self.start() != expected:
                raise RuntimeError("the answers differ")

        if code := ended(forked(compare)):
            self.faults.append(f"{what}: a bad start ({code})")
        if left := self.place.leftovers():
            self.faults.append(f"{what}: {len(left)} leftovers")
        if (self.elsewhere / "it-ran").exists():
            self.faults.append(f"{what}: what was planted ran")
        if (self.elsewhere / "file").read_text(encoding="utf-8") != "mine":
            self.faults.append(f"{what}: another's file was changed")


# ---- kills


def build(chaos: Chaos) -> None:
    """From nothing."""
    chaos.start()


def reload(chaos: Chaos) -> None:
    """As a server does: one change after another, each followed."""
    knowledge = chaos.place.knowledge(chaos.analyzers, reload_content="1")
    knowledge.open()
    knowledge.start()
    for number in range(chaos.number + 1, chaos.number + 200):
        chaos.place.change(number)
        time.sleep(0.1)


def stop(chaos: Chaos) -> None:
    """A stop in the middle of reloading."""
    knowledge = chaos.place.knowledge(chaos.analyzers, reload_content="1")
    knowledge.open()
    knowledge.start()
    chaos.place.change(chaos.number + 1)
    time.sleep(0.1 * chaos.chance.random())
    knowledge.stop()
    time.sleep(1)


PHASES: dict[str, Callable[[Chaos], None]] = {"build": build, "start": build, "reload": reload, "stop": stop}


def kill(chaos: Chaos, kills: int, scratch: Path) -> Counter[str]:
    """Kills so many processes at random moments; how many in each phase."""
    began = time.monotonic()
    chaos.check("a first start", chaos.expected(scratch))
    usual = time.monotonic() - began
    done: Counter[str] = Counter()
    for each in range(kills):
        phase = list(PHASES)[each % len(PHASES)]
        if phase == "build":
            shutil.rmtree(chaos.place.data, ignore_errors=True)
        pid = forked(lambda phase=phase: PHASES[phase](chaos))  # type: ignore[misc] # bound now
        time.sleep(usual * chaos.chance.random())
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        ended(pid)
        chaos.number += 1000
        chaos.place.change(chaos.number)
        chaos.check(
            f"kill {each + 1} ({phase})", chaos.expected(scratch) if each % 10 == 9 else _plain(chaos)
        )
        done[phase] += 1
    return done


def _plain(chaos: Chaos) -> str:
    """What a start answers at the second time: as right as the first, and checked against a fresh one now and then."""
    told = chaos.elsewhere / "told"
    ended(forked(lambda: _write(told, chaos.start())))
    text = told.read_text(encoding="utf-8")
    if text.count(f"change{chaos.number:06}") < 2:
        chaos.faults.append("the newest content is not served")
    return text


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


# ---- the matrix


def files(data: Path) -> Iterator[Path]:
    """Every file of a data directory, below it."""
    yield from sorted(path.relative_to(data) for path in data.rglob("*") if path.is_file())


def corrupt(chaos: Chaos, most: int, scratch: Path) -> int:
    """Damages every file in every way, or `most` of these cases at random; how many there were."""
    expected = chaos.expected(scratch)
    chaos.check("before any damage", expected)
    whole = chaos.place.data.with_name("whole")
    shutil.copytree(chaos.place.data, whole)
    cases = [(path, name) for path in files(whole) for name in DAMAGES]
    if most:
        cases = chaos.chance.sample(cases, min(most, len(cases)))
    for path, name in cases:
        shutil.rmtree(chaos.place.data)
        shutil.copytree(whole, chaos.place.data)
        DAMAGES[name](chaos.place.data / path, chaos.elsewhere)
        chaos.check(f"{path}: {name}", expected)
    return len(cases)


def main() -> int:
    """0 where all went well."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, usual in USUAL.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    given = parser.parse_args()
    logging.disable(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="jieda-chaos-") as folder:
        chaos = Chaos(Path(folder), given.entries, given.seed)
        killed = kill(chaos, given.kills, Path(folder) / "fresh")
        print(f"kills {killed.total()} {dict(killed)}, faults {len(chaos.faults)}", flush=True)
        cases = corrupt(chaos, given.cases, Path(folder) / "fresh")
        print(f"damages {cases}, faults {len(chaos.faults)}", *chaos.faults[:50], sep="\n", flush=True)
        faults = chaos.faults
        if given.servers:
            place = Path(folder) / "servers"
            faults += attack(place, given.servers, given.entries, given.seed, given.port, given.patience)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
