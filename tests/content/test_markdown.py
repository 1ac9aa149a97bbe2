"""Bodies to HTML, anchors, sections and plain text."""

import re

import pytest
from jieda.content.markdown.body import Body, Rendered, parse_body, render_body
from jieda.content.markdown.links import Link
from jieda.entry import Language


def section_keys(body: Body) -> tuple[str, ...]:
    """The anchors of the sections, in order."""
    return tuple(placed.heading.anchor for placed in body.headings if placed.section)


def keep_all(link: Link) -> Link:
    return link


def parse(markdown: str, lang: Language = Language.EN) -> Body:
    return parse_body(markdown, lang, "roll", first_line=1)


def render(markdown: str, lang: Language = Language.EN) -> Rendered:
    return render_body(parse(markdown, lang), keep_all)


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("**注意：**请", "<strong>注意：</strong>请"),
        ("**显存不足（OOM）**怎么办", "<strong>显存不足（OOM）</strong>怎么办"),
        ("**报错。**然后", "<strong>报错。</strong>然后"),
        ("这是**“重点”**内容", "这是<strong>“重点”</strong>内容"),
        ("用**`--load`**指定", '用<strong><code class="flag">--load</code></strong>指定'),
        ("先*停下（stop）*再说", "先<em>停下（stop）</em>再说"),
        ("**注意：** 请", "<strong>注意：</strong> 请"),
        ("a*b*c", "a<em>b</em>c"),
        ("snake_case_name", "snake_case_name"),
        ("2 * 8 = 16 * 1", "2 * 8 = 16 * 1"),
        ("**bold** and ***both***", "<strong>bold</strong> and <em><strong>both</strong></em>"),
        ("a**(b)**c", "a**(b)**c"),
        ("显存\n不足", "显存不足"),
        ("GPU\n显存", "GPU\n显存"),
    ],
)
def test_emphasis_works_beside_full_width_punctuation_and_as_commonmark_elsewhere(
    markdown: str, html: str
) -> None:
    assert render(markdown).html == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        ("打开：`--load`", '打开：<wbr><code class="flag">--load</code>'),
        ("（`--load`）", '（<code class="flag">--load</code>）'),
        ("用 `--load`", '用 <code class="flag">--load</code>'),
    ],
)
def test_a_line_may_end_before_a_flag_but_not_behind_what_opens(markdown: str, html: str) -> None:
    assert render(markdown).html == f"<p>{html}</p>\n"


def test_sections_are_found_by_title_in_each_language_under_the_same_anchor() -> None:
    english = parse("## Fix\n\na\n\n## Check that it worked\n\nb\n")
    chinese = parse("## 解决办法\n\na\n\n## 如何确认\n\nb\n", Language.ZH)
    assert section_keys(english) == section_keys(chinese) == ("fix", "verify")


def test_headings_get_unicode_anchors_that_are_unique_in_the_page() -> None:
    body = parse(
        "## Fix\n\n### 显存 不足！\n\n### 显存不足\n\n### 显存 不足\n\n### Fix\n\n### main\n\n### ！\n"
    )
    anchors = [placed.heading.anchor for placed in body.headings]
    assert anchors == ["fix", "显存-不足", "显存不足", "显存-不足-2", "fix-2", "main-2", "section"]
    assert len(set(anchors)) == len(anchors)


def test_an_anchor_that_looks_numbered_already_stays_unique() -> None:
    body = parse("### a\n\n### a-2\n\n### a\n\n## Fix\n\n### Fix\n\n## Fix\n")
    anchors = [placed.heading.anchor for placed in body.headings]
    assert anchors == ["a", "a-2", "a-3", "fix", "fix-2", "fix-3"]


