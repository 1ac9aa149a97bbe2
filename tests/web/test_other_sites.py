"""Forms that a page of another site sends in the name of whoever looks at it: nothing comes of them."""

from collections.abc import Callable, Iterator

import httpx
import pytest

from tests.support.small_content import edition, write

PAGE = "/en/entries/roll/first"
FORMS = {
    PAGE: {"solved": "yes"},
    "/preferences": {"theme": "dark", "lang": "zh", "next": "/zh/"},
    "/en/diagnose": {"text": "CUDA out of memory", "theme": "dark"},
    "/en/search": {"q": "memory"},
}
FOREIGN: tuple[dict[str, str], ...] = (
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "https://wiki.example.com"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
    # A notebook, or a server in development, on the reader's own machine.
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://localhost:8888"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8888", "Host": "localhost:8000"},
    {"Origin": "http://127.0.0.1:8888"},
    {"Origin": "null"},
    {"Origin": "https://evil.example"},
    {"Origin": "https://faq.example.com.evil.example"},
    {"Origin": "https://evil.example/faq.example.com"},
    {"Origin": "faq.example.com"},
)
OWN: tuple[dict[str, str], ...] = (
    {},
    {"Sec-Fetch-Site": "same-origin"},
    {"Sec-Fetch-Site": "none"},
    {"Origin": "https://faq.example.com"},
    {"Sec-Fetch-Site": "same-origin", "Origin": "https://outside.example"},
    # Plain HTTP in a closed network: the browser names the site and nothing else.
    {"Origin": "http://faq.corp:8000", "Host": "faq.corp:8000"},
    {"Origin": "http://localhost:8000", "Host": "localhost:8000"},
)


@pytest.fixture
def asked(
    serve: Callable[..., httpx.Client], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    content = write(tmp_path_factory.mktemp("content"), {"en/roll/first.md": edition("Out of memory")})
    with serve(content, base_url="https://faq.example.com") as client:
        yield client


def test_a_form_of_another_site_is_refused_and_changes_nothing(asked: httpx.Client) -> None:
    for headers in FOREIGN:
        for path, fields in FORMS.items():
            answer = asked.post(path, data=fields, headers=headers)
            assert answer.status_code == 403, (path, headers)
            assert "set-cookie" not in answer.headers
    assert "jieda_votes_total{" not in asked.get("/metrics").text


def test_a_form_of_our_own_is_answered_whatever_stands_before_the_server(asked: httpx.Client) -> None:
    for headers in OWN:
        for path, fields in FORMS.items():
            asked.cookies.clear()
            assert asked.post(path, data=fields, headers=headers).status_code in {200, 303}, (path, headers)
    assert f'solved="yes"}} {len(OWN)}.0' in asked.get("/metrics").text
