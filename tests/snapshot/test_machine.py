"""What a container is given is what a build may use."""

from pathlib import Path

import pytest
from jieda.helpers import UNKNOWN, free_memory, processors


def shown(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(f"{text}\n")
    return folder


@pytest.mark.parametrize(("given", "expected"), [("50000 100000", 1), ("100000 100000", 1), ("0 0", None)])
def test_a_container_with_less_than_a_processor_has_one(
    tmp_path: Path, given: str, expected: int | None
) -> None:
    everything = processors(tmp_path)
    assert everything >= 1
    assert processors(shown(tmp_path, cpu_max=given)) == (expected or everything)
    assert processors(shown(tmp_path, cpu_max="max 100000")) == everything


def test_free_memory_is_what_the_container_has_left_and_the_machine_too(tmp_path: Path) -> None:
    machine = tmp_path / "meminfo"
    assert free_memory(tmp_path, machine) == UNKNOWN
    machine.write_text("MemTotal:       24000000 kB\nMemAvailable:   2048 kB\n")
    assert free_memory(tmp_path, machine) == 2 << 20
    assert free_memory(shown(tmp_path, memory_max="max", memory_current="5"), machine) == 2 << 20
    assert free_memory(shown(tmp_path, memory_max="1000", memory_current="400"), machine) == 600
    assert free_memory(shown(tmp_path, memory_max="400", memory_current="1000"), machine) == 0
