"""What holds for every route: HEAD, ETags, headers, and the shape and language of refusals."""

import json
import re
from typing import Any

import httpx
import pytest

ENTRY = "/api/v1/entries/roll/node2pg-keyerror"
GETS = [
    *("/api/v1/search?q=oom", "/api/v1/suggest?q=node", "/api/v1/entries", ENTRY, f"{ENTRY}.md"),
    *("/api/v1/frameworks", "/api/v1/kinds", "/api/v1/topics", "/api/v1/error-types", "/api/v1/problems"),
    *("/api/v1/translations", "/openapi.json", "/docs", "/en/", "/zh/search?q=oom"),
    "/en/entries/roll/node2pg-keyerror",
]
SECURITY = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


def assert_secure(answer: httpx.Response) -> None:
    policy = answer.headers["content-security-policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == rules["script-src"] == rules["style-src"] == "'self'"
    assert rules["object-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert rules["form-action"] == "'self'"
    assert "unsafe" not in policy
    assert {name: answer.headers[name] for name in SECURITY} == SECURITY
    assert answer.headers["permissions-policy"]


def assert_problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["cache-control"] == "no-store"
    body: dict[str, Any] = answer.json()
    assert set(body) == {"type", "title", "status", "detail", "instance", "errors"}
    assert body["status"] == status
    assert body["type"].startswith("urn:jieda:problem:")
    assert body["instance"] == answer.request.url.raw_path.decode().partition("?")[0]
    assert_secure(answer)
    return body


@pytest.mark.parametrize("address", GETS)
def test_head_is_get_without_the_body(client: httpx.Client, address: str) -> None:
    as_it_is = {"Accept-Encoding": "identity"}
    got, head = client.get(address, headers=as_it_is), client.head(address, headers=as_it_is)
    assert (got.status_code, head.status_code, head.content) == (200, 200, b"")
    assert len(got.content) == int(head.headers["content-length"])
    for name in ("content-type", "etag", "cache-control", "vary"):
        assert head.headers.get(name) == got.headers.get(name)
    assert_secure(got)


@pytest.mark.parametrize("address", GETS)
def test_what_a_client_has_already_is_not_sent_again(client: httpx.Client, address: str) -> None:
    first = client.get(address)
    assert first.headers["cache-control"] == "no-cache"
    for tag in (first.headers["etag"], f'"other", {first.headers["etag"]}', "*"):
        again = client.get(address, headers={"If-None-Match": tag})
        assert (again.status_code, again.content) == (304, b"")
        for name in ("etag", "vary", "content-security-policy", "content-language"):
            assert again.headers.get(name) == first.headers.get(name)
    assert client.get(address, headers={"If-None-Match": 'W/"other"'}).status_code == 200


def test_each_language_has_an_etag_of_its_own(client: httpx.Client) -> None:
    tags = {client.get(ENTRY, params={"lang": lang}).headers["etag"] for lang in ("en", "zh")}
    assert len(tags) == 2


@pytest.mark.parametrize(
    ("query", "field"),
    [
        *[
            (f"limit={bad}", "limit")
            for bad in ("0", "51", "-1", "1.5", "ten", "1000000", "9" * 400, "%00", "")
        ],
        *[(f"offset={bad}", "offset") for bad in ("-1", "10001", "1000000000", "x", "1e3")],
        *[(f"lang={bad}", "lang") for bad in ("fr", "english", "../../etc", "zh_CN!", "%00", "z")],
        *[(f"edition={bad}", "edition") for bad in ("fr", "EN", "both")],
        *[(f"{name}=nope", name) for name in ("framework", "kind", "topic", "error_type")],
        ("framework=roll&framework=..%2f..%2f", "framework"),
        ("topic=" + "&topic=".join(["memory"] * 51), "topic"),
        ("verbatim=perhaps", "verbatim"),
    ],
)
def test_a_wrong_parameter_is_refused_by_name(client: httpx.Client, query: str, field: str) -> None:
    body = assert_problem(client.get(f"/api/v1/search?q=oom&{query}"), 422)
    assert field in {error["field"] for error in body["errors"]}
    assert all(error["message"] for error in body["errors"])


def test_all_wrong_parameters_are_named_at_once(client: httpx.Client) -> None:
    body = assert_problem(client.get("/api/v1/entries?limit=x&offset=-1&updated_since=yesterday"), 422)
    assert {error["field"] for error in body["errors"]} == {"limit", "offset", "updated_since"}


@pytest.mark.parametrize(
    ("address", "field", "told"),
    [
        ("search?q=oom&frameworks=roll", "frameworks", "is unknown; use framework"),
        ("search?q=oom&query=x", "query", "is unknown; use q"),
        ("suggest?q=oom&utm_source=x", "utm_source", "is unknown; use lang, q, limit"),
        ("entries?Limit=3", "Limit", "is unknown; use limit"),
        ("search?q=oom&Language=zh", "Language", "is unknown; use lang"),
        ("search?lang=en", "q", "is missing"),
        ("suggest", "q", "is missing"),
    ],
)
def test_a_parameter_that_is_unknown_or_missing_is_refused_with_the_nearest(
    client: httpx.Client, address: str, field: str, told: str
) -> None:
    (error,) = assert_problem(client.get(f"/api/v1/{address}"), 422)["errors"]
    assert error["field"] == field
    assert error["message"].startswith(told)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("edition=fr&lang=en", "must be one of 'en', 'zh'"),
        ("edition=fr&lang=zh", "只能是 'en', 'zh' 之一"),
        (f"offset={'9' * 30}&lang=en", "must be 10,000 or less"),
    ],
)
def test_a_refusal_names_the_bound_or_the_values_and_in_one_language(
    client: httpx.Client, query: str, told: str
) -> None:
    (error,) = assert_problem(client.get(f"/api/v1/search?q=oom&{query}"), 422)["errors"]
    assert error["message"] == told


