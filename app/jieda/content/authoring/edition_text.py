"""Writes the text of an edition from its fields, and the skeleton of a new one with placeholders to fill in."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path

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


_SKELETON = tomllib.loads(Path(__file__).with_name("skeleton.toml").read_text(encoding="utf-8"))


def skeletons(
    corpus: Corpus,
    framework: str,
    known: FrontMatter,
    text: str = "",
    doubts: Mapping[Language, tuple[str, ...]] | None = None,
) -> dict[Language, str]:
    """Return the editions of a new entry in the languages of the content: the sections that its kind needs, with the
    printed lines (`text`), the fields that are `known`, kind and date included, placeholders for others, and `doubts`,
    by language. With a title, twins are stamped as in sync. `framework` must be in the taxonomy."""
    tag, texts = corpus.taxonomy.framework[framework], _SKELETON[known.kind]
    address = tag.repository or tag.homepage or "https://example.com/"
    bodies = {lang: _skeleton_body(texts["body"], lang, text) for lang in corpus.languages}
    editions = {}
    for lang, body in bodies.items():
        twin = bodies.get(lang.other)
        front = replace(
            known,
            title=known.title or texts["title"][lang],
            symptoms=known.symptoms
            or ((texts["symptoms"][lang],) if "symptoms" in texts and not known.signatures else ()),
            applies_to=tag.name[lang],
            source=known.source or (Source(tag.name[lang], address, "TODO"),),
            synced_with=edition_digest(known.title, twin) if known.title and twin else "",
            draft=True,
            doubts=(doubts or {}).get(lang, ()),
        )
        editions[lang] = edition_text(front, body)
    return editions


def _skeleton_body(sections: Mapping[str, Mapping[Language, str]], lang: Language, text: str) -> str:
    printed = {"symptom": f"\n\n{code_block(text)}"} if text else {}
    return "\n".join(
        f"## {SECTIONS[key][lang]}\n\n{todo[lang]}{printed.get(key, '')}\n" for key, todo in sections.items()
    )
