"""Whose program wrote a log: told by paths, module names and the names of programs in it.

A framework of the taxonomy raises its own entries. Another program's frames lower what generic messages prove.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from app.diagnosis.traceback import ParsedLog
from app.entry import Tag

TRAINERS = frozenset(
    "axolotl colossalai deepspeed-chat easyr1 fairseq gpt-neox jax litgpt llama-factory llamafactory ms-swift nemo_rl"
    " nemo-rl open-instruct openrlhf open_r1 peft prime-rl pytorch_lightning skyrl swift torchtitan torchtune trl trlx"
    " unsloth verl xtuner".split()
)
"""Programs that train language models, too, and that no entry is about. Teams add theirs by naming them in a
taxonomy."""

APART = frozenset(
    "automatic1111 catboost cogvideox comfyui controlnet detectron2 diffusers django fastchat flask gaussian-splatting"
    " gpt-sovits gradio hunyuanvideo invokeai joblib keras kohya langchain lightgbm llama.cpp lm_eval lmdeploy mmcv"
    " mmdet mmdetection mmengine mmseg mmsegmentation nerfstudio ollama oobabooga paddlepaddle pandas polars pyspark"
    " resnet resnet50 rllib scikit-learn sd-scripts sdxl sentence_transformers sklearn spacy stable-diffusion"
    " stable_diffusion streamlit tensorflow text-generation-webui torchvision ultralytics webui whisper xgboost yolo"
    " yolov5 yolov8".split()
) | {"gaussian splatting", "stable diffusion"}
"""Programs and models of other kinds. What any program prints has other reasons there."""

ENGINES = frozenset({"deepspeed", "megatron", "sglang", "vllm"})
"""Components that do the heavy work: an entry that never speaks of one explains no generic message from it."""

COMPONENTS = ENGINES | frozenset(
    "_pytest accelerate aiohttp anyio apex bitsandbytes click cloudpickle codetiming concurrent cupy datasets decorator"
    " dill einops fastapi filelock fire flash_attn flashinfer fsspec grpc httpcore httpx huggingface_hub hydra ipython"
    " jinja2 mbridge megatron_core megatron-core megatron-lm numpy omegaconf orjson outlines pai-megatron-patch pluggy"
    " psutil pyarrow pydantic pydantic_core pytest ray requests safetensors sgl_kernel sgl-workspace starlette"
    " tensorboard tensordict tokenizers torch torchdata tqdm transformer_engine transformers triton urllib3 uvicorn"
    " typing_extensions uvloop vllm_flash_attn wandb xformers xgrammar yaml zmq".split()
)
"""What the frameworks of the taxonomy are built on: their frames speak neither for nor against anybody."""

ORDINARY_WORDS = frozenset({"roll"})
"""Names that mean something else as words: they count in paths, module names and capitals only."""

# Parts of a component that are programs by themselves: Ray's libraries, and vLLM where it serves on its own.
_PROGRAM = re.compile(
    r"(?:(?:site|dist)-packages|python)/(?P<library>ray/(?:data|rllib|serve|train|tune))/"
    r"|(?:^|/)(?P<server>vllm)/(?:entrypoints/(?:openai|cli|launcher|api_server)|(?:v1/)?executor/m(?:ulti)?p(?:roc|_))"
)
_ELSEWHERE = APART | {"ray/data", "ray/rllib", "ray/serve", "ray/tune", "vllm"}
# Casefolded. Words of language models and of reinforcement learning, by which any script may belong here.
_RELATED = re.compile(
    r"(?<![a-z])(?:(?:accelerate|deepspeed|dpo|flash_attn|fsdp\d?|fully_shard|gpt\d?|grpo|peft|policy|ppo|rank|ray|rl|rlhf|sft"
    r"|torchrun|transformers)(?![a-z])|(?:actor|megatron|reward|rollout|sglang|token|vllm|torch/distributed/))"
    r"|llm|llama|qwen|deepseek"
)
_INSTALLED = re.compile(r"(?:site|dist)-packages/([\w.-]{1,80})")
_STANDARD = re.compile(
    r"(?:^|/)(?:lib/)?python3(?:\.\d{1,2})?/(?!site-|dist-)|^<|^python/ray/|\.pyx$|\.pxi$|^/usr/lib/|\.so(?:\.\d+)*$"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose log it is. `known` are ids of the taxonomy and `others` foreign programs, both most spoken of first.

    `own_code` tells that frames stand in a program that is neither: somebody's script. `engines` are those of
    ENGINES that frames stand in. `apart`: the program clearly trains no language model.
    """

    known: tuple[str, ...]
    others: tuple[str, ...]
    own_code: bool
    engines: frozenset[str]
    apart: bool

    @property
    def name(self) -> str:
        """The framework, known or not, or empty."""
        return next(iter(self.known + self.others), "")

    def foreign_to(self, framework: str, engines: frozenset[str]) -> bool:
        """True where all that speaks, speaks for another program than `framework` running on `engines`."""
        if framework in self.known:
            return False
        return bool(
            self.known or self.others or self.own_code or (self.engines and not self.engines & engines)
        )


