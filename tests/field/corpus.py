"""The entries of the small content directory. Comments say which ones are there to lead a search astray."""

from tests.support.small_content import edition

# Frameworks are named so that no test asks for their names; kinds and topics likewise, unless it is about tags.
TAXONOMY = """\
frameworks:
  han: {name: {en: Hanlab, zh: Hanlab}, description: {en: A lab., zh: 一间。}}
  code: {name: {en: Codelab, zh: Codelab}, description: {en: A lab., zh: 一间。}}
  rank: {name: {en: Ranklab, zh: Ranklab}, description: {en: A lab., zh: 一间。}}
  twin: {name: {en: Twinlab, zh: Twinlab}, description: {en: A lab., zh: 一间。}}
kinds:
  error: {name: {en: Mishap, zh: 岔子}, description: {en: A failure., zh: 出错。}}
  how-to: {name: {en: Recipe, zh: 菜谱}, description: {en: A task., zh: 一件事。}}
  concept: {name: {en: Notion, zh: 想法}, description: {en: A notion., zh: 一个概念。}}
topics:
  '2024': {name: {en: '2024', zh: 2024 年}, description: {en: A year., zh: 一年。}}
  'on': {name: {en: 'On', zh: 开启}, description: {en: A state., zh: 一种状态。}}
  rollcall: {name: {en: Roll call, zh: 点卯}, description: {en: A call., zh: 一次点名。}}
error_types: {}
"""


def zh(title: str, *blocks: str, **front: str) -> str:
    """A Chinese edition of a concept."""
    body = "## 回答\n\n" + "\n\n".join(blocks) + "\n"
    return edition(title, body, **{"topics": "[]", **front})


def en(title: str, *blocks: str, **front: str) -> str:
    """An English edition of a concept."""
    body = "## Answer\n\n" + "\n\n".join(blocks) + "\n"
    return edition(title, body, **{"topics": "[]", **front})


HAN = {
    # 简单: a word here; across the border of two words in `trimmed`; its characters apart in `deploy`.
    "install": zh("部署的第一步", "安装简单，没有复杂的配置。"),
    "trimmed": zh("测试的裁剪", "这里精简单元测试的数量。"),
    "deploy": zh("怎样复制部署", "单独准备一台机器，再简要写明步骤。"),
    "paragraph": zh("写一段简短的话", "开头是一段简单的说明。"),
    # A question, and entries that share some of its words.
    "stuck-page": zh("任务卡在 Ray 提交页面", "任务一直卡在ray提交的页面上，没有任何输出。"),
    "blank-page": zh("监控页面打不开", "页面是空白的，多半是代理的事。"),
    "submit": zh("提交任务的命令", "用 ray job submit 提交任务。"),
    "late-log": zh("任务结束后才有日志", "任务跑完，日志才会上传。"),
    "card": zh("显卡驱动版本太低", "升级驱动再试。"),
    "stuck": zh("下载卡住不动", "换一个镜像。"),
    # 权重同步, and the same characters in other words.
    "weight-sync": zh("权重同步的时机", "每训一步就做一次权重同步。"),
    "permission": zh("没有写入权限", "权限不足时换一个目录。"),
    "clock": zh("机器时钟不同步", "同步失败，重新启动以后再同步。"),
    "retry": zh("重试次数太多", "把重试的上限调小。"),
    # 奖励 and 将立 sound the same.
    "reward": zh("奖励函数返回负数", "奖励要先归一化。"),
    "homophone": zh("看门狗将立刻结束进程", "超过时限，看门狗将立刻动手。"),
    "bank": zh("农业发展银行的集群", "农业发展银行用的是专有网络。"),
    "direction": zh("社区发展的方向", "社区发展要慢慢来。"),
    "dynamic": zh("批次怎样随长度变化", "加上参数`--use-dynamic-batch-size`即可，不用再改别的。"),
    "static": zh("批次怎样保持不变", "加上参数`--use-static-batch-size`即可，dynamic 的写法不行。"),
    "suffixes": zh(
        "编译扩展时缺文件",
        "编译C++扩展时找不到libfoo.so，删掉~/.cache里的东西；用C#写的客户端不受影响。",
    ),
    "plain-c": zh("用C语言写插件", "C语言的接口最稳定，so far so good，也不必有 cache。"),
    "memory": zh("显存不足怎么办", "显存不足时先减小批次。"),
    "disk": zh("磁盘空间不足", "磁盘不足时清理旧文件。"),
    "bars": zh("ROLL｜掩码|OOM", "按顺序看。"),
    "places": zh("检查点保存到对象存储", "首先确认桶的名字，其次填好密钥，最后重启调度器。"),
    "sentence": zh("数据从哪里来", "深度学习模型需要大量训练数据。"),
    "fence": zh(
        "怎么看启动脚本",
        "```bash\n# 先装好炉渣过滤器再启动\npython train.py\n```",
        "写成实体的字也一样：&#x9996;页。",
    ),
    "glued": zh("粘在一起的写法", "前文显存不足后文，中间没有空格。"),
    "tagged": zh("版本说明放在哪里", "见发布页。", topics="['2024', 'on', rollcall]"),
    "mixed": zh("在哪里看常见问答", "可以查看FAQ模块中test部分。"),
    "fragments": zh("显存碎片化严重", "碎片化之后就懵逼了。"),
    "lost-card": zh("跑到一半掉卡", "换一台机器。"),
    "wide": zh("全角写法", "日志里是ＯＯＭ和（ＫｅｙＥｒｒｏｒ），端口写成了１０２４。"),
}

