"""Searches over content small enough to be read in the test that asks it."""

from collections.abc import Callable, Mapping

from jieda.entry import Language
from jieda.search.answers import Hit, SearchAnswer, SearchRequest
from jieda.snapshot.snapshot import Snapshot
from jieda.taxonomy import Filters

from tests.support import small_content

TAXONOMY = """\
frameworks:
  roll: {name: {en: ROLL, zh: ROLL}, description: {en: One., zh: 一。}}
  slime: {name: {en: slime, zh: slime}, description: {en: Two., zh: 二。}}
kinds:
  error: {name: {en: Error, zh: 报错}, description: {en: Failure., zh: 出错。}}
  how-to: {name: {en: How-to, zh: 操作}, description: {en: Task., zh: 事情。}}
  concept: {name: {en: Concept, zh: 概念}, description: {en: Notion., zh: 想法。}}
topics:
  storage: {name: {en: Storage, zh: 存储}, description: {en: Disks., zh: 磁盘。}}
  network: {name: {en: Network, zh: 网络}, description: {en: Wires., zh: 线路。}}
error_types:
  crash: {name: {en: Crash, zh: 崩溃}, description: {en: It ends., zh: 结束。}}
"""

OTHER_WORDS = {
    name: small_content.edition(title, f"## Answer\n\n{text}\n", topics="[]")
    for name, (title, text) in {
        "en/checkpoint": (
            "Training hangs when a checkpoint is saved",
            "All ranks wait for the one whose disk is full.",
        ),
        "en/reward": ("The reward stays at zero", "The grader reads the last line of an answer."),
        "en/speed": ("Make generation faster", "Use a larger batch. Longer answers take more time."),
        "en/memory": ("Out of memory on the second step", "Turn on recomputation of activations."),
        "en/people": ("Who maintains this page", "A small team in Hangzhou looks after it."),
        "en/ports": ("Open the dashboard from another machine", "Forward port 8265 over SSH."),
        "en/convert": ("Convert to another format", "A script in tools reads one and gives the other."),
    }.items()
}
"""Entries that are asked for in words that none of them has."""

MakeSnapshot = Callable[..., Snapshot]
"""`small(files, glossary="")`: a snapshot of `files` by name, `en/one` for content/en/roll/one.md."""


def concept(title: str, text: str = "Nothing to see.", **front: str) -> str:
    """An entry that answers with `text`."""
    return small_content.edition(title, f"## Answer\n\n{text}\n", **{"topics": "[]"} | front)


def error(title: str, fix: str = "Nothing to do.", symptom: str = "", **front: str) -> str:
    """An entry on an error, with its fix behind the symptom where one is given."""
    body = f"## Symptom\n\n{symptom}\n\n" if symptom else ""
    fields = {"topics": "[]", "kind": "error", "symptoms": "[it fails]"} | front
    return small_content.edition(title, f"{body}## Fix\n\n{fix}\n", **fields)


def path_of(name: str) -> str:
    """`en/one` is `en/roll/one.md`; whatever has an ending stays as it is."""
    if "." in name:
        return name
    lang, *framework, slug = name.split("/")
    return "/".join([lang, *(framework or ["roll"]), f"{slug}.md"])


def files_of(files: Mapping[str, str], glossary: str = "") -> dict[str, str]:
    """The files of a content directory."""
    whole = {path_of(name): text for name, text in files.items()}
    return {"taxonomy.yaml": TAXONOMY, "glossary.yaml": glossary or "[]\n"} | whole


def ask(snapshot: Snapshot, text: str, lang: str = "en", **request: object) -> SearchAnswer:
    """A search; `filters` may be given as a mapping."""
    if isinstance(chosen := request.get("filters"), Mapping):
        request["filters"] = Filters(**chosen)
    return snapshot.searcher.search(SearchRequest(text, Language(lang), **request))  # type: ignore[arg-type]


def found(snapshot: Snapshot, text: str, **request: object) -> list[str]:
    """Slugs of the hits, best first."""
    return [hit.entry.slug for hit in ask(snapshot, text, **request).hits]  # type: ignore[arg-type]


def first(snapshot: Snapshot, text: str, lang: str = "en", **request: object) -> Hit:
    """The best hit."""
    return ask(snapshot, text, lang, **request).hits[0]


def reasons(hit: Hit) -> list[tuple[str, str, str]]:
    """Type, text and via of a hit's reasons."""
    return [(reason.type.value, reason.text, reason.via) for reason in hit.reasons]
