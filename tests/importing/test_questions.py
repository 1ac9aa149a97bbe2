"""Which lines of a page are questions, in every way that pages write them."""

from pathlib import Path

import pytest
from jieda.importing.page import read_page
from jieda.importing.questions import find_questions

PAGES = {
    "headings under categories, parts below a question": """\
# FAQ

## Table of contents

- [How do I install it?](#install)

## Setup

### How do I install it? {#install}

#### On Linux

Run it.

#### On macOS

Click it.

### ModuleNotFoundError: No module named 'toolkit'

Install it again.

## See also

- [Guide](guide.md)
""",
    "a heading without parts among categories": """\
# Troubleshooting

## Start

### Port in use

Take another.

### No such file

Create it.

## Slow reads

Warm the cache up.
""",
    "parts named like sections": """\
# Troubleshooting

## Installation fails

### Symptoms

It stops.

### Solution

Go on.

## GPU not found

### Symptoms

No GPU.

### Solution

Plug it in.
""",
    "marked headings, others are not meant": """\
# 常见问题

## 使用

### 问：怎么启动？

**答：** 运行它。

### 问：日志在哪里？

答：在目录里。

### 问：支持 Windows 吗？

答：支持。

## 其他资源

- [文档](x.md)
""",
    "bold lines": """\
# FAQ

Some words first.

**How do I install it?**

Run pip.

```sh
# not a heading
pip install toolkit
```

**Does it run on Windows?** Yes, it does.
""",
    "bold labels in answers are no questions": """\
# FAQ

## Why does it hang?

**Cause**: a lock.

**Solution**: free it.

## Why is it slow?

**Cause**: a disk.

**Solution**: another one.
""",
    "numbered lines": """\
# 常见问题

1、如何安装？

执行命令。

2、为什么很慢？
因为网络。
""",
    "items, their answers inside": """\
# FAQ

1. **How do I resume?**

   Set `--load`.

2. **What is a rollout?**

   - One.
   - Two.
""",
    "items, their answers outside": """\
# FAQ

1. How do I resume?

Set `--load`.

2. Why is it stuck?

Look at the log.
""",
    "steps of an answer are no questions": """\
# FAQ

## How do I install it?

1. Download it.

   ```sh
   fetch
   ```

2. Run it.

   It takes long.

## How do I remove it?

Delete it.
""",
    "items that hold a heading": """\
# Build

- ## how to fetch the sources?

   git clone

- ## cannot find the compiler

   install it

   ### another way

   build one
""",
    "lines marked Q and A": """\
# FAQ

Q: How do I install it?
A: Run pip.

Q2: Why is it slow?

A: A disk.

More about disks.

[Q] Is it free? A: It is.
""",
    "details": """\
# FAQ

## Setup

<details><summary>How to install</summary><br>

Run pip.

</details><br>

<details>
<summary><b>Node requirement</b></summary>

One core.

<details><summary>More</summary>

Two.

</details>

</details>
""",
    "definitions": """\
# FAQ

How do I install it?
: Run pip.

Where are the logs?
: In `/var/log`.

    Or elsewhere.
""",
    "a table": """\
# 报错

| 现象 | 原因 | 解决办法 |
| --- | --- | --- |
| 连接超时 | 网络 | 重试 |
| CUDA out of memory | 显存不足 | 调小 batch size |

| Name | Value |
| --- | --- |
| a | b |
""",
    "front matter, comments and imports": """\
---
title: FAQ
# not a heading
---

import Tabs from '@theme/Tabs';

<!--
## not a question
-->

:::tip
Read this first.
:::

## How do I install it?

Run pip.
""",
    "counted headings, others belong to their answers": """\
# FAQ

## Start

### Q1: Why is it stuck?

It waits.

### Cause 1: no port

Open it.

### How much does that matter?

Little.

## Speed

### Q2: Is it slow?

No.

### Q3: Can I stop it?

Yes.

## Best practice

### Sizes

Small ones.
""",
    "a section of questions called by two names": """\
# Toolkit

## Install

Run pip.

## Usage

Call it.

## 🚨 Help (FAQ)

### Can it run offline?

Yes.
""",
    "a section of questions on a page whose title asks": """\
# 如何使用角色

## 文件在哪

当前目录。

## 格式

文本。

## 十、使用常见问题

**Q: 要重启吗？**
A: 不用。

**Q: 能停用吗？**
A: 能。
""",
    "numbered steps of a page that is one answer": """\
# Moving the store

It takes a minute.

## Step 1: stop it

Stop.

## Step 2: copy it

Copy.
""",
    "what a wiki page ends with": """\
# Storage FAQ

## Disks

### How do I add one?

Plug it in.

## Contact

Mail the storage team.

## Revision history

1.2: more about disks.
""",
    "boxes below a heading that is peripheral elsewhere": """\
# FAQ

## Setup

<details><summary>How do I install it?</summary>

Run pip.

</details>

## License

<details><summary>Do I need a license?</summary>

No.

</details>
""",
    "numbered questions, lists of another kind in their answers": """\
## FAQ

1. **How do I read it? **

```sh
cat it
```

* With the viewer.
* With the converter.

2. **What are the units? **

Seconds.
""",
    "questions marked inside an item of a list": """\
# FAQ

1. Q: Nothing starts?

    A: Install the runtime.

    Q: And still nothing?

    A: Remove it first.

2. Q: Is it free?

    A: It is.
""",
    "boxes, headings, bold and marked lines and a table of codes": """\
# 常见问题

## 部署

<details>
<summary>提示找不到引擎怎么办？</summary>

装一个。**要重启吗？** 不用。

**装哪个？**

随便。

</details>

**能离线装吗？**

能。

### 空盘为什么不可用？

有旧分区。

<details>
<summary>怎么清掉旧分区？</summary>

用 zap。

</details>

### 多大的偏差会告警？

0.05 秒。

**为什么**是 0.05 秒不重要。

## 错误码

| 错误码 | 含义 | 处理办法 |
| --- | --- | --- |
| `OSD_FULL` | 盘满了 | 扩容 |
| `SLOW_OPS` | 太慢 | 看日志 |

## 性能

Q1：写入慢怎么办？

A1：换盘。

Q2：怎样限速？

A2：调小。
""",
    "a box and a bold line that belong to answers": """\
# FAQ

## How do I install it?

Run it.

<details>
<summary>Why does this work?</summary>

Because.

</details>

## Is it free?

Yes.

**Why?**

So.

## Which codes are there?

| Code | Meaning |
| --- | --- |
| 1 | no disk |
""",
}
"""By structure. The questions, with the lines from the question to the end of its answer."""

