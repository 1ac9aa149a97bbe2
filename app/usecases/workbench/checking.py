"""What is wrong with a draft, by the rules of `jieda check`, among everything else there is."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.content.check.rules import check_between, check_entry
from app.content.check.samples import Spoken
from app.content.read.corpus import Corpus
from app.content.read.gather import in_order
from app.content.read.load import Loaded
from app.entry import Language, Problem
from app.usecases.workbench.desk import Material
from app.usecases.workbench.draft import Draft, where_of


@dataclass(frozen=True, slots=True)
class Checked:
    """Problems by file and line: `own` those of each edition, `others` those of the samples, of the entry as a whole,
    and of other files that the draft would break."""

    own: dict[Language, tuple[Problem, ...]]
    others: tuple[Problem, ...]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All of them."""
        return (*(each for found in self.own.values() for each in found), *self.others)

    @property
    def unserved(self) -> tuple[Problem, ...]:
        """Those that keep an edition from being served."""
        return tuple(each for each in self.problems if not each.served)


def check(material: Material, edited: Loaded, draft: Draft) -> Checked:
    """`edited` is the content with the draft in place."""
    corpus = edited.corpus
    found = [*_of_draft(edited.problems, draft), *_between(material, edited, draft)]
    if draft.id in corpus.by_id:
        found += check_entry(corpus, draft.id)
    broken = _broken_elsewhere(material.loaded.corpus, corpus, draft.id)
    by_lang = {
        lang: in_order(each for each in found if each.path == where_of(draft.id, lang)) for lang in Language
    }
    places = {where_of(draft.id, lang) for lang in Language}
    others = (each for each in found if each.path not in places)
    return Checked(by_lang, in_order((*others, *broken)))


def _of_draft(problems: Iterable[Problem], draft: Draft) -> Iterator[Problem]:
    places = draft.files().keys()
    return (each for each in problems if each.path in places)


def _between(material: Material, edited: Loaded, draft: Draft) -> Iterator[Problem]:
    """What breaks a rule between entries, told of a file of the draft."""
    corpus = edited.corpus
    files = corpus.by_id.get(draft.id, {}).values()
    signatures = [signature for file in files for signature in file.front.signatures]
    more = {
        sample.content: edited.sample_texts[sample.path]
        for sample in corpus.samples.get(draft.id, ())
        if sample.where == draft.sample_place
    }
    matches = material.matches(signatures, more)
    return _of_draft(check_between(corpus, Spoken.of(corpus), matches), draft)


def _broken_elsewhere(before: Corpus, after: Corpus, entry_id: str) -> Iterator[Problem]:
    """What is wrong with entries that link to the draft, and was not before."""
    linking = {
        file.id
        for file in before.files
        if file.id != entry_id and any(link.target == entry_id for link in file.file.links)
    }
    for other in sorted(linking):
        yield from set(check_entry(after, other)) - set(check_entry(before, other))
