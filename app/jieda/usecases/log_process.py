"""Large logs are explained in a process of their own: regular expressions hold the interpreter lock for as long as they
work, and with it every search of the process that serves."""

import gc
import logging
import os
import signal
import threading
from dataclasses import replace
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection

from jieda.bound_process import BoundProcess
from jieda.diagnosis.answers import Diagnosis
from jieda.entry import Language
from jieda.settings import Settings
from jieda.snapshot.build.helpers import THRESHOLDS
from jieda.snapshot.knowledge import Knowledge
from jieda.usecases.secrets import without_secrets

log = logging.getLogger(__name__)

SECONDS_TO_EXPLAIN = 60.0
"""The first log waits until the process has started as well; a process that takes longer hangs."""
SECONDS_IDLE = 300.0
"""After which the process ends, and gives its memory back."""
NICE = 10
"""Whoever waits for anything else comes first."""

Question = tuple[str, str, Language, str]
"""A generation, a log, the language of the answer, and a framework or nothing."""


class LogProcess:
    """The serving end: starts the process when the first large log comes, and again when it has ended."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._process: BoundProcess | None = None
        self._line: Connection | None = None

    def explain(self, question: Question, knowledge: Knowledge) -> Diagnosis | None:
        """Return the diagnosis of a log by the generation that is named; None where the process cannot give it."""
        with self._lock:
            try:
                line = self._line or self._start(knowledge)
                line.send(question)
                if line.poll(SECONDS_TO_EXPLAIN):
                    found: Diagnosis | None = line.recv()
                    return found
                log.warning("the process for large logs does not answer: it is ended")
            except (OSError, EOFError) as error:
                log.info("the process for large logs has ended: %s", type(error).__name__)
            self.end()
            return None

    def end(self) -> None:
        if self._process is not None and self._line is not None:
            self._line.close()
            self._process.kill()
            self._process.join()
        self._process = self._line = None

    def _start(self, knowledge: Knowledge) -> Connection:
        self._line, theirs = Pipe()
        self._process = BoundProcess(
            partial(answer_logs, theirs, replace(self._settings, data=knowledge.data))
        )
        # Where the program ends, it is ended, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()
        return self._line


def answer_logs(line: Connection, settings: Settings) -> None:
    """The other end: explain logs by what the data directory holds, until nobody asks any more."""
    # Who interrupts a program means the server.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)
    gc.set_threshold(*THRESHOLDS)
    knowledge = _opened(settings)
    while line.poll(SECONDS_IDLE):
        try:
            generation, text, lang, framework = line.recv()
        except EOFError:
            return
        if knowledge.snapshot.generation != generation:
            knowledge = _opened(settings)
        snapshot = knowledge.snapshot
        is_same = snapshot.generation == generation
        line.send(without_secrets(snapshot.diagnoser.diagnose(text, lang, framework)) if is_same else None)


def _opened(settings: Settings) -> Knowledge:
    knowledge = Knowledge(settings, follow_only=True)
    knowledge.open()
    # What a log is made into would be searched for garbage together with all that is known, again and again.
    gc.freeze()
    return knowledge
