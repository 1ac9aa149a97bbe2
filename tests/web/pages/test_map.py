"""The map on the start page: drawn from the stages that the content names, and by no other."""

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path

import httpx
import pytest
from jieda.content.read.gather import load_taxonomies
from jieda.errors import ContentError

from tests.support.small_content import TAXONOMY, edition, write

STAGES = """site:
  stages:
    - {name: {en: Begin, zh: 开始}, topics: [memory]}
    - {name: {en: Go on, zh: 继续}, topics: [rollout]}
"""
OTHER = "  rollout: {name: {en: Rollout, zh: 采样}, description: {en: It., zh: 它。}}\n"
SECOND = """  slime:
    name: {en: slime, zh: slime}
    description: {en: It., zh: 它。}
    homepage: https://example.com/slime
    repository: https://example.com/slime.git
  roll:
"""
LINK = re.compile(r'<a href="([^"]+)">(\d+ [^<]+)</a>')


def test_each_step_leads_to_its_failures_and_guides(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    files = {
        "taxonomy.yaml": TAXONOMY.replace("error_types:", f"{OTHER}error_types:") + STAGES,
        "en/roll/one.md": edition("One", kind="error", topics="[memory]", error_types="[oom]"),
        "en/roll/two.md": edition("Two", kind="error", topics="[memory]"),
        "en/roll/three.md": edition("Three", kind="how-to", topics="[memory]"),
    }
    with serve(write(tmp_path, files)) as client:
        page = client.get("/en/").text
        section = page[page.index('class="map"') :].partition("</section>")[0]
        counts = {text: unescape(address) for address, text in LINK.findall(section)}
        listed = {text: len(re.findall('class="row"', client.get(url).text)) for text, url in counts.items()}
        assert "继续" not in client.get("/zh/").text, "a step without entries"
        for tag in ("topics/memory", "error-types/oom"):
            (up,) = re.findall(r'<a href="/en/#([a-z-]+)"', client.get(f"/en/{tag}").text)
            assert f' id="{up}"' in page
    assert listed == {"2 failures": 2, "1 guide": 1}
    assert re.findall(r"<h3><a [^>]+>([^<]+)", section) == ["Begin"]


def test_what_is_met_at_any_step_follows_the_framework_that_a_reader_works_with(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    files = {
        "taxonomy.yaml": TAXONOMY.replace("error_types:", f"{OTHER}error_types:").replace("  roll:\n", SECOND)
        + STAGES.replace("topics: [rollout]", "topics: [memory]"),
        "en/roll/one.md": edition("One", topics="[memory, rollout]"),
        "en/roll/two.md": edition("Two", topics="[rollout]"),
        "en/slime/three.md": edition("Three", topics="[rollout]"),
        "en/slime/four.md": edition("Four", topics="[memory]"),
    }
    chip = re.compile(r'<a class="chip" href="([^"]+)">Rollout <span class="count">(\d+)</span>')
    with serve(write(tmp_path, files)) as client:
        assert [count for _, count in chip.findall(client.get("/en/").text)] == ["3"]
        for framework, shown in (("roll", "2"), ("slime", "1")):
            client.post("/preferences", data={"framework": framework, "next": "/en/"})
            ((address, count),) = chip.findall(client.get("/en/").text)
            assert count == shown
            assert client.get(unescape(address)).text.count('class="row"') == int(shown)


def test_content_without_stages_has_lists_and_no_map(
    tmp_path: Path, serve: Callable[..., httpx.Client]
) -> None:
    files = {"en/roll/one.md": edition("One", kind="error", topics="[memory]", error_types="[oom]")}
    with serve(write(tmp_path, files)) as client:
        page = client.get("/en/").text
    assert 'class="map"' not in page
    assert 'id="error-types"' in page


LINE = f"{TAXONOMY}site:\n  stages:".count("\n") + 1
"""Where the stages begin."""


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        (
            "[{name: {en: A, zh: 甲},\n    topics: [memory, nonesuch]}]",
            f":{LINE + 1}: `topics` must be one of memory; it is 'nonesuch'",
        ),
        ("[{name: {en: A, zh: 甲}}]", "needs `topics`"),
        ("[{name: {en: A, zh: 甲}, topics: []}]", "`topics` must not be an empty list"),
        ("[{name: {en: A}, topics: [memory]}]", "`en` and `zh`"),
        ("begin", "`stages` must be a list"),
        ("[begin]", "`stages` must be `{name, topics}`"),
    ],
)
def test_a_stage_that_cannot_be_read_is_told(tmp_path: Path, stages: str, told: str) -> None:
    content = write(tmp_path, {"taxonomy.yaml": f"{TAXONOMY}site:\n  stages: {stages}\n"})
    with pytest.raises(ContentError, match=re.escape(told)):
        load_taxonomies((content,))
