"""Test beds not tuned for search: content directories with queries for them.

Four kinds: the shipped entries without what their authors wrote for search (aliases, symptoms, signatures, glossary,
dictionary); text of very different kinds (`bench.different`); pages imported with `jieda import` (`bench.imported`),
titles and bodies only; and any parallel reading set in SQuAD's format (XQuAD: `xquad.en.json`, `xquad.zh.json`), where
each paragraph is an entry with a title and a body, and each question a query.
"""

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from jieda.entry import Kind, Language
from jieda.evaluation.figures import JudgedQuery, read_judged

from bench.different import different
from bench.imported import imported

WRITTEN_FOR_SEARCH = ("aliases", "symptoms", "signatures")
"""Front matter that the first entries of a team lack."""
WORDS = ("glossary.yaml", "dictionary.txt")
"""Files about words, which they lack as well."""
TAXONOMY = "taxonomy.yaml"
DRAFTED = ("draft", "doubts", "synced_with", "error_types", *WRITTEN_FOR_SEARCH)
"""Front matter removed from a draft to leave an entry with a title and a body."""
READING = "reading"
"""The framework of paragraphs."""

FRONT = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
HEADING = {Language.EN: "Answer", Language.ZH: "回答"}
MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~$])")


@dataclass(frozen=True, slots=True)
class Bed:
    """A content directory with its queries; `languages` are those of the editions kept."""

    name: str
    content: Path
    queries: tuple[JudgedQuery, ...]
    languages: frozenset[Language] = frozenset(Language)


def stripped(
    shipped: Path, folder: Path, fields: Sequence[str] = WRITTEN_FOR_SEARCH, words: Sequence[str] = WORDS
) -> None:
    """Write the shipped entries below `folder`, without the given fields and files about words."""
    for path in shipped.glob("*/*/*.md"):
        _write(folder / path.relative_to(shipped), _without(fields, path.read_text(encoding="utf-8")))
    for name in {TAXONOMY, *WORDS}.difference(words):
        shutil.copy(shipped / name, folder / name)


def _without(fields: Sequence[str], text: str) -> str:
    match = FRONT.match(text)
    assert match, text[:80]
    front = yaml.safe_load(match[1])
    kept = {key: value for key, value in front.items() if key not in fields}
    return f"---\n{yaml.safe_dump(kept, allow_unicode=True)}---\n{text[match.end() :]}"


def reading(source: Path, folder: Path) -> Iterator[JudgedQuery]:
    """Write the paragraphs of a parallel reading set as entries below `folder`; yield its questions."""
    for lang in Language:
        articles = json.loads((source / f"xquad.{lang}.json").read_text(encoding="utf-8"))["data"]
        for article in articles:
            title = article["title"].replace("_", " ")
            for number, paragraph in enumerate(article["paragraphs"], 1):
                slug = re.sub(r"[^a-z0-9]+", "-", f"{title} {number}".lower()).strip("-")
                entry = f"{READING}/{slug}"
                body = MARKDOWN.sub(r"\\\1", paragraph["context"])
                _write(folder / lang / f"{entry}.md", _page(f"{title} {number}", body, lang))
                for asked in paragraph["qas"]:
                    yield JudgedQuery(asked["id"], "question", lang, asked["question"], (entry,))


def _page(title: str, body: str, lang: Language) -> str:
    front = {
        "title": title,
        "kind": "concept",
        "topics": [READING],
        "source": [{"title": title, "url": "https://example.com/", "license": "CC-BY-SA-4.0"}],
        "updated": "2026-01-01",
    }
    return f"---\n{yaml.safe_dump(front, allow_unicode=True)}---\n\n## {HEADING[lang]}\n\n{body}\n"


def with_reading(folder: Path) -> None:
    """Add the tags of paragraphs to the taxonomy below `folder`, or create one."""
    path = folder / TAXONOMY
    taxonomy = yaml.safe_load(path.read_text(encoding="utf-8")) if path.exists() else {}
    kinds = [("kinds", kind) for kind in Kind]
    for kind, name in (("frameworks", READING), ("topics", READING), *kinds):
        taxonomy.setdefault(kind, {}).setdefault(str(name), _tag(str(name)))
    taxonomy.setdefault("error_types", {})
    _write(path, yaml.safe_dump(taxonomy, allow_unicode=True))


def pages(source: Path, shipped: Path, folder: Path) -> Bed:
    """Return the bed of imported pages, below `folder`; the words of the shipped entries help only the import."""
    for name in WORDS:
        _write(folder / name, (shipped / name).read_text(encoding="utf-8"))
    with_reading(folder)
    asked = imported(source, folder, READING)
    for path in folder.glob("*/*/*.md"):
        _write(path, _without(DRAFTED, path.read_text(encoding="utf-8")))
    for name in WORDS:
        (folder / name).unlink()
    return Bed("imported", folder, asked)


def of_many_kinds(folder: Path) -> Bed:
    """Return the bed of very different texts, below `folder`."""
    with_reading(folder)
    asked = []
    for page in different():
        entry = f"{READING}/{page.slug}"
        _write(folder / page.lang / f"{entry}.md", _page(page.title, page.body, page.lang))
        asked += [replace(one, expected=(entry,)) for one in page.asked]
    return Bed("different", folder, tuple(asked))


def _tag(name: str) -> object:
    return {"name": {"en": name, "zh": name}, "description": {"en": f"{name}.", "zh": f"{name}。"}}


def beds(
    shipped: Path, judged: Sequence[Path], source: Path | None, found: Path | None, folder: Path
) -> Iterator[Bed]:
    """Yield every available bed, below `folder`, with a reading set `source` and marked pages `found`."""
    asked = tuple(
        one for path in judged for one in read_judged(path) if one.expected and one.kind != "traceback"
    )
    yield Bed("shipped", shipped, asked)
    stripped(shipped, folder / "stripped")
    yield Bed("stripped", folder / "stripped", asked)
    for field in WRITTEN_FOR_SEARCH:
        stripped(shipped, folder / field, (field,), ())
        yield Bed(f"without {field}", folder / field, asked)
    stripped(shipped, folder / "words", (), WORDS)
    yield Bed("without glossary and dictionary", folder / "words", asked)
    yield of_many_kinds(folder / "different")
    if found is not None:
        yield pages(found, shipped, folder / "imported")
    if source is None:
        return
    questions = tuple(reading(source, folder / "reading"))
    with_reading(folder / "reading")
    yield Bed("reading", folder / "reading", questions)
    for lang in Language:
        others = tuple(one for one in questions if one.lang != lang)
        yield Bed(f"reading, {lang} only", folder / "reading", others, frozenset({lang}))
    shutil.copytree(folder / "stripped", folder / "mixed")
    list(reading(source, folder / "mixed"))
    with_reading(folder / "mixed")
    yield Bed("mixed: reading", folder / "mixed", questions)
    yield Bed("mixed: stripped", folder / "mixed", tuple(asked))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
