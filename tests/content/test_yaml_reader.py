"""What is read of YAML, and what is refused with the right line."""

import pytest
from jieda.content.read.yaml_reader import Items, Scalar, YamlError, read_fields, read_items


def test_values_keep_their_text_and_their_line() -> None:
    fields = read_fields("title: 'it''s'\n# a\u2028b\ntopics: [on, 2024]\n", first_line=2)
    title, topics = fields.values["title"], fields.values["topics"]
    assert isinstance(title, Scalar)
    assert isinstance(topics, Items)
    assert (title.text, title.line) == ("it's", 2)
    assert [item.text for item in topics.items if isinstance(item, Scalar)] == ["on", "2024"]
    assert fields.key_lines == {"title": 2, "topics": 4}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("on", "switch"),
        ("No", "switch"),
        ("2024", "number"),
        ("1e3", "number"),
        ("0x1f", "number"),
        ("017", "number"),
        ("12:30", "number"),
        (".nan", "number"),
        ("2026-01-31", "date"),
        ("~", "nothing"),
        ("", "nothing"),
        ("core_r0.8.0", "text"),
        ("3.10.1", "text"),
        ("'2024'", "text"),
        ('"on"', "text"),
        ("8 GPUs", "text"),
    ],
)
def test_it_is_known_what_other_readers_would_make_of_a_bare_value(text: str, kind: str) -> None:
    value = read_fields(f"key: {text}").values["key"]
    assert isinstance(value, Scalar)
    assert value.looks_like == kind


LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "twice, first in line 1"),
        ("a: {b: 1, b: 2}", 1, "twice"),
        (LAUGHS, 2, "aliases such as *a"),
        ("a: &x [*x]", 1, "aliases"),
        ("a: 1\nb: !!python/object/apply:os.system [x]", 2, "tags such as"),
        ("a: 1\nb: [1,\nc: 2", 3, ""),
        ("a: b: c", 1, ""),
        ("a: " + "[" * 50_000, 1, "deep"),
        ("- 1\n- 2", 1, "`key: value`"),
        ("a: 1\n---\nb: 2", 2, "one document"),
        ("? [x, y]\n: z", 1, "a key must be"),
        ("a: \x07", 1, "control characters"),
    ],
)
def test_more_than_plain_yaml_is_refused_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(YamlError) as caught:
        read_fields(text)
    assert caught.value.line == line
    assert words in caught.value.message


def test_an_empty_text_is_an_empty_mapping_or_list() -> None:
    assert read_fields("# nothing\n").values == {}
    assert read_items("").items == ()
