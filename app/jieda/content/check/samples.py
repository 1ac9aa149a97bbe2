"""Every signature tried on every sample, in time that grows with their sum and not with their product."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from jieda.anchors import AnchorIndex
from jieda.content.check.finding import RuleFinding
from jieda.content.read.corpus import Corpus, Outline, SampleFile, newest
from jieda.entry import Kind, Signature
from jieda.log_knowledge import SHARED_BY
from jieda.signature.line import LONGEST_SURE, SignatureLine, alike, compile_signature_line

SAMPLES_PER_ERROR = 2

Matches = Mapping[str, frozenset[Signature]]
"""The signatures that a sample has, by the hash of its content; samples that have none may be left out."""

_COLORS = re.compile(r"\x1b\[[0-9;?]{0,30}[A-Za-z]")


class SignatureFinder:
    """Finds some signatures in texts: only those whose anchors a text has are tried on it."""

    def __init__(self, signatures: Iterable[Signature]) -> None:
        lines: dict[str, SignatureLine] = {}
        self._holders: dict[str, list[Signature]] = defaultdict(list)
        for signature in dict.fromkeys(signatures):
            # All lines must occur, so that looking for one of them suffices.
            lines |= {text: compile_signature_line(text) for text in (*signature.all, *signature.unless)}
            longest = max((lines[text] for text in signature.all), key=lambda line: len(line.anchor))
            self._holders[longest.anchor].append(signature)
        self._lines = lines
        self._anchors = AnchorIndex(self._holders)

    def find(self, text: str) -> frozenset[Signature]:
        """The signatures every `all` line of which stands in `text`, and none of `unless`."""
        plain = alike(_COLORS.sub("", text))
        folded = plain.casefold()
        return frozenset(
            signature
            for anchor in self._anchors.find(folded)
            for signature in self._holders[anchor]
            if all(self._has(plain, folded, line) for line in signature.all)
            and not any(self._has(plain, folded, line) for line in signature.unless)
        )

    def _has(self, text: str, folded: str, line: str) -> bool:
        compiled = self._lines[line]
        return compiled.anchor in folded and compiled.find(text) is not None


@dataclass(frozen=True, slots=True)
class Spoken:
    """What the entries claim to print: of every entry with signatures the file that counts (`speakers`), and of
    every signature the files that hold it."""

    speakers: Mapping[str, Outline]
    holders: Mapping[Signature, tuple[Outline, ...]]

    @classmethod
    def of(cls, corpus: Corpus) -> "Spoken":
        """The signatures of a corpus, drafts included."""
        holders: dict[Signature, tuple[Outline, ...]] = {}
        speakers: dict[str, Outline] = {}
        for entry_id, editions in corpus.by_id.items():
            if not any(file.front.signatures for file in editions.values()):
                continue
            file = newest(editions)
            if file.front.signatures:
                speakers[entry_id] = file
            for signature in file.front.signatures:
                holders[signature] = (*holders.get(signature, ()), file)
        return cls(speakers, holders)


def unhelpful_samples(corpus: Corpus, spoken: Spoken, matches: Matches) -> Iterator[RuleFinding]:
    """Samples that no signature of their entry finds, and too few samples."""
    for entry_id, file in spoken.speakers.items():
        samples = corpus.samples.get(entry_id, ())
        for sample in samples:
            if matches.get(sample.content, frozenset()).isdisjoint(file.front.signatures):
                yield RuleFinding(sample.where, 1, f"no signature of {entry_id} finds it")
        if file.front.kind is Kind.ERROR and len(samples) < SAMPLES_PER_ERROR:
            message = f"has {len(samples)} samples in samples/{entry_id}/, needs at least {SAMPLES_PER_ERROR}"
            yield RuleFinding(file.where, file.line("signatures"), message)


def ownerless_samples(corpus: Corpus) -> Iterator[RuleFinding]:
    """Samples of ids that no entry has."""
    for entry_id, samples in corpus.samples.items():
        if entry_id not in corpus.by_id:
            for sample in samples:
                yield RuleFinding(sample.where, 1, f"there is no entry {entry_id}")


def overreaching_signatures(corpus: Corpus, spoken: Spoken, matches: Matches) -> Iterator[RuleFinding]:
    """Signatures that find another entry's sample, unless that entry has the very same signature."""
    own = {entry_id: file.front.signatures for entry_id, file in spoken.speakers.items()}
    for entry_id, samples in corpus.samples.items():
        for sample in samples:
            for signature in matches.get(sample.content, frozenset()).difference(own.get(entry_id, ())):
                yield from _overreaching(entry_id, sample, signature, spoken)


def _overreaching(
    entry_id: str, sample: SampleFile, signature: Signature, spoken: Spoken
) -> Iterator[RuleFinding]:
    files = spoken.holders.get(signature, ())
    if any(file.id == entry_id for file in files):
        return
    for file in files:
        message = f"{' + '.join(signature.all)!r} also finds {sample.where}"
        yield RuleFinding(file.where, file.line("signatures"), message)


MOST_NAMED = 3


def shared_signatures(corpus: Corpus, spoken: Spoken, matches: Matches) -> Iterator[RuleFinding]:
    """Signatures that several entries have, or that logs of the background have, and that do not say so: what other
    programs print gives `likely` at most. One with `any` says so of logs that have none of these lines."""
    behind: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for log in corpus.background:
        for lines in {signature.all for signature in matches.get(log.content, ())}:
            behind[lines].append(log.where)
    holders: dict[tuple[str, ...], list[tuple[Outline, Signature]]] = defaultdict(list)
    for signature, files in spoken.holders.items():
        holders[signature.all] += [(file, signature) for file in files]
    for lines, held in holders.items():
        behind_it = behind[lines] if len(behind[lines]) >= SHARED_BY else []
        holding = [file.id for file, _ in held] if len(held) > 1 else []
        for file, signature in held:
            others = [*(() if signature.any else behind_it), *holding]
            if signature.likely or not others:
                continue
            named = ", ".join([other for other in others if other != file.id][:MOST_NAMED])
            message = f"{' + '.join(lines)!r} is in {named} too, so it gives `likely` at most: say `confidence: likely`"
            yield RuleFinding(file.where, file.line("signatures"), message)


def long_signatures(spoken: Spoken) -> Iterator[RuleFinding]:
    """Lines that are not found everywhere: a log's line of thousands of characters is read in pieces."""
    for signature, files in spoken.holders.items():
        for line in (*signature.all, *signature.any, *signature.unless):
            if len(line) > LONGEST_SURE:
                message = f"a line of {len(line)} characters may be missed in a long line of a log: keep {LONGEST_SURE}"
                yield from (
                    RuleFinding(file.where, file.line("signatures"), f"{message}; it is '{line[:40]}…'")
                    for file in files
                )
