"""From a question to the answer, and on from where there is none: one field, verdicts, exits, votes, lists."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from urllib.parse import unquote

import httpx
import pytest
from jieda.presentation.urls import link_pages

from tests.support.small_content import TAXONOMY, edition, write
from tests.web.pages.test_pages import parse

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 9.28 GiB. GPU 3 has 6.02 GiB free."
LOG = "step 3\nTraceback (most recent call last):\n    assert self.lr_decay_steps > 0\nAssertionError\n"


def test_the_field_of_the_start_page_searches_one_line_and_diagnoses_several(client: httpx.Client) -> None:
    one = client.post("/en/search", data={"q": " how to resume \r\n"})
    assert (one.status_code, one.headers["location"]) == (303, "/en/search?q=how+to+resume")
    several = client.post("/en/search", data={"q": LOG})
    assert several.status_code == 200
    assert several.headers["cache-control"] == "no-store"
    assert 'class="match best"' in several.text
    named = client.post("/en/diagnose", data={"q": "assert self.lr_decay_steps > 0"})
    assert "roll/lr-decay-steps-assertion" in named.text


def test_an_error_line_is_answered_above_its_results(client: httpx.Client) -> None:
    text = client.get("/en/search", params={"q": "AssertionError: assert self.lr_decay_steps > 0"}).text
    assert text.index('class="match best"') < text.index('class="cards"')
    assert 'href="/en/entries/roll/lr-decay-steps-assertion"' not in text[text.index('class="cards"') :]
    assert "Likely" in text
    assert 'class="note warn"' not in text
    # Of a line that any program prints the results tell enough.
    assert 'class="match best"' not in client.get("/en/search", params={"q": OOM}).text
    assert 'class="match best"' not in client.get("/en/search", params={"q": "how to resume training"}).text


def test_a_word_that_no_entry_has_is_named_but_not_while_it_is_typed(client: httpx.Client) -> None:
    query = {"q": "resume training frobnicate"}
    assert "No entry mentions frobnicate." in client.get("/en/search", params=query).text
    assert "没有条目提到 frobnicate。" in client.get("/zh/search", params=query).text
    assert "mentions" not in client.get("/en/search", params=query | {"unfinished": "1"}).text
    assert "mentions" not in client.get("/en/search", params={"q": "resume training"}).text


def test_a_result_marks_its_title_and_says_which_languages_title_has_the_words(client: httpx.Client) -> None:
    text = client.get("/en/search", params={"q": "garbled rollouts"}).text
    assert re.search(r"<h2><a [^>]*><mark>Garbled\b", text)
    assert "In the title" in text
    assert "In the Chinese title" in client.get("/en/search", params={"q": "续训"}).text
    assert "In the Chinese title" not in text


def test_dates_stand_where_the_list_is_about_what_is_new(client: httpx.Client) -> None:
    assert "<time" in client.get("/en/").text
    for path in ("/en/entries", "/en/frameworks/slime", "/en/search?q=how+to+use+wandb"):
        assert "<time" not in client.get(path).text, path


def test_the_api_diagnoses_an_error_line_and_no_question(client: httpx.Client) -> None:
    def diagnosed(query: str, **more: str) -> list[tuple[str, str]]:
        answer = client.get("/api/v1/search", params={"q": query} | more).json()
        return [(match["id"], match["confidence"]) for match in answer["diagnosis"]]

    posted = client.post("/api/v1/diagnose", json={"text": OOM}).json()["matches"]
    assert diagnosed(OOM) == [(match["id"], match["confidence"]) for match in posted] != []
    assert [pair[0].partition("/")[0] for pair in diagnosed(OOM, framework="slime")] == ["slime"]
    for query in ("how to resume training", "显存不足怎么办", "", LOG):
        assert diagnosed(query) == []
    assert diagnosed(OOM, unfinished="1") == []


def test_while_somebody_types_nothing_is_doubted(client: httpx.Client) -> None:
    for query in ("resume t", "resume trainin", "qqqzzzxxx"):
        typed = client.get("/api/v1/search", params={"q": query, "unfinished": "1"}).json()
        assert (typed["weak"], typed["correction"]) == (False, "")
    assert client.get("/api/v1/search", params={"q": "resume trainin"}).json()["correction"]


def test_the_answer_comes_before_what_led_to_it_and_others_are_folded(client: httpx.Client) -> None:
    asked = parse(client.post("/en/diagnose", data={"text": OOM}).text)
    assert {each.get("value") for each in asked.iter("button") if each.get("name") == "told"} >= {"slime"}
    assert not [each for each in asked.iter("section") if "answer" in (each.get("class") or "")]
    chosen = client.post("/en/diagnose", data={"text": OOM, "framework": "", "told": "slime"})
    assert chosen.cookies["jieda_framework"] == "slime"
    anything = client.post("/en/diagnose", data={"text": OOM, "framework": "slime", "told": ""})
    assert 'class="match tied"' in anything.text, "what was said last counts"
    text = chosen.text
    page = parse(text)
    assert [heading.get("id") for heading in page.iter("h1")] == ["best"]
    assert text.index('class="part answer"') < text.index('class="evidence"')


def test_in_a_line_that_matched_what_tells_is_marked_and_what_stands_around_it_is_not(
    client: httpx.Client,
) -> None:
    log = "(ActorWorker pid=812, ip=10.1.1.1)     assert self.lr_decay_steps > 0\n[rank5]: AssertionError\n"
    page = client.post("/en/diagnose", data={"text": log}).text.replace("<wbr>", "")
    marked = re.findall("<mark>(.*?)</mark>", page)
    assert "assert self.lr_decay_steps &gt; 0" in marked
    assert "pid" not in "".join(marked)


def test_in_a_line_that_matched_long_words_may_break_and_short_ones_do_not(client: httpx.Client) -> None:
    page = client.post("/en/diagnose", data={"text": "KeyError: 1 at self.node2pg[node_rank]\n"}).text
    assert "KeyError: 1 at <mark>self.<wbr>node2pg[<wbr>node_<wbr>rank]</mark>" in page


def test_a_search_for_a_healthy_log_has_its_words_and_not_its_rulers(client: httpx.Client) -> None:
    lines = (f"iteration {n}/ 500 | lr: 1.0E-06 | lm loss: 1.2{n} | grad norm: 0.3{n}" for n in range(40))
    page = parse(client.post("/en/diagnose", data={"text": "\n".join(lines)}).text)
    (field,) = (each for each in page.iter("input") if each.get("id") == "again")
    assert field.get("value") == "iteration lr: lm loss: grad norm:"


def test_a_link_holds_lines_that_are_diagnosed_alike(client: httpx.Client) -> None:
    log = "\n".join(["step 1", *(f"INFO worker {n} ready" for n in range(200)), *LOG.splitlines(), "exit 1"])
    page = parse(client.post("/en/diagnose", data={"text": log}).text)
    shared = next(
        button.get("data-copy-log") for button in page.iter("button") if button.get("data-copy-log")
    )
    assert "INFO" not in shared
    assert len(shared) < 200
    again = parse(client.post("/en/diagnose", data={"text": shared}).text)
    first = [next(each.iter("h1")).find("a").get("href") for each in (page, again)]
    assert first[0] == first[1]


def test_what_is_copied_holds_no_secret(client: httpx.Client) -> None:
    secret = "hf_0123456789abcdefXYZ"
    log = LOG.replace("> 0\n", f"> 0  # \x1b[31m{secret}\x1b[0m HF_TOKEN={secret}\n")
    text = client.post("/en/diagnose", data={"text": log}).text
    copied = re.findall(r'data-copy-(?:log|text)="([^"]*)"', text)
    assert "***" in "".join(copied)
    assert not any(secret in each for each in copied)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_link_holds_no_email_address(client: httpx.Client, lang: str) -> None:
    log = LOG.replace("> 0\n", "> 0  # 联系li.wang+x@mail.example.com, not x@1.0\n")
    text = client.post(f"/{lang}/diagnose", data={"text": log}).text
    shared = re.findall(r'data-copy-log="([^"]*)"', text)
    assert len(shared) == 1
    assert "联系***, not x@1.0" in shared[0]


def test_what_is_copied_links_to_pages_of_this_site(client: httpx.Client) -> None:
    (copied,) = re.findall(r'data-copy-text="([^"]*)"', client.post("/en/diagnose", data={"text": LOG}).text)
    assert "/en/entries/roll/rollout-batch-size-and-num-return-sequences)" in copied
    assert ".md)" not in copied
    forms = "[a](<../slime/b.md#fix>) [c][ref] ![d](<e f.png>)\n\n[ref]: b.md 'T'\n  [out]: <https://example.com/>\n"
    assert link_pages(forms, "roll/a", "https://faq/{}".format) == (
        "[a](https://faq/slime/b#fix) [c][ref] ![d](https://faq/roll/e f.png)\n\n"
        "[ref]: https://faq/roll/b 'T'\n  [out]: <https://example.com/>\n"
    )


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_line_that_is_cut_in_copied_markdown_says_so(client: httpx.Client, lang: str) -> None:
    log = LOG.replace("> 0\n", f"> 0  # {'long ' * 80}\n").replace("    assert", "assert")
    text = client.post(f"/{lang}/diagnose", data={"text": log}).text
    (copied,) = re.findall(r'data-copy-text="([^"]*)"', text)
    line = next(each for each in copied.splitlines() if each.startswith("assert"))
    assert (len(unescape(line)), line[-1]) == (241, "…")


def test_every_entry_is_listed_under_its_framework(client: httpx.Client) -> None:
    total = client.get("/api/v1/entries").json()["total"]
    rows, groups = set(), []
    address = "/en/entries"
    while address:
        page = parse(client.get(address).text)
        rows |= {row.find("a").get("href") for row in page.iter() if row.get("class") == "row-title"}
        groups += ["".join(each.itertext()) for each in page.iter("h2") if each.get("class") == "group"]
        address = next((link.get("href") for link in page.iter("a") if link.get("rel") == "next"), "")
    assert len(rows) == total
    assert list(dict.fromkeys(groups)) == ["ROLL", "ChatLearn", "slime"]
    filtered = parse(client.get("/en/entries?framework=slime&kind=error").text)
    hrefs = [row.find("a").get("href") for row in filtered.iter() if row.get("class") == "row-title"]
    assert hrefs
    assert all(href.startswith("/en/entries/slime/") for href in hrefs)
    assert client.get("/en/entries?page=9").status_code == 404


@pytest.mark.parametrize("path", ["/", "/search?q=qqqzzzxxx", "/no-such-page"])
def test_every_page_leads_to_all_entries_and_says_who_we_are(client: httpx.Client, path: str) -> None:
    hrefs = [link.get("href") for link in parse(client.get(f"/zh{path}").text).find("body").iter("a")]
    assert "/zh/about" in hrefs
    assert hrefs.count("/zh/entries") >= 2


def test_ways_on_take_the_first_root_failure_and_never_a_wrapper(client: httpx.Client) -> None:
    log = (
        "Traceback (most recent call last):\nacme.WidgetError: widget broken\n"
        "Traceback (most recent call last):\nKeyError: 'late'\n"
        "ray.exceptions.RayActorError: The actor died unexpectedly before finishing this task.\n"
    )
    text = client.post("/en/diagnose", data={"text": log, "framework": "roll"}).text
    page = parse(text)
    outside = [unquote(link.get("href")) for link in page.iter("a") if "issues?q=" in link.get("href")]
    assert [each.partition("q=")[2].split()[0] for each in outside] == ["acme.WidgetError"]
    recognized = text[text.index('class="errors"') :]
    assert 'class="exits"' in recognized, "the ways out stand below what was found"
    assert "acme.WidgetError" in recognized
    assert "RayActorError" not in recognized[: recognized.index("</ul>")]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_ways_on_stand_below_the_results_of_a_search(client: httpx.Client, lang: str) -> None:
    text = client.get(f"/{lang}/search", params={"q": "bake bread slowly with memory"}).text
    assert 'class="note warn"' in text
    assert text.rindex('class="card"') < text.index('class="exits"')


def test_nobody_is_sent_where_nothing_is_configured(client: httpx.Client) -> None:
    assert 'class="exits"' in client.get("/en/search?q=qqqzzzxxx&lang=en").text, "the projects' own issues"
    text = client.get("/en/entries/slime/resume-training").text
    assert "Report a problem" not in text


ON_GITHUB = TAXONOMY.replace("https://example.com/roll.git", "https://github.com/example/roll")
SECRET = "hf_QqZzXxWwVv"


def test_ways_on_are_filled_in(tmp_path: Path, serve: Callable[..., httpx.Client]) -> None:
    files = {"taxonomy.yaml": ON_GITHUB, "en/roll/answer.md": edition("An answer about roll")}
    client = serve(
        write(tmp_path, files),
        help_url="https://chat.example.com/?q={query}",
        issue_url="https://git.example.com/new?title={title}&body={body}",
    )
    log = (
        f"Traceback (most recent call last):\n  login('{SECRET}')\nRuntimeError: token {SECRET} has expired\n"
    )
    page = parse(client.post("/en/diagnose", data={"text": log, "framework": "roll"}).text)
    outside = [unquote(link.get("href")) for link in page.iter("a") if "//" in link.get("href")]
    assert len(outside) == 3
    issues, ask, missing = outside
    assert issues.startswith("https://github.com/example/roll/issues?q=RuntimeError ")
    assert ask == f"https://chat.example.com/?q={issues.partition('q=')[2]}"
    assert missing.startswith("https://git.example.com/new?title=Missing answer: RuntimeError&body=")
    assert not any(SECRET in each for each in outside)
    report = client.get("/en/entries/roll/answer").text
    assert "https://git.example.com/new?title=Problem%3A%20An%20answer" in report