class Detective:
    """Finds origins, by the frameworks that a taxonomy names."""

    def __init__(self, frameworks: Mapping[str, Tag]) -> None:
        self._known = {name: tag.id for tag in frameworks.values() for name in _names(tag)}
        self._names = {**{other: other for other in sorted(TRAINERS | APART)}, **self._known}

    def origin(self, parsed: ParsedLog, told: str = "") -> Origin:
        """Count what speaks for whom; `told` is the framework that the log's owner names, if any."""
        text = "\n".join((*parsed.processes, *(line.text for line in parsed.lines)))
        folded = text.casefold()
        paths = [frame.path.replace("\\", "/").casefold() for frame in parsed.frames]
        owners = [self._owner(path) for path in paths]
        votes = self._votes(owners, text, folded) + Counter({told: _TOLD} if told else {})
        ours = {*self._known.values(), told}
        ranked = [name for name, count in votes.most_common() if count]
        known = tuple(name for name in ranked if name in ours)
        others = tuple(name for name in ranked if name not in ours)
        # A lone `train.py` tells nothing; a folder of somebody's does.
        project = any(owner is None and "/" in path for owner, path in zip(owners, paths, strict=True))
        unrelated = bool(others or project) and not _RELATED.search(folded)
        engines = ENGINES.intersection(chain.from_iterable(path.split("/") for path in paths))
        placed = sum(owner in _ELSEWHERE for owner in owners)
        first = _ELSEWHERE.intersection(others[:1])
        elsewhere = bool(first) and 0 < placed >= owners.count(None) and engines <= {"vllm"}
        return Origin(
            known,
            others,
            own_code=None in owners,
            engines=engines,
            apart=(unrelated or elsewhere) and not known and TRAINERS.isdisjoint(others),
        )

    def _votes(self, owners: Iterable[str | None], text: str, folded: str) -> Counter[str]:
        votes = Counter(owner for owner in owners if owner for _ in range(_FRAME))
        for name, owner in self._names.items():
            spoken = _mentions(folded, name, in_code=name in ORDINARY_WORDS)
            votes[owner] += spoken or min(1, _mentions(text, name.upper(), in_code=False))
        return votes

    def _owner(self, path: str) -> str | None:
        """The framework or program a file lies in; empty for a component, None for somebody's script."""
        for segment in path.split("/")[:-1]:
            if segment in self._known:
                return self._known[segment]
        if found := _PROGRAM.search(path):
            return found["library"] or found["server"]
        if found := _INSTALLED.search(path):
            package = found[1].removesuffix(".py")
            return "" if package in COMPONENTS else package
        if not path or _STANDARD.search(path):
            return ""
        segments = frozenset(path.split("/")[:-1])
        others = segments & (TRAINERS | APART)
        return min(others, default="" if segments & COMPONENTS else None)


def _names(tag: Tag) -> Iterable[str]:
    """What paths and packages call a framework: its id, and its repository's name."""
    yield tag.id.casefold()
    if tag.repository:
        yield tag.repository.rstrip("/").rpartition("/")[2].removesuffix(".git").casefold()


_TOLD = 1_000_000
_FRAME = 3
_MOST_MENTIONS = 20
_NAME_CHARACTER = re.compile(r"[A-Za-z0-9_-]")
_INSIDE_CODE = re.compile(r"[/.][A-Za-z0-9_]|\.?/")


def _mentions(text: str, name: str, *, in_code: bool) -> int:
    """How often `name` stands in `text` by itself, or (`in_code`) as a folder or package; counted up to a few."""
    spoken = place = 0
    while spoken < _MOST_MENTIONS and (place := text.find(name, place)) >= 0:
        end = place + len(name)
        before, after = text[place - 1 : place], text[end : end + 1]
        alone = not (_NAME_CHARACTER.match(before) or _NAME_CHARACTER.match(after))
        spoken += alone and (not in_code or before == "/" or bool(_INSIDE_CODE.match(text, end)))
        place = end
    return spoken


def engines_in(text: str) -> frozenset[str]:
    """The engines that a text speaks of."""
    folded = text.casefold()
    return frozenset(engine for engine in ENGINES if engine in folded)
