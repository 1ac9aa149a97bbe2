"""Writes the text of an edition from its fields, and the skeleton of a new one with placeholders to fill in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from datetime import date

from jieda.content.markdown.links import SECTIONS
from jieda.content.read.corpus import Corpus
from jieda.content.read.forms import ENTRY_ID, FrontMatter
from jieda.content.read.parse import edition_digest
from jieda.entry import Kind, Language, Signature, Source, Validity
from jieda.errors import AuthoringError
from jieda.taxonomy import Taxonomy


def edition_text(front: FrontMatter, body: str) -> str:
    """Return a file: fields in the order of docs/content-format.md, a blank line, and the body with one line break."""
    return f"---\n{''.join(_write_fields(front))}---\n\n{body.strip(chr(10))}\n"


def quote(text: str) -> str:
    """Return a YAML scalar in single quotes. The text must not contain line breaks."""
    return "'" + text.replace("'", "''") + "'"


def format_list(name: str, values: Iterable[str]) -> str:
    """Return a field whose value is a list of texts, one per line."""
    return _format_block(name, map(quote, values))


def signature_data(signature: Signature) -> str | dict[str, object]:
    """Return a signature as content and API write it: its line if it has nothing else, otherwise `{all, any, …}`."""
    options: dict[str, object] = {
        "any": list(signature.any),
        "unless": list(signature.unless),
        "confidence": "likely" if signature.likely else "",
        "near": signature.near,
        "shapes": dict(signature.shapes),
    }
    options = {name: value for name, value in options.items() if value}
    if not options and len(signature.all) == 1:
        return signature.all[0]
    return {"all": list(signature.all)} | options


def validity_data(validity: Validity) -> dict[str, dict[str, str]]:
    """Return an entry's validity as content and API write it, without empty fields."""
    verified = validity.verified
    data = {
        "versions": dict(validity.versions),
        "fixed_in": dict(validity.fixed_in),
        "verified": {"on": verified.on.isoformat(), "with": verified.using} if verified else {},
    }
    return {name: value for name, value in data.items() if value}


def _write_fields(front: FrontMatter) -> Iterator[str]:
    yield f"title: {quote(front.title)}\n"
    yield f"kind: {front.kind}\n"
    yield format_list("topics", front.topics)
    yield format_list("error_types", front.error_types)
    if front.signatures or front.kind is Kind.ERROR:
        yield _format_block("signatures", (_format_flow(signature_data(each)) for each in front.signatures))
    if front.symptoms or front.kind is Kind.ERROR:
        yield format_list("symptoms", front.symptoms)
    yield format_list("aliases", front.aliases)
    if front.applies_to:
        yield f"applies_to: {quote(front.applies_to)}\n"
    for name, value in validity_data(front.validity).items():
        yield f"{name}: {_format_flow(value)}\n"
    if front.applies_anywhere:
        yield "applies_anywhere: true\n"
    yield format_list("related", front.related)
    yield _sources(front.source)
    if front.updated:
        yield f"updated: {front.updated.isoformat()}\n"
    if front.synced_with:
        yield f"synced_with: {quote(front.synced_with)}\n"
    yield format_list("formerly", front.formerly) if front.formerly else ""
    yield "draft: true\n" if front.draft else ""
    yield format_list("doubts", front.doubts) if front.doubts else ""


def _sources(sources: Iterable[Source]) -> str:
    items = (
        "\n    ".join(f"{name}: {quote(text)}" for name, text in asdict(each).items()) for each in sources
    )
    return "source:\n" + "".join(f"  - {item}\n" for item in items)


def _format_block(name: str, items: Iterable[str]) -> str:
    lines = "".join(f"  - {item}\n" for item in items)
    return f"{name}:\n{lines}" if lines else f"{name}: []\n"


def _format_flow(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_format_flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_format_flow, value)) + "]"
    return quote(value) if isinstance(value, str) else str(value)


SKELETON_SECTIONS: Mapping[Kind, tuple[str, ...]] = {
    Kind.ERROR: ("symptom", "cause", "fix"),
    Kind.HOW_TO: ("steps",),
    Kind.CONCEPT: ("answer",),
}

