"""The answers as text, for the many clients that show a model nothing else. What an entry says stands between tags."""

from collections.abc import Callable, Iterator

from app.agents import answers

T = Callable[..., str]


def quoted(entry_id: str, text: str) -> str:
    """Text of an entry as such: content that somebody wrote, and nothing that this server asks for."""
    return f'<entry id="{entry_id}">\n{text.replace("</entry", "&lt;/entry")}\n</entry>'


def of_diagnosis(found: answers.AgentDiagnosis, t: T) -> str:
    """Matches with the fix, or what was understood and what is near."""
    lines = [t(f"diagnosis.verdict.{found.verdict}")]
    for number, match in enumerate(found.matches, 1):
        lines += _match(number, match, t)
    for error in found.errors:
        times = f"  ×{error.count}" if error.count > 1 else ""
        message = f"{error.type}: {error.message}" if error.message else error.type
        lines.append(f"{t('diagnosis.line', line=str(error.line))} {message}{times}")
    if found.near:
        lines.append(t("agents.near"))
        join = t("list.join")
        for near in found.near:
            shares = t("diagnosis.shares", words=join.join(near.words))
            lines += [f"- {_head(near)}  {shares}", *_about(near, t)]
    return "\n".join([*lines, found.advice]).rstrip()


def _match(number: int, match: answers.AgentMatch, t: T) -> Iterator[str]:
    yield f"{number}. {_head(match)}  [{match.confidence}]"
    yield from _about(match, t)
    yield from (f"   {t('diagnosis.line', line=str(each.line))} {each.text}" for each in match.matched)
    if match.fix:
        yield quoted(match.id, match.fix)
    if match.cut:
        yield f"   {t('agents.read_on', id=match.id)}"


def of_search(found: answers.AgentSearchResult, t: T) -> str:
    """The hits by rank."""
    lines = [t("search.status", count=found.total) if found.hits else t("search.nothing")]
    if found.correction:
        lines.append(f"{t('search.corrected')} “{found.correction}”")
    for number, hit in enumerate(found.hits, 1):
        lines += [f"{number}. {_head(hit)}", *_about(hit, t), f"   {hit.snippet}"]
    return "\n".join([*lines, *_more(found.next_offset, t), found.advice]).rstrip()


def of_entry(entry: answers.AgentEntry, t: T) -> str:
    """The entry, or the part of it."""
    notes = [t("agents.sections", names=", ".join(entry.sections))]
    notes += [t("entry.stale")] if entry.stale else []
    text = quoted(entry.id, entry.markdown.rstrip())
    return "\n".join([_head(entry), *_about(entry, t), *notes, text, *_more(entry.next_offset, t)])


def of_listing(found: answers.AgentListing, t: T) -> str:
    """Tags with counts, or entries."""
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
    for item in found.entries:
        applies_to = t("list.parenthesis", text=item.applies_to) if item.applies_to else ""
        lines.append(f"- {item.id}: {item.title} [{item.kind}]{applies_to}")
    return "\n".join([*lines, *_more(found.next_offset, t)])


def _head(entry: answers.EntryName) -> str:
    return f"{entry.title}  {entry.id}" + (f"  {entry.url}" if entry.url else "")


def _about(entry: answers.EntryName, t: T) -> Iterator[str]:
    if entry.applies_to:
        yield f"   {t('diagnosis.applies_to', text=entry.applies_to)}"


def _more(offset: int, t: T) -> Iterator[str]:
    if offset:
        yield t("agents.more", offset=str(offset))
