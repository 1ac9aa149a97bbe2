"""Evaluates `jieda import --issues` on threads whose groups and solutions were labeled by hand.

    python -m bench.threads THREADS [FACTS]

THREADS is a file for `jieda import --issues`, with the text of threads; FACTS, by default
tests/importing/threads.jsonl, labels the same URLs: which belong together, and whether a thread says what helped. The
repository holds only facts and links, because the texts belong to their authors. Of the 60 newest, `before` and `now`
are the entries that answered them with the first 42 entries and with 81, and `helps` whether a reader agreed with
`now`.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from jieda.cli.asking import local_client
from jieda.cli.thread_drafts import diagnose_threads, group_threads
from jieda.content.read.load import Loaded
from jieda.importing.threads import read_threads, solution
from jieda.settings import content_directories

FACTS = Path(__file__).parent.parent / "tests" / "importing" / "threads.jsonl"
FRAMEWORK = "slime"


def pairs(groups: Iterable[Sequence[str]]) -> set[tuple[str, ...]]:
    """Return every pair of threads within a group."""
    return {tuple(sorted(pair)) for group in groups for pair in combinations(group, 2)}


def main(file: str = "", facts_file: str = str(FACTS)) -> None:
    """Print the figures."""
    if not file:
        print("skipped: name a file of threads")
        return
    facts = {fact["url"]: fact for fact in map(json.loads, Path(facts_file).read_text().splitlines())}
    threads = [each for each in read_threads(Path(file)) if each.url in facts]
    client = local_client(())
    content = Loaded(content_directories(()))
    snapshot = client.service.current()
    read = diagnose_threads(snapshot, content, threads, FRAMEWORK)
    groups = group_threads(snapshot, read)
    left = [[each.thread.url for each in group.members] for group in groups if not group.entry]
    named: dict[str, list[str]] = {}
    for url in (url for group in left for url in group):
        named.setdefault(facts[url]["group"], []).append(url)
    found, true = pairs(left), pairs(named.values())
    both = len(found & true)
    print(
        f"{len(threads)} threads, {len(groups)} groups; not answered: {len(left)} groups, {len(named)} named"
    )
    print(f"pairs of those: precision {both / len(found):.3f}, recall {both / len(true):.3f}")
    solved = {each.url for each in threads if solution(each)}
    told = {url for url, fact in facts.items() if fact["solved"]}
    print(f"solved: {len(solved & told)} of {len(told)}, {len(solved - told)} too many")
    print(f"answered by an entry: {sum(bool(each.entry) for each in read)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
