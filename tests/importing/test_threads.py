"""`jieda import --issues` as it is run: threads of trackers in, drafts of what no entry answers out."""

import json
from pathlib import Path
from typing import Any

import pytest
from jieda.importing.threads import read_threads, solution

from tests.support.command import Done, jieda
from tests.support.cost import assert_linear
from tests.support.small_content import TAXONOMY, edition, write

GH = "https://github.com/a/b/issues/"
ERRORS = """error_types:
  key-error: {name: {en: Key error, zh: 键错误}, description: {en: A key is missing., zh: 缺少键。}}
"""


def thread(
    number: int, title: str, body: str, *comments: tuple[str, str], **more: object
) -> dict[str, object]:
    """As `gh issue list --json` has it."""
    said = [
        {"author": {"login": who}, "body": text, "url": f"{GH}{number}#{place}", "reactionGroups": []}
        for place, (who, text) in enumerate(comments, 1)
    ]
    return {
        "number": number,
        "title": title,
        "body": body,
        "url": f"{GH}{number}",
        "state": "CLOSED",
        "author": {"login": "bob"},
        "comments": said,
        "reactionGroups": [],
    } | more


def quoted(error: str, who: str = "bob") -> str:
    frames = f'Traceback (most recent call last):\n  File "/home/{who}/a.py", line 3, in f\n    g()'
    return f"It dies.\n\n```\n{frames}\n{error}\n```\n"


THREADS = [
    thread(1, "The frobnicator starves", quoted("KeyError: 'frobnicator_7_slots'"), ("amy", "any update?")),
    thread(
        2,
        "KeyError when the frobnicator is loaded",
        quoted("KeyError: 'frobnicator_7_slots'", "li").replace(
            "It dies.", "token=sk-abcdefghijklmnopqrstuvwx01"
        ),
        ("amy", "Set `slots: 7` in the section of the frobnicator, it is not read from anywhere else."),
        ("bob", "thanks, works now"),
        reactionGroups=[{"content": "THUMBS_UP", "users": {"totalCount": 4}}],
    ),
    thread(
        3,
        "Gadget explodes",
        quoted("RuntimeError: the gadget exploded at rank 3"),
        ("amy", "duplicate of #4"),
    ),
    thread(4, "Boom", quoted("ValueError: gadget pressure 9000 exceeds its limit")),
    thread(5, "Widget", quoted("RuntimeError: the widget cannot frobnicate the gadget")),
]


def run(file: Path, content: Path, *options: str) -> Done:
    command = ("import", "--issues", file, "--framework", "roll", "--content", content)
    return jieda(*command, *options, JIEDA_DATA=str(content.parent / "data"), JIEDA_SEMANTIC="0")


@pytest.fixture
def content(tmp_path: Path) -> Path:
    known = edition(
        "Widget fails",
        "## Fix\n\nTurn it.\n",
        kind="error",
        signatures="['the widget cannot frobnicate the gadget']",
        symptoms="[frobnicate]",
    )
    return write(
        tmp_path / "content",
        {"taxonomy.yaml": TAXONOMY.partition("error_types:")[0] + ERRORS, "en/roll/widget.md": known},
    )


def groups_of(done: Done) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)["groups"]
    return found


def test_threads_become_drafts_with_what_solved_them_and_a_second_run_writes_none(
    content: Path, tmp_path: Path
) -> None:
    file = tmp_path / "issues.json"
    file.write_text(json.dumps(THREADS))
    assert [each["threads"] for each in groups_of(run(file, content, "--json", "--dry-run"))] == [
        [f"{GH}2", f"{GH}1"],
        [f"{GH}3", f"{GH}4"],
        [f"{GH}5"],
    ]
    assert not list(content.glob("samples/**/*.log"))
    done = run(file, content, "--json")
    most, declared, known = groups_of(done)
    assert f"{content}/en/{most['draft']}.md" in json.loads(done.stdout)["written"]
    assert (most["solved_by"], most["reactions"], most["comments"]) == (f"{GH}2#1", 4, 3)
    assert known["answered_by"] == "roll/widget"
    assert not known["draft"]
    text = (content / f"en/{most['draft']}.md").read_text()
    assert "title: 'KeyError when the frobnicator is loaded'" in text
    assert "KeyError: ''frobnicator_7_slots''" in text
    assert f"  - title: 'KeyError when the frobnicator is loaded'\n    url: '{GH}2#1'" in text
    assert "draft: true" in text
    assert not (content / "zh").exists(), "drafts are in the languages of the content"
    logs = list((content / "samples" / most["draft"]).glob("*.log"))
    assert len(logs) == 2
    assert not any("sk-abc" in log.read_text() for log in logs)
    assert "none of the threads says what helped" in (content / f"en/{declared['draft']}.md").read_text()
    again = groups_of(run(file, content, "--json"))
    assert {each["draft"] for each in again} == {""}
    refused = run(file, content, "--license", "MIT")
    assert (refused.returncode, "cannot be combined" in refused.stderr) == (2, True)