EXPECTED = {
    "headings under categories, parts below a question": [
        ("How do I install it?", 9, 18),
        ("ModuleNotFoundError: No module named 'toolkit'", 19, 22),
    ],
    "a heading without parts among categories": [
        ("Port in use", 5, 8),
        ("No such file", 9, 12),
        ("Slow reads", 13, 16),
    ],
    "parts named like sections": [("Installation fails", 3, 12), ("GPU not found", 13, 22)],
    "marked headings, others are not meant": [
        ("怎么启动？", 5, 8),
        ("日志在哪里？", 9, 12),
        ("支持 Windows 吗？", 13, 16),
    ],
    "bold lines": [("How do I install it?", 5, 13), ("Does it run on Windows?", 14, 15)],
    "bold labels in answers are no questions": [("Why does it hang?", 3, 8), ("Why is it slow?", 9, 14)],
    "numbered lines": [("如何安装？", 3, 6), ("为什么很慢？", 7, 9)],
    "items, their answers inside": [("How do I resume?", 3, 6), ("What is a rollout?", 7, 11)],
    "items, their answers outside": [("How do I resume?", 3, 6), ("Why is it stuck?", 7, 10)],
    "steps of an answer are no questions": [
        ("How do I install it?", 3, 14),
        ("How do I remove it?", 15, 18),
    ],
    "items that hold a heading": [
        ("how to fetch the sources?", 3, 6),
        ("cannot find the compiler", 7, 14),
    ],
    "lines marked Q and A": [
        ("How do I install it?", 3, 5),
        ("Why is it slow?", 6, 11),
        ("Is it free?", 12, 13),
    ],
    "details": [("How to install", 5, 10), ("Node requirement", 11, 23)],
    "definitions": [("How do I install it?", 3, 5), ("Where are the logs?", 6, 10)],
    "a table": [("连接超时", 5, 5), ("CUDA out of memory", 6, 11)],
    "front matter, comments and imports": [("How do I install it?", 16, 19)],
    "counted headings, others belong to their answers": [
        ("Why is it stuck?", 5, 16),
        ("Is it slow?", 19, 22),
        ("Can I stop it?", 23, 26),
    ],
    "a section of questions called by two names": [("Can it run offline?", 13, 16)],
    "a section of questions on a page whose title asks": [("要重启吗？", 13, 15), ("能停用吗？", 16, 18)],
    "numbered steps of a page that is one answer": [("Moving the store", 1, 12)],
    "what a wiki page ends with": [("How do I add one?", 5, 8)],
    "boxes below a heading that is peripheral elsewhere": [
        ("How do I install it?", 5, 10),
        ("Do I need a license?", 13, 18),
    ],
    "boxes, headings, bold and marked lines and a table of codes": [
        ("提示找不到引擎怎么办？", 5, 15),
        ("能离线装吗？", 16, 19),
        ("空盘为什么不可用？", 20, 23),
        ("怎么清掉旧分区？", 24, 30),
        ("多大的偏差会告警？", 31, 36),
        ("`OSD_FULL`", 41, 41),
        ("`SLOW_OPS`", 42, 43),
        ("写入慢怎么办？", 46, 49),
        ("怎样限速？", 50, 53),
    ],
    "a box and a bold line that belong to answers": [
        ("How do I install it?", 3, 13),
        ("Is it free?", 14, 21),
        ("Which codes are there?", 22, 27),
    ],
    "numbered questions, lists of another kind in their answers": [
        ("How do I read it?", 3, 11),
        ("What are the units?", 12, 15),
    ],
    "questions marked inside an item of a list": [
        ("Nothing starts?", 3, 6),
        ("And still nothing?", 7, 10),
        ("Is it free?", 11, 14),
    ],
}


@pytest.mark.parametrize("structure", PAGES)
def test_questions_are_found_where_they_stand(structure: str, tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text(PAGES[structure], encoding="utf-8")
    page = read_page(path)
    found = find_questions(page)
    lines = [(each.title, page.line_of(each.first) + 1, page.line_of(each.end - 1) + 1) for each in found]
    assert lines == EXPECTED[structure]


def test_a_page_of_any_text_has_questions_or_none_but_never_fails(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    for text in (
        "",
        "\n\n",
        "# ",
        "Q:",
        "<details>",
        "<summary>x</summary>",
        "|a|\n|-|\n",
        "- \n- # ",
        "---\n---",
    ):
        path.write_text(text, encoding="utf-8")
        assert isinstance(find_questions(read_page(path)), tuple)
