"""What the content says about itself: merged over content directories, and strict."""

from pathlib import Path

import pytest
from jieda.content.read.shared_files import read_site
from jieda.errors import ContentError

SHIPPED = """site:
  name: {en: Answers, zh: 解答}
  tagline: {en: of ours, zh: 我们的}
  examples: {en: [why], zh: [为什么]}
"""


def test_a_later_directory_replaces_single_texts() -> None:
    team = "site:\n  name: {en: Ops, zh: 运维}\n"
    site = read_site([(Path("a/taxonomy.yaml"), SHIPPED), (Path("b/taxonomy.yaml"), team)], ())
    assert site.name == {"en": "Ops", "zh": "运维"}
    assert site.tagline == {"en": "of ours", "zh": "我们的"}
    assert site.examples["zh"] == ("为什么",)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("  titel: {en: a, zh: b}", "`titel` is not one of name, tagline, lead, summary, paste, examples"),
        ("  name: {en: a}", "`name` must be one value, or have `en` and `zh`"),
        ("  lead: {en: '{number} answers', zh: 答案}", r"\{number\} is not one of \{count\}, \{frameworks\}"),
        ("  examples: {en: why, zh: [为什么]}", "`examples` must be a list"),
    ],
)
def test_a_mistake_is_told_with_its_line(block: str, message: str) -> None:
    with pytest.raises(ContentError, match=rf"taxonomy\.yaml:2: .*{message}"):
        read_site([(Path("taxonomy.yaml"), f"site:\n{block}\n")], ())
