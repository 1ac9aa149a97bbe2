"""Makes a draft entry from a log that no entry explains: fields are filled in from the log, and every guess is noted
as a doubt."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from jieda.analysis.pipeline import Analyzer
from jieda.content.authoring.edition_text import check_id, skeletons
from jieda.content.read.forms import MAX_TITLE_CHARS, FrontMatter
from jieda.content.read.load import Loaded
from jieda.diagnosis.answers import Diagnosis
from jieda.drafting.guesses import (
    Doubt,
    SlugAllocator,
    doubt,
    doubt_guess,
    finders_of,
    signatures_of,
    words_of,
)
from jieda.entry import Kind, Language, Sample, Signature
from jieda.errors import AuthoringError
from jieda.feedback import today
from jieda.log.formats import compile_formats
from jieda.log.traceback import parse
from jieda.signature import compile_signature_line, literal_text
from jieda.usecases.secrets import masked

VALUES = re.compile(r"\S*[\d/\\]\S*")
"""Values that differ between logs, and so do not belong in a name."""


@dataclass(frozen=True, slots=True)
class Clues:
    """Data for a draft, taken from a log; empty where the log has none. Secrets are masked."""

    line: str
    """The error, as it was printed."""
    name: str
    """Words of the error for the slug."""
    error_types: tuple[str, ...]
    signatures: tuple[str, ...]


def clues_of(
    log: str, diagnosis: Diagnosis, content: Loaded, entry_id: str = "", strangers: Sequence[Sample] = ()
) -> Clues:
    """Return the clues of a log with its diagnosis. Signatures must not match samples of entries other than
    `entry_id`, nor `strangers`."""
    # A wrapper alone gives a name but no signature, which would match every crash.
    failure = diagnosis.main_error
    error, message = (failure.type, failure.message) if failure else ("", _loudest(log, content))
    if message and error in {family.name for family in content.vocabulary.logs.failures.families}:
        # For a failure that is not an exception, the name of its family is not part of the log.
        error = ""
    line = " ".join(masked(f"{error}: {message}" if error and message else error or message).split())
    short = error.rpartition(".")[2]
    types, words = content.corpus.taxonomy.error_type, frozenset(words_of(short))
    others = [*strangers, *(sample for sample in content.samples if sample.entry_id != entry_id)]
    return Clues(
        line=line,
        name=VALUES.sub(" ", f"{short} {masked(message)}"),
        # Those whose words all occur in the name of the exception.
        error_types=tuple(each for each in types if words.issuperset(words_of(each))),
        signatures=_signature_of(line, masked(log), others) if diagnosis.root or not failure else (),
    )


def _signature_of(line: str, log: str, others: Sequence[Sample]) -> tuple[str, ...]:
    """Return the signature of an error, or of the longest part of it that the log has as it stands: a record has the
    level and the details apart from the message."""
    parts = line.split(": ")
    runs = [": ".join(parts[first:last]) for first in (0, 1) for last in range(len(parts), first, -1)]
    found = signatures_of((line, *(run for run in runs if run.count(" ") > 1)), others)
    return tuple(islice((each for each in found if compile_signature_line(each).matches(log)), 1))


def _loudest(log: str, content: Loaded) -> str:
    """Return the first line with a word of trouble, for a log without a failure."""
    formats = compile_formats(content.vocabulary.logs.failures)
    lines = map(str.strip, parse(log, formats).texts)
    return next(filter(formats.tells_of_trouble, lines), "")


SAMPLES = ("first.log", "second.log", "third.log")
MOST_NAMED = 3


def draft_from_log(
    log: str, diagnosis: Diagnosis, content: Loaded, wanted: str = "", framework: str = ""
) -> tuple[dict[str, str], bool]:
    """Return the files of a draft from a log with its diagnosis, by path below a content directory, and whether
    something in the log was masked. Without an id (`wanted`), the slug is made from the error; without a
    framework, the content's only one is used, or the one that the log seems to come from.

    Raises AuthoringError if the log has no error, or if the framework cannot be determined.
    """
    text = log.replace("\r\n", "\n").replace("\r", "\n")
    sample = masked(text)
    clues = clues_of(log, diagnosis, content, wanted)
    if not clues.line:
        raise AuthoringError("the log shows no error: `jieda new ID --kind error` writes an empty draft")
    known = content.corpus.taxonomy.framework
    only = next(iter(known)) if len(known) == 1 else ""
    guessed = not (wanted or framework or only)
    framework = wanted.partition("/")[0] or framework or only or diagnosis.framework
    if guessed and framework not in known:
        raise AuthoringError("the log does not show which framework it is about: name an ID, or --framework")
    taken = (each.partition("/")[2] for each in content.corpus.by_id)
    slug, named = SlugAllocator(taken).take(clues.name, "", "", "error")
    entry_id, named = (wanted, True) if wanted else (f"{framework}/{slug}", named)
    check_id(content.corpus.taxonomy, entry_id)
    failure = known_failure(clues, content)
    close = [each.entry.id for each in diagnosis.matches][:MOST_NAMED]
    doubts = (
        doubt("title-from-log"),
        *(() if named else (doubt("slug", slug=slug),)),
        *((doubt("framework-from-log", framework=framework),) if guessed else ()),
        *((doubt("duplicate-from-log", ids=", ".join(close)),) if close else ()),
        doubt_guess("topics", failure.topics),
        doubt_guess("error-types", failure.error_types),
        *_of_signatures(clues.signatures, diagnosis),
        doubt("sample-from-log", id=entry_id),
        doubt("source-from-log"),
    )
    files = edition_files(content, entry_id, failure, failure.title, doubts)
    return files | sample_files(entry_id, (sample,)), sample != text


def known_failure(clues: Clues, content: Loaded) -> FrontMatter:
    """Return what is known of an entry before it is written."""
    title = clues.line[:MAX_TITLE_CHARS].strip()
    topics, _ = finders_of(content.corpus, Analyzer(content.vocabulary.dictionary))
    return FrontMatter(
        title=title,
        kind=Kind.ERROR,
        topics=topics.find(title),
        error_types=clues.error_types,
        signatures=tuple(Signature((line,)) for line in clues.signatures),
        updated=today(),
    )


def _of_signatures(signatures: Sequence[str], diagnosis: Diagnosis) -> Iterable[Doubt]:
    """Yield what is to be decided about them: there is none, or its numbers may differ between logs."""
    if not signatures:
        yield doubt("signature-from-log")
    words = [word.strip(",.:;，。：；") for each in signatures for word in literal_text(each).split()]
    types = {error.type for error in diagnosis.errors}  # `psycopg2.OperationalError` is the same in every log
    if values := [word for word in words if any(map(str.isdigit, word)) and word not in types]:
        yield doubt("values-from-log", values=", ".join(values))


def edition_files(
    content: Loaded, entry_id: str, known: FrontMatter, text: str, doubts: Sequence[Doubt]
) -> dict[str, str]:
    """Return the editions of a draft by path below a content directory. `text`: the printed lines."""
    texts_of_doubts = {lang: tuple(each.render(lang) for each in doubts) for lang in Language}
    texts = skeletons(content.corpus, entry_id.partition("/")[0], known, text, texts_of_doubts)
    return {f"{lang}/{entry_id}.md": edition for lang, edition in texts.items()}


def sample_files(entry_id: str, logs: Sequence[str]) -> dict[str, str]:
    """Return the samples of a draft by path below a content directory."""
    samples = zip(SAMPLES, logs, strict=False)
    return {f"samples/{entry_id}/{name}": text.removesuffix("\n") + "\n" for name, text in samples}
