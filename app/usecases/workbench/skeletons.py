"""What an entry begins with: nothing but what has to be filled in, or what a log that nobody explains gives away."""

import re
from datetime import date

from app.content.authoring.fields import with_list
from app.content.authoring.scaffold import skeleton
from app.diagnosis.answers import LogError
from app.entry import Kind, Language
from app.importing.naming import Slugs, words_of
from app.importing.signatures import propose_signatures
from app.snapshot.snapshot import Snapshot
from app.taxonomy import Taxonomy
from app.usecases.secrets import masked
from app.usecases.workbench.desk import Material
from app.usecases.workbench.draft import Draft, tidied

FENCE = "`" * 9
"""Longer than any that a line of a log is likely to have; such a line gives no signature."""
UNNAMED = "new-error"
VALUES = re.compile(r"\S*[\d/\\]\S*")
"""What differs from log to log, and so belongs into no name."""


def empty(taxonomy: Taxonomy, framework: str, slug: str, kind: Kind, today: date) -> Draft:
    """The skeleton that `jieda new` writes. `framework` is one of the taxonomy."""
    texts = {lang: skeleton(taxonomy, framework, kind, lang, today) for lang in Language}
    return Draft(f"{framework}/{slug}", texts)


def from_log(snapshot: Snapshot, material: Material, log: str, framework: str, today: date) -> Draft:
    """The skeleton of an error, with what is understood of a log: where it comes from, what sort of error it is, the
    line to know it by, and the log itself, secrets masked, as a sample."""
    taxonomy = snapshot.library.taxonomy
    diagnosis = snapshot.diagnoser.diagnose(log, Language.EN, framework)
    chosen = next(
        each for each in (framework, diagnosis.framework, *taxonomy.framework) if each in taxonomy.framework
    )
    failure = diagnosis.errors[-1] if diagnosis.errors else LogError("", "", 0, 0)
    name, message = failure.type.rpartition(".")[2], masked(re.sub(r"\s+", " ", failure.message))
    told = f"{failure.type}: {message}" if failure.type and message else failure.type or message
    telling = VALUES.sub(" ", f"{name} {message}")
    slug, _ = Slugs(each.partition("/")[2] for each in snapshot.library.ids).take(telling, "", "", UNNAMED)
    signatures = propose_signatures([], [f"{FENCE}\n{told}\n{FENCE}\n"], material.loaded.samples)
    types = _error_types(taxonomy, name)
    draft = empty(taxonomy, chosen, slug, Kind.ERROR, today)
    texts = {lang: _filled(text, types, signatures) for lang, text in draft.texts.items()}
    return Draft(draft.id, texts, tidied(masked(log)))


def _filled(text: str, types: tuple[str, ...], signatures: tuple[str, ...]) -> str:
    text = with_list(text, "error_types", types, "topics") if types else text
    return with_list(text, "signatures", signatures, "error_types") if signatures else text


def _error_types(taxonomy: Taxonomy, name: str) -> tuple[str, ...]:
    """The error types of the taxonomy all of whose words stand in the name of an exception."""
    said = frozenset(words_of(name))
    return tuple(each for each in taxonomy.error_type if said.issuperset(words_of(each)))
