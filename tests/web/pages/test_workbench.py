"""The workbench over HTTP: what it says of a draft, what it hands out, and what it writes."""

import html
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import httpx
import pytest
from jieda.entry import Language

from tests.support.git import git
from tests.support.server import ROOT
from tests.support.small_content import edition, write

TOKEN = "bench-token"
AUTHOR = {"author": "王小明", "email": "wang@example.com"}
ERROR = {
    "kind": "error",
    "error_types": "[oom]",
    "signatures": "['RuntimeError: shard {int} of {int} is torn']",
    "draft": "false",
}
BODY = {
    "en": "## Symptom\n\nThe job stops.\n\n## Fix\n\nRun `repair shards` again.\n",
    "zh": "## 现象\n\n任务停止。\n\n## 解决办法\n\n再跑一次 `repair shards`。\n",
}
LOG = "Traceback (most recent call last):\nRuntimeError: shard 17 of 64 is torn\n"
Served = Callable[..., httpx.Client]


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = write(
        tmp_path / "content",
        {
            "en/roll/memory.md": edition("Out of memory in node2pg", aliases="[the card is full]"),
            "zh/roll/memory.md": edition("node2pg 显存不足", body="## 回答\n\n是。\n"),
            "en/roll/linking.md": edition(
                "Linking", body="## Answer\n\nSee [it](memory.md#answer).\n", formerly="[roll/links]"
            ),
        },
    )
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "-m", "start")
    return folder


@pytest.fixture
def bench(serve: Served, content: Path, monkeypatch: pytest.MonkeyPatch) -> httpx.Client:
    # A server has its settings in its environment; programs that it starts have not.
    monkeypatch.setenv("JIEDA_WORKBENCH_TOKEN", TOKEN)
    client = serve(content, workbench="1", workbench_token=TOKEN, workbench_write="1")
    client.auth = ("wang", TOKEN)
    return client


def draft(**fields: str) -> dict[str, str]:
    """A form with a whole new entry."""
    return {
        "framework": "roll",
        "slug": "torn-shard",
        "en": edition("A shard is torn", BODY["en"], **ERROR),
        "zh": edition("分片损坏", BODY["zh"], **ERROR),
    } | fields


def texts(page: httpx.Response) -> dict[str, str]:
    """What stands in the fields of a page, as a browser would send it again."""
    found = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', page.text)
    areas = re.findall(r'<textarea id="(en|zh)"[^>]*>\n(.*?)</textarea>', page.text, re.DOTALL)
    return {name: html.unescape(value) for name, value in (*found, *areas)}


def opened(bench: httpx.Client, entry_id: str) -> dict[str, str]:
    return texts(bench.get("/en/workbench", params={"entry": entry_id}))


def sent(bench: httpx.Client, fields: Mapping[str, str], do: str, lang: str = "en") -> httpx.Response:
    return bench.post(f"/{lang}/workbench", data={**fields, "do": do})


def findings(page: httpx.Response, lang: str) -> str:
    found = re.search(rf'<div id="findings-{lang}" data-live>(.*?)</div>', page.text, re.DOTALL)
    assert found
    return html.unescape(re.sub(r"<[^>]+>", "", found[1]))


def test_switched_off_nothing_leads_there(serve: Served, content: Path) -> None:
    with serve(content) as client:
        assert client.get("/en/workbench").status_code == 404
        assert client.post("/en/workbench", data=draft()).status_code == 404
        assert "workbench" not in client.get("/en/entries/roll/memory").text
        assert "workbench" not in client.post("/en/diagnose", data={"text": LOG}).text


def test_switched_on_entries_and_unanswered_logs_lead_there(bench: httpx.Client) -> None:
    bench.auth = httpx.Auth()
    assert "/en/workbench?entry=roll%2Fmemory" in bench.get("/en/entries/roll/memory").text
    assert 'formaction="/zh/workbench"' in bench.post("/zh/diagnose", data={"text": LOG}).text
    assert "workbench" not in bench.get("/sitemap.xml").text + bench.get("/en/llms.txt").text


