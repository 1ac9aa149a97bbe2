"""A separate process that diagnoses large logs: regular expressions hold the interpreter lock while they run, which
would block every search in the serving process."""

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
"""Timeout for an answer, including the start of the process; a process that takes longer is considered hung."""
SECONDS_IDLE = 300.0
"""Idle time after which the process ends to free its memory."""
NICE = 10
"""Nice value of the process: all other work has priority."""

Question = tuple[str, str, Language, str]
"""A generation, a log, the language of the answer, and a framework or an empty text."""


class LogProcess:
    """The serving side: starts the process for the first large log, and restarts it once it has ended."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._process: BoundProcess | None = None
        self._line: Connection | None = None

    def explain(self, question: Question, knowledge: Knowledge) -> Diagnosis | None:
        """Return the diagnosis of a log by the generation in `question`; None if the process cannot provide it."""
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
        # If the program ends, the process is killed, not waited for.
        self._process.daemon = True
        self._process.start()
        theirs.close()
        return self._line


def answer_logs(line: Connection, settings: Settings) -> None:
    """Run in the process: diagnose logs with the current generation, until no request has come for SECONDS_IDLE."""
    # An interrupt is meant for the server.
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
    # Otherwise every garbage collection during a diagnosis would scan the whole snapshot again.
    gc.freeze()
    return knowledge