CODE = {
    # The words of one name, in several names and in prose.
    "name": en("How many prompts a step takes", "Set `rollout_batch_size` to the number of prompts."),
    "flag": en("How the launcher is told", "Pass `--rollout-batch-size` to the launcher."),
    "part": en("The extent of an update", "`batch_size` is what the optimizer sees."),
    "longer": en("Prompts on each device", "`rollout_batch_size_per_gpu` divides them."),
    "prose": en(
        "Planning a rollout",
        "A rollout takes long. Each batch has its size. Batch after batch, size matters in every rollout.",
    ),
    "tool": en("When calls are verified", "The function `check_tool_call` runs first."),
    "tools": en("Tools of the shop", "Every tool has a phone; call us about it, call at any time."),
    "options": en(
        "Before the first start",
        "Give `--colocate`, and `-l` for a log file.",
        "Set `NCCL_DEBUG=INFO` and `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.",
    ),
    "colocated": en("What was colocated", "Colocate nothing by hand: what we colocate stays colocated."),
    "letter": en("The letter l", "Write l for litre, and l for line. True segments are expandable."),
    "nccl": en("Where NCCL writes to", "NCCL writes to `NCCL_DEBUG_FILE`; alloc and conf are other words."),
    "fence": en("Starting from a file", "```yaml\nqueue_depth_limit: 7\n```"),
    "json-fence": en(
        "An answer of the service",
        '```json\n{"error": {"type": "PreparedStatementCallback", "message": "bad grammar [SELECT x]"}}\n```',
    ),
    "statement": en("A prepared statement", "No callback was prepared; the statement is final."),
    "punctuation": en("Where packages lie", "Call `.libPaths()` first (HandsOn), then `foo.libPath;` again."),
    "oom": en("The device is full", "It ends with torch.cuda.OutOfMemoryError: tried to allocate 2 GiB."),
    "cuda": en("An error in torch", "torch has an Error class; cuda has errors, out of habit, in memory."),
    "method": en("A call that never returns", "`MyClass.doSomething()` waits for a lock."),
    "something": en("Something else", "Do it again, or do something else: my class, my rules."),
    "address": en("The head node", "It listens on 10.0.0.1 and needs vllm==0.6.3.post1."),
    "address-near": en("A worker node", "It listens on 10.0.0.12 and 110.0.0.1 and needs vllm==0.6.3."),
    "assisted": en("Checks by machine", "Robot-assisted checks follow."),
    # 3.6.3 and its digits.
    "version": en("Where it was mended", "Version 3.6.3 mends it."),
    "version-zh": zh("哪一版修好的", "在3.6.3里修好了。"),
    "version-near": en("Versions that lack it", "Versions 3.6, 3.6.30, 13.6.3 and 3.3.6 lack it."),
    "version-digits": en("Three of them", "Take 3 of 6, and 3 more: 6, 3, 3."),
    # Names of hardware and formats, and those that are nearly the same.
    "older": en("Formats of older cards", "A100 knows bf16."),
    "newer": en("Formats of newer cards", "H20 knows fp8, with TP=8."),
    "other-cards": en("Formats elsewhere", "A10, A1000 and H200 know fp16, fp81 and bf161."),
    "other-sizes": en("Sizes elsewhere", "TP=80, TP=4 and 8 of them, with EP=8 and TP of any size."),
    "checkpoint": en("A folder of weights", "It is called `iter_0001000_2024-07-13_mcore`."),
    "arrow": en(
        "Pages that changed",
        "`$page->modified`, `std::vector`, `x => x` and `%s`; set `$QUUXHOME` to see them.",
    ),
    "link": en(
        "Group accounts", "Use a [Group [Managed] Service](https://zebra.example.org/quagga) account."
    ),
    "phrase": en("After each update", "A barter trade happens after each update."),
    "not-phrase": en("Before each update", "They trade in kind and barter, too."),
    # Abbreviations, and words that contain them.
    "kl": en("KL in the loss", "It keeps the policy near."),
    "tp": en("TP across nodes", "It is slow."),
    "ep": en("EP for experts", "It is fast."),
    "gae": en("GAE and its lambda", "It smooths."),
    "dpo": en("DPO instead", "It needs pairs."),
    "abbreviated": en(
        "Longer words", "DPOTrainer, DPOs, KLdiv, TPU, TPs, EPS, steps, GAEA, `dpo_kl_gae_tpx`."
    ),
    "not": en("An operation that is lacking", 'It says: "addmm" is not implemented for Half.'),
    "implemented": en(
        "Operations that exist", "It is implemented for Half, implemented for Float, and implemented for all."
    ),
    "key-1": en("A rank that is lacking", "It says `KeyError: 1` at once."),
    "key-2": en("Keys that are lacking", "It says `KeyError: 2`, `KeyError: 'a'`, KeyError, KeyError."),
    "none": en("A reply that is lacking", "The function gives None."),
    "pool-size": en("How wide it is", "`pool_size` says it."),
    "pool": en("Swimming", "A pool, another pool, and a pool of size."),
}