def test_every_method_asks_for_the_token(bench: httpx.Client) -> None:
    bench.auth = httpx.Auth()
    assert bench.get("/en/workbench").status_code == 401
    assert sent(bench, draft(), "check").status_code == 401
    bench.auth = ("anybody", TOKEN)
    page = bench.get("/en/workbench")
    assert page.status_code == 200
    assert page.headers["cache-control"] == "no-store"
    assert 'content="noindex' in page.text


def test_a_form_of_another_site_and_one_too_large_are_refused(bench: httpx.Client) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"}
    assert bench.post("/en/workbench", data=draft(), headers=foreign).status_code == 403
    assert sent(bench, draft(log="x" * (6 << 20)), "check").status_code == 413


def test_drafts_count_in_the_limits_of_a_client(serve: Served, content: Path) -> None:
    client = serve(content, workbench="1", diagnoses_per_minute="2", trusted_proxies="127.0.0.1")
    client.headers["X-Forwarded-For"] = "203.0.113.9"
    assert [sent(client, draft(), "check").status_code for _ in range(3)] == [200, 200, 429]


def test_the_check_is_that_of_the_command_line(bench: httpx.Client) -> None:
    broken = draft(en=edition("A shard is torn", BODY["en"], **ERROR | {"signatures": "['shard {integer}']"}))
    said = findings(sent(bench, broken, "check"), "en")
    assert "{integer} is not one of {int}" in said
    assert re.search(r"^\s*8 signature", said, re.MULTILINE)
    unserved = sent(bench, draft(zh="---\ntitle: [\n---\n"), "check")
    assert "keeps the edition from being served" in findings(unserved, "zh")
    twins = findings(sent(bench, draft(), "check"), "en")
    assert "`synced_with` is missing" in twins
    agreed = sent(bench, draft(), "agree")
    assert "synced_with" not in findings(agreed, "en") + findings(agreed, "zh")
    assert texts(agreed)["en"].count("synced_with: '") == 1


def test_what_a_change_breaks_elsewhere_is_told(bench: httpx.Client) -> None:
    fields = opened(bench, "roll/memory")
    page = sent(bench, fields | {"en": fields["en"].replace("## Answer", "## Steps")}, "check")
    assert "en/roll/linking.md:12" in page.text


def test_the_preview_is_the_page_as_it_will_be_served(bench: httpx.Client) -> None:
    page = sent(bench, opened(bench, "roll/memory"), "check", "zh")
    frames = [html.unescape(each) for each in re.findall(r'srcdoc="([^"]*)"', page.text)]
    served = [bench.get(f"/{lang}/entries/roll/memory").text for lang in Language]
    without = [re.sub(r"<script\b.*?</script>\n?", "", each, flags=re.DOTALL) for each in served]
    assert frames == without
    nasty = draft(
        en=edition("A <script>alert(1)</script>", "## Fix\n\n<img src=x onerror=alert(1)>\n", **ERROR)
    )
    shown = html.unescape(re.findall(r'srcdoc="([^"]*)"', sent(bench, nasty, "check").text)[0])
    assert "<script" not in shown
    assert "<img src=x" not in shown
    assert 'sandbox="allow-same-origin"' in page.text


def test_a_log_is_tried_before_and_after(bench: httpx.Client) -> None:
    page = sent(bench, draft(log=LOG), "check").text
    before, after = page.split('id="tried-before"')[1].split('id="tried-after"')
    assert "No entry explains the log." in before
    assert "A shard is torn" in after
    assert "confidence-exact" in after
    assert "RuntimeError: shard {int} of {int} is torn" in after
    assert "No entry explains the log." in bench.post("/en/workbench", data=draft(log="all is well\n")).text


def test_searches_and_entries_that_are_alike(bench: httpx.Client) -> None:
    page = sent(bench, opened(bench, "roll/memory"), "check").text
    assert "First for 3 queries" in page
    again = draft(en=edition("the card is full", BODY["en"], **ERROR))
    found = sent(bench, again, "check").text
    assert "Similar entries exist" in found
    assert 'href="/en/entries/roll/memory"' in found
    assert "not among the first ten" in found


