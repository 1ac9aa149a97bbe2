"""What the confidence words mean (docs/content-format.md), on entries made for the purpose."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from app.diagnosis.diagnose import Diagnoser
from app.entry import Language
from app.knowledge import Snapshot
from app.search.answers import Diagnosis
from tests.diagnosis.conftest import open_snapshot
from tests.support import small_content

Make = Callable[[Mapping[str, str]], Diagnoser]

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
OOM_SIGNATURE = "signatures: ['CUDA out of memory. Tried to allocate {size}']"


def found(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(match.entry.slug, match.confidence.value) for match in diagnosis.matches]


def diagnose(diagnoser: Diagnoser, log: str, framework: str = "") -> list[tuple[str, str]]:
    return found(diagnoser.diagnose(log, Language.EN, framework))


def test_a_specific_signature_of_one_entry_is_exact(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator {int} < widgets {int}']"})
    assert diagnose(diagnoser, "AssertionError: frobnicator 3 < widgets 8") == [("one", "exact")]


def test_a_signature_that_two_entries_share_is_likely(diagnoser_of: Make) -> None:
    shared = "signatures: ['frobnicator {int} < widgets {int}']"
    diagnoser = diagnoser_of({"roll/one": shared, "roll/two": shared})
    assert diagnose(diagnoser, "AssertionError: frobnicator 3 < widgets 8") == [
        ("one", "likely"),
        ("two", "likely"),
    ]


def test_the_longer_of_two_signatures_on_one_line_is_not_shared(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of(
        {
            "roll/any": "signatures: ['frobnicator overheated']",
            "roll/this": "signatures: ['frobnicator overheated in the left engine room']",
        }
    )
    log = "RuntimeError: frobnicator overheated in the left engine room"
    assert diagnose(diagnoser, log) == [("this", "exact"), ("any", "likely")]


def test_what_any_pytorch_program_prints_is_likely(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE})
    assert diagnose(diagnoser, OOM) == [("oom", "likely")]


@pytest.mark.parametrize(
    "frames",
    [
        '  File "/opt/conda/lib/python3.10/site-packages/trl/trainer/grpo_trainer.py", line 1020, in compute_loss\n',
        '  File "/root/verl/verl/workers/fsdp_workers.py", line 404, in update_actor\n',
        '  File "train.py", line 88, in <module>\n',
        '  File "/usr/lib/python3.12/dist-packages/vllm/v1/engine/core.py", line 506, in run_engine_core\n',
    ],
    ids=["another library", "another framework", "somebody's script", "an engine the entry never mentions"],
)
def test_what_any_program_prints_is_possible_from_another_one(frames: str, diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE})
    assert diagnose(diagnoser, frames + OOM) == [("oom", "possible")]


@pytest.mark.parametrize(
    "frames",
    [
        '  File "/workspace/ROLL/roll/pipeline/base_worker.py", line 74, in train_step\n',
        '  File "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", line 116, in forward\n',
    ],
    ids=["its own framework", "nobody's"],
)
def test_what_any_program_prints_stays_likely_from_its_own(frames: str, diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE})
    assert diagnose(diagnoser, frames + OOM) == [("oom", "likely")]


@pytest.mark.parametrize(
    "log",
    [
        f'  File "/home/li/splat/render.py", line 88, in <module>\n{OOM}',
        f'  File "/opt/conda/lib/python3.10/site-packages/diffusers/loaders/lora.py", line 3, in load\n{OOM}',
        f'  File "/usr/lib/python3.12/dist-packages/vllm/entrypoints/openai/api_server.py", line 9, in run\n{OOM}',
        f'  File "/usr/lib/python3.12/dist-packages/ray/serve/_private/replica.py", line 9, in call\n{OOM}',
        f"我的 gradio 页面 {OOM}",
        f"Stable Diffusion 画大图 {OOM}",
    ],
    ids=[
        "somebody's script",
        "a program we know",
        "an engine that serves",
        "a library of Ray's",
        "prose",
        "model",
    ],
)
def test_what_any_program_prints_is_nothing_where_no_language_model_is_trained(
    log: str, diagnoser_of: Make
) -> None:
    assert diagnose(diagnoser_of({"roll/oom": OOM_SIGNATURE}), log) == []


def test_a_tool_that_a_training_uses_sets_it_not_apart(diagnoser_of: Make) -> None:
    frames = [
        '  File "/data/qwen/train_fsdp.py", line 88, in <module>\n',
        '  File "/data/qwen/prepare.py", line 8, in load\n',
        '  File "/opt/conda/lib/python3.10/site-packages/pandas/core/frame.py", line 3, in map\n',
    ]
    assert diagnose(diagnoser_of({"roll/oom": OOM_SIGNATURE}), "".join(frames) + OOM) == [("oom", "possible")]


@pytest.mark.parametrize(
    ("framework", "frame"),
    [
        ("diffusers", "/opt/conda/lib/python3.10/site-packages/diffusers/models/unet.py"),
        ("vllm", "/opt/conda/lib/python3.10/site-packages/vllm/entrypoints/openai/api_server.py"),
    ],
)
def test_a_program_that_a_team_writes_about_is_its_own(framework: str, frame: str, tmp_path: Path) -> None:
    tag = f"  {framework}: {{name: {{en: Own, zh: 自有}}, description: {{en: Ours., zh: 我们的。}}}}\nkinds:"
    files = {
        "taxonomy.yaml": small_content.TAXONOMY.replace("kinds:", tag),
        f"en/{framework}/oom.md": small_content.edition(
            "It", "## Fix\n\nDo it.\n", kind="error", signatures=OOM_SIGNATURE.partition(": ")[2]
        ),
    }
    content = small_content.write(tmp_path / "content", files)
    diagnoser = open_snapshot(tmp_path / "data", content).diagnoser
    assert diagnose(diagnoser, f'  File "{frame}", line 3, in forward\n{OOM}') == [("oom", "likely")]


@pytest.mark.parametrize(
    "frame", ["/opt/diffusers/train.py", "/root/verl/verl/trainer/main_ppo.py", "bench.py"]
)
def test_a_broken_machine_is_likely_whoever_finds_it(frame: str, diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/ecc": "signatures: ['CUDA error: uncorrectable ECC error']"})
    log = f'  File "{frame}", line 4, in f\nRuntimeError: CUDA error: uncorrectable ECC error encountered'
    assert diagnose(diagnoser, log) == [("ecc", "likely")]


def test_a_name_before_a_line_belongs_to_the_log(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: [{all: ['port is taken', 'FrobEngine']}]"})
    log = "(FrobEngine pid=31, ip=10.0.0.2) started\n(FrobEngine pid=32, ip=10.0.0.2) port is taken"
    assert diagnose(diagnoser, log) == [("one", "exact")]
    assert diagnose(diagnoser, log.replace("FrobEngine", "Frobber")) == []


OVERHEATED = """\
signatures: ['lower --frob-heat-limit, the engine room overheats', 'AssertionError: frob_pressure > {int}']
symptoms: ['The frobnicator overheats']
"""


def test_an_option_in_another_message_proves_nothing(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": OVERHEATED})
    assert diagnose(diagnoser, "ValueError: nothing to melt; try to raise --frob-heat-limit") == []
    assert diagnose(diagnoser, "lower --frob-heat-limit, the engine room overheats") == [("one", "exact")]


def test_a_name_in_the_message_of_another_exception_proves_nothing(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": OVERHEATED})
    assert diagnose(diagnoser, "KeyError: 'frob_pressure'") == []
    assert diagnose(diagnoser, "AssertionError: frob_pressure is gone") == [("one", "possible")]


def test_an_explanation_does_not_dilute_what_happened(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": OVERHEATED})
    rest = "Whoever fills the tank on Sundays should mind that evening trains carry less water than usual."
    assert diagnose(diagnoser, f"AssertionError: frob_pressure is gone. {rest}") == [("one", "possible")]


def test_frames_of_another_framework_do_not_weaken_a_specific_signature(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator {int} < widgets {int}']"})
    log = '  File "/root/verl/verl/workers/x.py", line 4, in f\nAssertionError: frobnicator 3 < widgets 8'
    assert diagnose(diagnoser, log) == [("one", "exact")]


def test_every_line_of_all_must_be_there(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: [{all: ['self.frobs[widget]', 'KeyError: {int}']}]"})
    assert diagnose(diagnoser, "    return self.frobs[widget]\nKeyError: 3") == [("one", "exact")]
    assert diagnose(diagnoser, "    return other[1]\nKeyError: 3") == []


def test_any_lines_raise_confidence(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['CUDA out of memory. Tried to allocate {size}'], any: ['frob_worker.py']}]"
    diagnoser = diagnoser_of({"roll/oom": front})
    assert diagnose(diagnoser, OOM) == [("oom", "likely")]
    assert diagnose(diagnoser, f'  File "frob_worker.py", line 3, in f\n{OOM}')[0][0] == "oom"
    assert diagnose(diagnoser, f"see frob_worker.py\n{OOM}") == [("oom", "exact")]


def test_a_symptom_is_likely_at_most(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/hang": "symptoms: ['The frobnicator hangs without any message']"})
    assert diagnose(diagnoser, "The frobnicator hangs without any message") == [("hang", "likely")]


def test_the_framework_named_by_the_owner_comes_first(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE})
    log = f'  File "train.py", line 88, in <module>\n{OOM}'
    assert diagnose(diagnoser, log) == [("oom", "possible")]
    assert diagnose(diagnoser, log, framework="roll") == [("oom", "likely")]


def test_quotes_and_widths_may_differ(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": """signatures: ["frob {{'GPU': 1.0}} is pending"]"""})
    for log in (
        'frob {"GPU": 1.0} is pending',
        "frob {‘GPU’: 1.0} is pending",
        "ｆｒｏｂ {'GPU'： 1.0} is pending",
    ):
        assert diagnose(diagnoser, log) == [("one", "exact")], log


def test_a_message_wrapped_by_the_terminal_is_found(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator overheated in the left engine room']"})
    assert diagnose(diagnoser, "it says frobnicator over\nheated in the left engine room") == [
        ("one", "exact")
    ]
    assert diagnose(diagnoser, "it says frobnicator overheated in\n    the left engine room") == [
        ("one", "exact")
    ]


def test_a_broken_signature_takes_no_other_down(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frob {nonsense}', 'frobnicator overheated']"})
    assert diagnose(diagnoser, "frobnicator overheated") == [("one", "exact")]


def test_drafts_are_never_an_answer(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "draft: true\nsignatures: ['frobnicator overheated']"})
    assert diagnose(diagnoser, "RuntimeError: frobnicator overheated") == []


def test_at_most_five_entries_are_answered(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({f"roll/e{n}": "signatures: ['frobnicator overheated']" for n in range(9)})
    assert len(diagnose(diagnoser, "RuntimeError: frobnicator overheated")) == 5


@pytest.mark.parametrize(
    "line",
    [
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.20 GiB.",
        "RuntimeError: NPU out of memory. Tried to allocate 2.32 GiB (NPU 0; 60.97 GiB total capacity)",
        "RuntimeError: CUDA error: out of memory",
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total capacity)",
    ],
)
def test_memory_runs_out_on_every_device_alike(line: str, shipped: Snapshot) -> None:
    answers = found(shipped.diagnoser.diagnose(line, Language.EN))
    assert sorted(answers) == [("cuda-oom-fsdp", "likely"), ("oom-max-tokens-per-gpu", "likely")]


def test_a_metric_that_is_no_number_is_told_with_or_without_its_group(shipped: Snapshot) -> None:
    for line, confidence in (
        ("{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.16}", "likely"),
        ('{"loss": 0.0, "grad_norm": inf, "epoch": 0.16}', "likely"),
        ("{'train/loss': 0.0, 'train/grad_norm': nan, 'train/step': 3}", "exact"),
    ):
        assert found(shipped.diagnoser.diagnose(line, Language.EN)) == [("grad-nan-inf", confidence)]
