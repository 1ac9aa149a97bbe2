"""Every signature tried on every sample."""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from app.content.check_editions import Finding
from app.content.corpus import Corpus
from app.content.parse import ParsedFile
from app.content.staleness import newest
from app.entry import Kind, Sample, Signature
from app.signature import SignatureLine, compile_signature_line

SAMPLES_PER_ERROR = 2

_COLORS = re.compile(r"\x1b\[[0-9;?]{0,30}[A-Za-z]")


@dataclass(frozen=True, slots=True)
class _Log:
    """A sample made ready: `text` without color codes, `folded` for looking up anchors."""

    sample: Sample
    text: str
    folded: str

    def has(self, line: SignatureLine) -> bool:
        return line.anchor in self.folded and line.pattern.search(self.text) is not None


def unhelpful_samples(corpus: Corpus) -> Iterator[Finding]:
    """Samples of no entry, samples that no signature of their entry finds, and too few samples."""
    logs = _logs(corpus)
    for log in logs:
        owner = corpus.by_id.get(log.sample.entry_id)
        if owner is None:
            yield Finding(sample_path(log.sample), 1, f"{log.sample.entry_id} is no entry")
            continue
        signatures = newest(owner).front.signatures
        if signatures and not any(_occurs(signature, log) for signature in signatures):
            yield Finding(sample_path(log.sample), 1, f"no signature of {log.sample.entry_id} finds it")
    for file in _speakers(corpus):
        count = sum(log.sample.entry_id == file.id for log in logs)
        if file.front.kind is Kind.ERROR and count < SAMPLES_PER_ERROR:
            message = f"has {count} samples in samples/{file.id}/, needs at least {SAMPLES_PER_ERROR}"
            yield Finding(file.where, file.line("signatures"), message)


def overreaching_signatures(corpus: Corpus) -> Iterator[Finding]:
    """Signatures that find another entry's sample, unless that entry has the very same signature."""
    logs = _logs(corpus)
    holders: dict[Signature, list[ParsedFile]] = defaultdict(list)
    for file in _speakers(corpus):
        for signature in file.front.signatures:
            holders[signature].append(file)
    for signature, files in holders.items():
        owners = {file.id for file in files}
        found = [log for log in logs if log.sample.entry_id not in owners and _occurs(signature, log)]
        for file, log in product(files, found):
            message = f"{' + '.join(signature.all)!r} also finds {sample_path(log.sample)}"
            yield Finding(file.where, file.line("signatures"), message)


def sample_path(sample: Sample) -> str:
    """Where a sample lies, below its content directory."""
    return "/".join(sample.path.parts[-4:])


def _logs(corpus: Corpus) -> list[_Log]:
    texts = ((sample, _COLORS.sub("", sample.text)) for sample in corpus.samples)
    return [_Log(sample, text, text.casefold()) for sample, text in texts]


def _speakers(corpus: Corpus) -> list[ParsedFile]:
    """Of every entry with signatures, the edition whose word counts."""
    newer = (newest(editions) for editions in corpus.by_id.values())
    return [file for file in newer if file.front.signatures]


def _occurs(signature: Signature, log: _Log) -> bool:
    return all(log.has(compile_signature_line(line)) for line in signature.all)
