"""What the confidence words mean (docs/diagnosis.md), on entries made for the purpose."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from jieda.diagnosis.answers import Diagnosis
from jieda.diagnosis.diagnose import Diagnoser
from jieda.entry import Language
from jieda.snapshot.snapshot import Analyzers, Snapshot

from tests.support import small_content
from tests.support.shipped import open_snapshot

Make = Callable[[Mapping[str, str]], Diagnoser]

OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
OOM_SIGNATURE = "signatures: ['CUDA out of memory. Tried to allocate {size}']"


def found(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(match.entry.slug, match.confidence.value) for match in diagnosis.matches]


def only_near(diagnoser: Diagnoser, log: str, framework: str = "") -> list[str]:
    """The entries that are near a log that none explains."""
    answer = diagnoser.diagnose(log, Language.EN, framework)
    assert (answer.verdict, answer.matches, answer.asks) == ("near", (), ())
    return [near.entry.id for near in answer.near]


def diagnose(diagnoser: Diagnoser, log: str, framework: str = "") -> list[tuple[str, str]]:
    return found(diagnoser.diagnose(log, Language.EN, framework))


def test_a_specific_signature_of_one_entry_is_exact(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator {int} < widgets {int}']"})
    assert diagnose(diagnoser, "AssertionError: frobnicator 3 < widgets 8") == [("one", "exact")]


def test_a_signature_that_two_entries_share_is_likely_at_most(diagnoser_of: Make) -> None:
    shared = "signatures: ['frobnicator {int} < widgets {int}']"
    diagnoser = diagnoser_of({"roll/one": shared, "roll/two": shared})
    answers = diagnose(diagnoser, "AssertionError: frobnicator 3 < widgets 8")
    assert {slug for slug, _ in answers} == {"one", "two"}
    assert {confidence for _, confidence in answers} <= {"likely", "possible"}


def test_the_longer_of_two_signatures_on_one_line_is_not_shared(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of(
        {
            "roll/any": "signatures: ['frobnicator overheated']",
            "roll/this": "signatures: ['frobnicator overheated in the left engine room']",
        }
    )
    log = "RuntimeError: frobnicator overheated in the left engine room"
    assert diagnose(diagnoser, log)[0] == ("this", "exact")


def test_what_any_pytorch_program_prints_is_near_at_most(diagnoser_of: Make) -> None:
    """Whose frame it has or is said to have changes nothing."""
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE})
    ours = f'  File "/w/ROLL/roll/x.py", line 4, in f\n{OOM}'
    assert [only_near(diagnoser, log) for log in (OOM, ours)] == [["roll/oom"], ["roll/oom"]]
    assert only_near(diagnoser, OOM, "roll") == ["roll/oom"]


def test_what_an_author_says_other_programs_print_is_likely_at_most(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['frobnicator {int} < widgets {int}'], confidence: likely}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = "AssertionError: frobnicator 3 < widgets 8"
    assert diagnose(diagnoser, log) in ([("one", "likely")], [("one", "possible")])
    assert only_near(diagnoser, f'  File "/root/verl/verl/x.py", line 4, in f\n{log}') == ["roll/one"]


def test_lines_that_must_stand_near_each_other_do_so(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['frobnicator {int} <', 'widgets overheated'], near: 3}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = "frobnicator 3 < 4\n{}widgets overheated"
    assert diagnose(diagnoser, log.format("")) == [("one", "exact")]
    between = "".join(f"still turning {number}\n" for number in range(30))
    assert ("one", "exact") not in diagnose(diagnoser, log.format(between))
    traceback = "Traceback (most recent call last):\n{}ValueError: widgets overheated"
    frames = "".join(
        f'  File "/w/ROLL/roll/x.py", line {number}, in f{number}\n    frobnicator 1 < 2\n'
        for number in range(9)
    )
    assert diagnose(diagnoser, traceback.format(frames)) == [("one", "exact")]


def test_a_number_must_be_as_large_as_a_signature_asks(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frob pressure: {num>1000}']"})
    for value, right in (("1000.5", True), ("3.2e+04", True), ("999", False), ("nan", False), ("inf", False)):
        found_it = ("one", "exact") in diagnose(diagnoser, f"RuntimeError: frob pressure: {value}")
        assert found_it == right, value


def test_shapes_must_differ_where_a_signature_asks(diagnoser_of: Make) -> None:
    line = "size mismatch for frob.weight: {shape} in the file, {shape} in the model"
    front = f"signatures: [{{all: ['{line}'], shapes: {{first: differ, rest: equal}}}}]"
    braces = "signatures: [{all: ['widget {{shape}} is {shape}'], shapes: {rest: differ}}]"
    diagnoser = diagnoser_of({"roll/one": front, "roll/two": braces})
    assert diagnose(diagnoser, "widget {shape} is [64, 8]") == [("two", "exact")]
    log = "RuntimeError: size mismatch for frob.weight: torch.Size([{}]) in the file, torch.Size([{}]) in the model"
    for one, other, right in (("64, 8", "32, 8", True), ("64, 8", "32, 4", False), ("64, 8", "64, 8", False)):
        assert (("one", "exact") in diagnose(diagnoser, log.format(one, other))) == right, (one, other)


@pytest.mark.parametrize(
    "frames",
    [
        '  File "/opt/conda/lib/python3.10/site-packages/trl/trainer/grpo_trainer.py", line 1020, in compute_loss\n',
        '  File "/root/verl/verl/workers/fsdp_workers.py", line 404, in update_actor\n',
        '  File "train.py", line 88, in <module>\n',
        '  File "/opt/conda/lib/python3.10/site-packages/diffusers/loaders/lora.py", line 3, in load\n',
        '  File "/usr/lib/python3.12/dist-packages/vllm/entrypoints/openai/api_server.py", line 9, in run\n',
    ],
    ids=[
        "another library",
        "another framework",
        "somebody's script",
        "a program of another kind",
        "a server",
    ],
)
def test_what_any_program_prints_is_near_at_most_from_another_one(frames: str, diagnoser_of: Make) -> None:
    assert only_near(diagnoser_of({"roll/oom": OOM_SIGNATURE}), frames + OOM) == ["roll/oom"]


def test_the_framework_of_the_frames_speaks_for_its_entries(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/oom": OOM_SIGNATURE, "slime/oom": OOM_SIGNATURE})
    frame = '  File "/workspace/ROLL/roll/pipeline/base_worker.py", line 74, in train_step\n'
    assert only_near(diagnoser, frame + OOM) == ["roll/oom", "slime/oom"]
    assert only_near(diagnoser, frame.replace("ROLL/roll", "slime/slime") + OOM) == ["slime/oom", "roll/oom"]


@pytest.mark.parametrize(
    ("framework", "frame"),
    [
        ("diffusers", "/opt/conda/lib/python3.10/site-packages/diffusers/models/unet.py"),
        ("vllm", "/opt/conda/lib/python3.10/site-packages/vllm/entrypoints/openai/api_server.py"),
    ],
)
def test_a_program_that_a_team_writes_about_is_its_own(
    framework: str, frame: str, tmp_path: Path, analyzers: Analyzers
) -> None:
    tag = f"  {framework}: {{name: {{en: Own, zh: 自有}}, description: {{en: Ours., zh: 我们的。}}}}\nkinds:"
    files = {
        "taxonomy.yaml": small_content.TAXONOMY.replace("kinds:", tag),
        f"en/{framework}/oom.md": small_content.edition(
            "It", "## Fix\n\nDo it.\n", kind="error", signatures=OOM_SIGNATURE.partition(": ")[2]
        ),
    }
    content = small_content.write(tmp_path / "content", files)
    diagnoser = open_snapshot(tmp_path / "data", analyzers, content).diagnoser
    assert (
        diagnoser.diagnose(f'  File "{frame}", line 3, in forward\n{OOM}', Language.EN).framework == framework
    )


@pytest.mark.parametrize(
    "frame",
    [
        "/opt/diffusers/train.py",
        "/root/verl/verl/trainer/main_ppo.py",
    ],
)
def test_what_another_program_reports_is_near_and_foreign(frame: str, diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/ecc": "signatures: ['CUDA error: uncorrectable ECC error']"})
    log = f'  File "{frame}", line 4, in f\nRuntimeError: CUDA error: uncorrectable ECC error encountered'
    answer = diagnoser.diagnose(log, Language.EN)
    assert (found(answer), answer.verdict) == ([], "near")
    assert [(near.entry.id, near.foreign) for near in answer.near] == [("roll/ecc", True)]


def test_a_name_before_a_line_belongs_to_the_log(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: [{all: ['port is taken', 'FrobEngine']}]"})
    log = "(FrobEngine pid=31, ip=10.0.0.2) started\n(FrobEngine pid=32, ip=10.0.0.2) port is taken"
    assert diagnose(diagnoser, log) == [("one", "exact")]
    assert diagnose(diagnoser, log.replace("FrobEngine", "Frobber")) == []


def test_the_first_line_of_a_process_that_a_signature_names_is_no_reason(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['frobnicator {int} is out'], any: ['PolicyTrainer']}]"
    log = """(PolicyTrainer pid=7) loading went well
