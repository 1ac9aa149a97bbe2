"""Answers of the tools, as data and as text for the many clients that show a model nothing else: small, and without
empty fields, for every word is paid for. What an entry says, its title included, stands in a fence."""

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.json_schema import GenerateJsonSchema

from jieda.diagnosis.answers import Confidence, Verdict
from jieda.entry import Kind, Language
from jieda.presentation.fence import Fence, drawn
from jieda.presentation.validity_text import validity_texts

PREFIX = "Agent"
"""Of models; the schemas that clients see leave it out."""


class AnswerSchema(GenerateJsonSchema):
    """Schemas of answers, by the names that clients see."""

    def normalize_name(self, name: str) -> str:
        """Return the name of a model as a key of a schema."""
        return super().normalize_name(name).removeprefix(PREFIX)


class AgentAnswer(BaseModel):
    """Base of what is answered. A field with a default is left out where it has that."""

    model_config = ConfigDict(
        frozen=True, model_title_generator=lambda model: model.__name__.removeprefix(PREFIX)
    )

    def content(self) -> dict[str, Any]:
        """The answer as JSON, without empty fields."""
        return self.model_dump(mode="json", exclude_defaults=True)


class EntryName(AgentAnswer):
    """An entry by its id; `lang` is the language of what is shown of it. `may_not_apply_to`: a program and version that
    were asked about and that it does not hold for."""

    id: str
    title: str
    lang: Language
    applies_to: str = ""
    may_not_apply_to: str = ""
    url: str = ""


class Line(AgentAnswer):
    """A line of the log that speaks for an entry; secrets in it are masked."""

    line: int
    text: str


class AgentMatch(EntryName):
    """An entry that explains the log. `fix` is Markdown; `cut`: it is not all of it, `read` tells the rest."""

    confidence: Confidence
    matched: tuple[Line, ...] = ()
    fix: str = ""
    cut: bool = False


class AgentNear(EntryName):
    """An entry that shares `words` with the log and does not explain it. `foreign`: it is written for another
    framework."""

    words: tuple[str, ...] = ()
    foreign: bool = False


class AgentLogError(AgentAnswer):
    """A failure that the log tells of."""

    type: str
    message: str = ""
    line: int
    count: int = 1


class AgentDiagnosis(AgentAnswer):
    """`known`: an entry explains the log. `possible`: one may. `near`, `unknown`: no known entry does. `no_error`: no
    sign of an error. `asks`: frameworks between which the user has to choose. `errors`: failures that no entry
    explains for sure. `framework`: whose log it is. `read`: lines of a long log."""

    verdict: Verdict
    framework: str = ""
    asks: tuple[str, ...] = ()
    matches: tuple[AgentMatch, ...] = ()
    near: tuple[AgentNear, ...] = ()
    errors: tuple[AgentLogError, ...] = ()
    read: str = ""
    advice: str = ""


class AgentHit(EntryName):
    """An entry that fits a query; `snippet` is plain text."""

    snippet: str = ""
    why: tuple[str, ...] = ()


class AgentSearchResult(AgentAnswer):
    """`verdict` and `matches`: of an error message, as `diagnose` has them. `weak`: nothing fits well. `correction`:
    what was searched instead. `operators`: what of the query was read as such."""

    total: int
    verdict: Verdict = Verdict.NO_ERROR
    matches: tuple[EntryName, ...] = ()
    hits: tuple[AgentHit, ...] = ()
    weak: bool = False
    correction: str = ""
    operators: tuple[str, ...] = ()
    next_offset: int = 0
    advice: str = ""


class AgentEntry(EntryName):
    """An entry, or a part of one, as Markdown. `sections`: what `section` can be. `next_offset`: it goes on there."""

    markdown: str
    sections: tuple[str, ...]
    next_offset: int = 0
    stale: bool = False
    versions: dict[str, str] = {}
    fixed_in: dict[str, str] = {}
    verified: dict[str, str] = {}


class AgentTag(AgentAnswer):
    """A tag and how many entries carry it."""

    id: str
    name: str
    count: int


class Item(AgentAnswer):
    """An entry in a list."""

    id: str
    title: str
    kind: Kind
    applies_to: str = ""


class AgentListing(AgentAnswer):
    """Without filters the tags with their counts, with filters the entries that pass them, latest change first."""

    total: int
    frameworks: tuple[AgentTag, ...] = ()
    kinds: tuple[AgentTag, ...] = ()
    topics: tuple[AgentTag, ...] = ()
    error_types: tuple[AgentTag, ...] = ()
    entries: tuple[Item, ...] = ()
    next_offset: int = 0


T = Callable[..., str]


