"""What proves nothing about an entry: messages that PyTorch, CUDA, Ray, NCCL or Python print in anybody's program."""

import re

# In any case. A signature that consists of nothing else is `likely` at most, however unique it is among the entries.
GENERIC_PHRASES = (
    r"\b(?:cuda|hip|musa|npu|xpu) (?:error: )?out of memory|(?<!/)grad_norm'?: (?:nan|inf)\b",
    r"tried to allocate|cuda error|cuda kernel errors might be asynchronously reported",
    r"an illegal memory access was encountered|uncorrectable ecc error(?: encountered)?|cudaerror\w+",
    r"device-side assert triggered|unspecified launch failure|no kernel image is available",
    r"watchdog caught collective operation timeout|nccl (?:error|warn|communicator was aborted)|unhandled system error",
    r"default process group has not been initialized|please make sure to call init_process_group",
    r"task was killed due to the node running low on memory|which exceeds the memory usage threshold of",
    r"workers \(tasks / actors\) killed due to memory pressure \(oom\)|workers crashed due to other reasons at node",
    r"the actor died unexpectedly before finishing this task|get timed out|some object\(s\) not ready",
    r"max retries exceeded with url|caused by newconnectionerror|failed to establish a new connection",
    r"connection refused|connection reset by peer|broken pipe|timed out|address already in use",
    r"\bbind on address\b",
    r"no such file or directory|permission denied|command not found|no module named|cannot import name",
    r"does not appear to have a file named|checkout '?https://huggingface\.co/*",
    r"it looks like the config file at|is not a valid json file|can't load the configuration of",
    r"if you were trying to load it from|error no file named|found in directory",
    r"error\(s\) in loading state_dict for|size mismatch for|copying a param with shape",
    r"from checkpoint|the shape in current model is|unexpected key\(s\) in state_dict|missing key\(s\) in state_dict",
    r"transformers_modules|no available node types can fulfill (?:resource|placement group) requests?",
    r"pending placement groups?|the following resource request cannot be scheduled right now",
    r"expecting value|extra data|unterminated string starting at|line\s+column\s+\(char\s*\)",
    r"(?:__init__\(\) )?missing\s+(?:\d+\s+)?required positional argument|got an unexpected keyword argument",
    r"traceback \(most recent call last\)|system error|expected all tensors to be on the same device",
    r"\b(?:torch|cuda|ray|exceptions|json|decoder|builtins|requests|urllib3|distributed)\.(?=[a-z])",
    r"\braytaskerror\((?=[a-z]+\))",
    r"\b(?:assertion|attribute|buffer|eof|import|modulenotfound|index|key|memory|name|notimplemented|os|overflow"
    r"|recursion|runtime|syntax|system|type|unicodedecode|value|zerodivision|blockingio|brokenpipe|connection"
    r"|connectionrefused|connectionreset|fileexists|filenotfound|interrupted|permission|timeout|io|environment"
    r"|jsondecode|outofmemory|accelerator|distbackend|raytask|ray|gettimeout|maxretry|newconnection|raysystem"
    r"|actordied|workercrashed|http)error\b|\bexception\b|\bassert\b|\berrno\s*\d*",
)

# Printed by any program as well, but with one meaning and one remedy in all of them: the machine is broken.
_UNMISTAKABLE = re.compile(r"uncorrectable ECC error|cudaErrorECCUncorrectable", re.IGNORECASE)
_GENERIC = re.compile("|".join(GENERIC_PHRASES), re.IGNORECASE)
# How somebody's shell starts a program and tells of its end.
_SHELL = re.compile(r"\bpython\s*\| tee\b|退出码[:：]? ?0|\becho \$\?|已成功|\bsucceeded\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"(?<!\{)\{[a-z]+\}(?!\})")
_WORD = re.compile(r"[^\W_][\w./\[\]-]*[\w\]/]")
_GENERIC_NAMES = re.compile(
    r"\b(?:__\w+__|load_state_dict|state_dict|from_pretrained|init_process_group|get_rank|get_world_size|is_contiguous"
    r"|is_available|all_reduce|all_gather|set_device|empty_cache|world_size|local_rank|trust_remote_code|torch_dtype"
    r"|device_map|batch_size|input_ids|attention_mask|get_objects|check_status|as_instanceof_cause|auto_init_wrapper"
    r"|client_mode_hook|_call_impl|_wrapped_call_impl|raw_decode|scan_once|JSONDecoder|AutoConfig|AutoModel\w*"
    r"|HTTPS?ConnectionPool|NewConnectionError|PyTorch|CUDA_LAUNCH_BLOCKING|CUDA_VISIBLE_DEVICES"
    r"|site-packages|dist-packages|site_packages|dist_packages)\b",
)
_IDENTIFIER = re.compile(r"\w[_/.\[-]\w|\w/$|[a-z][A-Z]|[A-Z]{2}[a-z]{2}")
_LITTLE_WORDS = frozenset(
    "the a an of to in on at for from with by is are was were be and or not no it this that line".split()
)


def without_generic(text: str) -> str:
    """`text` with a break (NUL) in the place of everything that proves nothing."""
    return _GENERIC_NAMES.sub("\0", _GENERIC.sub("\0", text))


def is_unmistakable(lines: tuple[str, ...]) -> bool:
    """True where the `lines` of a signature mean the same whichever program's log they stand in."""
    return any(_UNMISTAKABLE.search(line) for line in lines)


def is_generic(lines: tuple[str, ...]) -> bool:
    """True where the `lines` of a signature or message say nothing that only one program would say."""
    words: set[str] = set()
    for line in lines:
        rest = _SHELL.sub(" ", _GENERIC.sub(" ", _PLACEHOLDER.sub(" ", line)))
        words.update(word for word in _WORD.findall(rest) if not word.isdecimal())
    words = {word for word in words if word.casefold() not in _LITTLE_WORDS}
    return len(words) < 2 and not any(_IDENTIFIER.search(word) for word in words)