(PolicyTrainer pid=7) step 1 of 100
(Gateway pid=9) RuntimeError: frobnicator 3 is out
"""
    (match,) = diagnoser_of({"roll/one": front}).diagnose(log, Language.EN).matches
    assert match.confidence.value == "exact"
    assert [line.line for line in match.matched] == [3]


OVERHEATED = """\
signatures: ['lower --frob-heat-limit, the engine room overheats', 'AssertionError: frob_pressure > {int}']
symptoms: ['The frobnicator overheats']
"""


def test_an_option_in_another_message_proves_little(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": OVERHEATED})
    assert only_near(diagnoser, "ValueError: nothing to melt; try to raise --frob-heat-limit") == ["roll/one"]
    assert diagnose(diagnoser, "lower --frob-heat-limit, the engine room overheats") == [("one", "exact")]


def test_a_name_in_the_message_of_another_exception_proves_nothing(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": OVERHEATED})
    assert only_near(diagnoser, "KeyError: 'frob_pressure'") == ["roll/one"]
    assert diagnose(diagnoser, "AssertionError: frob_pressure > 3") == [("one", "exact")]


def test_in_a_script_that_nobody_knows_a_specific_signature_is_likely(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator {int} < widgets {int}']"})
    log = '  File "/srv/mine/x.py", line 4, in f\nAssertionError: frobnicator 3 < widgets 8'
    assert diagnose(diagnoser, log) == [("one", "likely")]


def test_a_question_between_frameworks_is_asked_and_the_answer_counts(diagnoser_of: Make) -> None:
    shared = "signatures: ['frobnicator {int} < widgets {int}']"
    diagnoser = diagnoser_of({"roll/one": shared, "slime/two": shared})
    log = "AssertionError: frobnicator 3 < widgets 8"
    answer = diagnoser.diagnose(log, Language.EN)
    assert (answer.verdict, answer.asks) == ("possible", ("roll", "slime"))
    assert found(answer) == [("one", "possible"), ("two", "possible")]
    for framework, slug in (("roll", "one"), ("slime", "two")):
        told = diagnoser.diagnose(log, Language.EN, framework)
        assert (told.asks, found(told)) == ((), [(slug, "likely")])


def test_among_what_is_near_the_entry_of_the_framework_that_was_told_comes_first(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of(
        {name: f"applies_to: {name}\n{OOM_SIGNATURE}" for name in ("roll/one", "slime/two")}
    )
    assert only_near(diagnoser, OOM, "roll") == ["roll/one", "slime/two"]
    assert only_near(diagnoser, OOM, "slime") == ["slime/two", "roll/one"]


def test_the_root_failure_is_told_before_what_came_of_it(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of(
        {
            "roll/one": "signatures: ['frobnicator {int} < widgets']",
            "roll/two": "signatures: ['engine {int} is gone']",
        }
    )
    log = "AssertionError: frobnicator 3 < widgets\nRuntimeError: engine 7 is gone"
    assert diagnose(diagnoser, log) == [("one", "exact"), ("two", "likely")]


def test_a_line_of_a_wrapper_alone_is_never_exact(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['RayTaskError(FrobError): ray::FrobWorker']"})
    answers = diagnose(diagnoser, "ray.exceptions.RayTaskError(FrobError): ray::FrobWorker.go()")
    assert answers in ([("one", "likely")], [("one", "possible")])


GPU = """ray.exceptions.RayTaskError(OutOfMemoryError): ray::MegatronTrainRayActor.train() (pid=7, ip=10.0.0.1)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.
  File "/root/slime/slime/backends/megatron_utils/actor.py", line 8, in train
