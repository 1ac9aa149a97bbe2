"""The exact facts of the FAQ documents that the first entries were made from.

Run as a program where those documents are present, this writes facts.json, which the tests read:

    python -m tests.content.seed_facts

A fact is a code block as a whole, a code span, a link's address (with the replacement that the inventory
names), or an identifier, a version or a figure that the prose has without backticks.
"""

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.support.server import ROOT

SOURCES = Path(os.environ.get("JIEDA_TEST_SOURCES") or ROOT.parent / "shared")
FACTS = Path(__file__).with_name("facts.json")

GROUPS = {"roll": "000", "chatlearn-2024": "002", "chatlearn-2025": "004", "slime": "003"}
"""Groups of the inventory, in the order of the document each was made from."""

QUESTION = {"000": r"^### ", "002": r"^## ", "003": r"^1\. ", "004": r"^## "}
"""What a question starts with in each document."""

IN_PROSE = {
    "roll/convert-megatron-to-hf": ["Megatron", "HF"],
    "roll/rollout-batch-size-and-num-return-sequences": ["Megatron", "prompt"],
    "roll/gradient-accumulation-and-per-device-batch-size": ["Megatron"],
    "roll/training-timeline": ["YAML", "timeline", "Perfetto UI"],
    "roll/debug-code": ["pdb"],
    "roll/lr-decay-steps-assertion": ["DP size", "Training Arguments"],
    "roll/batch-size-less-than-chunks": ["DP size", "dispatch"],
    "roll/backend-compiler-failed": ["YAML"],
    "chatlearn/ecc-error": ["ECC Error"],
    "chatlearn/multiple-reward-models": ["reward", "flow"],
    "chatlearn/vocab-parallel-embedding-size-mismatch": ["TP", "embedding"],
    "chatlearn/yaml-config": ["YAML"],
    "chatlearn/megatron-conversion-parallel-strategy": ["Megatron-LM"],
    "chatlearn/checkpoint-conversion-process-group": ["Megatron-LM", "bug"],
    "chatlearn/non-contiguous-tensor-pipeline": ["Megatron-LM", "contiguous"],
    "chatlearn/custom-port": ["DLC", "RLHF"],
    "chatlearn/failed-job-shows-success": ["DLC"],
    "chatlearn/resume-lr-error": ["Megatron", "lr", "True"],
    "chatlearn/megatron-hf-conversion": ["Mcore", "HF", "DeepSeek 671B"],
    "chatlearn/speed-up-fsdp": ["FSDP", "groupgemm patch", "token"],
    "chatlearn/ray-oom-loading-weights": ["FSDP", "transformers"],
    "chatlearn/cuda-oom-fsdp": ["torch.OutOfMemoryError: CUDA out of memory", "FSDP"],
    "chatlearn/megatron-moe-rl-instability": [
        *["scatter-add", "off-policy", "Megatron-Core", "logits", "router bias", "SFT"],
    ],
    "slime/garbled-output": ["Megatron"],
    "slime/oom-max-tokens-per-gpu": ["OOM", "CP", "token"],
    "slime/transformers-cannot-find-model": ["transformers"],
    "slime/sglang-max-retries": ["SGLang"],
    "slime/data-packing-varlen": ["data packing", "varlen"],
    "slime/high-grad-norm": ["chat template", "grad norm"],
    "slime/sglang-slow-generation": ["stop token"],
    "slime/illegal-memory-access": ["an illegal memory access was encountered"],
    "slime/grad-nan-inf": ["NaN", "Inf"],
    "slime/torch-compile-jsondecodeerror": ["torch compile", "ray"],
}
"""Error texts and terms of the documents that nothing sets apart from the sentence around them."""

LINKED = {
    "chatlearn/ecc-error": ("chatlearn-1.0.3-continue_train.en.md", 0),
    "chatlearn/multiple-reward-models": ("chatlearn-1.0.3-custom_model_flow.zh.md", 4),
    "chatlearn/yaml-config": ("chatlearn-1.0.3-config_yaml.en.md", 0),
    "chatlearn/efficient-memory-sharing": ("chatlearn-1.0.3-ems.en.md", 0),
}
"""The page that an entry answers from where a document only points to it, and how many of the page's
code blocks to pass over: those that its last one repeats as a part."""