def of_diagnosis(found: AgentDiagnosis, t: T) -> str:
    """Matches with the fix, or what was understood and what is near."""
    fence = drawn(found.model_dump_json())
    lines = [t("diagnosis.ask") if found.asks else t(f"diagnosis.verdict.{found.verdict}")]
    for number, match in enumerate(found.matches, 1):
        lines += _match(number, match, fence, t)
    for error in found.errors:
        times = f"  ×{error.count}" if error.count > 1 else ""
        message = f"{error.type}: {error.message}" if error.message else error.type
        lines.append(f"{t('diagnosis.line', line=str(error.line))} {message}{times}")
    if found.near:
        lines.append(t("agents.near"))
        join = t("list.join")
        for near in found.near:
            shares = t("diagnosis.shares", words=join.join(near.words)) if near.words else ""
            if near.foreign:
                written = near.id.partition("/")[0]
                shares = t("diagnosis.foreign", entry=written, log=found.framework)
            lines.append(_fenced(fence, near, t, shares))
    if found.read:
        lines.append(t("diagnosis.read_lines", lines=found.read))
    return "\n".join([*lines, found.advice]).rstrip()


def _match(number: int, match: AgentMatch, fence: Fence, t: T) -> Iterator[str]:
    yield f"{number}. [{match.confidence}]"
    yield from (f"{t('diagnosis.line', line=str(each.line))} {each.text}" for each in match.matched)
    yield _fenced(fence, match, t, match.fix)
    if match.cut:
        yield t("agents.read_on", id=match.id)


def of_search(found: AgentSearchResult, t: T) -> str:
    """The hits by rank."""
    fence = drawn(found.model_dump_json())
    lines = [t("search.weak")] if found.weak else []
    if found.verdict is not Verdict.NO_ERROR:
        lines = [
            t(f"diagnosis.verdict.{found.verdict}"),
            *(_fenced(fence, each, t) for each in found.matches),
        ]
    lines.append(t("search.status", count=found.total) if found.hits else t("search.nothing"))
    if found.correction:
        lines.append(f"{t('search.corrected')} “{found.correction}”")
    if found.operators:
        lines.append(t("search.operators", list=" ".join(found.operators)))
    told = {each.id for each in found.matches}
    hits = (hit for hit in found.hits if hit.id not in told)
    lines += [_fenced(fence, hit, t, *(() if found.weak else (hit.snippet,))) for hit in hits]
    return "\n".join([*lines, *_more(found.next_offset, t), found.advice]).rstrip()


def of_entry(entry: AgentEntry, t: T) -> str:
    """The entry, or the part of it."""
    fence = drawn(entry.model_dump_json())
    notes = [t("entry.stale")] if entry.stale else []
    sections = t("agents.sections", names=", ".join(entry.sections))
    held = t("list.semicolon").join(validity_texts(entry.model_dump(), t))
    text = _fenced(fence, entry, t, held, sections, entry.markdown.rstrip())
    return "\n".join([*notes, text, *_more(entry.next_offset, t)])


def of_listing(found: AgentListing, t: T) -> str:
    """Tags with counts, or entries: one line for each, so that none can pass for another."""
    facets = {
        "facets.framework": found.frameworks,
        "facet.kind": found.kinds,
        "facets.topic": found.topics,
        "facets.error_type": found.error_types,
    }
    lines = [t("count.entries", count=found.total)]
    for key, tags in facets.items():
        if tags:
            lines.append(f"{t(key)}:")
            lines += [f"- {tag.id}: {tag.name} ({tag.count})" for tag in tags]
    if found.entries:
        listed = "\n".join(_item(each, t) for each in found.entries)
        lines.append(drawn(listed).around("list", listed))
    return "\n".join([*lines, *_more(found.next_offset, t)])


def _item(item: Item, t: T) -> str:
    applies_to = t("list.parenthesis", text=item.applies_to) if item.applies_to else ""
    return f"- {item.id}: {item.title} [{item.kind}]{applies_to}"


def _fenced(fence: Fence, entry: EntryName, t: T, *texts: str) -> str:
    """An entry by its id and address, and in its fence what it says: title, what it applies to, `texts`."""
    applies_to = t("diagnosis.applies_to", text=entry.applies_to) if entry.applies_to else ""
    version = entry.may_not_apply_to
    doubt = t("diagnosis.may_not_apply", version=version) if version else ""
    said = "\n".join(filter(None, (entry.title, applies_to, doubt, *texts)))
    return fence.around(f"{entry.id} {entry.url}".rstrip(), said)


def _more(offset: int, t: T) -> Iterator[str]:
    if offset:
        yield t("agents.more", offset=str(offset))
