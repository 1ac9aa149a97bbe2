"""Whatever a body says, its HTML has only what is on the list. Judged by a browser's parsing rules."""

from urllib.parse import urlsplit

import html5lib
from hypothesis import given, settings
from hypothesis import strategies as st
from jieda.content.markdown.body import parse_body, render_body
from jieda.entry import Language

from tests.support.examples import examples

ATTRIBUTES = {
    "a": {"href", "title", "rel"},
    "img": {"src", "alt", "title", "width", "height", "loading"},
    "pre": {"class", "tabindex"},
    "div": {"class", "tabindex", "role", "aria-label"},
    "code": {"class"},
    "span": {"class"},
    "th": {"class"},
    "td": {"class"},
    "ol": {"start"},
    "h2": {"id"},
    "h3": {"id"},
    "h4": {"id"},
    "h5": {"id"},
    "h6": {"id"},
}
PLAIN = "p ul li blockquote em strong s br wbr hr table thead tbody tr html head body".split()
SCHEMES = {"http", "https", "mailto", "entry", "entry-image", ""}

FRAGMENTS = st.sampled_from(
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "<iframe srcdoc='<script>'>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt&colon;alert(1))",
        "[x](<java\tscript:alert(1)>)",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "![x](data:image/svg+xml,<svg>)",
        "![x](a.png \"on' onerror='x\")",
        '[x](https://a.example/"onmouseover="x)',
        "[x](//evil.example)",
        "[x]: javascript:alert(1)\n",
        "<javascript:alert(1)>",
        "<https://a.example/?<b>>",
        '```"><img onerror=x>\n',
        "```python\n'''<script>\n",
        "~~~html\n<b>\n",
        "    <style>\n",
        "| a | b |\n|:-|-:|\n| <b> | `|` |\n",
        '| `"><img onerror=x>` | " onfocus="x |\n|:-|-:|\n| a | b |\n',
        "## 现象\n",
        "# <b>\n",
        '### "><script>\n',
        "&lt;script&gt; &#60;b&#62; &quot;",
        "`</code><script>`",
        "\\<b\\> \\",
        "> - 1. x\n",
        "***a**_b_ ~~c~~",
        "7. seven\n",
        "\n\n",
        "\n",
        " ",
    ]
)
MARKDOWN = st.lists(FRAGMENTS | st.text(max_size=8), max_size=14).map("".join)


@settings(max_examples=examples(300), deadline=None)
@given(MARKDOWN, st.booleans())
def test_only_listed_tags_attributes_and_schemes_come_out(markdown: str, keep: bool) -> None:
    body = parse_body(markdown, Language.ZH, "roll", first_line=1)
    rendered = render_body(body, (lambda link: link) if keep else (lambda _: None))
    anchors = []
    for html in (rendered.html, *(section.html for section in rendered.sections)):
        for element in html5lib.parse(html, namespaceHTMLElements=False).iter():
            assert element.tag in {*ATTRIBUTES, *PLAIN}, markdown
            assert set(element.attrib) <= ATTRIBUTES.get(element.tag, set()), markdown
            for name in ("href", "src"):
                assert urlsplit(element.attrib.get(name, "")).scheme in SCHEMES, markdown
            if html is rendered.html and "id" in element.attrib:
                anchors.append(element.attrib["id"])
    assert len(set(anchors)) == len(anchors)
    assert anchors == [placed.heading.anchor for placed in body.headings]
