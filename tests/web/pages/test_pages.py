"""Pages over HTTP: language, theme, addresses, and what works without a script."""

import json
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import html5lib
import httpx
import pytest

from tests.support.server import ROOT
from tests.support.shipped import ENTRIES
from tests.support.small_content import edition, write

ENTRY = "slime/oom-max-tokens-per-gpu"
PAGES = (
    "/",
    "/search",
    "/search?q=oom&framework=slime",
    "/search?q=qqqzzzxxx",
    "/diagnose",
    "/entries",
    "/about",
    f"/entries/{ENTRY}",
    "/entries/chatlearn/yaml-config",
    "/frameworks/slime",
    "/topics/memory",
    "/error-types/out-of-memory",
    "/no-such-page",
)
KIB = 1024


def parse(text: str) -> Any:
    """A page as an element tree; raises where it is not valid enough for a strict parser."""
    return html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(text)


def links(page: Any, rel: str) -> list[dict[str, str]]:
    """The attributes of `<link rel>`."""
    return [dict(link.attrib) for link in page.iter("link") if link.get("rel") == rel]


@pytest.fixture(params=["en", "zh"])
def lang(request: pytest.FixtureRequest) -> str:
    """Each language."""
    return str(request.param)


def other(lang: str) -> str:
    """The other language."""
    return {"en": "zh", "zh": "en"}[lang]


def switch_of(page: Any) -> str:
    """Where the language switch leads back to."""
    form = next(form for form in page.iter("form") if form.get("id") == "language")
    return str(next(field.get("value") for field in form.iter("input") if field.get("name") == "next"))


@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_well_formed_and_has_nothing_inline_or_from_elsewhere(
    client: httpx.Client, lang: str, path: str
) -> None:
    page = parse(client.get(f"/{lang}{path}").text)
    assert page.get("lang") == {"en": "en", "zh": "zh-CN"}[lang]
    assert path == "/no-such-page" or switch_of(page) == f"/{other(lang)}{path}"
    assert len(list(page.iter("h1"))) == 1
    assert page.find("head/title").text.endswith("Jieda 解答") or path == "/"
    ids = [element.get("id") for element in page.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    for element in page.iter():
        assert not [name for name in element.attrib if name == "style" or name.startswith("on")]
        assert element.tag != "style"
        if element.tag == "script":
            assert element.get("src") or element.get("type") == "application/ld+json"
        loaded = element.get("src") or (
            element.tag == "link" and element.get("rel") == "stylesheet" and element.get("href")
        )
        assert not loaded or loaded.startswith("/static/")


def test_the_switch_keeps_query_filters_and_page(client: httpx.Client) -> None:
    asked = "q=显存+%26+oom&framework=slime&kind=error&kind=concept&edition=zh&verbatim=1"
    page = parse(client.get(f"/en/search?{asked}").text)
    target = httpx.URL(switch_of(page))
    assert target.path == "/zh/search"
    assert target.params.multi_items() == [
        ("q", "显存 & oom"),
        ("framework", "slime"),
        ("kind", "error"),
        ("kind", "concept"),
        ("edition", "zh"),
        ("verbatim", "1"),
    ]
    chips = [link.get("href") for link in page.iter("a") if link.get("data-key")]
    assert chips
    assert all(httpx.URL(address).params.get("verbatim") == "1" for address in chips)
    nothing = client.get("/en/search?q=node2pg&framework=slime&kind=concept&verbatim=1").text
    (way_out, *_) = re.findall(r'<li><a href="([^"]*)">Search without', nothing)
    assert way_out.endswith("verbatim=1")


def test_the_first_visit_follows_the_browser_and_later_ones_the_choice(client: httpx.Client) -> None:
    first = client.get("/", headers={"Accept-Language": "fr;q=0.9, zh-TW;q=0.8, en;q=0.5"})
    assert (first.status_code, first.headers["location"]) == (307, "/zh/")
    assert {"Accept-Language", "Cookie"} <= set(re.split(r",\s*", first.headers["vary"]))
    chosen = client.post("/preferences", data={"lang": "en", "next": "/en/search?q=a#b"})
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/en/search?q=a#b")
    cookie = chosen.headers["set-cookie"]
    assert "jieda_lang=en" in cookie
    assert "SameSite=lax" in cookie
    client.cookies.clear()
    again = client.get("/", headers={"Accept-Language": "zh", "Cookie": "jieda_lang=en"})
    assert again.headers["location"] == "/en/"


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "/\\evil.example",
        "https://evil.example/",
        "\\\\evil.example",
        "/\t/evil.example",
        "javascript:alert(1)",
        "sub@evil.example",
        "/en/\r\nSet-Cookie: a=b",
        "",
    ],
)
def test_preferences_lead_nowhere_else(client: httpx.Client, target: str) -> None:
    response = client.post("/preferences", data={"theme": "dark", "next": target})
    client.cookies.clear()
    assert response.status_code == 303
    assert response.headers["location"] == "/en/"
    assert "a=b" not in response.headers.get("set-cookie", "")


