"""What `jieda check` says about a glossary."""

from pathlib import Path

import pytest
from click.testing import CliRunner
from jieda.analysis.pipeline import Analyzer
from jieda.analysis.token import Analysis, TokenKind
from jieda.cli.main import main

from tests.support.small_content import TAXONOMY, edition, load_checked, write


def complaints(*directories: Path) -> list[str]:
    """The lines that `jieda check` prints about the directories."""
    options = [part for directory in directories for part in ("--content", str(directory))]
    return CliRunner().invoke(main, ["check", *options], prog_name="jieda").stdout.splitlines()


def glossary(folder: Path, text: str, dictionary: str = "") -> Path:
    return write(folder, {"glossary.yaml": text, "dictionary.txt": dictionary})


@pytest.mark.parametrize("again", ["VRAM", "vram", "ＶＲＡＭ", "GPU-memory", "gpu  memory"])
def test_a_word_in_two_groups_is_reported_with_both_lines(tmp_path: Path, again: str) -> None:
    text = f"# memory\n- {{en: [VRAM, 'GPU memory']}}\n- en: [host memory]\n- en:\n    - RAM\n    - {again}\n"
    assert complaints(glossary(tmp_path, text)) == [
        f"glossary.yaml:6: repeated-word: {again!r} is also in the group of line 2;"
        " a word belongs to one group"
    ]


def test_words_of_one_group_may_look_alike(tmp_path: Path) -> None:
    assert complaints(glossary(tmp_path, "- {en: [fine-tune, 'fine tune']}\n")) == []


def test_a_team_adds_to_a_shipped_group_by_naming_a_word_of_it(tmp_path: Path) -> None:
    shipped = glossary(tmp_path / "shipped", "- {en: [VRAM, GPU memory]}\n")
    team = glossary(tmp_path / "team", "- {en: [VRAM, board memory]}\n")
    assert complaints(shipped, team) == []


def test_a_short_chinese_word_of_the_glossary_is_kept_whole_without_being_listed(tmp_path: Path) -> None:
    text = "- {en: [hang], zh: [超时]}\n- {en: [collapse], zh: [训崩, 训练崩了吗呢, GPU 训崩]}\n"
    library = load_checked(glossary(tmp_path, text, dictionary="超时 7\n"))
    assert not library.problems
    assert library.dictionary == ("超时 7", "训崩")
    assert "训崩" in texts(Analyzer(library.dictionary).analyze("又训崩了"))
    assert "训崩" not in texts(Analyzer().analyze("又训崩了"))


def texts(analysis: Analysis) -> set[str]:
    """What is a word of its own in a text."""
    return {token.text for token in analysis.tokens if token.kind is TokenKind.TERM}


def test_a_group_that_finds_nothing_is_noted_when_asked_for_and_is_nothing_wrong(tmp_path: Path) -> None:
    groups = "- {en: [hang, stuck]}\n- en: [sandbox]\n  zh: [训崩]\n- {en: [latency, training]}\n"
    entry = edition("Training hangs", "## Answer\n\nPass `--timeout`.\n")
    folder = write(tmp_path, {"glossary.yaml": groups, "en/roll/one.md": entry})
    checked = CliRunner().invoke(main, ["check", "--search", "--content", str(folder)], prog_name="jieda")
    assert checked.stdout.splitlines() == [
        "glossary.yaml:2: note: unanswered: no search for sandbox, 训崩 finds anything yet",
    ]
    quiet = glossary(tmp_path / "other", "- {en: [sandbox]}\n")
    noted = CliRunner().invoke(main, ["check", "--search", "--content", str(quiet)], prog_name="jieda")
    assert (noted.exit_code, len(noted.stdout.splitlines())) == (0, 1)
    assert complaints(quiet) == []


def test_a_sample_that_is_not_diagnosed_as_its_entry_is_noted(tmp_path: Path) -> None:
    known = edition("Lost", "## Fix\n\nDo it.\n", kind="error", signatures="['LostError: gone']")
    files = {
        "en/roll/lost.md": known,
        "samples/roll/lost/right.log": "LostError: gone\n",
        "samples/roll/lost/wrong.log": "step 12 done\n",
    }
    folder = write(tmp_path, files)
    checked = CliRunner().invoke(main, ["check", "--search", "--content", str(folder)], prog_name="jieda")
    noted = [line for line in checked.stdout.splitlines() if "undiagnosed" in line]
    assert noted == [
        "samples/roll/lost/wrong.log:1: note: undiagnosed: in a diagnosis, this log is not explained by any entry"
    ]


def test_a_sample_that_fits_two_frameworks_is_diagnosed_for_a_reader_of_its_own(tmp_path: Path) -> None:
    either = "[{all: ['LostError: gone'], confidence: likely}]"
    entry = edition("Lost", "## Fix\n\nDo it.\n", kind="error", signatures=either)
    roll = TAXONOMY[TAXONOMY.index("  roll:") : TAXONOMY.index("kinds:")]
    files = {
        "taxonomy.yaml": TAXONOMY.replace(roll, roll + roll.replace("roll", "slime").replace("ROLL", "slime"))
    }
    for name in ("roll", "slime"):
        files |= {f"en/{name}/lost.md": entry, f"samples/{name}/lost/one.log": "LostError: gone\n"}
    folder = write(tmp_path, files)
    checked = CliRunner().invoke(main, ["check", "--search", "--content", str(folder)], prog_name="jieda")
    assert [line for line in checked.stdout.splitlines() if "undiagnosed" in line] == []


def test_a_log_that_is_exact_for_another_entry_and_own_words_that_lead_elsewhere_are_noted(
    tmp_path: Path,
) -> None:
    one = edition(
        "Lost",
        "## Fix\n\nDo it.\n",
        kind="error",
        signatures="['LostError: gone']",
        aliases="[all of it gone]",
    )
    other = edition(
        "Away",
        "## Fix\n\nFind it.\n",
        kind="error",
        signatures="['AwayError: {word}']",
        aliases="[all of it gone]",
    )
    files = {
        "en/roll/lost.md": one,
        "en/roll/away.md": other,
        "samples/roll/lost/right.log": "LostError: gone\n",
        "samples/roll/away/right.log": "AwayError: further\n",
        "background/theirs.log": "LostError: gone\n",
    }
    folder = write(tmp_path, files)
    checked = CliRunner().invoke(main, ["check", "--search", "--content", str(folder)], prog_name="jieda")
    noted = {line.partition(": note: ")[2] for line in checked.stdout.splitlines()}
    assert "two-exact: in a diagnosis, this log that no entry explains is exact for roll/lost" in noted
    assert sum(line == "own-words: 'all of it gone' is not answered by this entry" for line in noted) == 1