def test_a_section_has_its_source_its_html_and_its_text() -> None:
    fix_source = (
        "Set **`--load`** to\nthe folder.\n\n```bash\nrun --load x\n\ndone\n```\n\n"
        "| a | b |\n|---|---|\n| 1 | `c` |"
    )
    source = f"## Fix\n\n{fix_source}\n\n## Notes\n\nEnd.\n"
    fix, notes = render(source).sections
    assert (fix.key, fix.title, notes.key) == ("fix", "Fix", "notes")
    assert fix.markdown == fix_source
    assert fix.text == "Set --load to the folder.\nrun --load x\n\ndone\na | b\n1 | c"
    assert "<h2" not in fix.html
    assert notes.html == "<p>End.</p>\n"


def test_a_section_brings_the_links_that_another_one_defines() -> None:
    links = "[the docs]: https://a.example\n[others]: https://b.example"
    fix, cause = render(
        f"## Fix\n\nRead [this][The\nDocs].\n\n## Cause\n\nNo [others].\n\n{links}\n"
    ).sections
    assert fix.markdown == "Read [this][The\nDocs].\n\n[the docs]: https://a.example"
    assert cause.markdown == f"No [others].\n\n{links}"


def test_a_body_without_sections_is_rendered_all_the_same() -> None:
    rendered = render("Only text.\n")
    assert rendered == Rendered("<p>Only text.</p>\n", ())


def test_code_is_kept_as_written() -> None:
    body = parse("`a  b` and ``x`y``\n\n```yaml\nk:   1\n\n```\n\n    indented\n")
    assert body.code == ("a  b", "x`y", "k:   1\n", "indented")


@pytest.mark.parametrize("language", ["python", "bash", "yaml", "nonsense", "", 'x"onmouseover="1', "<b>"])
def test_a_code_block_holds_exactly_its_text(language: str) -> None:
    import html5lib

    code = "\n  if a < b && c:\n\tprint('“x”')  \n\n"
    html = render(f"```{language}\n{code}```\n").html
    pre = html5lib.parse(html, namespaceHTMLElements=False).find(".//pre")
    assert pre is not None
    # Parsers of HTML drop one line break right behind <pre>; here <code> stands between.
    assert "".join(pre.itertext()) == code
    assert pre.attrib == {"class": "highlight", "tabindex": "0"}


def test_code_of_a_known_language_is_colored_by_class() -> None:
    html = render("```python\nimport os\n```\n").html
    assert '<code class="language-python">' in html
    assert '<span class="kn">import</span>' in html
    assert "style=" not in html


def test_tables_are_aligned_by_class_and_scroll_in_a_frame_of_their_own() -> None:
    html = render("| a | b |\n|:--|--:|\n| 1 | 2 |\n").html
    assert '<th class="align-left">a</th>' in html
    assert '<td class="align-right">2</td>' in html
    assert html.startswith('<div class="table-scroll" tabindex="0" role="region" aria-label="a | b"><table>')
    assert "style=" not in html


def test_the_frame_of_a_table_is_named_after_its_columns() -> None:
    html = render('| `--lr` <br> | | 说明 "x" |\n|--|--|--|\n| 1 | 2 | 3 |\n').html
    assert 'aria-label="--lr &lt;br&gt; | 说明 &quot;x&quot;"' in html