def test_what_people_and_trackers_write_is_read_whatever_it_is(tmp_path: Path) -> None:
    odd = [
        {
            "title": "T",
            "html_url": f"{GH}7",
            "body": "a\u2028b\x85c",
            "reactions": {"total_count": None, "-1": 0},
        },
        thread(8, "T", "B", reactionGroups=[{"content": "HEART", "users": None}, None]),
    ]
    file = tmp_path / "threads.jsonl"
    file.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\r\n" for each in odd), encoding="utf-8")
    found = read_threads(file)
    assert [each.reactions for each in found] == [0, 0]
    assert found[0].text == "a\u2028b\x85c"


def test_code_that_never_ends_is_read_in_linear_time(tmp_path: Path) -> None:
    file = tmp_path / "threads.json"
    whole = {}
    for times in (1500, 12_000):
        file.write_text(json.dumps([thread(1, "T", "```a\n" * times, ("amy", "```a\n" * times))]))
        (whole[times],) = read_threads(file)
    assert_linear(lambda times: (solution(whole[times]), whole[times].logs, whole[times].has_code), 1500)


def test_what_trackers_export_is_read_the_same(tmp_path: Path) -> None:
    forms: dict[str, list[dict[str, object]]] = {
        "GitHub's REST": [
            {
                "number": 7,
                "title": "T",
                "body": "B",
                "html_url": f"{GH}7",
                "state": "closed",
                "user": {"login": "bob"},
                "comments": 3,
                "reactions": {"total_count": 5, "-1": 1, "confused": 0},
            },
            {"number": 8, "title": "P", "html_url": f"{GH}8", "pull_request": {}},
        ],
        "GitLab": [
            {
                "iid": 7,
                "title": "T",
                "description": "B",
                "web_url": f"{GH}7",
                "state": "closed",
                "author": {"username": "bob"},
                "upvotes": 4,
                "notes": [
                    {"note": "closed", "system": True},
                    *({"note": f"n{one}", "author": {"username": "amy"}} for one in range(3)),
                ],
            }
        ],
        "Gitee": [
            {
                "id": 1,
                "number": "7",
                "title": "T",
                "body": "B",
                "html_url": f"{GH}7",
                "state": "closed",
                "user": {"login": "bob"},
                "comments": 3,
                "reactions": 4,
            }
        ],
    }
    for name, given in forms.items():
        for ending, text in (("json", json.dumps(given)), ("jsonl", "\n".join(map(json.dumps, given)))):
            file = tmp_path / f"threads.{ending}"
            file.write_text(text)
            (found,) = read_threads(file)
            seen = (
                found.number,
                found.title,
                found.text,
                found.author,
                found.closed,
                found.reactions,
                found.replies,
            )
            assert seen == ("7", "T", "B", "bob", True, 4, 3), name


@pytest.mark.parametrize(
    ("comments", "solved"),
    [
        ([("amy", "Raise the limit in a.yaml."), ("bob", "好了，谢谢")], "1"),
        ([("amy", "Fixed by #12, upgrade to 0.3.")], "1"),
        ([("amy", "Have you solved it?"), ("bob", "not solved yet")], ""),
        ([("amy", "I have the same problem"), ("bob", "没解决")], ""),
        ([("bob", "```\nthis works\n```")], ""),
        ([("amy", "> this works\n\nfor whom?")], ""),
    ],
)
def test_what_helped_is_the_comment_before_a_thanks_or_the_one_that_says_so(
    tmp_path: Path, comments: list[tuple[str, str]], solved: str
) -> None:
    file = tmp_path / "threads.json"
    file.write_text(json.dumps([thread(1, "T", "B", *comments)]))
    found = solution(read_threads(file)[0])
    assert (found.url.rpartition("#")[2] if found else "") == solved


def test_a_file_that_is_no_export_is_refused_in_a_line(content: Path, tmp_path: Path) -> None:
    file = tmp_path / "issues.json"
    for text in ("{", "[1", "[" * 100_000, f"[{'1' * 5000}]"):
        file.write_text(text)
        done = run(file, content)
        assert done.returncode == 2
        assert "Traceback" not in done.stderr
        assert "JSON" in done.stderr
    file.write_text("[]")
    assert run(file, content).returncode == 1
