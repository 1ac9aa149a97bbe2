"""Which files are read, in which language, and markup other than Markdown."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from jieda.entry import Language
from jieda.errors import ImportingError
from jieda.importing import restructured, sources
from jieda.importing.page import PagePair, read_page
from jieda.importing.questions import find_questions
from jieda.importing.sources import ImportSources, page_files, page_keys, read_pair

from tests.support import small_content
from tests.support.command import jieda

RST = """\
FAQ
###

.. contents::

How do I *resume*?
==================

Set ``--load``, see `the guide <https://example.com/guide>`_ and :doc:`/usage`::

    train --load

.. note::

   Needs :func:`app.save`.

.. _slow-start:

Why is it slow?
===============

1. Because of the disk.
2. Because of the net.

.. code-block:: text
   :linenos:

   while <p>:
       waiting

"""
PO = """\
msgid ""
msgstr "Content-Type: text/plain; charset=CHARSET\\n"

msgid "How do I *resume*?"
msgstr "怎么续训？"

msgid "Because of the disk."
msgstr "磁盘慢。"

#, fuzzy
msgid "Because of the net."
msgstr "不确定"

msgid "Why is it slow?"
msgstr "为什么慢？"
"""


def read(given: ImportSources) -> list[PagePair]:
    pages = page_files(given)
    return [read_pair(files, key, given) for files, key in zip(pages, page_keys(pages), strict=True)]


def titles(pair: PagePair, lang: Language) -> list[tuple[str, int]]:
    page = pair.pages[lang]
    return [(each.title, page.line_of(each.first) + 1) for each in find_questions(page)]


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_DOT_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_restructured_text_becomes_markdown_with_the_lines_it_came_from(tmp_path: Path) -> None:
    path = write(tmp_path, faq_DOT_rst=RST) / "faq.rst"
    pair = read(ImportSources({Language.EN: path}, (), {}))[0]
    assert titles(pair, Language.EN) == [("How do I *resume*?", 6), ("Why is it slow?", 19)]
    text = pair.pages[Language.EN].text
    assert "Set `--load`, see [the guide](https://example.com/guide) and usage:" in text
    assert "```\ntrain --load\n```" in text
    assert "> **Note**\n>\n> Needs `app.save`." in text
    assert "1. Because of the disk." in text
    assert "```text\nwhile <p>:\n    waiting\n```" in text


@pytest.mark.parametrize("source", ["faq.rst", "faq.md"])
def test_a_catalogue_translates_its_page_but_not_what_is_fuzzy(tmp_path: Path, source: str) -> None:
    markdown = (
        "# FAQ\n\n## How do I *resume*?\n\nYes.\n\n"
        "## Why is it slow?\n\n- Because of\n  the disk.\n- Because of the net.\n"
    )
    path = tmp_path / source
    path.write_text(RST if source.endswith("rst") else markdown, encoding="utf-8")
    catalogue = tmp_path / "faq.po"
    catalogue.write_text(PO, encoding="utf-8")
    pair = read(ImportSources({Language.EN: path, Language.ZH: catalogue}, (), {}))[0]
    assert [title for title, _ in titles(pair, Language.ZH)] == ["怎么续训？", "为什么慢？"]
    assert "磁盘慢。" in pair.pages[Language.ZH].text
    assert "Because of the net." in pair.pages[Language.ZH].text
    assert len(titles(pair, Language.EN)) == 2


def test_a_catalogue_alone_makes_both_pages(tmp_path: Path) -> None:
    path = write(tmp_path, faq_DOT_po=PO) / "faq.po"
    pair = read(ImportSources({}, (path,), {}))[0]
    assert [title for title, _ in titles(pair, Language.EN)] == ["How do I *resume*?", "Why is it slow?"]
    assert [title for title, _ in titles(pair, Language.ZH)] == ["怎么续训？", "为什么慢？"]


def test_two_directories_are_matched_by_place_and_addresses_completed(tmp_path: Path) -> None:
    page, seite = "# FAQ\n\n## Why?\n\nSo.\n", "# 常见问题\n\n## 为什么？\n\n因为。\n"
    write(tmp_path, en__use__faq_DOT_md=page, en__faq_DOT_mdx=page, zh__use__faq_DOT_md=seite)
    given = ImportSources(
        {Language.EN: tmp_path / "en", Language.ZH: tmp_path / "zh"},
        (),
        {Language.EN: "https://example.com/x/"},
    )
    pairs = read(given)
    assert [(pair.key, sorted(pair.pages)) for pair in pairs] == [
        (f"{tmp_path.name}/en/faq.mdx", ["en"]),
        ("en/use/faq.md", ["en", "zh"]),
    ]
    assert pairs[1].addresses == {Language.EN: "https://example.com/x/use/faq.md"}


def test_the_language_is_told_by_name_place_or_text(tmp_path: Path) -> None:
    write(
        tmp_path,
        **{
            "a.zh-CN.md": "# Only names: DDP FSDP",
            "a.md": "# Names",
            "zh__b.md": "# b",
            "en__b.md": "# b",
            "c.md": "# 为什么？",
        },
    )
    pairs = read(ImportSources({}, (tmp_path,), {}))
    assert [sorted(pair.pages) for pair in pairs] == [["en", "zh"], ["en", "zh"], ["zh"]]


def test_what_is_no_page_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, page_DOT_docx="x") / "page.docx"
    with pytest.raises(ImportingError, match="is no page; the name of one ends in"):
        page_files(ImportSources({}, (path,), {}))
    with pytest.raises(ImportingError, match="no pages"):
        page_files(ImportSources({}, (tmp_path,), {}))


def test_only_pages_of_the_team_count_however_their_names_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, **{"node_modules__a.md": "# a", ".tox__b.md": "# b"})
    write(tmp_path, FAQ_DOT_MD="# Postgres", **{"Docs.HTML": "<h1>Redis</h1>"})
    monkeypatch.setattr(sources, "MAX_FILES", 2)
    pages = [page for pair in read(ImportSources({}, (tmp_path,), {})) for page in pair.pages.values()]
    assert [page.title for page in pages] == ["Redis", "Postgres"]


def test_a_date_in_front_matter_is_the_day_of_the_page(tmp_path: Path) -> None:
    path = write(tmp_path, page_DOT_md="---\ntitle: Help\nlast_updated: 2025-03-04\n---\n# FAQ\n") / "page.md"
    page = read_page(path)
    assert (page.title, page.updated.isoformat(), page.dated) == ("Help", "2025-03-04", True)


@pytest.mark.parametrize(
    "front",
    [
        '+++\ntitle = "Help"\ndate = 2025-03-04T08:00:00Z\ntags = ["a"]\n+++\n',
        "---\ntitle: Help\nlast_update:\n  date: 2025-03-04\n  author: me\n---\n",
    ],
    ids=["Hugo", "Docusaurus"],
)
def test_front_matter_of_site_generators_is_read(front: str, tmp_path: Path) -> None:
    page = read_page(write(tmp_path, page_DOT_md=f"{front}\nText.\n") / "page.md")
    assert (page.title, page.updated.isoformat(), page.dated) == ("Help", "2025-03-04", True)
    assert page.text.strip() == "Text."


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# How do I start?\n\nRun.\n", "How do I start?"),
        ("# How do I start?\n\nRun.\n\n# How do I stop?\n\nKill.\n", "a"),
        ("# [FAQ](https://example.com)\n\n# How do I stop?\n\nKill.\n", "FAQ"),
    ],
)
def test_the_title_of_a_page_is_plain_and_not_one_of_its_questions(
    text: str, title: str, tmp_path: Path
) -> None:
    (tmp_path / "a.md").write_text(text, encoding="utf-8")
    assert read_page(tmp_path / "a.md").title == title


def test_a_page_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    deep = "".join(f"{'  ' * depth}- item\n\n" for depth in range(300))
    with pytest.raises(ImportingError, match=r"deep\.rst: it is nested too deeply"):
        read(ImportSources({}, (write(tmp_path, deep_DOT_rst=deep) / "deep.rst",), {}))


def test_a_table_without_rows_is_no_obstacle(tmp_path: Path) -> None:
    page = read_page(write(tmp_path, faq_DOT_rst=f"Why?\n====\n\n+{'-' * 9}+\n\nSo.\n") / "faq.rst")
    assert page.lines[0] == "# Why?"
    assert "So." in page.lines


@contextmanager
def imported_without(library: str, module: ModuleType) -> Iterator[None]:
    """The module as it is where the library is not installed."""
    before = vars(module).copy()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            importlib.reload(module)
        yield
    finally:
        vars(module).update(before)


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    write(tmp_path, faq_DOT_rst=RST, faq_DOT_po=PO)
    given = ("--framework", "roll", "--content", small_content.write(tmp_path / "content", {}))
    with imported_without("docutils", restructured), imported_without("babel.messages", sources):
        for name, library in (("faq.rst", "docutils"), ("faq.po", "babel")):
            run = jieda("import", tmp_path / name, *given)
            assert (run.returncode, run.stdout) == (2, "")
            assert f"pip install {library}, in a checkout: make install\n" in run.stderr