@pytest.mark.parametrize(
    ("markdown", "html"),
    [
        (
            "[a](https://a.example/x?y=1&z=2)",
            '<a href="https://a.example/x?y=1&amp;z=2" rel="noopener">a</a>',
        ),
        ("<https://a.example/>", '<a href="https://a.example/" rel="noopener">https://a.example/</a>'),
        ("[a <https://b.c>](#d)", '<a href="#d">a &lt;https://b.c&gt;</a>'),
        ("[a](mailto:a@b.example)", '<a href="mailto:a@b.example" rel="noopener">a</a>'),
        ("[a](node2pg-keyerror.md#fix)", '<a href="entry:roll/node2pg-keyerror#fix">a</a>'),
        ("[a](../slime/resume-training.md)", '<a href="entry:slime/resume-training">a</a>'),
        ("[a](../../zh/roll/x.md)", '<a href="entry:roll/x">a</a>'),
        ("[a](x.md#%E6%98%BE%E5%AD%98)", '<a href="entry:roll/x#显存">a</a>'),
        ("[a](x.md#显存)", '<a href="entry:roll/x#显存">a</a>'),
        ("[a](#fix)", '<a href="#fix">a</a>'),
        ("![a](pic.png)", '<img src="entry-image:roll/pic.png" alt="a" loading="lazy">'),
        (
            "![*a* `b`](./p.webp 'T')",
            '<img src="entry-image:roll/p.webp" alt="a b" title="T" loading="lazy">',
        ),
    ],
)
def test_links_that_may_be_written(markdown: str, html: str) -> None:
    assert render(markdown).html == f"<p>{html}</p>\n"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "&#106;avascript:alert(1)",
        "vbscript:x",
        "data:text/html,x",
        "file:///etc/passwd",
        "//evil.example/",
        "/api/v1/search",
        "https:evil.example",
        "https://user@evil.example/",
        "https:\\\\evil.example",
        "entry:roll/x",
        "../../../../etc/passwd",
        "../x.txt",
        "x.md#a b",
        "ftp://a.example/",
        "x.md?y=1",
        "../../../en/roll/x.md",
    ],
)
def test_other_links_leave_their_text_only(address: str) -> None:
    assert render(f"[text](<{address}>)").html == "<p>text</p>\n"


@pytest.mark.parametrize(
    "source",
    [
        "https://a.example/p.png",
        "data:image/png;base64,x",
        "p.svg",
        "../p.png",
        "p.html",
        "%2e%2e/p.png",
        ".p.png",
    ],
)
def test_other_images_leave_their_description_only(source: str) -> None:
    assert render(f"![text]({source})").html == "<p>text</p>\n"


def test_raw_html_comes_out_as_text() -> None:
    html = render("<script>alert(1)</script> <b>x</b>\n\n<div onclick=x>\n").html
    assert "<script" not in html
    assert "<b>" not in html
    assert "<div" not in html


def test_what_looks_like_a_written_link_in_code_cannot_be_taken_for_one() -> None:
    html = render(
        '`<a href="entry:roll/x">`\n\n```\nsrc="entry-image:roll/x.png"\n```\n\nhref="entry:a/b"\n'
    ).html
    assert 'href="' not in html
    assert 'src="' not in html


def test_a_heading_of_the_first_level_is_lowered_under_the_title() -> None:
    body = parse("# Big\n\n## Fix\n\nx\n")
    assert [(placed.heading.level, placed.level) for placed in body.headings] == [(2, 1), (2, 2)]
    assert section_keys(body) == ("fix",)
    assert render_body(body, keep_all).html.startswith('<h2 id="big">Big</h2>')


def test_links_know_the_line_they_stand_in() -> None:
    body = parse_body("para\nwith [a](x.md)\n\n- [b](y.md)\n", Language.EN, "roll", first_line=10)
    assert [link.line for link in body.links] == [11, 13]


COLORED = "x = None\n"


def fence(code: str) -> str:
    return f"```python\n{code}```\n\n"


@pytest.mark.parametrize(
    ("code", "colored"),
    [
        (COLORED * 400, True),
        (COLORED * 500, False),
        (COLORED + "#" * 299 + "\n", True),
        (COLORED + "#" * 301 + "\n", False),
    ],
    ids=["short", "long", "short line", "long line"],
)
def test_code_that_takes_long_to_color_stays_plain(code: str, *, colored: bool) -> None:
    """A lexer that tries every place of a line for each of its characters takes minutes for a large one."""
    html = render(fence(code)).html
    assert bool(COLOR.search(html)) == colored
    assert html.count("None") == code.count("None")


COLOR = re.compile(r'<span class="(?!line\b)')
"""What is colored; every line has a span of its own."""


def test_only_so_much_code_of_a_page_is_colored() -> None:
    blocks = render(fence(COLORED * 400) * 6).html.split("</pre>")[:6]
    assert [bool(COLOR.search(block)) for block in blocks] == [True] * 3 + [False] * 3
