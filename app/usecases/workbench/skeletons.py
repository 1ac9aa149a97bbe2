"""What an entry begins with: nothing but what has to be filled in, or what a log that nobody explains gives away."""

from datetime import date

from app.content.authoring.fields import with_list
from app.content.authoring.scaffold import skeleton
from app.drafting.guesses import Slugs
from app.entry import Kind, Language
from app.snapshot.snapshot import Snapshot
from app.taxonomy import Taxonomy
from app.usecases.log_clues import clues_of
from app.usecases.secrets import masked
from app.usecases.workbench.desk import Material
from app.usecases.workbench.draft import Draft, tidied

UNNAMED = "new-error"


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
    clues = clues_of(log, diagnosis, material.loaded)
    slug, _ = Slugs(each.partition("/")[2] for each in snapshot.library.ids).take(clues.name, "", "", UNNAMED)
    draft = empty(taxonomy, chosen, slug, Kind.ERROR, today)
    texts = {lang: _filled(text, clues.error_types, clues.signatures) for lang, text in draft.texts.items()}
    return Draft(draft.id, texts, tidied(masked(log)))


def _filled(text: str, types: tuple[str, ...], signatures: tuple[str, ...]) -> str:
    text = with_list(text, "error_types", types, "topics") if types else text
    return with_list(text, "signatures", signatures, "error_types") if signatures else text
