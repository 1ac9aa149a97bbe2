"""Questions that must find the right entry first: what engineers type, and the headings of the pages we answer from."""

import re
from collections.abc import Iterator

import pytest
from jieda.search.answers import SearchRequest
from jieda.snapshot.snapshot import Snapshot

from tests.support.server import ROOT

PAGES = ROOT.parent / "shared" / "upstream"

TYPED = {
    "转换 Checkpoint 失败": "chatlearn/checkpoint-conversion-process-group",
    "Failure when converting checkpoint": "chatlearn/checkpoint-conversion-process-group",
    "爆内存": "chatlearn/ray-oom-loading-weights",
    "爆显存": "chatlearn/cuda-oom-fsdp",
    "训推不一致": "roll/train-infer-mismatch",
    "精度对齐": "slime/high-grad-norm",
    "组大小": "roll/rollout-batch-size-and-num-return-sequences",
    "多少步存一次": "chatlearn/checkpoint-save-frequency",
    "resume starts from step 0": "slime/resume-training",
    "breakpoint 进不了 pdb": "roll/debug-code",
    "推一训一": "slime/batch-size-calculation",
    "踢节点": "chatlearn/ecc-error",
    "权重转换": "chatlearn/megatron-hf-conversion",
}

# By page, the entry of each heading that asks something, in order; both languages have the same headings.
ANSWERS = {
    "chatlearn-1.0.3-faq": (
        "chatlearn/ecc-error",
        "chatlearn/multiple-reward-models",
        "chatlearn/vocab-parallel-embedding-size-mismatch",
        "chatlearn/yaml-config",
        "chatlearn/efficient-memory-sharing",
        "chatlearn/megatron-conversion-parallel-strategy",
        "chatlearn/checkpoint-conversion-process-group",
        "chatlearn/non-contiguous-tensor-pipeline",
        "chatlearn/custom-port",
        "chatlearn/failed-job-shows-success",
        "chatlearn/resume-lr-error",
        "chatlearn/checkpoint-save-frequency",
    ),
    "chatlearn-b7af31a-faq": (
        "chatlearn/megatron-hf-conversion",
        "chatlearn/speed-up-fsdp",
        "chatlearn/ray-channel-timeout",
        "chatlearn/ray-oom-loading-weights",
        "chatlearn/cuda-oom-fsdp",
        "chatlearn/megatron-moe-rl-instability",
    ),
    "roll-8eb27cc2-qa_issues": (
        "roll/convert-megatron-to-hf",
        "roll/colocate-mode",
        "roll/separate-mode",
        "roll/rollout-batch-size-and-num-return-sequences",
        "roll/gradient-accumulation-and-per-device-batch-size",
        "roll/training-timeline",
        "roll/debug-code",
        "roll/node2pg-keyerror",
        "roll/lr-decay-steps-assertion",
        "roll/batch-size-less-than-chunks",
        "roll/backend-compiler-failed",
    ),
    "slime-624b824a-qa": (
        "slime/garbled-output",
        "slime/stuck-on-ray-submission",
        "slime/oom-max-tokens-per-gpu",
        "slime/transformers-cannot-find-model",
        "slime/resume-training",
        "slime/batch-size-calculation",
        "slime/data-packing-varlen",
        "slime/sglang-max-retries",
        "slime/high-grad-norm",
        "slime/sglang-slow-generation",
        "slime/illegal-memory-access",
        "slime/torch-compile-jsondecodeerror",
        "slime/grad-nan-inf",
    ),
}

CHAPTER = re.compile(
    r"(?i)^(FAQ|Common (Issues|Errors)|常见(问题|报错| Q&A)|.*(Q&A\)|Related|相关)|Common Errors and Solutions"
    r"|常见错误及解决方案|For .* Backend:|对于 .*：)$"
)
"""Titles of pages and of groups of questions."""


def first(snapshot: Snapshot, query: str) -> str:
    (hit,) = snapshot.searcher.search(SearchRequest(query, limit=1)).hits
    return hit.entry.id


def headings(page: str) -> Iterator[str]:
    """What a page asks, in order."""
    for line in (PAGES / page).read_text("utf-8").splitlines():
        found = re.match(r"#+\s+(.*)|\d+\.\s+\*\*(.*?)\*\*", line)
        text = (found.group(1) or found.group(2)).strip() if found else ""
        if text and not CHAPTER.match(text):
            yield text


def test_what_engineers_type_finds_its_entry_first(shipped: Snapshot) -> None:
    assert {query: first(shipped, query) for query in TYPED} == TYPED


def test_a_quota_in_the_cloud_is_not_taken_for_a_placement_group(shipped: Snapshot) -> None:
    assert shipped.searcher.search(SearchRequest("专属资源组")).weak


@pytest.mark.skipif(not PAGES.is_dir(), reason="upstream's pages are not beside the checkout")
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("page", ANSWERS)
def test_every_heading_of_upstream_finds_its_entry_first(shipped: Snapshot, page: str, lang: str) -> None:
    asked = list(headings(f"{page}.{lang}.md"))
    assert [(query, first(shipped, query)) for query in asked] == list(zip(asked, ANSWERS[page], strict=True))