LONG = "The rest of it is about the weather, which has nothing to do with the matter at hand."

RANK = {
    "exact-title": en("OOM", "The device is full."),
    "inner-word": en(
        "A room with a zoom", "A room, a zoom, a broom; OOM, OOM, OOM and OOM, says the OOM killer."
    ),
    # One word in different places.
    "in-title": en("The quorum", LONG),
    "in-alias": en("Voting", LONG, aliases="['when the quorum lacks']"),
    "in-heading": en("Electing", LONG, "### Of the quorum", "More about the weather."),
    "in-body": en("Counting", LONG + " A quorum is mentioned."),
    "in-signature": edition(
        "Sitting",
        f"## Fix\n\n{LONG}\n",
        topics="[]",
        kind="error",
        signatures="['no quorum left']",
    ),
    "node-js": en("A runtime", "Node.js runs it."),
    "nodes": en("Machines", "A node, and another node; js is short."),
    "stop-words": en("A switch", "`do_not_be_so` turns it off."),
    "sentence": en(
        "What is left over", "The last shard of an epoch is padded with copies of the first rows."
    ),
    "sentence-near": en(
        "Shards and rows", "The first rows, the last rows, copies of rows, and the epoch of a shard."
    ),
    "both-words": en("Before a launch", "Fill the hopper valve with oil, then wait."),
    "one-word": en("A valve", "It opens and closes."),
    "tensor": en("A tensor on the wrong device", "Move it."),
    "censor": en("A censor at work", "The censor, the tenser and the sensor censor it."),
    "parcel-123": en("A parcel", "It is XYZ-123."),
    "parcel-223": en("Another parcel", "It is XYZ-223, of the year 2000."),
    "misspelled": en("A failure with a long name", "`OutOfMemoryError` is raised, and a JSONDecodeError."),
}

TWIN_EN = {
    "both": en("Sharing a team of workers", "Weights travel by broadcast.", "### Limits\n\nThere are some."),
    "english-only": en("Profiling a quokka", "A quokka is profiled by its smile."),
    "anchors": en("Headings that repeat", "### Memory\n\nOne.", "### Memory\n\nTwo.", "### Disk\n\nThree."),
}
TWIN_ZH = {
    "both": zh("共用一批工作进程", "权重用貔貅传输。", "### 限制\n\n有一些。"),
    "chinese-only": zh("麒麟日志", "麒麟写的日志。"),
    "anchors": zh("重复的标题", "### 内存\n\n一。", "### 内存\n\n二。", "### 磁盘\n\n三。"),
}


def is_chinese(text: str) -> bool:
    """Whether an edition was made by `zh`."""
    return "## 回答" in text


FILES = {
    "taxonomy.yaml": TAXONOMY,
    **{
        f"{'zh' if is_chinese(text) else 'en'}/{framework}/{slug}.md": text
        for framework, entries in (("han", HAN), ("code", CODE), ("rank", RANK), ("twin", TWIN_EN))
        for slug, text in entries.items()
    },
    **{f"zh/twin/{slug}.md": text for slug, text in TWIN_ZH.items()},
}