def test_pages_ignore_parameters_that_links_collect(client: httpx.Client) -> None:
    assert client.get("/en/search?q=node2pg&utm_source=x&page=1").status_code == 200


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/api/v1/entries/roll/nope", 404),
        ("/api/v1/entries/roll/nope.md", 404),
        ("/api/v1/nope", 404),
        ("/api/v1/search?q=oom&limit=999", 422),
        ("/api/v1/search?q=oom&topic=nope", 422),
    ],
)
def test_a_refusal_speaks_the_language_asked_for(client: httpx.Client, address: str, status: int) -> None:
    joint = "&" if "?" in address else "?"
    english = assert_problem(client.get(f"{address}{joint}lang=en"), status)
    chinese = assert_problem(client.get(f"{address}{joint}lang=zh-CN"), status)
    by_header = assert_problem(client.get(address, headers={"Accept-Language": "zh-CN,zh;q=0.9"}), status)
    for name in ("title", "detail"):
        assert english[name].isascii() or "“" in english[name]
        assert any("\u4e00" <= character <= "\u9fff" for character in chinese[name])
    assert by_header["title"] == chinese["title"]
    assert english["type"] == chinese["type"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_a_method_that_an_address_lacks_is_405_with_those_it_has(client: httpx.Client, method: str) -> None:
    answer = client.request(method, "/api/v1/search")
    assert_problem(answer, 405)
    assert {name.strip() for name in answer.headers["allow"].split(",")} == {"GET", "HEAD"}
    answer = client.request("GET", "/api/v1/diagnose")
    assert_problem(answer, 405)
    assert answer.headers["allow"] == "POST"
    assert client.delete("/en/diagnose").headers["allow"] == "GET, HEAD, POST"


def test_a_browser_gets_a_page_and_a_program_json(client: httpx.Client) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    page = client.get("/zh/nope", headers=browser)
    assert page.status_code == 404
    assert page.headers["content-type"].startswith("text/html")
    assert 'lang="zh-CN"' in page.text
    assert_secure(page)
    assert_problem(client.get("/zh/nope", headers={"Accept": "application/json"}), 404)
    told = assert_problem(client.get("/api/v1/nope", headers=browser), 404)["detail"]
    assert told.endswith("/docs lists its addresses.")


def test_a_language_typed_without_its_slash_leads_to_its_start_page(client: httpx.Client) -> None:
    answer = client.get("/zh?q=a%26b", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["location"]) == (308, "/zh/?q=a%26b")
    assert client.get("/fr").status_code == 404


@pytest.mark.parametrize(
    ("asked", "leads_to"),
    [
        ("/zh-CN/", "/zh/"),
        ("/EN", "/en/"),
        ("/En-us/search?q=a%26b&page=2", "/en/search?q=a%26b&page=2"),
        ("/zh-Hans-CN/entries/roll/node2pg-keyerror", "/zh/entries/roll/node2pg-keyerror"),
        ("/en/entries/", "/en/entries"),
        ("/docs/", "/docs"),
        ("/api/v1/entries/?limit=2", "/api/v1/entries?limit=2"),
        ("/zh-cn/%0d%0ax//evil.example/", "/zh/%0D%0Ax//evil.example"),
    ],
)
def test_another_way_to_write_the_language_or_a_slash_at_the_end_leads_to_the_page(
    client: httpx.Client, asked: str, leads_to: str
) -> None:
    answer = client.get(asked)
    assert (answer.status_code, answer.headers["location"]) == (308, leads_to)
    assert_secure(answer)


def test_no_address_is_redirected_to_itself(client: httpx.Client) -> None:
    for missing in ("/en/nope", "/fr/", "/api/v1/nope/", "/env/", "/enx"):
        assert client.get(missing).status_code == 404, missing


def test_an_id_is_given_and_a_sensible_one_is_kept(client: httpx.Client) -> None:
    ids = {client.get("/healthz").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert (
        client.get("/healthz", headers={"X-Request-Id": "trace-1.2_3"}).headers["x-request-id"]
        == "trace-1.2_3"
    )
    for odd in (b"a b", b"x" * 65, b"<script>", "é".encode("latin-1")):
        given = client.get("/healthz", headers=[(b"X-Request-Id", odd)]).headers["x-request-id"]
        assert given != odd.decode("latin-1")


def test_no_origin_is_let_in(client: httpx.Client) -> None:
    for origin in ("null", "https://evil.example"):
        for method, address in (("GET", "/api/v1/search?q=oom"), ("OPTIONS", "/api/v1/diagnose")):
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            answer = client.request(method, address, headers=headers)
            assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_description_has_a_problem_for_every_refusal_and_a_real_example(client: httpx.Client) -> None:
    document = client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    operations = [
        (path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    assert len({operation["operationId"] for _, _, operation in operations}) == len(operations) == 15
    for path, method, operation in operations:
        refusals = {status: what for status, what in operation["responses"].items() if status >= "4"}
        assert {"400", "500"} <= set(refusals), path
        assert all(each["description"] for each in operation.get("parameters", ())), path
        assert "422" in refusals
        # An old id is redirected, and only search and diagnosis can be too busy.
        assert ("308" in operation["responses"]) == ("{slug}" in path)
        assert ("503" in refusals) == ("search" in path or "diagnose" in path)
        for what in refusals.values():
            assert list(what["content"]) == ["application/problem+json"]
        if method == "get":
            assert "304" in operation["responses"]
    assert "HTTPValidationError" not in json.dumps(document)
    example = document["paths"]["/api/v1/entries/{framework}/{slug}"]["get"]["responses"]["200"]
    shown = example["content"]["application/json"]["example"]
    assert client.get(shown["api_url"], params={"lang": "en"}).json() == shown


def test_the_documentation_needs_no_other_host_and_nothing_inline(client: httpx.Client) -> None:
    page = client.get("/docs")
    for part in page.text.split("<")[1:]:
        tag = part.partition(">")[0]
        assert not tag.startswith("style")
        assert " on" not in tag
        assert "style=" not in tag
        for attribute in ("src", "href", "data-bundle", "data-sheet"):
            address = tag.partition(f'{attribute}="')[2].partition('"')[0]
            if address and not address.startswith("#"):  # the way past the header stays on the page
                assert address.startswith("/")
                assert not address.startswith("//")
                assert client.get(address).status_code == 200, address
        assert not tag.startswith("script") or "src=" in tag
    assert "validatorUrl: null" in client.get("/static/docs.js").text


def test_the_documentation_says_what_each_route_does_in_the_readers_language(client: httpx.Client) -> None:
    said = {
        lang: re.findall(r"</th><td>(.*?)</td>", client.get("/docs", headers={"Accept-Language": lang}).text)
        for lang in ("en", "zh")
    }
    assert len(said["en"]) == len(said["zh"]) > 10
    assert all(re.search("[\u4e00-\u9fff]", each) for each in said["zh"])


def test_static_files_may_be_kept_for_good_under_the_address_of_their_content(client: httpx.Client) -> None:
    page = client.get("/docs").text
    address = page.partition('src="/static/')[2].partition('"')[0]
    kept = client.get(f"/static/{address}")
    assert "immutable" in kept.headers["cache-control"]
    assert client.get("/static/docs.js").headers["cache-control"] == "no-cache"
    assert client.get("/static/docs.js?v=000000000000").headers["cache-control"] == "no-cache"
    again = client.get("/static/docs.js", headers={"If-None-Match": kept.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
