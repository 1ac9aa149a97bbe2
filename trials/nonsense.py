"""Inputs that are nearly right: pieces of what is meant, put together by chance, with what nobody meant in between."""

from dataclasses import dataclass

from hypothesis import strategies as st

ODD = st.text(max_size=20)
HARD = st.sampled_from(
    [
        "\0",
        "\ud800",
        "\u202e",
        "\u2028",
        "\ufdfa" * 50,
        "\U00020000",
        "\u0301" * 40,
        "9" * 40,
        " " * 80,
        "\x1b[31m",
    ]
)


def mixed(pieces: list[str], most: int = 30) -> st.SearchStrategy[str]:
    """Texts of some pieces, some hard characters and some of any kind."""
    piece = st.one_of(st.sampled_from(pieces), st.sampled_from(pieces), ODD, HARD)
    return st.lists(piece, max_size=most).map("".join)


FRONT = """title: 'T'|kind: error|kind: concept|topics: [memory]|topics: {a: b}|signatures: ['x {int}']|draft: yes
signatures:\n  - all: ['a', {x: y}]|related: [roll/b]|updated: 2026-01-02|updated: 9999-99-99|formerly: [../x]
source: [{title: T, url: 'https://example.com/', license: Apache-2.0}]|source: 1|aliases: [&a x, *a]|a: &a [*a]|? [x]
title: !!python/object/apply:os.system [id]|title: |\n  x|"|'|{|[|: |- |#|\t|<<: *a|--- |!!binary x|0x1|1e999|.nan|~"""
FRONT_PIECES = [*FRONT.replace("\n", "|").split("|"), "\n", "\n", "\n  ", "---\n", "...\n"]
BODY_PIECES = """# |## Fix|## Answer|\n|\n\n|```python\n|```\n|~~~|`|**|*|_|[|](|)|![|<|>|<b>|<!--|-->|| a | b |\n|---|
[x]: y\n|&amp;|&#0;|\\\\|- |1. |> |    |\t|https://example.com/|entry:roll/a|javascript:x|[[[[|((((|****|$$""".split(
    "|"
)
SIGNATURE_PIECES = [
    *"{int} {number} {word} {quoted} {path} {hex} {any} { } {{ }} Error: lost ( ) [ ] * + ? ^ $ . \\ | x 1".split(),
    " ",
]
WORDS = """out of memory|显存不足|怎么|KeyError: 1 node2pg|--max-tokens-per-gpu|entry0|"|'|-|+|:|/|.|_|(|)|AND|\t|\n
frame0/entry-1|０１２|ＯＯＭ|のメモリ|학습|change000000""".split("|")
LOG_PIECES = """Traceback (most recent call last):\n|  File "/a/b.py", line 12, in run\n|KeyError: 1\n|[rank3]: |\n
During handling of the above exception, another exception occurred:\n|(W pid=1, ip=10.0.0.1) |E   assert x\n
|\r\n|Error:
2025-08-30 03:11:57,123 INFO a.py:1 -- |{"log":"KeyError: 1\\n"}\n|{"log": [[[[|CUDA out of memory. |Xid 79|{|}|"
frame #0: f() + 0x| [repeated 7x across cluster]|\x1b]0;|显存不足|entry0 lost|chunk 12""".split("|")

MARKDOWN = mixed(BODY_PIECES, 60)
FILES = st.one_of(
    st.tuples(mixed(FRONT_PIECES), MARKDOWN).map(
        lambda parts: f"---\n{parts[0]}\n---\n\n{parts[1]}".encode("utf-8", "surrogatepass")
    ),
    st.binary(max_size=200),
)
SIGNATURES = st.tuples(mixed(SIGNATURE_PIECES, 12), mixed(LOG_PIECES, 12))
QUERIES = mixed(WORDS, 40)
LOGS = mixed(LOG_PIECES, 60)


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A request as it comes from a server: bytes."""

    method: str
    path: bytes
    query: bytes
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes


PATHS = """/en/
/zh/search|/api/v1/search|/api/v1/suggest|/api/v1/entries|/api/v1/entries/frame0/entry-0
/api/v1/diagnose|/en/diagnose|/en/entries/frame0/entry-0|/healthz|/readyz|/openapi.json|/en/feed.xml|/static/app.css|/mcp|/nope|/../etc
/en/entries/%2e%2e/x|//|/en/entries/frame0/entry-0.md|/api/v1/topics|/api/v1/reload""".replace(
    "\n", "|"
).split("|")
NAMES = "q lang limit offset framework topic kind edition verbatim unfinished updated_since page".split()
HEADERS = """accept accept-language accept-encoding if-none-match content-type origin referer cookie x-forwarded-for
range host authorization content-encoding x-request-id sec-fetch-site""".split()
VALUES = st.one_of(
    st.sampled_from(
        "application/json text/plain en;q=x zh gzip * 0 -1 true application/x-www-form-urlencoded".split()
    ),
    st.text(st.characters(max_codepoint=255), max_size=40),
)
REQUESTS = st.builds(
    RawRequest,
    method=st.sampled_from(["GET", "GET", "POST", "HEAD", "OPTIONS", "PUT", "BREW"]),
    path=st.one_of(
        st.sampled_from(PATHS).map(str.encode),
        st.text(max_size=20).map(lambda text: f"/{text}".encode("utf-8", "replace")),
    ),
    query=st.lists(st.tuples(st.sampled_from(NAMES), st.binary(max_size=30)), max_size=4).map(
        lambda pairs: b"&".join(name.encode() + b"=" + value for name, value in pairs)
    ),
    headers=st.lists(
        st.tuples(st.sampled_from(HEADERS).map(str.encode), VALUES.map(lambda text: text.encode("latin-1"))),
        max_size=5,
    ).map(tuple),
    body=st.one_of(
        st.just(b""),
        st.binary(max_size=100),
        LOGS.map(lambda text: text.encode("utf-8", "replace")),
        LOGS.map(lambda text: b'{"text": "' + text.encode("utf-8", "replace") + b'"}'),
    ),
)