_TITLE = {
    Language.EN: {
        Kind.ERROR: "TODO: the error text as it is printed, or what one sees",
        Kind.HOW_TO: "TODO: the task, as one would search for it",
        Kind.CONCEPT: "TODO: what is to be understood, as one would ask it",
    },
    Language.ZH: {
        Kind.ERROR: "待填：报错原文，或者看到的现象",
        Kind.HOW_TO: "待填：要做的事，用大家搜索时的说法",
        Kind.CONCEPT: "待填：要弄懂的概念，用大家提问时的说法",
    },
}

_SYMPTOM = {
    Language.EN: "TODO: what people say when nothing is printed",
    Language.ZH: "待填：没有报错时大家会怎么描述",
}

_BODY = {
    Language.EN: {
        "symptom": "TODO: what one sees, in one or two lines.",
        "cause": "TODO: why it happens, briefly.",
        "fix": "TODO: what to change, the command or setting first.",
        "steps": "TODO: start with the command.",
        "answer": "TODO: the answer in the first sentence.",
    },
    Language.ZH: {
        "symptom": "待填：一两句话写清看到的现象。",
        "cause": "待填：简要说明原因。",
        "fix": "待填：先写要改的命令或配置。",
        "steps": "待填：开头就是命令。",
        "answer": "待填：第一句就给出答案。",
    },
}


def check_id(taxonomy: Taxonomy, entry_id: str) -> None:
    """Raise AuthoringError if a new entry must not have this id."""
    if not ENTRY_ID.fullmatch(entry_id):
        raise AuthoringError(
            f"{entry_id!r} must be <framework>/<slug>, the slug 1 to 80 of a-z, 0-9 and -, not starting with -"
        )
    framework = entry_id.partition("/")[0]
    if framework not in taxonomy.framework:
        known = ", ".join(taxonomy.framework)
        raise AuthoringError(f"framework {framework!r} is not in taxonomy.yaml, which has {known}")


def code_block(text: str) -> str:
    """Return a text as a code block, with a fence longer than any inside it."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}text\n{text}\n{fence}"


def filled_skeletons(
    corpus: Corpus,
    entry_id: str,
    known: FrontMatter,
    text: str,
    doubts: Mapping[Language, tuple[str, ...]] | None = None,
) -> dict[Language, str]:
    """Return the editions of a new entry in the languages of the content, stamped as in sync, filled in with the fields
    that are `known`, including `updated`, the printed lines (`text`), and `doubts`, by language."""
    framework = entry_id.partition("/")[0]
    bodies = {lang: _skeleton_body(known.kind, lang, text) for lang in corpus.languages}
    editions = {}
    for lang, body in bodies.items():
        empty = _skeleton_front(corpus.taxonomy, framework, known.kind, lang, known.updated)
        twin = bodies.get(lang.other)
        front = replace(
            known,
            symptoms=known.symptoms or (() if known.signatures else empty.symptoms),
            applies_to=empty.applies_to,
            source=known.source or empty.source,
            synced_with=edition_digest(known.title, twin) if twin else "",
            draft=True,
            doubts=(doubts or {}).get(lang, ()),
        )
        editions[lang] = edition_text(front, body)
    return editions


def skeletons(corpus: Corpus, framework: str, kind: Kind, today: date) -> dict[Language, str]:
    """Return the skeletons of a new entry in the languages of the content: front matter with all useful fields, and the
    sections that its kind needs. `framework` must be in the taxonomy."""
    fronts = {
        lang: _skeleton_front(corpus.taxonomy, framework, kind, lang, today) for lang in corpus.languages
    }
    return {lang: edition_text(front, _skeleton_body(kind, lang)) for lang, front in fronts.items()}


def _skeleton_front(
    taxonomy: Taxonomy, framework: str, kind: Kind, lang: Language, today: date | None
) -> FrontMatter:
    tag = taxonomy.framework[framework]
    address = tag.repository or tag.homepage or "https://example.com/"
    return FrontMatter(
        title=_TITLE[lang][kind],
        kind=kind,
        symptoms=(_SYMPTOM[lang],) if kind is Kind.ERROR else (),
        applies_to=tag.name[lang],
        source=(Source(tag.name[lang], address, "TODO"),),
        updated=today,
        draft=True,
    )


def _skeleton_body(kind: Kind, lang: Language, text: str = "") -> str:
    todo = dict(_BODY[lang])
    if text:
        todo["symptom"] += f"\n\n{code_block(text)}"
    return "\n".join(f"## {SECTIONS[key][lang]}\n\n{todo[key]}\n" for key in SKELETON_SECTIONS[kind])