def test_a_theme_is_remembered_and_told_to_caches(client: httpx.Client) -> None:
    dark = client.get("/en/", headers={"Cookie": "jieda_theme=dark"})
    assert parse(dark.text).get("data-theme") == "dark"
    assert "Cookie" in dark.headers["vary"]
    beside_another = client.get("/en/", headers={"Cookie": "jieda_theme=dark; jieda_theme=light"})
    assert beside_another.text == dark.text, "that of another site on this host, at /, comes last"
    odd = client.get("/en/", headers={"Cookie": 'jieda_theme="><script>'})
    assert parse(odd.text).get("data-theme") == "system"


def test_an_entry_shows_the_fix_early_and_where_it_comes_from(client: httpx.Client, lang: str) -> None:
    page = parse(client.get(f"/{lang}/entries/{ENTRY}").text)
    order = [heading.get("id") for heading in page.iter("h2") if heading.get("id")]
    assert order[:3] == ["symptom", "fix", "cause"]
    hrefs = [link.get("href") for link in page.iter("a")]
    assert f"/{lang}/entries/{ENTRY}.md" in hrefs
    assert "#fix" in hrefs
    switch = page.find(".//form[@id='language']/input[@name='next']")
    assert switch is not None
    assert switch.get("value") == f"/{other(lang)}/entries/{ENTRY}"
    assert any(href.startswith("https://github.com/THUDM/slime/") for href in hrefs)
    time = next(page.iter("time"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", time.get("datetime"))
    data = next(script for script in page.iter("script") if script.get("type") == "application/ld+json")
    assert {item["@type"] for item in json.loads(data.text)} == {"TechArticle", "BreadcrumbList"}


def test_nothing_of_an_entry_is_left_out_and_its_contents_are_in_order(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    body = "## Cause\n\nb\n\n###\n\n## Fix\n\n> ## Quoted\n\n### Detail\n\na\n\n## Symptom\n\nc\n"
    files = {
        "en/roll/a.md": edition("A", f"First of all.\n\n{body}"),
        "en/roll/b.md": edition("B", "That is all."),
    }
    with serve(write(tmp_path, files)) as client:
        text = client.get("/en/entries/roll/a").text
        assert "That is all." in client.get("/en/entries/roll/b").text
    contents = re.findall('<li class="toc-."><a href="#([^"]*)', text)
    assert contents == ["symptom", "fix", "quoted", "detail", "cause"]
    assert text.count("First of all.") == 1 < text.index("First of all.") < text.index('id="symptom"')


def test_an_entry_is_html_to_who_takes_html_and_markdown_to_who_asks(client: httpx.Client) -> None:
    asked = client.get(f"/zh/entries/{ENTRY}", headers={"Accept": "text/markdown"})
    assert asked.text.startswith("# ")
    assert "Accept" in asked.headers["vary"]
    anything = client.get(f"/zh/entries/{ENTRY}", headers={"Accept": "text/html, */*;q=0.1"})
    assert anything.text.startswith("<!")
    both = [
        client.get("/en/entries/roll/out-of-memory", headers={"Accept": each}).text
        for each in ("text/html", "text/markdown")
    ]
    assert "Apache-2.0" in both[0]
    assert not any("NOASSERTION" in each for each in both), "a license that is not stated is not shown"


def test_a_page_leads_to_where_its_own_file_is_edited(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    shipped = write(tmp_path / "a", {"en/roll/shipped.md": edition("Shipped")})
    team = write(tmp_path / "b", {"en/roll/ours.md": edition("Ours")})
    of_team = "https://git.example.com/edit/main/content/{path}?a=1&b=2"
    of_shipped = "https://code.example.org/{path}"

    def edit_links(addresses: str) -> list[list[str]]:
        client = serve(f"{shipped}:{team}", edit_url=addresses)
        found = []
        for name in ("shipped", "ours"):
            page = parse(client.get(f"/en/entries/roll/{name}").text)
            hrefs = [link.get("href") for link in page.iter("a")]
            found.append([each for each in hrefs if re.match(r"https://(git|code)\.example", each)])
        return found

    at_team = "https://git.example.com/edit/main/content/en/roll/ours.md?a=1&b=2"
    assert edit_links(of_team) == [[], [at_team]]
    at_shipped = "https://code.example.org/en/roll/shipped.md"
    assert edit_links(f"{of_shipped} {of_team}") == [[at_shipped], [at_team]]


def test_structured_data_cannot_end_its_script(tmp_path: Path, serve: Callable[..., httpx.Client]) -> None:
    evil = '</title></script><script>alert(1)</script> "{{7*7}}" <!--'
    content = write(tmp_path, {"en/roll/evil.md": edition(evil)})
    with serve(content) as client:
        for path in ("/en/entries/roll/evil", "/en/entries", "/en/frameworks/roll", "/en/search?q=alert"):
            page = parse(client.get(path).text)
            scripts = [script for script in page.iter("script") if not script.get("src")]
            for script in scripts:
                assert script.get("type") == "application/ld+json"
                json.loads(script.text)
            assert evil in "".join(page.itertext()), path
        for path in ("/en/feed.xml", "/sitemap.xml", "/llms.txt"):
            assert client.get(path).status_code == 200
            assert "<script>" not in client.get("/en/feed.xml").text


def test_an_entry_in_one_language_is_shown_in_it_with_a_notice(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    files = {
        "en/roll/only.md": edition("Only English", applies_to="'ROLL 1'"),
        "zh/roll/sole.md": edition("只有中文", "## 回答\n\n是。\n"),
    }
    with serve(write(tmp_path, files), base_url="https://faq.example.com") as client:
        for lang, tag, held, held_tag, slug, notice in (
            ("zh", "zh-CN", "en", "en", "only", "还没有中文版"),
            ("en", "en", "zh", "zh-CN", "sole", "no English edition of this entry"),
        ):
            response = client.get(f"/{lang}/entries/roll/{slug}")
            page = parse(response.text)
            assert response.status_code == 200
            assert page.get("lang") == tag
            assert next(page.iter("article")).get("lang") == held_tag
            assert notice in response.text
            canonical = f"https://faq.example.com/{held}/entries/roll/{slug}"
            assert [link["href"] for link in links(page, "canonical")] == [canonical]
            alternates = {
                link["hreflang"]: link["href"] for link in links(page, "alternate") if "hreflang" in link
            }
            assert alternates == {held_tag: canonical, "x-default": canonical}
        assert client.get("/zh/search?q=english&edition=zh").text.count('class="card"') == 0


def test_a_stale_entry_says_so_and_leads_to_the_newer_text(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    content = write(
        tmp_path,
        {
            "en/roll/two.md": edition("Two", updated="2026-02-02", synced_with="'000000000000'"),
            "zh/roll/two.md": edition(
                "二", "## 回答\n\n是。\n", updated="2026-01-01", synced_with="'000000000000'"
            ),
        },
    )
    with serve(content) as client:
        old = client.get("/zh/entries/roll/two").text
        assert "可能已经过时" in old
        assert 'class="note warn"' not in client.get("/en/entries/roll/two").text
        assert "待更新" in client.get("/zh/search?q=二").text


def test_alternates_name_both_languages_and_a_default(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    content = write(tmp_path, {"en/roll/two.md": edition("Two"), "zh/roll/two.md": edition("二")})
    base = "https://faq.example.com"
    with serve(content, base_url=base) as client:
        for path in ("/", "/entries/roll/two", "/frameworks/roll", "/diagnose"):
            page = parse(client.get(f"/zh{path}").text)
            alternates = {
                link["hreflang"]: link["href"] for link in links(page, "alternate") if "hreflang" in link
            }
            twins = {"en": f"{base}/en{path}", "zh-CN": f"{base}/zh{path}"}
            assert alternates == twins | {"x-default": f"{base}/en{path}"}
            assert [link["href"] for link in links(page, "canonical")] == [f"{base}/zh{path}"]
        assert f"Sitemap: {base}/sitemap.xml" in client.get("/robots.txt").text


def test_an_address_that_nobody_configured_is_not_made_up(client: httpx.Client, lang: str) -> None:
    """Programs that read these do not take them without a host."""
    for path in ("/", f"/entries/{ENTRY}"):
        page = parse(client.get(f"/{lang}{path}").text)
        assert links(page, "canonical") == []
        assert [link for link in links(page, "alternate") if "hreflang" in link] == []
        assert "og:url" not in client.get(f"/{lang}{path}").text


def test_search_results_are_not_to_be_indexed(client: httpx.Client) -> None:
    assert '<meta name="robots" content="noindex' in client.get("/en/search?q=oom").text
    assert '<meta name="robots"' not in client.get(f"/en/entries/{ENTRY}").text


def test_a_filter_is_a_link_and_can_be_taken_off(client: httpx.Client) -> None:
    page = parse(client.get("/en/search?q=oom").text)
    chips = [link for link in page.iter("a") if link.get("class") == "chip"]
    slime = next(chip for chip in chips if "".join(chip.itertext()).startswith("slime"))
    filtered = client.get(slime.get("href"))
    assert filtered.request.url.params["framework"] == "slime"
    count = "".join(slime.itertext()).split()[-1]
    assert f"{count} result" in filtered.text
    on = [link for link in parse(filtered.text).iter("a") if link.get("aria-current") == "true"]
    assert {link.get("href") for link in on} == {"/en/search?q=oom"}


def test_an_operator_is_a_chip_and_can_be_taken_off(client: httpx.Client) -> None:
    page = parse(client.get("/en/search?q=memory+framework:slime&kind=error").text)
    on = [link for link in page.iter("a") if link.get("aria-current") == "true" and link.get("data-key", "")]
    operator = next(link for link in on if link.get("data-key") == "operator:framework:slime")
    assert operator.get("href") == "/en/search?q=memory&kind=error"


def test_filters_without_words_list_what_passes_them(client: httpx.Client, lang: str) -> None:
    page = parse(client.get(f"/{lang}/frameworks/slime").text)
    chips = [
        link for link in page.iter("a") if link.get("class") == "chip" and "kind=error" in link.get("href")
    ]
    count = int("".join(chips[0].itertext()).split()[-1])
    found = client.get(chips[0].get("href")).text
    assert f"{count} entries" in found or f"{count} 个条目" in found
    assert parse(found).find(".//ol[@class='cards']") is not None
    everything = client.get(f"/{lang}/search").text
    assert everything == client.get(f"/{lang}/search?q=%20%E3%80%80").text, "nothing but spaces"
    assert f"{ENTRIES} entries" in everything or f"{ENTRIES} 个条目" in everything


def test_nothing_found_keeps_near_misses_apart_and_blames_the_filters(client: httpx.Client) -> None:
    text = client.get("/en/search?q=resume&framework=roll&kind=concept").text
    page = parse(text)
    assert not [item for item in page.iter("li") if item.get("class") == "card"]
    assert "Search without" in text
    assert "With these filters, no entry contains these words" in text
    assert "No entry contains these words" in client.get("/en/search?q=qqqzzzxxx").text


def test_a_filter_that_would_change_nothing_is_not_offered(client: httpx.Client) -> None:
    labels = client.get("/en/error-types/out-of-memory").text
    assert 'id="filter-framework"' in labels
    assert 'id="filter-kind"' not in labels, "every entry with an error type is an error"
    found = client.get("/en/search?kind=error").text
    assert {"kind", "framework", "topic"} <= set(re.findall('id="filter-([a-z_]+)"', found))
    one = client.get("/en/search?q=&error_type=hardware-fault").text
    assert "1 entry" in one
    assert re.findall('data-key="([a-z_]+):', one) == ["error_type"]


def test_few_results_have_no_column_of_filters_but_chips_of_framework_and_kind(client: httpx.Client) -> None:
    few = client.get("/en/search?q=oom").text
    assert 'class="filters"' not in few
    assert "framework" in set(re.findall('data-key="([a-z_]+):', few)) <= {"framework", "kind"}


def test_what_a_reader_works_with_is_asked_once_and_followed(client: httpx.Client) -> None:
    log = 'slime==0.2.4\nTraceback (most recent call last):\n  File "/opt/slime/a.py", line 1, in f\nFooError: x\n'
    page = parse(client.post("/en/diagnose", data={"text": log}).text)
    offered = [each.get("value") for each in page.iter("button") if each.get("name") == "told"]
    assert "slime:0.2.4" in offered
    told = client.post("/en/diagnose", data={"text": log, "told": "slime:0.2.4"})
    cookie = told.cookies["jieda_framework"]
    client.cookies.clear()
    kept = {"Cookie": f"jieda_framework={cookie}"}
    for path in (
        "/en/",
        "/en/search?q=oom",
        "/en/entries/slime/oom-max-tokens-per-gpu",
        "/docs",
        "/en/nowhere",
    ):
        assert ">slime 0.2.4</summary>" in client.get(path, headers=kept).text.replace("</span>", ">"), path
        assert "slime 0.2.4" not in client.get(path).text, path
    first = parse(client.get("/en/search?q=oom", headers=kept).text)
    hrefs = [
        a.get("href") or ""
        for item in first.iter("li")
        if item.get("class") == "card"
        for a in item.iter("a")
    ]
    assert next(href for href in hrefs if "/entries/" in href).startswith("/en/entries/slime/")
    stages = [a.get("href") or "" for a in parse(client.get("/en/", headers=kept).text).iter("a")]
    assert any("topic=" in href and "framework=slime" in href for href in stages), (
        "the map is that of the framework"
    )


def reasons(client: httpx.Client, address: str) -> set[str]:
    """Every word that the results of a search give as a reason."""
    page = parse(client.get(address).text)
    lists = [each for each in page.iter("ul") if each.get("class") == "reasons"]
    texts = ["".join(value.itertext()) for each in lists for value in [*each.iter("b"), *each.iter("code")]]
    return {word for text in texts for word in re.split("、|, | ↔ ", text)}


def test_reasons_are_words_as_the_reader_wrote_them(client: httpx.Client) -> None:
    assert "OOM" in reasons(client, "/en/search?q=OOM in training")
    found = reasons(client, "/zh/search?q=显存不足怎么办")
    assert found
    assert "存不" not in found, "two halves of two words"


@pytest.mark.parametrize("address", ["/en/search?q=OOM in training", "/zh/search?q=node2pg 显存不足怎么办"])
def test_what_title_or_passage_shows_is_no_reason(client: httpx.Client, address: str) -> None:
    cards = [each for each in parse(client.get(address).text).iter("li") if each.get("class") == "card"]
    reasoned = 0
    for card in cards:
        marked = "\n".join("".join(each.itertext()) for each in card.iter("mark"))
        lists = [each for each in card.iter("ul") if each.get("class") == "reasons"]
        told = [
            "".join(value.itertext()) for each in lists for value in [*each.iter("b"), *each.iter("code")]
        ]
        reasoned += bool(told)
        shown = [
            word for text in told if "↔" not in text for word in re.split("、|, ", text) if word in marked
        ]
        assert shown == []
    assert reasoned


@pytest.mark.parametrize("path", ["/", "/search?q=怎么续训", "/search?q=chekpoint 转换", "/diagnose"])
def test_chinese_sentences_follow_each_other_without_a_space(client: httpx.Client, path: str) -> None:
    page = parse(client.get(f"/zh{path}").text)
    text = "".join(page.find("body").itertext())
    assert re.findall("[。！？：][ \t]+[\u4e00-\u9fff]+", text) == []


@pytest.mark.parametrize(
    "path",
    ["/en/search?framework=nope", "/en/search?page=0", "/en/search?page=1001", "/en/entries?page=99999999"],
)
def test_a_parameter_that_makes_no_sense_is_refused(client: httpx.Client, path: str) -> None:
    assert client.get(path, headers={"Accept": "text/html"}).status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/fr/",
        "/en/frameworks/nope",
        "/en/topics/memory?page=9",
        "/en/search?q=memory&page=99",
        "/en/search?framework=slime&page=99",
        "/en/entries?page=1001",
        "/zh/entries/slime/nope",
        "/zh/entries/..%2f..%2fetc/passwd",
        "/zh/entries/slime/%00",
    ],
)
def test_what_is_not_there_gets_a_page_that_says_so(client: httpx.Client, path: str) -> None:
    response = client.get(path, headers={"Accept": "text/html"})
    assert response.status_code == 404
    assert parse(response.text).find("body").get("class") == "page-error"


def test_what_was_asked_comes_back_as_text(client: httpx.Client) -> None:
    evil = '"><img src=x onerror=alert(1)><mark>'
    for path in ("/en/search", "/zh/search"):
        page = parse(client.get(path, params={"q": evil}).text)
        assert next(field for field in page.iter("input") if field.get("name") == "q").get("value") == evil
        assert not list(page.iter("img"))


def test_a_log_is_diagnosed_by_a_plain_form(client: httpx.Client, lang: str) -> None:
    log = "rank 3\nTraceback (most recent call last):\n    assert self.lr_decay_steps > 0\nAssertionError\n"
    response = client.post(f"/{lang}/diagnose", data={"text": log, "framework": ""})
    page = parse(response.text)
    match = next(article for article in page.iter("article"))
    titles = [link.get("href") for link in match.iter("a")]
    assert f"/{lang}/entries/roll/lr-decay-steps-assertion" in titles
    assert "assert self.lr_decay_steps > 0" in [
        "".join(mark.itertext()).strip() for mark in match.iter("mark")
    ]
    assert {"en": "gradient_accumulation_steps", "zh": "gradient_accumulation_steps"}[lang] in response.text
    assert response.headers["cache-control"] == "no-store"


def test_nothing_of_a_paste_goes_into_an_address(
    serve: Callable[..., httpx.Client], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    client = serve()
    secret = "hf_QqZzXxWwVv"
    log = f"Traceback (most recent call last):\n  login('{secret}')\nRuntimeError: token {secret} is bad\n"
    response = client.post("/en/diagnose", data={"text": log})
    for element in parse(response.text).iter():
        for name in ("href", "src", "action", "formaction", "content"):
            assert secret not in (element.get(name) or "")
    assert "POST /en/diagnose" in caplog.text
    assert secret not in caplog.text


def test_a_known_log_in_another_programs_words_is_not_answered(client: httpx.Client) -> None:
    response = client.post("/en/diagnose", data={"text": "KeyError: 'price'\n"})
    page = parse(response.text)
    assert ["".join(heading.itertext()) for heading in page.iter("h1")] == ["No entry explains this log"]
    assert page.find("head/title").text.startswith("No entry explains this log")


def test_a_log_without_an_error_is_said_to_have_none(client: httpx.Client) -> None:
    log = "rotary_base 10000\nsaved model to /ckpt\nlearning rate 1e-6"
    response = client.post("/en/diagnose", data={"text": log})
    page = parse(response.text)
    assert ["".join(heading.itertext()) for heading in page.iter("h1")] == [
        "There is no sign of an error in this"
    ]
    assert "Entries with similar wording" in response.text
    assert "No entry explains this" not in response.text


def test_the_answer_above_the_results_says_what_it_applies_to(client: httpx.Client) -> None:
    page = parse(client.get("/en/search", params={"q": "KeyError: 1 self.node2pg[node_rank]"}).text)
    match = next(article for article in page.iter("article"))
    assert "ROLL" in "".join(match.itertext())
    assert "num_gpus_per_node is read from the machine since 0.1.3" in "".join(match.itertext())


def test_an_empty_paste_asks_for_one(client: httpx.Client) -> None:
    response = client.post("/zh/diagnose", data={"text": "  \n"})
    assert response.status_code == 200
    assert "请先粘贴日志" in response.text


def test_a_paste_that_is_too_large_is_read_from_both_ends(client: httpx.Client) -> None:
    log = "first line\n" + "step\n" * 300_000 + "    assert self.lr_decay_steps > 0\nAssertionError\n"
    response = client.post("/en/diagnose", data={"text": log})
    assert response.status_code == 200
    page = parse(response.text)
    assert "KiB from the middle were left out" in response.text
    assert next(page.iter("article")) is not None
    text = next(field for field in page.iter("textarea") if field.get("name") == "text").text
    assert text.startswith("first line\n")
    assert len(text.encode()) <= KIB * KIB
    endless = "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB " * 19_000
    for log in (endless, f"step 1\n{endless}\nbye\n"):
        answer = client.post("/en/diagnose", data={"text": log}).text
        assert answer.count("Tried to allocate 2 GiB") > 15_000
        assert "There is no sign of an error" not in answer


def test_a_form_that_nobody_could_fill_is_refused_in_words(client: httpx.Client) -> None:
    response = client.post(
        "/en/diagnose", data={"text": "x" * (4 * KIB * KIB)}, headers={"Accept": "text/html"}
    )
    assert response.status_code == 413
    assert parse(response.text).find("body").get("class") == "page-error"


def test_the_switches_of_an_answered_paste_send_it_again(client: httpx.Client) -> None:
    page = parse(client.post("/en/diagnose", data={"text": "KeyError: 1"}).text)
    button = next(each for each in page.iter("button") if each.get("name") == "lang")
    assert (button.get("form"), button.get("formaction")) == ("log-form", "/zh/diagnose")
    again = client.post("/zh/diagnose", data={"text": "KeyError: 1", "lang": "zh", "theme": "dark"})
    client.cookies.clear()
    assert parse(again.text).get("data-theme") == "dark"
    assert "jieda_lang=zh" in str(again.headers.get_list("set-cookie"))


def test_a_list_of_hundreds_is_paged(tmp_path: Path, serve: Callable[..., httpx.Client]) -> None:
    files = {f"en/roll/entry-{number:03}.md": edition(f"Entry {number:03}") for number in range(60)}
    with serve(write(tmp_path, files)) as client:
        seen: list[str] = []
        address = "/en/frameworks/roll"
        while address:
            page = parse(client.get(address).text)
            titles = [heading for heading in page.iter("h2") if heading.get("class") == "row-title"]
            assert 0 < len(titles) <= 25
            seen += ["".join(title.itertext()) for title in titles]
            address = next((link.get("href") for link in page.iter("a") if link.get("rel") == "next"), "")
        assert sorted(seen) == [f"Entry {number:03}" for number in range(60)]
        found = parse(client.get("/en/search?q=entry&page=2").text)
        assert (
            next(link.get("href") for link in found.iter("a") if link.get("rel") == "prev")
            == "/en/search?q=entry"
        )
        for address in ("/en/search?q=entry&page=2", "/en/entries?page=2", "/en/frameworks/roll?page=2"):
            assert " · Page 2 of " in parse(client.get(address).text).findtext("head/title", ""), address


def bytes_on_the_wire(client: httpx.Client, address: str, encoding: str) -> tuple[int, str]:
    """What a browser downloads for an address, and the text of it."""
    with client.stream("GET", address, headers={"Accept-Encoding": encoding}) as response:
        text = response.read().decode()
        return response.num_bytes_downloaded, text


@pytest.mark.parametrize(("encoding", "most"), [("gzip", 26 * KIB), ("identity", 96 * KIB)])
def test_a_page_weighs_little(client: httpx.Client, lang: str, encoding: str, most: int) -> None:
    """Also for clients without gzip: old proxies take it out of requests."""
    heaviest = ("/entries/chatlearn/multiple-reward-models", "/search?q=训练+参数+怎么+设置")
    for path in (*PAGES, *heaviest):
        total, text = bytes_on_the_wire(client, f"/{lang}{path}", encoding)
        page = parse(text)
        scripts = [script.get("src") for script in page.iter("script") if script.get("src")]
        others = [link["href"] for link in links(page, "stylesheet") + links(page, "icon")]
        weights = {name: bytes_on_the_wire(client, name, encoding)[0] for name in (*scripts, *others)}
        assert encoding == "identity" or sum(weights[name] for name in scripts) <= 13 * KIB
        assert total + sum(weights.values()) <= most, path


def test_comments_stay_in_the_repository_and_nothing_else_does(client: httpx.Client) -> None:
    style = (ROOT / "static/app.css").read_text(encoding="utf-8")
    kept = "".join(part.rpartition("*/")[2] for part in style.split("/*"))
    assert len(kept) < len(style)
    assert "".join(client.get("/static/app.css").text.split()) == "".join(kept.split())
    for name in ("app.js", "search.js", "log.js", "log-viewer.js", "jieda-search.js"):
        lines = (ROOT / "static" / name).read_text(encoding="utf-8").splitlines()
        code = [line for line in lines if not line.lstrip().startswith(("//", "/*"))]
        assert len(code) < len(lines), name
        assert without_versions(client.get(f"/static/{name}").text).splitlines() == code, name


def without_versions(script: str) -> str:
    """A script as it is in the repository, comments aside: what it imports has the address that pages load."""
    return re.sub(r'(?<=\.js)\?v=[0-9a-f]+(?=")', "", script)


def test_static_files_have_the_same_type_on_every_machine(client: httpx.Client) -> None:
    kinds = {
        name: client.get(f"/static/{name}").headers["content-type"]
        for name in ("app.css", "app.js", "icon.svg")
    }
    assert {name: kind.partition(";")[0] for name, kind in kinds.items()} == {
        "app.css": "text/css",
        "app.js": "text/javascript",
        "icon.svg": "image/svg+xml",
    }


def test_a_script_imports_the_others_under_the_addresses_that_pages_load(client: httpx.Client) -> None:
    for name in ("app.js", "docs.js", "log.js", "reading.js", "search.js"):
        sent = client.get(f"/static/{name}").text
        imports = re.findall(
            r"^import .*", (ROOT / "static" / name).read_text(encoding="utf-8"), re.MULTILINE
        )
        assert re.findall(r"^import .*", without_versions(sent), re.MULTILINE) == imports, name


def test_packing_is_for_those_who_take_it(client: httpx.Client) -> None:
    for address in ("/en/", "/static/app.css", "/en/feed.xml"):
        plain = client.get(address, headers={"Accept-Encoding": "gzip;q=0"})
        packed = client.get(address, headers={"Accept-Encoding": "br, gzip"})
        assert "content-encoding" not in plain.headers
        assert packed.headers["content-encoding"] == "gzip"
        assert packed.text == plain.text
        assert "Accept-Encoding" in plain.headers["vary"]
        assert "Accept-Encoding" in packed.headers["vary"]
        tag = packed.headers["etag"]
        assert client.get(address, headers={"If-None-Match": tag}).status_code == 304


def test_a_misspelt_query_is_as_good_as_the_right_one(client: httpx.Client) -> None:
    mended = client.get("/en/search", params={"q": "memroy"}).text
    assert "Showing results for" in mended
    assert "Nothing here fits well" not in mended
    assert "Ask elsewhere" not in mended
    lost = client.get("/en/search", params={"q": "webhook timeot in a billing portal"}).text
    assert "Showing results for" in lost
    assert "Nothing here fits well" in lost


def test_the_commands_of_the_api_go_to_this_server(client: httpx.Client) -> None:
    page = re.sub("<[^>]*>", "", client.get("/docs").text)
    assert f"curl --data-binary @run.log {str(client.base_url).rstrip('/')}/api/v1/diagnose.txt" in page


def test_a_client_for_agents_is_named_once(client: httpx.Client) -> None:
    names = re.findall("<h3>(.*?)</h3>", client.get("/en/agents").text)
    assert "Claude Code" in names
    assert len(names) == len(set(names))


def test_a_text_without_errors_is_not_said_to_have_been_recognized(client: httpx.Client) -> None:
    text = client.post("/en/diagnose", data={"text": "loading weights\nsaved model to /ckpt\n"}).text
    assert "Search for this text" in text
    assert "Recognized in your log" not in text
