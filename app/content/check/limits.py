"""Limits on what a signature proves and where it is found, told to its author."""

from collections import defaultdict
from collections.abc import Iterator

from app.content.check.finding import Finding
from app.content.check.samples import Matches, Spoken
from app.content.read.corpus import Corpus
from app.content.read.outline import Outline
from app.entry import Signature
from app.log_knowledge import SHARED_BY
from app.signature.line import LONGEST_SURE

MOST_NAMED = 3


def shared_signatures(corpus: Corpus, spoken: Spoken, matches: Matches) -> Iterator[Finding]:
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
            yield Finding(file.where, file.line("signatures"), message)


def long_signatures(spoken: Spoken) -> Iterator[Finding]:
    """Lines that are not found everywhere: a log's line of thousands of characters is read in pieces."""
    for signature, files in spoken.holders.items():
        for line in (*signature.all, *signature.any):
            if len(line) > LONGEST_SURE:
                message = f"a line of {len(line)} characters may be missed in a long line of a log: keep {LONGEST_SURE}"
                yield from (
                    Finding(file.where, file.line("signatures"), f"{message}; it is '{line[:40]}…'")
                    for file in files
                )
