"""Logs for measurements: a run of 64 ranks, and inputs that are pathological for a careless parser."""

import random
from collections.abc import Callable

MIB = 1 << 20

_FRAMES = (
    '  File "/workspace/ROLL/roll/pipeline/rlvr/rlvr_pipeline.py", line 488, in run',
    "    batch = self.actor_train.train_step(batch)",
    '  File "/workspace/ROLL/roll/distributed/scheduler/decorator.py", line 149, in dispatch_dp_mp_compute',
    "    args, kwargs = _dispatch_dp_mp_compute(cluster, *args, **kwargs)",
    '  File "/usr/local/lib/python3.11/dist-packages/torch/nn/modules/module.py", line 1518, in _call_impl',
    "    return forward_call(*args, **kwargs)",
)
_FAILURES = (
    "AssertionError: batch_size {rank} < chunks 64",
    "RuntimeError: CUDA error: uncorrectable ECC error encountered",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {rank}.32 GiB. GPU {rank} has 242.31 MiB free.",
    "torch.distributed.DistBackendError: NCCL communicator was aborted on rank {rank}.",
)


def interleaved_ranks(size: int, ranks: int = 64) -> str:
    """Return about `size` characters of a run whose ranks report steps and fail now and then, a few lines at a time."""
    chance = random.Random(64)
    waiting: list[list[str]] = [[] for _ in range(ranks)]
    lines: list[str] = []
    written = step = 0
    while written < size:
        rank = chance.randrange(ranks)
        if not waiting[rank]:
            step += 1
            waiting[rank] = _turn(chance, rank, step)
        for _ in range(min(len(waiting[rank]), chance.randrange(1, 4))):
            source = (
                f"(ActorWorker pid={1000 + rank}, ip=10.0.0.{rank // 8})" if rank % 2 else f"[rank{rank}]:"
            )
            lines.append(f"{source} {waiting[rank].pop(0)}")
            written += len(lines[-1]) + 1
    return "\n".join(lines)[:size]


def _turn(chance: random.Random, rank: int, step: int) -> list[str]:
    if chance.random() < 0.3:
        failure = chance.choice(_FAILURES).format(rank=rank)
        return ["Traceback (most recent call last):", *_FRAMES, failure]
    return [f"iteration {step} | lm loss: {chance.random():.5f} | grad norm: {3 * chance.random():.3f} |"]


def _repeated(piece: str) -> Callable[[int], str]:
    return lambda size: (piece * (size // len(piece) + 1))[:size]


ADVERSARIAL: dict[str, Callable[[int], str]] = {
    "one endless line": _repeated("a"),
    "brackets": _repeated("("),
    "square brackets": _repeated("["),
    "braces": lambda size: "{" * (size // 2) + "}" * (size // 2),
    "hex": _repeated("deadbeef01"),
    "path": _repeated("/a"),
    "address": _repeated("1."),
    "quotes": _repeated("'\""),
    "carriage returns": _repeated("\r"),
    "progress": _repeated(" 12%|█▎        | 12/100 [00:01<00:09]\r"),
    "short lines": _repeated("a\n"),
    "numbered lines": lambda size: "\n".join(map(str, range(10**6, 10**6 + size // 8)))[:size],
    "terminal codes": _repeated("\x1b["),
    "unfinished codes": _repeated("\x1b]"),
    "json": _repeated('{"log":"a b c\\n"}\n'),
    "deep json": lambda size: '{"log":' * (size // 7) + "}",
    "chain": _repeated(
        'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
    ),
    "frames": lambda size: "".join(
        f'  File "/x/{n}.py", line {n}, in f\n    g({n})\n' for n in range(size // 40)
    )[:size],
    "unfinished frames": _repeated('  File "'),
    "exceptions": lambda size: "\n".join(f"ValueError: {n} is no {n}" for n in range(size // 24))[:size],
    "dotted names": _repeated("a." * 9 + "bError "),
    "humps": _repeated("A" * 70 + "Errox Error("),
    "repeats": _repeated(" [repeated 3x across"),
    "prefixes": _repeated("[rank1]: "),
    "a signature's beginnings": _repeated("CUDA out of memory. Tried to allocate "),
    "signature words": _repeated("checkpointvalue 1 for learning rate do not match class input value\n"),
    "nul": _repeated("\0"),
    "surrogates": _repeated("\ud800"),
    "combining marks": _repeated("e\u0301\u0301\u0301"),
    "han": _repeated("显存不足报错"),
    "white space": _repeated(" \t"),
}
"""By content; each returns a text of about the given size, in characters."""
