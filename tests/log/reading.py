"""Reading logs by the shipped formats."""

from collections.abc import Sequence
from pathlib import Path

from jieda.content.read.shared_files import FAILURES, PROGRAMS, read_log_knowledge
from jieda.log import lines, traceback
from jieda.log.formats import Formats, compile_formats
from jieda.log_knowledge import LogKnowledge

CONTENT = Path(__file__).parents[2] / "content"


def knowledge_of(directories: Sequence[Path]) -> LogKnowledge:
    """What content directories say of logs."""
    programs, failures = (
        tuple(
            (path, path.read_text(encoding="utf-8"))
            for each in directories
            if (path := each / name).is_file()
        )
        for name in (PROGRAMS, FAILURES)
    )
    return read_log_knowledge(programs, failures)


KNOWLEDGE = knowledge_of([CONTENT])
FORMATS = compile_formats(KNOWLEDGE.failures)


def fold(text: str, formats: Formats = FORMATS) -> lines.FoldedLog:
    return lines.fold(text, formats)


def parse(text: str) -> traceback.ParsedLog:
    return traceback.parse(text, FORMATS)