def test_a_log_that_nobody_explains_begins_an_entry(bench: httpx.Client) -> None:
    log = (
        'Traceback (most recent call last):\n  File "/srv/ours/data.py", line 3, in load\n'
        "ours.OomError: card 13 of 64 has 4093 rows, token=ghp_0123456789abcdefghijABCDEFGHIJ012345\n"
    )
    page = bench.post("/zh/workbench", data={"text": log, "do": "log"})
    fields = texts(page)
    assert "error_types:\n  - 'oom'\n" in fields["en"]
    assert "title: 'ours.OomError: card 13 of 64 has 4093 rows, token=***'" in fields["en"]
    assert "OomError: card {int} of {int} has {int} rows" in fields["zh"]
    assert "ghp_0123456789" not in page.text
    assert 'name="keep" value="1" checked' in page.text
    assert 'value="oom-error' in page.text


def test_where_the_content_has_one_language_its_text_comes_first_and_the_other_is_folded(
    serve: Served, tmp_path: Path, bench: httpx.Client
) -> None:
    chinese = serve(write(tmp_path / "zh-only", {"zh/roll/a.md": edition("甲")}), workbench="1")
    for page in (chinese.get("/en/workbench?entry=roll/a"), sent(chinese, draft(en=""), "check")):
        first, _, second = page.text.partition("<details>\n    <summary lang")
        assert ('<textarea id="zh"' in first, '<textarea id="en"' in second) == (True, True)
        assert "the other language" not in first
    assert "<summary lang" not in sent(chinese, draft(zh=""), "check").text, "what is written is not hidden"
    half = sent(bench, draft(en=""), "check").text
    assert half.index('<textarea id="zh"') < half.index('<textarea id="en"')
    assert "<summary lang" not in half


def test_a_picker_changes_one_field_of_both_texts(bench: httpx.Client) -> None:
    fields = opened(bench, "roll/memory")
    changed = texts(sent(bench, fields | {"topic": "memory"}, "topic"))
    assert changed["en"] == fields["en"].replace("topics: [memory]", "topics: []")
    back = texts(sent(bench, {**fields, **changed, "topic": "memory"}, "topic"))
    assert back["zh"] == fields["zh"]
    kinds = texts(sent(bench, fields | {"kind": "how-to"}, "kind"))
    assert kinds["zh"] == fields["zh"].replace("kind: concept", "kind: how-to")
    unreadable = sent(bench, {**fields, "en": "no front matter", "topic": "memory"}, "topic")
    assert "The text was left as it is" in unreadable.text
    assert texts(unreadable)["en"] == "no front matter\n"


def test_other_wordings_of_a_title_come_from_the_glossary(serve: Served, content: Path) -> None:
    write(content, {"glossary.yaml": "- {en: [torn, in shreds], zh: [损坏, 坏掉]}\n"})
    bench = serve(content, workbench="1")
    aliases = "\n  - it's odd   # as asked in the chat"
    fields = draft(en=edition("A shard is torn", BODY["en"], aliases=aliases, **ERROR))
    page = sent(bench, fields, "check")
    assert re.findall(r'<option value="((?:en|zh) [^"]+)"', page.text) == [
        "en A shard is in shreds",
        "zh 分片坏掉",
    ]
    added = texts(sent(bench, fields | {"wording": "en A shard is in shreds"}, "wording"))
    assert added["en"] == fields["en"].replace("in the chat\n", "in the chat\n  - 'A shard is in shreds'\n")
    assert added["zh"] == fields["zh"]
    again = sent(bench, {**fields, **added}, "check")
    assert re.findall(r'<option value="((?:en|zh) [^"]+)"', again.text) == ["zh 分片坏掉"]
    other = texts(sent(bench, {**fields, **added, "wording": "zh 分片坏掉"}, "wording"))
    assert "aliases: ['分片坏掉']" in other["zh"] or "aliases:\n  - '分片坏掉'\n" in other["zh"]


