"""A separate process that diagnoses large logs: regular expressions hold the interpreter lock while they run, which
would block every search in the serving process."""

import gc
import logging
import os
import threading
from dataclasses import replace

from jieda.diagnosis.answers import Diagnosis
from jieda.entry import Language
from jieda.settings import Settings
from jieda.snapshot.build.helpers import Helper
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
    """The serving side: starts the process for the first large log, and anew once it has ended."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._process: Helper | None = None
        self._reader: LogReader | None = None

    def explain(self, question: Question, knowledge: Knowledge) -> Diagnosis | None:
        """Return the diagnosis of a log by the generation in `question`; None if the process cannot provide it."""
        with self._lock:
            if self._process and not self._process.is_alive():
                self.end()
            try:
                process = self._process = self._process or Helper(SECONDS_IDLE)
            except OSError as error:
                log.warning("the process for large logs cannot be started: %s", error)
                return None
            reader = self._reader = self._reader or LogReader(replace(self._settings, data=knowledge.data))
            found = process.do(reader, [question], SECONDS_TO_EXPLAIN)
            if process.is_lost:
                log.warning("the process for large logs died or does not answer")
                self.end()
            return found[0] if found else None

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
        self._process = None


class LogReader:
    """The other side: diagnoses logs with the current generation, opened when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._knowledge: Knowledge | None = None

    def __call__(self, question: Question) -> Diagnosis | None:
        """Return the diagnosis of a log; None if its generation is not the current one."""
        generation, text, lang, framework = question
        if self._knowledge is None:
            os.nice(NICE)
        if self._knowledge is None or self._knowledge.snapshot.generation != generation:
            self._knowledge = Knowledge(self._settings, follow_only=True)
            self._knowledge.open()
            # Otherwise every garbage collection during a diagnosis would scan the whole snapshot again.
            gc.freeze()
        snapshot = self._knowledge.snapshot
        is_same = snapshot.generation == generation
        return without_secrets(snapshot.diagnoser.diagnose(text, lang, framework)) if is_same else None
