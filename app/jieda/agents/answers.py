"""Results of the tools: the fields of an API response that a view names, without empty ones, because every word costs
tokens; and the same as text, because many clients show a model nothing else. In the text, everything from an entry, its
title included, is inside a fence."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from jieda.diagnosis.answers import Verdict
from jieda.locales.translations import Translate
from jieda.presentation.entry_text import validity_texts
from jieda.presentation.fence import Fence, random_fence

Json = dict[str, Any]
View = dict[str, "View"]


def fields(names: str, **below: View) -> View:
    """Return a view of the fields in `names`; `below` adds fields with views of their content."""
    return {name: View() for name in names.split()} | below


ENTRY = fields("id title applies_to may_not_apply_to url")
MATCH = ENTRY | fields("confidence fix cut", matched=fields("line text"))
ERROR, NEAR = fields("type line"), fields("id title foreign")
DIAGNOSIS = fields("outcome framework asks elsewhere read advice", matches=MATCH, near=NEAR, errors=ERROR)
HIT = fields("id title applies_to may_not_apply_to snippet_text")
SEARCH = fields(
    "total weak absent_words correction next_offset advice",
    judgement=fields("outcome asks elsewhere", matches=ENTRY),
    hits=HIT,
    operators=fields("text"),
)
READ = ENTRY | fields("lang stale versions fixed_in verified sections markdown next_offset")
REPORTED = fields("id outcome kept")
LISTING = fields("total tags next_offset", items=fields("id title kind applies_to"))
ADDED: Mapping[str, Json] = {
    "advice": {"type": "string"},
    "cut": {"type": "boolean"},
    "next_offset": {"type": "integer"},
    "read": {"type": "string"},
    "sections": {"type": "array", "items": {"type": "string"}},
    "tags": {"type": "object"},
}
"""Schemas of fields that the API lacks or defines differently: advice; whether `read` has the rest of a fix; the next
offset; which lines of a long log were read; sections that can be read separately; tags with their counts, by facet."""
MARKDOWN = frozenset({"fix", "markdown"})
"""Fields of several lines. All others have one, so that none can imitate its surroundings."""


def schema_of(answer: type[BaseModel], view: View) -> Json:
    """Return the schema of a tool's result: types only, because the tool's description explains them."""
    whole = answer.model_json_schema(mode="serialization")
    return _narrow(whole, view, whole.get("$defs", {}))


def _narrow(schema: Json, view: View, models: Mapping[str, Json]) -> Json:
    schema = next((each for each in schema.get("anyOf", ()) if each.get("type") != "null"), schema)
    schema = models[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "items" in schema:
        return {"type": "array", "items": _narrow(schema["items"], view, models)}
    if not view or "properties" not in schema:
        return {name: schema[name] for name in ("type", "enum") if name in schema}
    known = schema["properties"]
    shown = {
        name: ADDED[name] if name in ADDED else _narrow(known[name], below, models)
        for name, below in view.items()
        if name in ADDED or name in known
    }
    return {"type": "object", "properties": shown}


def pick(answer: Json, view: View) -> Json:
    """Return the fields of an API response that a view names, without empty ones; all but Markdown as one line."""
    narrow = {name: _pick_value(answer[name], below, name) for name, below in view.items() if name in answer}
    return {name: value for name, value in narrow.items() if value is not False and value not in _EMPTY}


_EMPTY: tuple[object, ...] = (None, "", [], {})


def _pick_value(value: Any, view: View, name: str) -> Any:
    match value:
        case dict():
            return pick(value, view or {key: {} for key in value})
        case list():
            return [_pick_value(each, view, name) for each in value]
        case str():
            return value if name in MARKDOWN else " ".join(value.split())
        case _:
            return value


def diagnosis_text(found: Json, t: Translate) -> str:
    """Describe the matches with the fix, or the recognized errors and similar entries."""
    fence = random_fence(str(found))
    lines = [_verdict(found, t)]
    last = found.get("advice", "")
    if found["outcome"] in {Verdict.NEAR, Verdict.UNKNOWN}:
        lines, last = [last], ""
    for number, match in enumerate(found.get("matches", ()), 1):
        lines += _match(number, match, fence, t)
    for error in found.get("errors", ()):
        lines.append(f"{t('diagnosis.line', line=str(error['line']))} {error['type']}")
    if "elsewhere" in found:
        lines.append(found["elsewhere"])
    lines += _list_entries(found.get("near", ()), fence, t)
    if "read" in found:
        lines.append(t("diagnosis.read_lines", lines=found["read"]))
    return "\n".join([*lines, last]).rstrip()


def _verdict(found: Json, t: Translate) -> str:
    return t("diagnosis.ask") if "asks" in found else t(f"diagnosis.verdict.{found['outcome']}")


def _match(number: int, match: Json, fence: Fence, t: Translate) -> Iterator[str]:
    yield f"{number}. [{match['confidence']}]"
    yield from (
        f"{t('diagnosis.line', line=str(each['line']))} {each['text']}" for each in match.get("matched", ())
    )
    yield _fence_entry(fence, match, t, match.get("fix", ""))
    if match.get("cut"):
        yield t("agents.read_on", id=match["id"])


def search_text(found: Json, t: Translate) -> str:
    """List the hits by rank, after a note if nothing fits well."""
    fence, hits, judgement = random_fence(str(found)), found.get("hits", []), found.get("judgement", {})
    lines, rest = [], [*_next_page(found, t), found.get("advice", "")]
    if found.get("weak"):
        lines, rest = [found["advice"]], []
    elif judgement:
        lines = [_verdict(judgement, t)]
        lines += [_fence_entry(fence, match, t) for match in judgement.get("matches", ())]
    if elsewhere := judgement.get("elsewhere"):
        lines.append(elsewhere)
    if not found.get("weak") and (hits or not judgement.get("matches")):
        lines.append(t("search.status", count=found["total"]) if hits else t("search.nothing"))
    if "absent_words" in found:
        lines.append(t("search.absent_words", words=t("list.join").join(found["absent_words"])))
    if "correction" in found:
        lines.append(f"{t('search.corrected')} “{found['correction']}”")
    if "operators" in found:
        lines.append(t("search.operators", list=" ".join(each["text"] for each in found["operators"])))
    return "\n".join([*lines, *_list_entries(hits, fence, t), *rest]).rstrip()


def entry_text(entry: Json, t: Translate) -> str:
    """Return the entry, or a part of it, as text."""
    fence = random_fence(str(entry))
    notes = [t("entry.stale")] if entry.get("stale") else []
    sections = t("agents.sections", names=", ".join(entry.get("sections", ())))
    validity = t("list.semicolon").join(validity_texts(entry, t))
    text = _fence_entry(fence, entry, t, validity, sections, entry.get("markdown", "").rstrip())
    return "\n".join([*notes, text, *_next_page(entry, t)])


def listing_text(found: Json, t: Translate) -> str:
    """List tags with counts, or entries."""
    lines = [t("count.entries", count=found["total"])]
    for facet, tags in found.get("tags", {}).items():
        lines.append(f"{t('facet.kind' if facet == 'kind' else f'facets.{facet}')}:")
        lines += [f"- {tag['id']}: {tag['name']} ({tag['count']})" for tag in tags]
    return "\n".join(
        [*lines, *_list_entries(found.get("items", ()), random_fence(str(found)), t), *_next_page(found, t)]
    )


def report_text(found: Json, t: Translate) -> str:
    """Say whether the report was counted."""
    return t("agents.reported", outcome=found["outcome"]) if found.get("kept") else t("agents.not_reported")


def _list_entries(entries: Any, fence: Fence, t: Translate) -> Iterator[str]:
    """Yield entries in one fence, each on a line, so that none can imitate another, with its snippet below."""
    lines = []
    for each in entries:
        kind = f" [{each['kind']}]" if "kind" in each else ""
        applies_to = t("list.parenthesis", text=each["applies_to"]) if "applies_to" in each else ""
        lines.append(f"- {each['id']}: {each['title']}{kind}{applies_to}")
        lines += [f"  {text}" for text in (*_warn_of_version(each, t), each.get("snippet_text")) if text]
    if lines:
        yield fence.around("list", "\n".join(lines))


def _fence_entry(fence: Fence, entry: Json, t: Translate, *texts: str) -> str:
    """Return an entry in a fence that names its id and address: title, what it applies to, and `texts`."""
    applies_to = t("diagnosis.applies_to", text=entry["applies_to"]) if "applies_to" in entry else ""
    content = "\n".join(filter(None, (entry["title"], applies_to, *_warn_of_version(entry, t), *texts)))
    return fence.around(f"{entry['id']} {entry.get('url', '')}".rstrip(), content)


def _warn_of_version(entry: Json, t: Translate) -> Iterator[str]:
    if version := entry.get("may_not_apply_to"):
        yield t("diagnosis.may_not_apply", version=version)


def _next_page(found: Json, t: Translate) -> Iterator[str]:
    if offset := found.get("next_offset"):
        yield t("agents.more", offset=str(offset))