@pytest.mark.parametrize("folder", ["", "content"])
def test_git_takes_the_patch(bench: httpx.Client, content: Path, tmp_path: Path, folder: str) -> None:
    memory = opened(bench, "roll/memory")
    changed = memory | {"en": memory["en"].replace("Yes.", "Yes, \u2028 a separator and 显存.")}
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(content), str(clone / folder))
    where = ["--directory=content"] if folder else []
    if folder:
        git(clone, "init", "--quiet")
    for fields, wanted in (
        (changed, "en/roll/memory.md"),
        (draft(log=LOG, keep="1"), "zh/roll/torn-shard.md"),
    ):
        answer = sent(bench, fields, "take-patch")
        assert "attachment" in answer.headers["content-disposition"]
        (tmp_path / "bench.patch").write_bytes(answer.content)
        git(clone, "apply", *where, str(tmp_path / "bench.patch"))
        lang = wanted[:2]
        assert (clone / folder / wanted).read_text(encoding="utf-8") == fields[lang]
    samples = list((clone / folder / "samples/roll/torn-shard").iterdir())
    assert [each.read_text(encoding="utf-8") for each in samples] == [LOG]
    file = sent(bench, changed, "take-en")
    assert file.text == changed["en"]
    assert 'filename="en-roll-memory.md"' in file.headers["content-disposition"]
    assert "nothing to write" in sent(bench, memory, "take-patch").text
    empty = sent(bench, changed | {"zh": ""}, "take-zh")
    assert empty.headers["content-type"].startswith("text/html")
    assert "nothing to show in 中文 yet" in empty.text.partition('class="note warn"')[2][:200]


def test_the_form_of_the_git_host_is_filled_in(serve: Served, content: Path) -> None:
    form = "https://git.example.com/new?file={path}&value={content}"
    editor = "https://git.example.com/edit/{path}"
    client = serve(content, workbench="1", new_url=form, edit_url=editor)
    page = html.unescape(sent(client, draft(), "check").text)
    assert "https://git.example.com/new?file=zh%2Froll%2Ftorn-shard.md&value=---%0Atitle" in page
    existing = client.get("/en/workbench?entry=roll/memory").text
    assert "https://git.example.com/edit/en/roll/memory.md" in existing
    assert "/new?file=" not in existing
    long = sent(client, draft(en=edition("T", BODY["en"] + "word " * 3000, **ERROR)), "check").text
    assert "too long for the git host" in long


def test_a_draft_is_committed_under_its_authors_name_and_served(bench: httpx.Client, content: Path) -> None:
    (content / "unrelated.txt").write_text("staged by somebody else")
    git(content, "add", "unrelated.txt")
    page = sent(bench, draft(log=LOG, keep="1", message="Explain torn shards", **AUTHOR), "commit")
    assert "Written and committed" in page.text
    told = git(content, "log", "-1", "--format=%an|%ae|%cn|%s", "--name-only").split()
    assert "|".join(told).startswith(
        "王小明|wang@example.com|王小明|Explain|torn|shards|en/roll/torn-shard.md"
    )
    assert "unrelated.txt" not in told
    assert git(content, "status", "--porcelain").split() == ["A", "unrelated.txt"]
    for lang, title in (("en", "A shard is torn"), ("zh", "分片损坏")):
        assert title in bench.get(f"/{lang}/entries/roll/torn-shard").text
    assert bench.post("/api/v1/diagnose", json={"text": LOG}).json()["matches"][0]["id"] == "roll/torn-shard"
    again = sent(bench, draft(log=LOG, keep="1", **AUTHOR), "commit").text  # the button was pressed twice
    assert "There is nothing to write: the files already say this." in again


