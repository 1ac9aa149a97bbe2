"""The text of an edition from what it is to say: the inverse of reading one, shared by all that write new files."""

from collections.abc import Iterable, Iterator

from app.content.read.front_matter import FrontMatter
from app.entry import Kind, Signature


def edition_text(front: FrontMatter, body: str) -> str:
    """A whole file: fields in the order of docs/content-format.md, and the body between one blank line and one end of
    line."""
    return f"---\n{''.join(_fields(front))}---\n\n{body.strip(chr(10))}\n"


def quoted(text: str) -> str:
    """A YAML scalar in single quotes. The text has no line break."""
    return "'" + text.replace("'", "''") + "'"


def listed(name: str, values: Iterable[str]) -> str:
    """A field whose value is a list of texts, a line for each."""
    return _block(name, map(quoted, values))


def signature_data(signature: Signature) -> str | dict[str, object]:
    """A signature as content and API write it: its line where that is all, otherwise `{all, any, …}`."""
    more: dict[str, object] = {
        "any": list(signature.any),
        "confidence": "likely" if signature.likely else "",
        "near": signature.near,
        "shapes": dict(signature.shapes),
    }
    said = {name: value for name, value in more.items() if value}
    if not said and len(signature.all) == 1:
        return signature.all[0]
    return {"all": list(signature.all)} | said


def _fields(front: FrontMatter) -> Iterator[str]:
    yield f"title: {quoted(front.title)}\n"
    yield f"kind: {front.kind}\n"
    yield listed("topics", front.topics)
    yield listed("error_types", front.error_types)
    if front.signatures or front.kind is Kind.ERROR:
        yield _block("signatures", (_flow(signature_data(each)) for each in front.signatures))
    if front.symptoms or front.kind is Kind.ERROR:
        yield listed("symptoms", front.symptoms)
    yield listed("aliases", front.aliases)
    if front.applies_to:
        yield f"applies_to: {quoted(front.applies_to)}\n"
    yield listed("related", front.related)
    yield "source:\n"
    for source in front.source:
        yield f"  - title: {quoted(source.title)}\n"
        yield f"    url: {quoted(source.url)}\n"
        yield f"    license: {quoted(source.license)}\n"
    if front.updated:
        yield f"updated: {front.updated.isoformat()}\n"
    if front.synced_with:
        yield f"synced_with: {quoted(front.synced_with)}\n"
    if front.formerly:
        yield listed("formerly", front.formerly)
    if front.draft:
        yield "draft: true\n"
    if front.doubts:
        yield listed("doubts", front.doubts)


def _block(name: str, items: Iterable[str]) -> str:
    lines = "".join(f"  - {item}\n" for item in items)
    return f"{name}:\n{lines}" if lines else f"{name}: []\n"


def _flow(value: object) -> str:
    """A value on one line, each text in quotes."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {_flow(each)}" for name, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return quoted(value) if isinstance(value, str) else str(value)
