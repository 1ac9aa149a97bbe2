"""Findings of rules and a hint for each rule; rules about the glossary; and rules that match signatures against
samples, in time proportional to the sum of both and not to their product."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from jieda.content.read.corpus import Corpus, Outline, newest
from jieda.content.read.yaml_reader import Fields, Items, Scalar, read_items
from jieda.entry import Kind, Signature
from jieda.log_knowledge import SHARED_BY
from jieda.signature import LONGEST_SURE


@dataclass(frozen=True, slots=True)
class RuleFinding:
    """A violation of a rule. `where` is the file's path below its content directory."""

    where: str
    line: int
    message: str


MOST_NAMED = 3

_SPACING = re.compile(r"[\s_-]+")


def glossary_words(glossary: str) -> list[list[Scalar]]:
    """Return the words of each group in the text of a glossary.yaml, skipping other values. Raises YamlError."""
    groups = []
    for group in read_items(glossary).items:
        lists = group.values.values() if isinstance(group, Fields) else ()
        items = chain.from_iterable(words.items for words in lists if isinstance(words, Items))
        groups.append([word for word in items if isinstance(word, Scalar)])
    return groups


def repeated_words(_path: Path, glossary: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each word that is in an earlier group of the same glossary.yaml, too. Case, width and
    spacing are ignored. A group in a later content directory extends a shipped one by naming one of its words."""
    first: dict[str, tuple[int, Scalar]] = {}
    for number, words in enumerate(glossary_words(glossary)):
        for word in words:
            group, earlier = first.setdefault(_normalize(word.text.strip()), (number, word))
            if group != number:
                said = f"{word.text.strip()!r} is also in the group of line {earlier.line}"
                yield word.line, f"{said}; a word belongs to one group"


def _normalize(word: str) -> str:
    return _SPACING.sub(" ", unicodedata.normalize("NFKC", word).casefold())


SAMPLES_PER_ERROR = 2

Matches = Mapping[str, frozenset[Signature]]
"""The signatures that a diagnosis finds in a log, by the hash of its content; logs without any may be left out."""


@dataclass(frozen=True, slots=True)
class SignatureHolders:
    """Signatures and who has them. `by_entry`: the prevailing file of every entry with signatures; `holders`: the files
    that contain each signature."""

    by_entry: Mapping[str, Outline]
    holders: Mapping[Signature, tuple[Outline, ...]]

    @classmethod
    def of(cls, corpus: Corpus) -> "SignatureHolders":
        """Collect the signatures of a corpus, drafts included."""
        files = {entry_id: newest(editions) for entry_id, editions in corpus.by_id.items()}
        by_entry = {entry_id: file for entry_id, file in files.items() if file.front.signatures}
        holders: dict[Signature, tuple[Outline, ...]] = {}
        for file in by_entry.values():
            for signature in file.front.signatures:
                holders[signature] = (*holders.get(signature, ()), file)
        return cls(by_entry, holders)


def unhelpful_samples(corpus: Corpus, held: SignatureHolders, matches: Matches) -> Iterator[RuleFinding]:
    """Samples that no signature of their entry matches, and entries with too few samples."""
    for entry_id, file in held.by_entry.items():
        samples = corpus.samples.get(entry_id, ())
        for sample in samples:
            if matches.get(sample.content, frozenset()).isdisjoint(file.front.signatures):
                yield RuleFinding(sample.where, 1, f"no signature of {entry_id} finds it")
        if file.front.kind is Kind.ERROR and len(samples) < SAMPLES_PER_ERROR:
            message = f"has {len(samples)} samples in samples/{entry_id}/, needs at least {SAMPLES_PER_ERROR}"
            yield RuleFinding(file.where, file.line("signatures"), message)


def ownerless_samples(corpus: Corpus) -> Iterator[RuleFinding]:
    """Samples of ids that do not exist."""
    for sample in (each for samples in corpus.samples.values() for each in samples):
        if sample.entry_id not in corpus.by_id:
            yield RuleFinding(sample.where, 1, f"there is no entry {sample.entry_id}")


def overreaching_signatures(
    corpus: Corpus, held: SignatureHolders, matches: Matches
) -> Iterator[RuleFinding]:
    """Signatures that match another entry's sample, unless that entry has the very same signature."""
    for sample in (each for samples in corpus.samples.values() for each in samples):
        for signature in matches.get(sample.content, ()):
            files = held.holders.get(signature, ())
            if any(file.id == sample.entry_id for file in files):
                continue
            for file in files:
                message = f"{' + '.join(signature.all)!r} also finds {sample.where}"
                yield RuleFinding(file.where, file.line("signatures"), message)


def shared_signatures(corpus: Corpus, held: SignatureHolders, matches: Matches) -> Iterator[RuleFinding]:
    """Signatures that are not marked `likely` although several entries have them or background logs match them: lines
    that other programs print too prove `likely` at most. For background logs, `any` lines count as such a mark."""
    behind: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for log in corpus.background:
        for lines in {signature.all for signature in matches.get(log.content, ())}:
            behind[lines].append(log.where)
    holders: dict[tuple[str, ...], list[tuple[Outline, Signature]]] = defaultdict(list)
    for signature, files in held.holders.items():
        holders[signature.all] += [(file, signature) for file in files]
    for lines, pairs in holders.items():
        logs = behind[lines] if len(behind[lines]) >= SHARED_BY else []
        entries = [file.id for file, _ in pairs] if len(pairs) > 1 else []
        for file, signature in pairs:
            others = [*(() if signature.any else logs), *entries]
            if signature.likely or not others:
                continue
            named = ", ".join([other for other in others if other != file.id][:MOST_NAMED])
            shared = f"{' + '.join(lines)!r} is also in {named}"
            message = f"{shared}, so it gives `likely` at most: say `confidence: likely`"
            yield RuleFinding(file.where, file.line("signatures"), message)


def long_signatures(held: SignatureHolders) -> Iterator[RuleFinding]:
    """Signature lines that may be missed: a log's line of thousands of characters is read in pieces."""
    for signature, files in held.holders.items():
        for line in (*signature.all, *signature.any, *signature.unless):
            if len(line) > LONGEST_SURE:
                message = f"a line of {len(line)} characters may be missed in a long line of a log: keep {LONGEST_SURE}"
                yield from (
                    RuleFinding(file.where, file.line("signatures"), f"{message}; it is '{line[:40]}…'")
                    for file in files
                )
