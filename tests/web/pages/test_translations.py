"""The two files of UI strings: complete, filled, used, and in the right language."""

import ast
import json
import re
from datetime import date
from itertools import chain
from pathlib import Path

import pytest
from jieda.entry import Language
from jieda.locales.translations import LOCALES, format_day, translate
from jieda.web.templating import TEMPLATES

APP = TEMPLATES.parent.parent
PLURALS = {Language.EN: {"one", "other"}, Language.ZH: {"other"}}
"""The forms that a count takes in each language (CLDR's, without zero)."""
CATALOGS = {lang: json.loads((LOCALES / f"{lang}.json").read_text(encoding="utf-8")) for lang in Language}
HAN = re.compile(r"[\u4e00-\u9fff]")
SAME_IN_BOTH = {"nav.api", "diagnose.placeholder"}
"""Strings without a word of either language."""


def stem(key: str) -> str:
    """A key without its plural form."""
    return re.sub(r"\.(one|other)$", "", key)


def plain(keys: dict[str, str]) -> set[str]:
    """What code asks for."""
    return {stem(key) for key in keys}


@pytest.mark.parametrize("lang", Language)
def test_a_file_is_flat_sorted_and_has_no_key_twice(lang: Language) -> None:
    pairs = json.loads(
        (LOCALES / f"{lang}.json").read_text(encoding="utf-8"), object_pairs_hook=lambda items: items
    )
    keys = [key for key, _ in pairs]
    assert keys == sorted(set(keys))
    assert all(isinstance(text, str) and text.strip() for _, text in pairs), "an empty string"


def test_both_languages_have_the_same_strings() -> None:
    assert plain(CATALOGS[Language.EN]) == plain(CATALOGS[Language.ZH])


@pytest.mark.parametrize("lang", Language)
def test_a_count_has_every_form_of_its_language(lang: Language) -> None:
    forms: dict[str, set[str]] = {}
    for key in CATALOGS[lang]:
        if stem(key) != key:
            forms.setdefault(stem(key), set()).add(key.rpartition(".")[2])
    assert {key: found for key, found in forms.items() if found != PLURALS[lang]} == {}


def test_twins_have_the_same_placeholders() -> None:
    def names(lang: Language) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for key, text in CATALOGS[lang].items():
            found.setdefault(stem(key), set()).update(re.findall(r"\{(\w+)\}", text))
        return found

    assert names(Language.EN) == names(Language.ZH)


def test_each_string_is_in_its_language() -> None:
    english = {key for key, text in CATALOGS[Language.EN].items() if HAN.search(text.replace("解答", ""))}
    assert english == set()
    chinese = {key for key, text in CATALOGS[Language.ZH].items() if not HAN.search(text)}
    formal = {
        key for key in chinese if re.fullmatch(r"[\W\d_]*(\{\w+\}[\W\d_]*)*", CATALOGS[Language.ZH][key])
    }
    assert chinese - formal - SAME_IN_BOTH == {"site.locale"}


def test_chinese_uses_chinese_punctuation() -> None:
    wrong = {
        key: text
        for key, text in CATALOGS[Language.ZH].items()
        if re.search(r"[\u4e00-\u9fff][,;:!?.]|[,;:!?]\s*[\u4e00-\u9fff]", text)
    }
    assert wrong == {}


def strings_in(path: Path) -> set[str]:
    """Every string constant of a module; of an f-string, its start followed by `*`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
            found.add(f"{node.values[0].value!s}*")
    return found


def keys_in(template: Path) -> set[str]:
    """Every key of a template; one that goes on with `~` is the beginning of a family, which ends in `*`."""
    found = re.findall(r"(?<!static\()'([a-z_]+\.[\w.-]*)'( ~)?", template.read_text(encoding="utf-8"))
    return {f"{key}*" if goes_on else key for key, goes_on in found}


def asked_for() -> set[str]:
    """What the code and the templates may ask for; families end in `*`."""
    in_templates = chain.from_iterable(map(keys_in, TEMPLATES.glob("*.*")))
    return set(in_templates).union(*(strings_in(path) for path in APP.rglob("*.py")))


@pytest.mark.slow
def test_no_string_is_unused() -> None:
    asked = asked_for()
    families = tuple(name[:-1] for name in asked if re.fullmatch(r"[a-z_]+\.[a-z_.]*\*", name))
    # A problem's sentence is asked for as its key plus `.detail`, a statement on privacy as its own plus `.gaps`.
    unused = {
        key
        for key in plain(CATALOGS[Language.EN])
        if not {key, re.sub(r"\.(detail|gaps)$", "", key)} & asked and not key.startswith(families)
    }
    assert unused == set()


def test_no_template_asks_for_a_string_that_is_missing() -> None:
    known = plain(CATALOGS[Language.EN])
    missing = {
        (path.name, key)
        for path in TEMPLATES.glob("*.*")
        for key in keys_in(path)
        if not (any(each.startswith(key[:-1]) for each in known) if key.endswith("*") else key in known)
    }
    assert missing == set()


@pytest.mark.slow
def test_no_code_asks_for_a_string_that_is_missing() -> None:
    asked = {
        (path.name, text.value)
        for path in APP.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(call, ast.Call) and re.search(r"(^|\.)(t|translate)$", ast.unparse(call.func))
        for text in chain.from_iterable(map(ast.walk, call.args))
        if isinstance(text, ast.Constant) and re.fullmatch(r"[a-z_]+(\.\w+)+", str(text.value))
    }
    known = plain(CATALOGS[Language.EN])
    known |= {key.removeprefix("importing.") for key in known}  # as the command that imports says it
    assert {key for _, key in asked} > {"nav.home"}
    assert {each for each in asked if each[1] not in known} == set()


def test_no_template_has_words_of_its_own() -> None:
    for path in TEMPLATES.glob("*.html"):
        markup = r"\{[%{#].*?[%}#]\}|<[^>]*>|[a-z-]+=\"[^\"]*\""
        text = re.sub(markup, " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        words = set(re.findall(r"[^\W\d_]{2,}", text)) - {"Jieda", "解答", "jiědá", "llms", "txt"}
        assert words == set(), path.name


def test_counts_and_dates_read_as_in_their_language() -> None:
    assert translate(Language.EN, "search.status", count=1) == "1 result"
    assert translate(Language.EN, "search.status", count=1234) == "1,234 results"
    assert translate(Language.ZH, "search.status", count=1) == "1 条结果"
    assert format_day(Language.EN, date(2026, 3, 5)) == "Mar 5, 2026"
    assert format_day(Language.ZH, date(2026, 3, 5)) == "2026 年 3 月 5 日"


def test_an_unknown_string_is_an_error_rather_than_a_blank() -> None:
    with pytest.raises(KeyError):
        translate(Language.EN, "no.such.string")