SAID_IN_CHINESE = {"must be an integer multiple of:": "必须是以下值的整数倍："}
"""Words within a code block that the Chinese document has in Chinese."""

FENCE = re.compile(r"^( *)```\w*\n(.*?)\n\1``` *$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)|(https?://[^\s)）]+)")
BARE = re.compile(r"[A-Za-z0-9_$./=#*+-]+")
NOT_FACTS = frozenset({"e.g", "i.e", "e.g.", "i.e."})


@dataclass
class Facts:
    """`both` must stand in each edition; `en` and `zh` in that one."""

    both: list[str] = field(default_factory=list)
    en: list[str] = field(default_factory=list)
    zh: list[str] = field(default_factory=list)


def extract() -> dict[str, dict[str, list[str]]]:
    """All facts, by entry id."""
    inventory = yaml.safe_load((SOURCES / "inventory.yaml").read_text("utf-8"))
    found: dict[str, dict[str, list[str]]] = {}
    for group, number in GROUPS.items():
        questions = _questions(number)
        ids = [entry["id"] for entry in inventory["entries"][group]]
        if len(questions) != len(ids):
            raise ValueError(f"{number} has {len(questions)} questions for {len(ids)} entries")
        for entry_id, text in zip(ids, questions, strict=True):
            facts = _facts(text, number, inventory["links"])
            facts.both += IN_PROSE.get(entry_id, [])
            facts.both += _linked(*LINKED[entry_id]) if entry_id in LINKED else []
            found[entry_id] = {
                "both": _unique(facts.both),
                "en": _unique(facts.en),
                "zh": _unique(facts.zh),
            }
    return found


def _questions(number: str) -> list[str]:
    (path,) = (SOURCES / "seeds").glob(f"{number}_*.txt")
    parts = re.split(QUESTION[number], path.read_text("utf-8"), flags=re.MULTILINE)[1:]
    # A document's other headings only group the questions.
    return [re.split(r"^#{1,2} ", part, flags=re.MULTILINE)[0] for part in parts]


def _facts(text: str, number: str, replacements: dict[str, str]) -> Facts:
    facts = Facts()
    for indent, block in FENCE.findall(text):
        _add_block(facts, "\n".join(line.removeprefix(indent).rstrip() for line in block.split("\n")))
    text = FENCE.sub("", text)
    facts.both += SPAN.findall(text)
    text = SPAN.sub(" ", text)
    for match in LINK.finditer(text):
        _add_link(facts, match[1] or match[2], number, replacements)
    text = LINK.sub(" ", text)
    text = re.sub(r"^\s*\d+\. ", "", text, flags=re.MULTILINE)
    facts.both += [word for token in BARE.findall(text) if _is_fact(word := token.strip("./-=*+#"))]
    return facts


def _add_block(facts: Facts, block: str) -> None:
    chinese = in_chinese(block)
    if chinese == block:
        facts.both.append(block)
    else:
        facts.en.append(block)
        facts.zh.append(chinese)


def in_chinese(block: str) -> str:
    """A code block of an English edition as its Chinese twin has it."""
    for english, chinese in SAID_IN_CHINESE.items():
        block = block.replace(english, chinese)
    return block


def _linked(page: str, passed_over: int) -> list[str]:
    text = (SOURCES / "upstream" / page).read_text("utf-8")
    return [block for _, block in FENCE.findall(text)][passed_over:] + SPAN.findall(FENCE.sub("", text))


def _is_fact(word: str) -> bool:
    if word in NOT_FACTS or (re.fullmatch(r"[A-Za-z]+", word) and not re.search(r"[a-z][A-Z]", word)):
        return False
    return bool(re.search(r"[_=#]|\d|\w\.\w|[a-z][A-Z]", word))


def _add_link(facts: Facts, address: str, number: str, replacements: dict[str, str]) -> None:
    keys = [key for key in replacements if key.startswith(number) and key.split()[1].rstrip(",") in address]
    if not keys:
        facts.both.append(address)
    for key in keys:
        target = replacements[key]
        if "{lang}" in target:
            facts.en.append(target.replace("{lang}", "en"))
            facts.zh.append(target.replace("{lang}", "zh"))
        else:
            (facts.zh if key.endswith("Chinese") else facts.en).append(target)


def _unique(facts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(facts))


def main() -> None:
    """Writes facts.json."""
    FACTS.write_text(json.dumps(extract(), ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
