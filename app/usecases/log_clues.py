"""What a log that no entry explains gives away about the entry that is missing."""

import re
from dataclasses import dataclass

from app.content.read.load import Loaded
from app.diagnosis.answers import Diagnosis
from app.drafting.guesses import signatures_of, words_of
from app.log.formats import compile_formats
from app.signature.line import compile_signature_line
from app.taxonomy import Taxonomy
from app.usecases.secrets import masked

VALUES = re.compile(r"\S*[\d/\\]\S*")
"""What differs from log to log, and so belongs into no name."""


@dataclass(frozen=True, slots=True)
class Clues:
    """Empty where the log tells nothing of the kind; secrets are masked."""

    line: str
    """The error, as it was printed."""
    name: str
    """Words of the error to make a slug of."""
    error_types: tuple[str, ...]
    signatures: tuple[str, ...]


def clues_of(log: str, diagnosis: Diagnosis, content: Loaded, entry_id: str = "") -> Clues:
    """The clues of a log with its diagnosis. Samples of `entry_id` may have the same line, others not."""
    error, message = _failure(diagnosis, content)
    line = " ".join(masked(f"{error}: {message}" if error and message else error or message).split())
    short = error.rpartition(".")[2]
    others = [sample for sample in content.samples if sample.entry_id != entry_id]
    text = masked(log)
    return Clues(
        line=line,
        name=VALUES.sub(" ", f"{short} {masked(message)}"),
        error_types=_error_types(content.corpus.taxonomy, short),
        signatures=tuple(
            each for each in signatures_of([line], others) if compile_signature_line(each).matches(text)
        ),
    )


def _failure(diagnosis: Diagnosis, content: Loaded) -> tuple[str, str]:
    """The last error that is not just the wrapper of another, as its type and its message."""
    wrappers = compile_formats(content.vocabulary.logs.failures).wrappers
    causes = [each for each in diagnosis.errors if each.type.rpartition(".")[2] not in wrappers]
    found = (causes or diagnosis.errors)[-1:]
    return (found[0].type, found[0].message) if found else ("", "")


def _error_types(taxonomy: Taxonomy, name: str) -> tuple[str, ...]:
    """The error types of the taxonomy all of whose words stand in the name of an exception."""
    said = frozenset(words_of(name))
    return tuple(each for each in taxonomy.error_type if said.issuperset(words_of(each)))
