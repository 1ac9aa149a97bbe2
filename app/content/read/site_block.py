"""The block `site` of taxonomy.yaml: what the content says about itself, merged over content directories.

Strict like the rest of the file: the first thing wrong raises ContentError with its line.
"""

import re
from collections.abc import Iterable
from dataclasses import fields as fields_of
from pathlib import Path

from app.content.read.forms import WrongValueError, text_of
from app.content.read.yaml_reader import Fields, Items, Node, YamlError, read_fields
from app.entry import Language
from app.errors import ContentError
from app.site_texts import SiteTexts

SITE = "site"
_KEYS = tuple(each.name for each in fields_of(SiteTexts))
_FILLED = {"lead": {"count", "frameworks"}}
"""What `{…}` in a text stands for."""
_PLACEHOLDER = re.compile(r"\{(\w*)\}|[{}]")

Block = dict[str, dict[str, str] | dict[str, tuple[str, ...]]]
"""Texts by key and language."""


def read_site(files: Iterable[tuple[Path, str]]) -> SiteTexts:
    """What the files, path and text, say of the site; a later one replaces single texts. Raises ContentError."""
    merged: Block = {}
    for path, text in files:
        try:
            block = read_fields(text).values.get(SITE)
            merged |= _block(block) if block else {}
        except (YamlError, WrongValueError) as error:
            raise ContentError(path, error.line, error.message) from error
    return SiteTexts(**merged)  # type: ignore[arg-type] # each key has the form that `_block` reads


def _block(node: Node) -> Block:
    if not isinstance(node, Fields):
        raise WrongValueError(node, f"`{SITE}` must have {', '.join(_KEYS)}")
    for key, line in node.key_lines.items():
        if key not in _KEYS:
            raise YamlError(line, f"`{key}` is none of {', '.join(_KEYS)}")
    return {
        key: _examples(value) if key == "examples" else _texts(key, value)
        for key, value in node.values.items()
    }


def _texts(key: str, node: Node) -> dict[str, str]:
    texts = {lang: text_of(value).strip() for lang, value in _in_both(key, node).items()}
    for lang, text in texts.items():
        for found in _PLACEHOLDER.finditer(text) if key in _FILLED else ():
            if found[1] not in _FILLED[key]:
                known = ", ".join(f"{{{each}}}" for each in sorted(_FILLED[key]))
                raise WrongValueError(node, f"`{key}`, {lang}: {found[0]} is none of {known}")
    return texts


def _examples(node: Node) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for lang, value in _in_both("examples", node).items():
        if not isinstance(value, Items):
            raise WrongValueError(value, "`examples` must have a list of questions for each language")
        found[lang] = tuple(text_of(child).strip() for child in value.items)
    return found


def _in_both(key: str, node: Node) -> dict[str, Node]:
    if not isinstance(node, Fields) or set(node.values) != set(Language):
        raise WrongValueError(node, f"`{key}` must have `en` and `zh`, and nothing else")
    return {lang.value: node.values[lang] for lang in Language}