"""
HOST = """ray.exceptions.RayTaskError(OutOfMemoryError): ray::MegatronTrainRayActor.train() (pid=7, ip=10.0.0.1)
ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.
saving checkpoint at iteration 20 to /ckpt
"""


def test_memory_of_the_host_and_of_the_gpu_are_told_apart(shipped: Snapshot) -> None:
    gpu = "oom-max-tokens-per-gpu"
    assert found(shipped.diagnoser.diagnose(GPU, Language.EN))[0] == (gpu, "exact")
    host = found(shipped.diagnoser.diagnose(HOST, Language.EN))
    assert host[0][0] == "ray-oom-saving-checkpoint"
    assert (gpu, "exact") not in host
    assert (gpu, "likely") not in host


def test_every_line_of_all_must_be_there(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: [{all: ['self.frobs[widget]', 'KeyError: {int}']}]"})
    assert diagnose(diagnoser, "    return self.frobs[widget]\nKeyError: 3") == [("one", "exact")]
    assert diagnose(diagnoser, "    return other[1]\nKeyError: 3") == []


def test_any_lines_raise_confidence(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['CUDA out of memory. Tried to allocate {size}'], any: ['frob_worker.py']}]"
    diagnoser = diagnoser_of({"roll/oom": front})
    assert only_near(diagnoser, OOM) == ["roll/oom"]
    assert diagnose(diagnoser, f"see frob_worker.py\n{OOM}") == [("oom", "exact")]


def test_without_any_of_its_lines_a_signature_is_likely_at_most(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['frobnicator {int} < widgets {int}'], any: ['in melt', 'frob_worker.py']}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = "AssertionError: frobnicator 3 < widgets 8"
    assert diagnose(diagnoser, log) in ([("one", "possible")], [("one", "likely")])
    assert diagnose(diagnoser, f"see frob_worker.py\n{log}") == [("one", "exact")]
    assert only_near(diagnoser, f'  File "/root/verl/verl/workers/x.py", line 4, in f\n{log}') == ["roll/one"]


def test_a_symptom_is_likely_at_most(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/hang": "symptoms: ['The frobnicator hangs without any message']"})
    answers = diagnose(diagnoser, "The frobnicator hangs without any message")
    assert answers[0] in {("hang", "likely"), ("hang", "possible")}


def test_names_that_nobody_is_known_to_say_make_an_answer_less_sure(
    diagnoser_of: Make,
) -> None:
    front = "signatures: [{all: ['the frobnicator of the left engine overheated'], confidence: likely}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = "RuntimeError: the frobnicator of the left engine overheated"
    assert diagnose(diagnoser, log) == [("one", "likely")]
    named = diagnoser.diagnose(f"Quibblo Wendelmax: {log}", Language.EN)
    match = named.matches[0] if named.matches else named.near[0]
    assert match.score < diagnoser.diagnose(log, Language.EN).matches[0].score
    unheard = [each.log_odds for each in match.evidence if each.kind == "unheard"]
    assert len(unheard) == 1
    assert unheard[0] < 0
    assert match.score == pytest.approx(sum(each.log_odds for each in match.evidence))


def test_the_framework_named_by_the_owner_makes_its_entries_likelier(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frobnicator {int} < widgets {int}']"})
    log = "AssertionError: frobnicator 3 < widgets 8"
    without, told = (diagnoser.diagnose(log, Language.EN, name).matches[0].score for name in ("", "roll"))
    assert told > without


def test_evidence_adds_up_to_the_score(shipped: Snapshot) -> None:
    matches = shipped.diagnoser.diagnose(OOM, Language.EN).matches
    assert len(matches) == 3
    for match in matches:
        assert sum(each.log_odds for each in match.evidence) == pytest.approx(match.score)


@pytest.mark.parametrize(
    ("log", "verdict"),
    [
        ("AssertionError: batch_size 3 < chunks 8", "known"),
        ("ValueError: the gearbox of the tractor is stuck", "unknown"),
        ("Downloading 3 files\nall of them arrived", "no_error"),
        ("the tractor was ploughing without errors, no problem with its gearbox", "no_error"),
        ("拖拉机一切正常，变速箱没有报错", "no_error"),
        ("拖拉机没有报错，可是变速箱卡住了", "unknown"),
        (
            "loading weights from the checkpoint\nsaved model to /ckpt\nlearning rate 1e-6\ngradient accumulation 4",
            "no_error",
        ),
    ],
)
def test_the_verdict_says_what_the_answer_is(log: str, verdict: str, shipped: Snapshot) -> None:
    answer = shipped.diagnoser.diagnose(log, Language.EN)
    assert answer.verdict in ({verdict, "near"} if verdict == "unknown" else {verdict})
    assert bool(answer.matches) == (verdict == "known")
    assert not (answer.matches and answer.near)
    assert len(answer.near) <= 3
    assert all(near.words for near in answer.near)
    assert all(word in log for near in answer.near for word in near.words), "as the log spells them"


@pytest.mark.parametrize(
    "log", ["ModuleNotFoundError: No module named 'pandas'", "IndexError: list index", "字段为空"]
)
def test_the_name_of_a_standard_exception_or_one_character_makes_no_entry_near(
    log: str, diagnoser: Diagnoser
) -> None:
    assert not diagnoser.diagnose(log, Language.EN).near


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


@pytest.mark.parametrize(
    "broken",
    ["{}, 8]) in\nthe file", "{}, 8]) in the\n    file", "{},\n8]) in the file", "{}\n, 8]) in the file"],
)
def test_shapes_and_numbers_are_compared_in_a_wrapped_message_too(broken: str, diagnoser_of: Make) -> None:
    line = "weight of shape {shape} in the file and {shape} in the frobnicator at {num>10} degrees"
    front = f"signatures: [{{all: ['{line}'], shapes: {{first: differ, rest: equal}}}}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = (
        "RuntimeError: weight of shape torch.Size([{} and torch.Size([{}]) in the frobnicator\nat {} degrees"
    )
    for first, second, degrees, right in (
        ("64", "32, 8", 11, True),
        ("32", "32, 8", 11, False),
        ("64", "32, 4", 11, False),
        ("64", "32, 8", 9, False),
    ):
        found_it = ("one", "exact") in diagnose(diagnoser, log.format(broken.format(first), second, degrees))
        assert found_it == right, (first, second, degrees)


def test_a_broken_signature_takes_no_other_down(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "signatures: ['frob {nonsense}', 'frobnicator overheated']"})
    assert diagnose(diagnoser, "frobnicator overheated") == [("one", "exact")]


def test_drafts_are_never_an_answer(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({"roll/one": "draft: true\nsignatures: ['frobnicator overheated']"})
    assert diagnose(diagnoser, "RuntimeError: frobnicator overheated") == []


def test_at_most_five_entries_are_answered(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of({f"roll/e{n}": "signatures: ['frobnicator overheated']" for n in range(9)})
    assert 0 < len(diagnose(diagnoser, "RuntimeError: frobnicator overheated", "roll")) <= 5


@pytest.mark.parametrize(
    ("line", "entries"),
    [
        (
            "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 1.20 GiB.",
            ["oom-max-tokens-per-gpu"],
        ),
        (
            "RuntimeError: NPU out of memory. Tried to allocate 2.32 GiB (NPU 0; 60.97 GiB)",
            ["npu-out-of-memory"],
        ),
        ("RuntimeError: CUDA error: out of memory", ["cuda-oom-fsdp", "oom-max-tokens-per-gpu"]),
        (
            "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 15.78 GiB total capacity)",
            ["cuda-oom-fsdp", "oom-max-tokens-per-gpu", "out-of-memory"],
        ),
    ],
)
def test_memory_that_runs_out_has_entries_for_the_devices_they_run_on(
    line: str, entries: list[str], shipped: Snapshot
) -> None:
    answers = found(shipped.diagnoser.diagnose(line, Language.EN))
    assert sorted(slug for slug, _ in answers) == entries
    assert {confidence for _, confidence in answers} <= {"likely", "possible"}


def test_letters_that_a_screenshot_turned_into_digits_are_read(shipped: Snapshot) -> None:
    line = "Unexpected resu1t nan (message='found NaN in loca1 grad norm for bucket #0 before data-paral1el"
    assert found(shipped.diagnoser.diagnose(line, Language.EN))[0] == ("grad-nan-inf", "likely")


def test_a_metric_that_is_no_number_is_told_of_actor_and_critic(shipped: Snapshot) -> None:
    for line in (
        "{'train/loss': 0.0, 'train/grad_norm': nan, 'train/step': 3}",
        '{"train/loss": 0.0, "train/grad_norm": inf, "train/step": 3}',
        "{'train/critic-value_loss': 0.0, 'train/critic-grad_norm': nan, 'train/step': 3}",
    ):
        assert found(shipped.diagnoser.diagnose(line, Language.EN))[0] == ("grad-nan-inf", "likely")


def test_the_metric_line_of_another_trainer_is_possible_at_most(shipped: Snapshot) -> None:
    for line in (
        "{'loss': 0.0, 'grad_norm': nan, 'epoch': 0.16}",
        '{"loss": 0.0, "grad_norm": inf, "epoch": 0.16}',
    ):
        matches = found(shipped.diagnoser.diagnose(line, Language.EN))
        assert {confidence for _, confidence in matches} <= {"possible"}


@pytest.mark.parametrize(
    "log",
    [
        "/usr/local/lib/python3.12/dist-packages/torch/_inductor/compile_fx.py:282: UserWarning: TensorFloat32 tensor"
        " cores for float32 matrix multiplication available but not enabled.\n"
        '  File "/srv/rewards/judge.py", line 40, in score\n    verdict = json.loads(reply)\n'
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        '  File "/root/verl/verl/single_controller/ray/base.py", line 96, in get_placement_groups\n'
        "    ray.get(pg.ready(), timeout=1800)\n"
        "ray.exceptions.GetTimeoutError: Get timed out: some object(s) not ready.",
    ],
    ids=["a warning of inductor's, and another program's JSON", "a placement group of verl's"],
)
def test_what_only_looks_like_a_known_failure_is_no_entrys(log: str, shipped: Snapshot) -> None:
    assert {confidence for _, confidence in found(shipped.diagnoser.diagnose(log, Language.EN))} <= {
        "possible"
    }


def test_a_signature_is_not_found_in_a_log_that_speaks_against_it(diagnoser_of: Make) -> None:
    front = "signatures: [{all: ['frobnicator {int} < widgets {int}'], unless: ['coolant is low']}]"
    diagnoser = diagnoser_of({"roll/one": front})
    log = "AssertionError: frobnicator 3 < widgets 8"
    assert diagnose(diagnoser, log) == [("one", "exact")]
    assert only_near(diagnoser, f"{log}\ncoolant is low in tank 3") == ["roll/one"]


def test_an_entry_that_applies_anywhere_is_never_foreign(diagnoser_of: Make) -> None:
    diagnoser = diagnoser_of(
        {"roll/one": "applies_anywhere: true\nsignatures: ['frobnicator {int} < widgets {int}']"}
    )
    log = '  File "/root/verl/verl/x.py", line 4, in f\nAssertionError: frobnicator 3 < widgets 8'
    assert diagnose(diagnoser, log) == [("one", "exact")]


def test_an_entry_that_applies_anywhere_stands_behind_the_own_one_of_the_same_error(
    diagnoser_of: Make,
) -> None:
    line = "AssertionError: frobnicator 3 < widgets 8 while zorbing the quux in the gronk"
    signature = "signatures: [{all: ['frobnicator {int} < widgets {int}'], confidence: likely}]"
    diagnoser = diagnoser_of(
        {
            "slime/any": f"applies_anywhere: true\nsymptoms: ['{line}']\n{signature}",
            "roll/own": f"symptoms: ['the quux is zorbed']\n{signature}",
        }
    )
    assert diagnose(diagnoser, line) == [("any", "likely"), ("own", "likely")]
    frame = '  File "/root/ROLL/roll/x.py", line 4, in f'
    assert diagnose(diagnoser, f"{frame}\n{line}") == [("own", "likely"), ("any", "likely")]


def test_the_class_of_a_ray_actor_tells_whose_log_it_is(diagnoser: Diagnoser) -> None:
    log = "(MegatronTrainRayActor pid=7, ip=10.0.0.1) torch.OutOfMemoryError: CUDA out of memory."
    assert diagnoser.diagnose(log, Language.EN).framework == "slime"
