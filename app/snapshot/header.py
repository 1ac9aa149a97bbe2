"""What a generation has besides its entries, put together at the end of a build."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from app.content.check.rules import check_between
from app.content.check.samples import Matches, Spoken
from app.content.read.corpus import SampleFile, draft_files
from app.content.read.gather import in_order
from app.diagnosis.facts import SignatureCount
from app.snapshot.files import Reading
from app.snapshot.generation import name_of
from app.snapshot.publish import image_name
from app.snapshot.records import Header, SampleRow, to_json
from app.snapshot.state import State
from app.snapshot.versions import code_version


def make_header(  # noqa: PLR0913, PLR0917 - all that a header is made of
    state: State,
    reading: Reading,
    spoken: Spoken,
    matches: Matches,
    background_words: tuple[str, ...],
    counts: tuple[SignatureCount, ...],
    samples: tuple[SampleRow, ...],
) -> Header:
    """The header of the generation that serves `state`; its name and its completions are still to be filled in."""
    found = [problem for each in state.chosen.values() for problem in each.problems]
    found += [problem for problems in state.checks.values() for problem in problems]
    between = check_between(state.corpus, spoken, matches)
    known = (
        *reading.problems,
        *state.vocabulary.problems,
        *state.file_problems,
    )
    return Header(
        generation="",
        vocabulary=state.vocabulary,
        problems=in_order((*known, *found, *between)),
        formerly=state.claims,
        images={where: image_name(where, each.content) for where, each in state.corpus.images.items()},
        samples=samples,
        background=tuple(map(_row, state.corpus.background)),
        background_words=background_words,
        counts=counts,
        signatures={
            entry_id: entry.head.signatures
            for entry_id, entry in state.entries.items()
            if entry.head.signatures
        },
        drafts=draft_files(state.corpus.by_id),
    )


def named(header: Header, engine: str, entries: bytes) -> Header:
    """A header with the name that its generation has with these entries, searched by an engine."""
    whole = replace(header, engine=engine)
    return replace(whole, generation=name_of(code_version(), to_json(whole), entries))


def sample_rows(
    samples: Mapping[str, Sequence[SampleFile]], entries: Container[str]
) -> tuple[SampleRow, ...]:
    """The samples of some entries."""
    return tuple(_row(file) for entry_id, files in samples.items() if entry_id in entries for file in files)


def _row(file: SampleFile) -> SampleRow:
    return SampleRow(file.entry_id, file.where, str(file.path), file.content)