def test_what_somebody_else_changed_is_not_overwritten(bench: httpx.Client, content: Path) -> None:
    fields = opened(bench, "roll/memory") | AUTHOR
    file = content / "en/roll/memory.md"
    assert "the text in English is empty" in sent(bench, fields | {"en": " "}, "commit").text
    file.write_text(file.read_text(encoding="utf-8").replace("Yes.", "Theirs."), encoding="utf-8")
    mine = fields | {"en": fields["en"].replace("Yes.", "Mine.")}
    page = sent(bench, mine, "commit")
    assert "Somebody has changed this file" in page.text
    assert "Theirs." in file.read_text(encoding="utf-8")
    assert "Theirs." in page.text
    assert "Mine." in texts(page)["en"]
    assert "<del>Mine</del><ins>Theirs</ins>." in page.text
    seen = re.search(r'name="seen-en" value="(\w+)"', page.text)
    assert seen
    assert "Written and committed" in sent(bench, mine | {"seen-en": seen[1]}, "commit").text
    assert "Mine." in file.read_text(encoding="utf-8")
    assert "Somebody has changed" in sent(bench, draft(slug="memory", **AUTHOR), "commit").text


def test_what_cannot_be_served_is_not_written(bench: httpx.Client, content: Path) -> None:
    named = sent(bench, draft(slug="Upper"), "check").text
    assert "lower-case letters" in re.search(r'id="bench-status"[^>]*>(.*?)<', named)[1]  # type: ignore[index]
    broken = sent(bench, draft(zh="---\ntitle: [\n---\n"), "check").text
    assert "committed as" not in broken
    assert "<title>roll/torn-shard · Workbench · " in broken
    assert "<title>Workbench · Jieda" in bench.get("/en/workbench").text
    before = git(content, "rev-parse", "HEAD")
    for fields in (
        draft(zh="---\ntitle: [\n---\n", **AUTHOR),
        draft(slug="../../evil", **AUTHOR),
        draft(slug="a/../b", **AUTHOR),
        draft(slug="Upper", **AUTHOR),
        draft(framework="..", slug="evil", **AUTHOR),
        draft(framework="unheard-of", **AUTHOR),
        draft(entry="../../evil", slug="../evil", **AUTHOR),
    ):
        assert "Nothing was written" in sent(bench, fields, "commit").text, fields
    assert "name and e-mail" in sent(bench, draft(author="x\n--amend", email="nobody"), "commit").text
    assert sent(bench, draft(message="torn\0shard", **AUTHOR), "commit").status_code == 422
    assert git(content, "rev-parse", "HEAD") == before
    assert git(content, "status", "--porcelain") == ""
    assert not list(content.parent.rglob("evil*"))


