"""Whose program wrote a log: told by paths, module names and the names of programs in it.

A framework of the taxonomy raises its own entries. Another program's frames lower what generic messages prove.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from app.diagnosis.traceback import ParsedLog
from app.entry import Tag

OTHERS = tuple(
    "axolotl catboost colossalai comfyui deepspeed-chat detectron2 diffusers django easyr1 fairseq fastchat flask"
    " gpt-neox gradio invokeai jax joblib keras kohya langchain lightgbm litgpt llama-factory llamafactory llama.cpp"
    " lm_eval lmdeploy mmcv mmdet mmengine ms-swift nemo_rl nemo-rl ollama oobabooga open-instruct openrlhf open_r1"
    " paddlepaddle pandas peft polars prime-rl pyspark pytorch_lightning rllib scikit-learn sentence_transformers"
    " skyrl sklearn spacy stable-diffusion stable_diffusion streamlit swift tensorflow text-generation-webui torchtitan"
    " torchtune torchvision trl trlx ultralytics unsloth verl webui whisper xgboost xtuner yolo yolov5 yolov8".split()
)
"""Programs that a log can come from and that no entry is about. Teams add theirs by naming them in a taxonomy."""

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

_INSTALLED = re.compile(r"(?:site|dist)-packages/([\w.-]{1,80})")
_STANDARD = re.compile(
    r"(?:^|/)(?:lib/)?python3(?:\.\d{1,2})?/(?!site-|dist-)|^<|^python/ray/|\.pyx$|\.pxi$|^/usr/lib/|\.so(?:\.\d+)*$"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose log it is. `known` are ids of the taxonomy and `others` foreign programs, both most spoken of first.

    `own_code` tells that frames stand in a program that is neither: somebody's script. `engines` are those of
    ENGINES that frames stand in.
    """

    known: tuple[str, ...]
    others: tuple[str, ...]
    own_code: bool
    engines: frozenset[str]

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
        self._names = {**{other: other for other in OTHERS}, **self._known}

    def origin(self, parsed: ParsedLog, told: str = "") -> Origin:
        """Count what speaks for whom; `told` is the framework that the log's owner names, if any."""
        votes: dict[str, int] = {told: _TOLD} if told else {}
        own_code = False
        engines: set[str] = set()
        for frame in parsed.frames:
            path = frame.path.replace("\\", "/").casefold()
            engines.update(ENGINES.intersection(path.split("/")))
            owner = self._owner(path)
            if owner:
                votes[owner] = votes.get(owner, 0) + 3
            own_code = own_code or owner is None
        text = "\n".join(line.text for line in parsed.lines)
        folded = text.casefold()
        for name, owner in self._names.items():
            spoken = _mentions(folded, name, in_code=name in ORDINARY_WORDS)
            votes[owner] = votes.get(owner, 0) + (
                spoken or min(1, _mentions(text, name.upper(), in_code=False))
            )
        ranked = sorted((name for name in votes if votes[name]), key=lambda name: -votes[name])
        known = {*self._known.values(), told}
        return Origin(
            tuple(name for name in ranked if name in known),
            tuple(name for name in ranked if name not in known),
            own_code,
            frozenset(engines),
        )

    def _owner(self, path: str) -> str | None:
        """The framework or program a file lies in; empty for a component, None for somebody's script."""
        for segment in path.split("/")[:-1]:
            if segment in self._known:
                return self._known[segment]
        if found := _INSTALLED.search(path):
            package = found[1].removesuffix(".py")
            return "" if package in COMPONENTS else package
        if not path or _STANDARD.search(path):
            return ""
        segments = set(path.split("/")[:-1])
        return next((other for other in OTHERS if other in segments), "" if segments & COMPONENTS else None)


def _names(tag: Tag) -> Iterable[str]:
    """What paths and packages call a framework: its id, and its repository's name."""
    yield tag.id.casefold()
    if tag.repository:
        yield tag.repository.rstrip("/").rpartition("/")[2].removesuffix(".git").casefold()


_TOLD = 1_000_000
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
