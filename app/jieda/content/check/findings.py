"""Findings of rules, the rule about the glossary, and rules about signatures and samples. The latter take time
proportional to the number of signatures plus samples, not to their product."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from jieda.content.read.corpus import Corpus, Outline, newest
from jieda.content.read.yaml_reader import Fields, Items, Scalar, read_items
from jieda.entry import Kind, Signature, fold_name
from jieda.log_knowledge import SHARED_BY
from jieda.signature import LONGEST_SURE

RuleFinding = tuple[str, int, str]
"""A violation of a rule: the file's path below its content directory, the line, and a message."""

MOST_NAMED = 3


def glossary_words(glossary: str) -> list[list[Scalar]]:
    """Return the words of each group in the text of a glossary.yaml, ignoring other values. Raises YamlError."""
    groups = []
    for group in read_items(glossary).items:
        lists = group.values.values() if isinstance(group, Fields) else ()
        items = chain.from_iterable(words.items for words in lists if isinstance(words, Items))
        groups.append([word for word in items if isinstance(word, Scalar)])
    return groups


def repeated_words(_path: Path, glossary: str) -> Iterator[tuple[int, str]]:
    """Yield line and message for each word that is also in an earlier group of the same glossary.yaml, ignoring case,
    width and spacing. Across directories this is allowed: a group extends an earlier one by naming one of its words."""
    first: dict[str, tuple[int, Scalar]] = {}
    for number, words in enumerate(glossary_words(glossary)):
        for word in words:
            name = fold_name(word.text.replace("_", " ").replace("-", " "))
            group, earlier = first.setdefault(name, (number, word))
            if group != number:
                message = f"{word.text.strip()!r} is also in the group of line {earlier.line}"
                yield word.line, f"{message}; a word belongs to one group"


SAMPLES_PER_ERROR = 2

Matches = Mapping[str, frozenset[Signature]]
"""The signatures that a diagnosis finds in a log, by the hash of the log's content. Logs without any may be missing."""


@dataclass(frozen=True, slots=True)
class SignatureHolders:
    """The files with signatures, one per entry: the newest edition. `by_entry`: by id; `files`: by signature."""

    by_entry: Mapping[str, Outline]
    files: Mapping[Signature, tuple[Outline, ...]]

    @classmethod
    def of(cls, corpus: Corpus) -> "SignatureHolders":
        """Collect the signatures of a corpus, drafts included."""
        latest = {entry_id: newest(editions) for entry_id, editions in corpus.by_id.items()}
        by_entry = {entry_id: file for entry_id, file in latest.items() if file.front.signatures}
        files: dict[Signature, tuple[Outline, ...]] = {}
        for file in by_entry.values():
            for signature in file.front.signatures:
                files[signature] = (*files.get(signature, ()), file)
        return cls(by_entry, files)


def unhelpful_samples(corpus: Corpus, holders: SignatureHolders, matches: Matches) -> Iterator[RuleFinding]:
    """Find samples that no signature of their entry matches, and entries with too few samples."""
    for entry_id, file in holders.by_entry.items():
        samples = corpus.samples.get(entry_id, ())
        for sample in samples:
            if matches.get(sample.content, frozenset()).isdisjoint(file.front.signatures):
                yield sample.where, 1, f"no signature of {entry_id} finds it"
        if file.front.kind is Kind.ERROR and len(samples) < SAMPLES_PER_ERROR:
            message = f"needs at least {SAMPLES_PER_ERROR} samples in samples/{entry_id}/, has {len(samples)}"
            yield file.where, file.line("signatures"), message


def ownerless_samples(corpus: Corpus) -> Iterator[RuleFinding]:
    """Find samples of ids that do not exist."""
    for sample in chain.from_iterable(corpus.samples.values()):
        if sample.entry_id not in corpus.by_id:
            yield sample.where, 1, f"there is no entry {sample.entry_id}"


def overreaching_signatures(
    corpus: Corpus, holders: SignatureHolders, matches: Matches
) -> Iterator[RuleFinding]:
    """Find signatures that match a sample of another entry, unless that entry has the same signature."""
    for sample in chain.from_iterable(corpus.samples.values()):
        for signature in matches.get(sample.content, ()):
            files = holders.files.get(signature, ())
            if any(file.id == sample.entry_id for file in files):
                continue
            for file in files:
                message = f"{' + '.join(signature.all)!r} also finds {sample.where}"
                yield file.where, file.line("signatures"), message


def shared_signatures(corpus: Corpus, holders: SignatureHolders, matches: Matches) -> Iterator[RuleFinding]:
    """Find signatures that are not marked `likely` although several entries have their lines or several background logs
    match them: such lines are no proof. With regard to background logs, `any` lines count as such a mark."""
    background: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for log in corpus.background:
        for lines in {signature.all for signature in matches.get(log.content, ())}:
            background[lines].append(log.where)
    by_lines: dict[tuple[str, ...], list[tuple[Outline, Signature]]] = defaultdict(list)
    for signature, files in holders.files.items():
        by_lines[signature.all] += [(file, signature) for file in files]
    for lines, pairs in by_lines.items():
        logs = background[lines] if len(background[lines]) >= SHARED_BY else []
        entries = dict.fromkeys(file.id for file, _ in pairs)
        for file, signature in pairs:
            others = [*(() if signature.any else logs), *(other for other in entries if other != file.id)]
            if signature.likely or not others:
                continue
            shared = f"{' + '.join(lines)!r} is also in {', '.join(others[:MOST_NAMED])}"
            message = f"{shared}, so it gives `likely` at most: say `confidence: likely`"
            yield file.where, file.line("signatures"), message


def long_signatures(holders: SignatureHolders) -> Iterator[RuleFinding]:
    """Find signature lines that may be missed, because a log line of thousands of characters is read in pieces."""
    for signature, files in holders.files.items():
        for line in (*signature.all, *signature.any, *signature.unless):
            if len(line) > LONGEST_SURE:
                message = f"a line of {len(line)} characters may be missed in a long line of a log: keep {LONGEST_SURE}"
                for file in files:
                    yield file.where, file.line("signatures"), f"{message} or fewer; it is '{line[:40]}…'"