@pytest.mark.parametrize("linked", ["en/roll/torn-shard.md", "en/roll"])
def test_no_link_is_written_through(bench: httpx.Client, content: Path, tmp_path: Path, linked: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = content / linked
    if place.is_dir():
        place.rename(tmp_path / "moved")
    place.symlink_to(outside if not linked.endswith(".md") else outside / "file")
    assert "the site is unchanged" in sent(bench, draft(**AUTHOR), "commit").text
    assert list(outside.iterdir()) == []
    assert not (content / "zh/roll/torn-shard.md").exists()


def test_a_commit_that_fails_says_how_the_files_are(bench: httpx.Client, content: Path) -> None:
    hook = content / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(
        "#!/bin/sh\necho settings: $(env | grep -c ^JIEDA_) >&2\necho no entry without a ticket >&2\nexit 1\n"
    )
    hook.chmod(0o755)
    page = sent(bench, draft(**AUTHOR), "commit").text
    assert "The files are written (en/roll/torn-shard.md, zh/roll/torn-shard.md) but not committed" in page
    assert "no entry without a ticket" in page
    assert "settings: 0" in page
    assert git(content, "status", "--porcelain").splitlines() == [
        "?? en/roll/torn-shard.md",
        "?? zh/roll/torn-shard.md",
    ]


def test_a_commit_carries_the_name_that_a_trusted_proxy_gives(serve: Served, content: Path) -> None:
    client = serve(content, workbench="1", workbench_write="1", user_header="Remote-User")
    client.headers["Remote-User"] = "lei@example.com"
    assert (
        'value="lei@example.com" maxlength="100" autocomplete="name" readonly'
        in client.get("/en/workbench?entry=roll/memory").text
    )
    assert "Written and committed" in sent(client, draft(author="somebody else"), "commit").text
    assert git(content, "log", "-1", "--format=%an %ae").strip() == "lei@example.com lei@example.com"


def test_without_a_repository_nothing_is_written(serve: Served, tmp_path: Path) -> None:
    content = write(tmp_path / "plain", {"en/roll/first.md": edition("First")})
    client = serve(content, workbench="1", workbench_token=TOKEN, workbench_write="1")
    client.auth = ("x", TOKEN)
    assert "not a git repository" in sent(client, draft(**AUTHOR), "commit").text
    assert not (content / "en/roll/torn-shard.md").exists()


def test_without_the_switch_nobody_writes(serve: Served, content: Path) -> None:
    client = serve(content, workbench="1", workbench_token=TOKEN)
    client.auth = ("x", TOKEN)
    assert 'value="commit"' not in client.get("/en/workbench?entry=roll/memory").text
    assert sent(client, draft(**AUTHOR), "commit").status_code == 403
    assert not (content / "en/roll/torn-shard.md").exists()


def test_unknown_entries_are_missing_and_known_ones_are_not_begun_twice(bench: httpx.Client) -> None:
    assert bench.get("/en/workbench", params={"entry": "roll/absent"}).status_code == 404
    for wanted in ("../etc/passwd", "roll/../../x", "no such words"):
        page = bench.get("/en/workbench", params={"entry": wanted}).text
        assert f"There is no entry “{wanted}”" in page
        assert f'value="{wanted}"' in page, "it is not typed again"
    for old, current in (("ROLL/memory", "memory"), ("roll/links", "linking")):
        moved = bench.get("/en/workbench", params={"entry": old})
        assert moved.headers["location"] == f"/en/workbench?entry=roll%2F{current}"
    by_title = bench.get("/zh/workbench", params={"entry": "out of memory"})
    assert by_title.headers["location"] == "/zh/workbench?entry=roll%2Fmemory"
    begun = sent(bench, {"framework": "roll", "slug": "memory", "kind": "error"}, "new")
    assert begun.status_code == 303
    assert begun.headers["location"].endswith("?entry=roll%2Fmemory")
    fresh = texts(sent(bench, {"framework": "roll", "slug": "fresh", "kind": "how-to"}, "new"))
    assert "kind: how-to" in fresh["en"]
    assert "## 步骤" in fresh["zh"]


def test_the_check_speaks_the_language_of_the_page_and_names_its_buttons(bench: httpx.Client) -> None:
    fields = opened(bench, "roll/memory")
    broken = fields | {"en": fields["en"].replace("topics: [memory]", "topics: [memori]"), "do": "check"}
    page = bench.post("/zh/workbench", data=broken).text
    assert "分类表里没有 &#39;memori&#39;，有 &#39;memory&#39;" in page
    assert "is not in the taxonomy" not in page
    unsynced = draft(en=edition("One"), zh=edition("一", "## 回答\n\n是。\n"), do="check")
    assert "点“两个版本已经一致”" in bench.post("/zh/workbench", data=unsynced).text
    assert "press “The two editions agree”" in bench.post("/en/workbench", data=unsynced).text


def test_every_message_that_is_translated_is_one_that_the_check_says() -> None:
    app = ROOT / "app/jieda"
    modules = [
        *(
            path
            for folder in ("content", "cli", "importing", "usecases", "snapshot")
            for path in (app / folder).rglob("*.py")
        ),
        *(
            app / f"{name}.py"
            for name in (
                "signature",
                "versions",
                "client",
                "address",
                "git",
                "settings",
                "setting_forms",
                "progress",
            )
        ),
    ]
    source = "".join(path.read_text(encoding="utf-8") for path in modules)
    source = re.sub(r'"\n +f?"', "", source).replace("{{", "{").replace("}}", "}")
    told = json.loads((app / "locales/check.json").read_text(encoding="utf-8"))
    pieces = {
        piece
        for place in ("terminal", "page")
        for each in told[place].values()
        for text in each
        for piece in re.split(r"%\d|[:;] |, but (?=must)", text)
    }
    assert not {piece for piece in pieces if len(piece) > 10 and piece.strip() not in source}
