"""Forms beside the page of questions: one question a file, a section of a longer page, HTML, quoted errors."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from jieda.cli.main import main
from jieda.importing.boxes import open_boxes
from jieda.importing.html_pages import html_to_markdown
from jieda.importing.page import make_page, read_page
from jieda.importing.questions import find_questions

from tests.support import small_content
from tests.support.cost import assert_linear

API = (
    "# client.connect\n\nConnects.\n\n## Syntax\n\nx\n\n"
    "## Parameters\n\n### host\n\nThe host.\n\n### port\n\nThe port.\n\n"
)
SECTION = "### Why is it refused?\n\nClosed.\n\n### Can I set a timeout?\n\nYes.\n\n"
HTML = """<html><head><title>Help</title></head><body><nav><h2>Menu</h2></nav>
<h1>FAQ</h1>
<details><summary>How do I install it?</summary>
<p>Run <code>make install</code> &amp; see <a href="https://example.com/g">the guide</a>.</p>
<pre>make install
# done</pre></details>
<h2>Why is it slow?</h2><ul><li>Disk<li>Net</ul>
</body></html>"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "a.md",
            "# Port 80 is taken\n\n## Environment\n\nAny.\n\n## Solution\n\nStop it.\n",
            [("Port 80 is taken", 1)],
        ),
        (
            "a.md",
            "# 端口被占用怎么办\n\n## 原因\n\n有人用。\n\n## 解决方法\n\n停掉。\n",
            [("端口被占用怎么办", 1)],
        ),
        (
            "a.md",
            "---\ntitle: Why is port 80 taken?\n---\n\n## Cause\n\nIt is.\n\n## Solution\n\nStop it.\n",
            [("Why is port 80 taken?", 1)],
        ),
        (
            "a.md",
            f"{API}## FAQ\n\n{SECTION}## See also\n\n- x\n",
            [("Why is it refused?", 21), ("Can I set a timeout?", 25)],
        ),
        (
            "a.md",
            f"{API}## 常见问题\n\n- **为什么被拒绝？**\n\n  关了。\n\n- **能设超时吗？**\n\n  能。\n",
            [("为什么被拒绝？", 21), ("能设超时吗？", 25)],
        ),
        (
            "a.md",
            "# FAQ\n\n<font color='red'>**Q: Is it free?**</font>\n\nA: Yes.\n\n"
            "<font>**Q: Is it fast?**</font>\n\nA: No.\n",
            [("Is it free?", 3), ("Is it fast?", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\n* `install`: How do I start?\n\n  Run it.\n\n* `net`, `disk`: Why is it slow?\n\n  Disk.\n",
            [("How do I start?", 3), ("Why is it slow?", 7)],
        ),
        (
            "a.md",
            "---\n\n# FAQ\n\n## How do I start?\n\nRun it.\n\n---\n\n## How do I stop it?\n\nKill it.\n",
            [("How do I start?", 5), ("How do I stop it?", 11)],
        ),
        (
            "a.md",
            "# FAQ\n\nIt fails:\n\n```\n  f(x)\n  ~~~^^^\n```\n\n"
            "::: details How do I start?\nRun it.\n:::\n\n::: details How do I stop it?\nKill it.\n:::\n",
            [("How do I start?", 10), ("How do I stop it?", 14)],
        ),
        (
            "a.md",
            "# FAQ\n\n::: details How do I start?\nRun it.\n\n::: details How do I stop it?\nKill it.\n",
            [("How do I start?", 3), ("How do I stop it?", 6)],
        ),
        (
            "a.mdx",
            '# FAQ\n\n<Accordion title="Note" />\n\n<Accordion title="How do I start?">\nRun it.\n</Accordion>\n\n'
            '<Accordion title="How do I stop it?">\nKill it.\n</Accordion>\n',
            [("How do I start?", 5), ("How do I stop it?", 9)],
        ),
        ("a.html", HTML, [("How do I install it?", 3), ("Why is it slow?", 7)]),
        (
            "a.md",
            "# FAQ\n\n::: details Why is it slow?\n- Disk\n:::\n\n:::: details Can I stop it?\n::: tip\nx\n:::\n::::\n",
            [("Why is it slow?", 3), ("Can I stop it?", 7)],
        ),
        (
            "a.md",
            '# FAQ\n\n??? question "Why is it slow?"\n\n    Disk.\n\n??? question "Can I stop it?"\n\n    Yes.\n',
            [("Why is it slow?", 3), ("Can I stop it?", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\nWhy is it slow?\n\n:   Disk.\n\n    `/var`\n    : It.\n\nCan I stop it?\n:   Yes.\n",
            [("Why is it slow?", 3), ("Can I stop it?", 10)],
        ),
        (
            "a.md",
            "# FAQ\n\n- `[net]` **[disk]** Linking fails\n\n  In order.\n\n- [Errno 28] No space left\n\n  Free it.\n",
            [("Linking fails", 3), ("[Errno 28] No space left", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\n## 🐛 Queries time out\n\nIndex.\n\n## Problem: the build hangs\n\n**Solution**: kill it.\n",
            [("Queries time out", 3), ("the build hangs", 7)],
        ),
        (
            "a.md",
            '## FAQ\n\n<h3 name="slow">\nWhy is <code>it</code> slow?\n</h3>\n\nDisk.\n\n'
            "<H3 id=stop>Can I stop it?</H3>\nYes.\n",
            [("Why is it slow?", 3), ("Can I stop it?", 9)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\nIs it free?\n-----------\n\nSee :doc:`the\n<legal>` page and :ref:`terms\n<terms>`.\n\n"
            "Is it fast?\n-----------\n\nNo.\n",
            [("Is it free?", 4), ("Is it fast?", 11)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\nHow do I...\n-----------\n\n... start it?\n   Run it.\n\n... stop it?\n   Kill it.\n",
            [("... start it?", 7), ("... stop it?", 10)],
        ),
        (
            "a.html",
            "<h1>FAQ</h1><dl>\n<dt>1. <a href='a.html#b'>Background</a></dt></dl><table>\n"
            "<tr class='question'><td><b>1.1.</b></td>\n<td><b>Why is it slow?</b></td></tr>\n"
            "<tr class='answer'><td></td><td><p>Disk.</p></td></tr>\n"
            "<tr class='question'><td><b>1.2.</b></td><td><b>Can I stop it?</b></td></tr>\n"
            "<tr><td>Yes.</td></tr></table>",
            [("Why is it slow?", 3), ("Can I stop it?", 6)],
        ),
        (
            "a.md",
            "# Troubleshooting\n\n## The disk is full\n\nIt is.\n\n## Solution\n\nFree it.\n\n"
            "## The net is down\n\nPlug it.\n\n## Getting more help\n\n"
            "**1. Ask us**\n\nHere.\n\n**2. Ask others**\n\nThere.\n",
            [("The disk is full", 3), ("The net is down", 11)],
        ),
        (
            "a.md",
            "title: Trouble\n---\n\n## The disk is full\n\nFree it.\n\n## The net is down\n\nPlug it.\n",
            [("The disk is full", 4), ("The net is down", 8)],
        ),
        (
            "a.md",
            '# FAQ\n\n<a name="q1"></a>\n**(1) Is it safe?**\n\nYes.\n\n'
            '<a name="q2"></a>\n**(2) Is it fast?**\n\nNo.\n',
            [("Is it safe?", 3), ("Is it fast?", 8)],
        ),
        (
            "a.md",
            "# 常见问题\n\n### 1、为什么很慢？\n\n因为网络。\n\n### 2、部署教程\n"
            "1、[如何部署](a.md)<br/>\n2、[如何升级](b.md)<br/>\n",
            [("为什么很慢？", 3), ("部署教程", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\n### Q: Is it safe?\n\nYes.\n\n### Q: Why slow?\n\n| Cause | Solution |\n| --- | --- |\n"
            "| Disk | Buy |\n\n### Q: Is it free?\n\nYes.\n\n## Quick error reference\n\n"
            "| Error | Solution |\n| --- | --- |\n| Full | Free it |\n",
            [("Is it safe?", 3), ("Why slow?", 7), ("Is it free?", 13)],
        ),
        (
            "a.md",
            f"# FAQ\n\n## Is it safe?\n\nYes.\n\n# How large is it?\n\n{'Quite large. ' * 20}\n\n"
            "## Is it free?\n\nYes.\n\n"
            "## Is it fast?\n\nNo.\n",
            [("Is it safe?", 3), ("How large is it?", 7), ("Is it free?", 11), ("Is it fast?", 15)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\n | **Q**: Is it safe?\n\nYes, with ``one\ntwo``.\n\n | **Q**: Is it fast?\n\nNo.\n",
            [("Is it safe?", 4), ("Is it fast?", 9)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\n.. dropdown:: Is it safe?\n   :open:\n\n   Yes.\n\n   Very.\n\n"
            ".. dropdown:: Is it fast?\n\n   No.\n",
            [("Is it safe?", 4), ("Is it fast?", 11)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\nDomes. Help me.\n---------------\n\n   [Q] **Is it a dome?**\n\n   [A] It is.\n\n"
            "   [Q] **Can it turn?**\n\n   [A] No.\n",
            [("Is it a dome?", 7), ("Can it turn?", 11)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Content overview\n\n* [Disk](#disk)\n* [Net](#net)\n\n## Disk full\n\nFree it.\n\n"
            "## No net\n\nPlug it.\n\n## Still having issues?\n\nAsk.\n",
            [("Disk full", 8), ("No net", 12)],
        ),
        ("a.md", f"{API}## FAQ\n\nIs it safe?\n:   Yes.\n", [("Is it safe?", 21)]),
        ("a.md", "# 磁盘写满\n\n**现象**\n\n只读。\n\n**解决办法**\n\n清理。\n", [("磁盘写满", 1)]),
        (
            "a.rst",
            f"FAQ\n===\n\nIs it safe?\n-----------\n\n.. raw:: html\n\n   <p>{'x' * 20_000}</p>\n\nYes.\n\n"
            "Is it fast?\n-----------\n\nNo.\n",
            [("Is it safe?", 4), ("Is it fast?", 13)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\n1. Is it safe?\n\nA. Yes.\n\n2. Is it fast?\n\nA. No, it is\n   slow.\n",
            [("Is it safe?", 4), ("Is it fast?", 8)],
        ),
        ("a.rst", "FAQ\n===\n\n**Is it safe?**\n\nYes.\n", [("Is it safe?", 4)]),
        ("a.rst", "FAQ\n===\n\n**Is it safe?**\n\nA.\n\nYes.\n", [("Is it safe?", 4)]),
        (
            "a.rst",
            "FAQ\n===\n\nIt does not build\n-----------------\n\nQuestion:\n  It stops. Why?\n\nAnswer:\n  Disk.\n\n"
            "Why is it slow?\n---------------\n\nQuestion:\n  It takes hours.\n\nAnswer:\n  Net.\n",
            [("It does not build", 4), ("Why is it slow?", 13)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Setup\n\n**Q:** Is it safe?\n\n**A:** Yes.\n\n## Money\n\n**Q.** Is it free?\n\n**A:** Yes.\n"
            "\n**Q:** **A:**\n",
            [("Is it safe?", 5), ("Is it free?", 11)],
        ),
        (
            "a.md",
            "# 磁盘\n\n## 问题1 写满\n\n清理。\n\n## 问题2 变慢\n\n换盘。\n\n# 网络\n\n## 问题1 断开\n\n重连。\n\n"
            "# 附录\n\n## 如何抓包\n\n用工具。\n",
            [("写满", 3), ("变慢", 7), ("断开", 13)],
        ),
        (
            "a.md",
            "# Troubleshooting\n\n## Disk full\n\n### Cause\n\nLogs.\n\n### Solution\n\nDelete.\n\n"
            "## TLS errors\n\nMany causes.\n\n### Old certificate\n\n#### Cause\n\nAge.\n\n#### Solution\n\nRenew.\n\n"
            "### Wrong host\n\n#### Cause\n\nName.\n\n#### Solution\n\nRename.\n\n"
            "## No net\n\n### Cause\n\nCable.\n\n### Solution\n\nPlug it.\n",
            [("Disk full", 3), ("Old certificate", 17), ("Wrong host", 27), ("No net", 37)],
        ),
        (
            "a.md",
            "# 常见问题速查\n\n## 登录\n\n| 现象 | 先看哪里 | 常见原因 |\n| --- | --- | --- |\n"
            "| 反复掉线 | 会话 | 时钟 |\n"
            "| 起不来 | 端口 | 占用 |\n\n## 还没解决怎么办\n\n提 issue。\n",
            [("反复掉线", 7), ("起不来", 8)],
        ),
        (
            "a.md",
            "# FAQ\n\n**Q:** Is it safe?\n\n**A:** Yes.\n\n**Q:** Is it fast?\n\n**A:** No.\n\n## Troubleshooting\n\n"
            "Some linkers print a warning that can be ignored.\n",
            [("Is it safe?", 3), ("Is it fast?", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Use\n\n/// details | Why is it slow?\n    type: note\n\nDisk.\n///\n\n"
            "/// details | Can I stop it?\nYes.\n///\n\n## Data\n\n/// details | 能备份吗？\n能。\n///\n",
            [("Why is it slow?", 5), ("Can I stop it?", 11), ("能备份吗？", 17)],
        ),
        (
            "a.mdx",
            '# FAQ\n\n## Use\n\n<AccordionGroup>\n  <Accordion title="Why is it slow?">\n    <CodeGroup>\n'
            "    ```sh\n    # Look first\n    top\n    ```\n    </CodeGroup>\n  </Accordion>\n\n"
            "  <Accordion icon='x' title='Can I stop it?'>\n    Yes.\n  </Accordion>\n</AccordionGroup>\n\n"
            '## Data\n\n<Details summary="能备份吗？">\n能。\n</Details>\n',
            [("Why is it slow?", 6), ("Can I stop it?", 15), ("能备份吗？", 22)],
        ),
        (
            "a.md",
            "# FAQ\n\n```{rubric} Why is it slow?\n```\n\nDisk.\n\n```{rubric} Can I stop it?\n```\n\nYes.\n\n"
            ":::{dropdown} 能备份吗？\n能。\n:::\n",
            [("Why is it slow?", 3), ("Can I stop it?", 8), ("能备份吗？", 13)],
        ),
        (
            "a.rst",
            "FAQ\n===\n\n**The pump cannot start** - Plug it in.\n\n**The pipe drips** - Turn the nut.\n\n"
            "**Empty tank after a night** - Close it.\n",
            [("The pump cannot start", 4), ("The pipe drips", 6), ("Empty tank after a night", 8)],
        ),
        (
            "a.md",
            "# FAQ\n\n➤ **Is it free?**\n\nYes.\n\n➤ **Is it fast?**\n\nYes.\n\n**On a slow disk:**\n\n- wait\n",
            [("Is it free?", 3), ("Is it fast?", 7)],
        ),
        (
            "a.md",
            "# Troubleshooting\n\n## First of all\n\n### Run the doctor\n\nRun it.\n\n## The net\n\n"
            "### Issue: the port is taken\n\nStop it.\n\n### Issue: peers hide\n\nWait.\n\n"
            "## The disk\n\n### Issue: writes stall\n\nFree some.\n",
            [("the port is taken", 11), ("peers hide", 15), ("writes stall", 21)],
        ),
        (
            "a.rst",
            "Questions\n=========\n\nIs it free?\n-----------\n\nYes.\n\nIs it fast?\n-----------\n\nNo.\n\n"
            "Glossary\n========\n\nNode\n    A machine.\n\nShard\n    A part.\n",
            [("Is it free?", 4), ("Is it fast?", 9)],
        ),
        (
            "a.html",
            "<body><header><h2>Our site</h2></header><section><h2><i class='icon'></i> FAQ</h2><div>\n"
            "<header><h4>Is it free?</h4></header><p>Yes.</p></div><div>\n"
            "<header><h4>Is it <i class='star'></i>fast?</h4></header><p>No.</p></div></section></body>",
            [("Is it free?", 2), ("Is it fast?", 3)],
        ),
        (
            "a.html",
            "<h1>FAQ</h1><table><tr><th>Question</th><th>Answer</th></tr>\n"
            "<tr><td>Is it free?</td><td><p>Yes.</p></td></tr>\n<tr><td>Is it fast?<td>No.</table>",
            [("Is it free?", 2), ("Is it fast?", 3)],
        ),
        (
            "a.html",
            "<h1>FAQ</h1><div class='faq-item'>\n<button class='faq-question'>Is it free? <span>+</span></button>\n"
            "<div class='faq-answer'>Yes.</div></div>\n<div class='FAQ__Question'><p>Is it fast?</p></div>No.",
            [("Is it free?", 2), ("Is it fast?", 4)],
        ),
        (
            "a.md",
            '# FAQ\n\n??? question "Is it free?"\n\n    ### Is it free?\n\n    Yes.\n\n??? question "Is it fast?"\n\n'
            "    ### Is it fast?\n\n    No.\n",
            [("Is it free?", 5), ("Is it fast?", 11)],
        ),
        # What only leads through the site: landmarks, the sign of a permanent link, links in place of answers.
        (
            "a.html",
            "<body><div role='navigation'><h3>Pages</h3><div><ul><li>One</li></ul></div></div>\n<p>By us.</p>"
            '<h2>Contents</h2><p>Two.</p><h1>FAQ<a class="up" href="#faq">¶</a></h1><p>'
            f'{"Words. " * 30}</p><h2>How do I...<a href="#how">&para;</a></h2>\n<dl><dt>start it?</dt><dd>So.</dd>\n'
            '<dt>stop it?</dt><dd>So.</dd>\n<dt>Is it new?<a href="#new">&para;</a></dt><dd>No.</dd></dl></body>',
            [("start it?", 3), ("stop it?", 4), ("Is it new?", 5)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Read first\n\n- [One](one.md)\n- [Two](two.md)\n\n"
            "## [Is it free?](free.md)\n\nWhat it costs.\n\n## Is it fast?\n\nNo.\n\n## [Is it old?](#old)\n\nYes.\n\n"
            "## 没有菜单\n\n- [一](one.md)\n- [二](two.md)\n\n"
            "## Many at once\n\nIn order.\n\n- [1](one.md)\n- [2](two.md)\n",
            [("Is it fast?", 12), ("Is it old?", 16), ("没有菜单", 20), ("Many at once", 25)],
        ),
        (
            "a.md",
            "# FAQ\n\n*Is it free?*\n\nYes, *very*.\n\n*Is it fast?*\n\nNo.\n",
            [("Is it free?", 3), ("Is it fast?", 7)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Is it free?\n\nYes.\n\n## 能退款吗？\n\n能。\n\n"
            "## Where can I ask what isn’t answered here?\n\nIn the forum.\n\n## 找不到答案？\n\n去论坛。\n",
            [("Is it free?", 3), ("能退款吗？", 7)],
        ),
        (
            "a.md",
            "# Troubleshooting\n\n## Net\n\n### The port is taken\n\nStop it.\n\n### Peers are not found\n\nWait.\n\n"
            "## Tools\n\n**See the log:**\n\n`log`\n\n**See the trace:**\n\n`trace`\n",
            [("The port is taken", 5), ("Peers are not found", 9), ("Tools", 13)],
        ),
        (
            "a.md",
            "# Troubleshooting\n\n## Nothing is drawn\n\n1. **Is it on?** See *Settings*.\n"
            "2. **Is it new?** Update.\n\n## Lines don't join\n\n- **Too far?** Move them.\n- **Locked?** Unlock.\n\n"
            "## Too pale\n\nRepaint.\n\n## Still stuck?\n\nAsk.\n",
            [("Nothing is drawn", 3), ("Lines don't join", 8), ("Too pale", 13)],
        ),
        (
            "a.html",
            "<h1>Trails</h1><h2>What is a trail?</h2><p>A way.</p><h2>How does it form?</h2><p>By feet.</p>"
            "<h2>Sources</h2><p>Books.</p><h2>FAQ</h2>\n<details><summary>Is it steep?</summary><p>No.</p></details>\n"
            "<details><summary>Is it long?</summary><p>No.</p></details>",
            [
                ("What is a trail?", 1),
                ("How does it form?", 1),
                ("Sources", 1),
                ("Is it steep?", 2),
                ("Is it long?", 3),
            ],
        ),
        # Question and answer share a line; the question alone is the title.
        (
            "a.md",
            "# FAQ\n\n**Q: Is it free?** Yes.\n\n**Q: Is it fast?** No.\n",
            [("Is it free?", 3), ("Is it fast?", 5)],
        ),
        (
            "a.md",
            "# 常见问题\n\n- **问：收费吗？** 不收。\n- **问：快吗？** 不快。\n",
            [("收费吗？", 3), ("快吗？", 4)],
        ),
        (
            "a.md",
            "# FAQ\n\n<dl>\n<dt>Is it free?</dt>\n<dd>Yes.</dd>\n<dt>Is it fast?</dt>\n<dd>No.</dd>\n</dl>\n",
            [("Is it free?", 4), ("Is it fast?", 6)],
        ),
        # One row under headings that say what it holds.
        ("a.md", "# FAQ\n\n| Question | Answer |\n|---|---|\n| Is it free? | Yes |\n", [("Is it free?", 5)]),
        # A problem and what to do on one line of a list: only below a heading that is named for questions.
        (
            "a.md",
            "# Mill\n\n## Parts\n\n- **Stone**: not local\n- **Sail**: no cloth\n\n## Known issues\n\n"
            "1. **Sails stand still**: wait for wind\n2. **Flour** → sieve it\n"
            "3. `E12: no grain`: refill\n\n## License\n\nMIT\n",
            [("Sails stand still", 10), ("Flour", 11), ("`E12: no grain`", 12)],
        ),
        (
            "a.md",
            "# 磨坊\n\n磨。\n\n## 故障排除指南\n\n- 风车不转：看看有没有风\n- 面粉太粗：再筛一遍\n\n## 许可证\n\nMIT\n",
            [("风车不转", 7), ("面粉太粗", 8)],
        ),
        (
            "a.md",
            "# Mill\n\nA mill.\n\n## F.A.Q.\n\n**Sails stand still:**\n\n`wait`\n\n**Grain missing:**\n\n`refill`\n\n"
            "## License\n\nMIT\n",
            [("Sails stand still", 7), ("Grain missing", 11)],
        ),
        # Labels begin questions, but only parts of an answer below a heading that says what it is about.
        (
            "a.md",
            "# Known issues\n\nProblem: No wind.\nSolution: Wait.\n\nProblem: No grain.\nSolution: Refill.\n",
            [("No wind.", 3), ("No grain.", 6)],
        ),
        (
            "a.md",
            "# 故障排查\n\n## 风车不转\n\n**问题**：等了一天也不转。\n\n**解决**：等风来。\n\n"
            "## 面粉太粗\n\n**问题**：筛不过去。\n\n**解决**：再磨。\n",
            [("风车不转", 3), ("面粉太粗", 9)],
        ),
        (
            "a.md",
            "# 故障排查\n\n| 类型 | 症状 | 处理方法 |\n|---|---|---|\n| 风 | 不转 | 等 |\n| 粮 | 不出面 | 加 |\n",
            [("不转", 5), ("不出面", 6)],
        ),
        # A heading in place of questions, and one above a list of problems whose name is also that of a problem.
        (
            "a.md",
            "# FAQ\n\n## Questions by version (FAQ)\n\n[1.0](https://a.org/1)\n\n## Is it free?\n\nYes.\n\n"
            "## Common errors\n\n- `E12`: refill\n- `E13: no wind`: wait\n",
            [("Is it free?", 7), ("`E12`", 13), ("`E13: no wind`", 14)],
        ),
        (
            "a.md",
            "# FAQ\n\n## Questions?\n\n[Ask](https://a.org/)\n\n## 收费吗？\n\n收。\n\n## 启动异常问题排查\n\n看。\n",
            [("收费吗？", 7), ("启动异常问题排查", 11)],
        ),
        (
            "a.md",
            "# 2 踩坑记录\n\n## 2.1 风车不转\n\n等风来。\n\n## 2.2 面粉太粗\n\n再磨。\n\n## 换石磨\n\n换。\n",
            [("风车不转", 3), ("面粉太粗", 7), ("换石磨", 11)],
        ),
        (
            "a.md",
            "# FAQ\n\n## 2.1 is slow\n\nWait.\n\n## Is it free?\n\nYes.\n",
            [("2.1 is slow", 3), ("Is it free?", 7)],
        ),
        (
            "a.html",
            '<h1>FAQ</h1><table><tr class="question"><td><b>1.1.</b><td>Make dies at once<pre>x</pre></tr>'
            "<tr><td><td>Yes.</tr>"
            '<tr class="question"><td><b>1.2.</b><td>The build stops<pre>y</pre></tr><tr><td><td>No.</tr></table>',
            [("Make dies at once", 1), ("The build stops", 1)],
        ),
        # A word in a list of words is no mark.
        (
            "a.md",
            "# 常见问题\n\n## 问题、建议发到哪里？\n\n一。\n\n## 问题2、怎么退？\n\n二。\n",
            [("问题、建议发到哪里？", 3), ("怎么退？", 7)],
        ),
        # A version is no number of a question.
        (
            "a.md",
            "# FAQ\n\n* *Is `&lt;b&gt;` free?*\n\n  Yes.\n\n* *3.x 版本收费吗？*\n\n  No.\n",
            [("Is `<b>` free?", 3), ("3.x 版本收费吗？", 7)],
        ),
        (
            "a.md",
            "# 说明\n\n## 问、如何安装\n\n答、看文档。\n\n## Q、贵吗\n\n不。\n\n## 问:能退货\n\n能。\n",
            [("如何安装", 3), ("贵吗", 7), ("能退货", 11)],
        ),
        # Boxes that an export puts into lists, with a heading in one.
        (
            "a.html",
            "<h1>FAQ</h1><ul class=toggle><li><details open>\n<summary>Is it free?</summary>Yes.</details></li></ul>"
            "<ul><li>\n<details><summary>Is it fast?</summary>No.</details></li></ul>",
            [("Is it free?", 1), ("Is it fast?", 3)],
        ),
        # What is not the main part, the link to edit a section, and titles of accordions without a link.
        (
            "a.html",
            "<div role=main><h1>FAQ</h1><h4>Is it free?<span class=mw-editsection>[edit]</span></h4>Yes."
            "<div class=accordion-item><div><a class=accordion-title tabindex=0>Is it fast?</a></div>No.</div>"
            "<h4>Footnotes</h4>1</div><h2>Navigation</h2>Home",
            [("Is it free?", 1), ("Is it fast?", 1)],
        ),
        # Panels, sections whose ids look like other things, and a table without a header.
        (
            "a.html",
            "<h1>FAQ</h1><div class=callout><h2>Is it free?</h2>Yes.</div><section id=footer><h2>Is it fast?</h2>\n"
            "No.</section><h2 id=lineno>Is it old?</h2>No.",
            [("Is it free?", 1), ("Is it fast?", 1), ("Is it old?", 2)],
        ),
        (
            "a.html",
            "<h1>FAQ</h1><table><tr><td><p><b>Is it free?</b></p><td><p>Yes.</p>\n"
            "<tr><td><p><b>Is it fast?</b></p><td><p>No.</p></table>",
            [("Is it free?", 1), ("Is it fast?", 2)],
        ),
        (
            "a.md",
            "# FAQ\n\n[[toc]]\n\n<script setup>\nconst a = 1\n</script>\n\n"
            "::: details Is it free? {open}\nYes.\n:::\n\n"
            '<details>\n<summary>\n### Is it fast? <Badge text="1" />\n</summary>\nNo.\n</details>\n',
            [("Is it free?", 9), ("Is it fast?", 13)],
        ),
        (
            "a.md",
            '# FAQ\n\n## How do I use <Foo a="b" />?\n\nSo.\n\n## Is it fast? <Badge text="1" />\n\nNo.\n',
            [('How do I use <Foo a="b" />?', 3), ("Is it fast?", 7)],
        ),
        (
            "mediawiki.html",
            "<h1>GPU FAQ</h1><a class='mw-jump-link' href='#s'>Jump</a><h2>Jobs</h2>"
            "<h3>Why is it pending?</h3><p>Wait.</p>\n"
            "<h3>Where is my data?</h3><p>There.</p><h2>References</h2><p>x</p>",
            [("Why is it pending?", 1), ("Where is my data?", 2)],
        ),
        (
            "zendesk.html",
            "<main><aside class='article-sidebar'><h3>Articles in this section</h3></aside>\n<article>"
            "<h1>The disk is full</h1><h2>Symptoms</h2><p>x</p><h2>Solution</h2><p>y</p></article></main>",
            [("The disk is full", 2)],
        ),
        (
            "confluence.html",
            "<h2>Why is it slow?</h2><p>Disk.</p>\n<h2>Can I resume?</h2><p>Yes.</p>"
            "<div class='pageSection group'><h2 id='comments'>Comments:</h2><p>Thanks!</p></div>",
            [("Why is it slow?", 1), ("Can I resume?", 2)],
        ),
        (
            "a.md",
            "# 常见问题\n\n## 问、答、评论怎么用？\n\n点。\n\n## 问、怎么退出？\n\n答、点。\n",
            [("问、答、评论怎么用？", 3), ("怎么退出？", 7)],
        ),
        # Links to guides are no questions, and neither is a paragraph in bold type or above a rule.
        ("a.md", "# Docs\n\nMore:\n\n1、如何安装？ [看](a)\n2、怎么升级？ [看](b)\n", [("Docs", 1)]),
        (
            "a.md",
            f"# FAQ\n\n**{'Everything is new. ' * 20}?**\n\n**Is it free?**\n\nYes.\n\n**Is it fast?**\n\nNo.\n",
            [("Is it free?", 5), ("Is it fast?", 9)],
        ),
        (
            "a.md",
            f"## Is it free?\n\nYes.\n\n{'word ' * 60}\n---\n\n## Is it fast?\n\nNo.\n",
            [("Is it free?", 1), ("Is it fast?", 8)],
        ),
    ],
)
def test_questions_are_found(name: str, text: str, expected: list[tuple[str, int]], tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    page = read_page(tmp_path / name)
    found = find_questions(page)
    assert [(each.title, page.line_of(each.first) + 1) for each in found] == expected


@pytest.fixture
def imported(tmp_path: Path) -> Callable[..., Result]:
    """Imports pages, given as texts by name, into `content`."""
    small_content.write(tmp_path / "content", {})

    def run(named: list[str], **files: str) -> Result:
        for name, text in files.items():
            path = tmp_path / name.replace("_DOT_", ".").replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        pages = [str(tmp_path / each) for each in named]
        arguments = ["--framework", "roll", "--content", str(tmp_path / "content"), "--lang", "en", *pages]
        return CliRunner().invoke(main, ["import", *arguments])

    return run


def draft(tmp_path: Path, slug: str) -> str:
    return (tmp_path / "content" / "en" / "roll" / f"{slug}.md").read_text(encoding="utf-8")


def test_a_page_of_the_same_name_with_another_ending_is_another_page(imported: Callable[..., Result]) -> None:
    one = "# FAQ\n\n## How do I start?\n\nRun.\n\n## How do I stop?\n\nKill.\n"
    other = "FAQ\n===\n\nIs it free?\n-----------\n\nYes.\n\nIs it fast?\n-----------\n\nNo.\n"
    done = imported(["faq.md", "faq.rst"], faq_DOT_md=one, faq_DOT_rst=other)
    assert "Pages: 2. Questions: 4," in done.output
    assert done.exit_code == 0


def test_a_page_that_was_named_and_has_no_questions_is_told_and_the_exit_code_says_it(
    imported: Callable[..., Result],
) -> None:
    faq = "# FAQ\n\n## How do I start?\n\nRun.\n\n## How do I stop?\n\nKill.\n"
    done = imported(["faq.md", "empty.md"], faq_DOT_md=faq, empty_DOT_md="Nothing.\n")
    assert "empty.md: no questions were found in it" in done.output
    assert done.exit_code == 1


def test_a_directory_of_files_with_a_question_each_is_imported(imported: Callable[..., Result]) -> None:
    one = "# Why is port 80 taken?\n\n## Cause\n\nIt is.\n\n## Solution\n\nStop it.\n"
    guide = "# Guide\n\n## Start\n\nRun.\n\n## Stop\n\nKill.\n"
    done = imported(["kb"], kb__port_DOT_md=one, kb__guide_DOT_md=guide)
    assert "Pages: 1. Questions: 1," in done.output
    assert "guide.md: skipped" in done.output


def test_a_page_in_a_folder_of_questions_is_one_of_questions(imported: Callable[..., Result]) -> None:
    page = "# Disk quota\n\n## Raise it\n\nAsk.\n\n## Free some\n\nDelete.\n"
    done = imported(["kb"], kb__FAQ__disk_DOT_md=page, kb__guide__disk_DOT_md=page)
    assert "Pages: 1. Questions: 2," in done.output
    assert "guide/disk.md: skipped" in done.output


def test_a_folder_of_runbooks_becomes_errors_that_link_to_each_other(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    first = (
        "---\ntitle: PodCrashLooping\n---\n\n## Symptoms\n\n```text\n"
        "2m  conntrack: table full at 10:03, dropping packet\n```\n\n"
        "## Diagnosis\n\nSee [memory](../nodes/memory.md).\n\n## Resolution\n\nRaise it.\n"
    )
    second = '+++\ntitle = "Memory runs out"\n+++\n\n## Symptoms\n\nIt stops.\n\n## Fix\n\nBuy [more](more.md#fix).\n'
    asks = "---\ntitle: How do I drain a node?\n---\n\nCordon it first.\n"
    tour = "---\ntitle: Start here\n---\n\nWelcome to all of it.\n"
    both = {"": "# FAQ\n\n## Who may drain?\n\nAll.\n", "_DOT_zh": "# 问答\n\n## 谁能排空？\n\n都能。\n"}
    linking = "# 问答\n\n## 怎么排空节点？\n\n见[权限](faq.md#谁能排空)、[权限](faq.zh.md#谁能排空)。\n"
    guide = "# Guide\n\n## Overview\n\nx\n\n## Steps\n\nRun.\n\n## Example\n\nThis.\n"
    pages = {
        "rb__pods__crash_DOT_md": first,
        "rb__nodes__memory_DOT_md": second,
        "rb__drain_DOT_md": asks,
        "rb__index_DOT_md": tour,
        "rb__guide_DOT_md": guide,
        "rb__nodes-faq_DOT_zh_DOT_md": linking,
        **{f"rb__faq{lang}_DOT_md": text for lang, text in both.items()},
    }
    done = imported(["rb"], **pages)
    assert "Pages: 5. Questions: 5," in done.output
    assert "index.md: skipped" in done.output
    assert "guide.md: skipped" in done.output
    crash = draft(tmp_path, "pod-crash-looping")
    assert "kind: error\n" in crash
    assert "kind: error is a guess" not in crash
    assert "  - 'conntrack: table full at {int}:{int}, dropping packet'" in crash
    assert "## Cause\n\nSee [memory](memory-runs-out.md).\n" in crash
    assert "kind: error\n" in draft(tmp_path, "memory-runs-out")
    assert "Cordon it first." in draft(tmp_path, "drain-node")
    assert "见[权限](may-drain.md)、[权限](may-drain.md)。" in (
        tmp_path / "content/zh/roll/nodes-faq-zh.md"
    ).read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "symptoms", "fix"),
    [
        ("Sails stand.\n\nSymptom: no flour.\n\nSolution: wait.", "Symptom", "Fix"),
        ("It stands.\n\n**Fix**: Wait.\n\n**Verify** that it turns.", "Symptom", "Fix"),
        ("风车不转。\n\n#### 现象\n\n没有面粉。\n\n修复：等风来。", "现象", "解决办法"),
    ],
)
def test_text_above_a_labeled_symptom_belongs_to_it(
    imported: Callable[..., Result], tmp_path: Path, text: str, symptoms: str, fix: str
) -> None:
    imported(["a.md"], a_DOT_md=f"# FAQ\n\n### WindError: no wind\n\n{text}\n\n### Is it free?\n\nYes.\n")
    found = (tmp_path / "content").glob("*/roll/*wind*.md")
    lines = next(found).read_text(encoding="utf-8").split("\n")
    assert [line for line in lines if line.startswith("#")] == [f"## {symptoms}", f"## {fix}"]


@pytest.mark.parametrize(
    "parts",
    [
        ("现象", "影响", "处理步骤", "根因分析"),
        ("告警含义", "影响范围", "处理流程"),
        ("Symptoms", "Impact", "Mitigation"),
    ],
)
def test_a_runbook_is_one_error_in_either_language(
    imported: Callable[..., Result], tmp_path: Path, parts: tuple[str, ...]
) -> None:
    page = "# etcd: mvcc: database space exceeded\n\n" + "".join(
        f"## {each}\n\n{each}.\n\n" for each in parts
    )
    imported(["page.md"], page_DOT_md=page)
    (path,) = (tmp_path / "content").glob("*/roll/*.md")
    text = path.read_text(encoding="utf-8")
    assert "title: 'etcd: mvcc: database space exceeded'" in text
    assert "kind: error\n" in text


@pytest.mark.parametrize(
    ("question", "signature"),
    [
        (
            '## HPA does not scale and `kubectl get hpa` says "unable to fetch metrics of it"\n\nWait.\n',
            "unable to fetch metrics of it",
        ),
        (
            '## Why is nothing booked?\n\n```\nunit=ledger level=error msg="failed: no lease"\n```\n\nWait.\n',
            'unit=ledger level=error msg="failed: no lease"',
        ),
    ],
    ids=["no command", "the message of a record"],
)
def test_a_signature_is_what_tells_the_failure(
    imported: Callable[..., Result], tmp_path: Path, question: str, signature: str
) -> None:
    imported(["faq.md"], faq_DOT_md=f"# FAQ\n\n{question}")
    (path,) = (tmp_path / "content/en/roll").glob("*.md")
    assert f"signatures:\n  - '{signature}'\n" in path.read_text(encoding="utf-8")


def test_a_page_without_headings_that_was_named_is_one_entry(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = "---\ntitle: Restore a snapshot\n---\n\nStop ` the server first.\n\nKeep `Map<b>` and `x`.\n"
    assert imported(["restore.md"], restore_DOT_md=page).exit_code == 0
    assert "Keep `Map<b>` and `x`." in draft(tmp_path, "restore-snapshot")


def test_a_row_with_the_code_of_an_error_is_an_error(imported: Callable[..., Result], tmp_path: Path) -> None:
    page = "# FAQ\n\n| Error code | Meaning | Solution |\n| --- | --- | --- |\n| `DISK_FULL` | No space | Delete |\n"
    page += "| | | Restart |\n"
    assert "Questions: 1," in imported(["faq.md"], faq_DOT_md=page).output
    text = draft(tmp_path, "disk-full")
    assert "kind: error\n" in text
    assert "## Symptom\n\nNo space\n\n## Fix\n\nDelete\n\nRestart\n" in text


def test_a_title_is_plain_text_and_the_output_that_it_says_is_a_signature(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = (
        "# FAQ\n\n## The mount says lost peer 110 = timed out, use `mount -v`\n\n```text\nlost peer 110 = timed out\n"
        "```\n\n"
        "Open the port.\n\n## Is it free?\n\nYes.\n"
    )
    assert imported(["faq.md"], faq_DOT_md=page).exit_code == 0
    (path,) = (tmp_path / "content" / "en" / "roll").glob("mount-says*.md")
    text = path.read_text(encoding="utf-8")
    assert "title: 'The mount says lost peer 110 = timed out, use mount -v'" in text
    assert "  - 'lost peer {int} = timed out'" in text
    assert "2 unchanged" in imported(["faq.md"], faq_DOT_md=page).output


def test_a_title_keeps_its_code_and_one_that_is_cut_is_known_again(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    titles = ("What is `__init__.py` **for**?", "Is&nbsp;it", f"How {'long and ' * 60}wide?")
    page = "# FAQ\n\n" + "".join(f"## {title}\n\n" for title in titles)
    assert imported(["faq.md"], faq_DOT_md=page).exit_code == 0
    assert "\ntitle: 'What is __init__.py for?'\n" in draft(tmp_path, "init-py")
    assert "3 unchanged" in imported(["faq.md"], faq_DOT_md=page).output


def test_notices_and_tabs_keep_their_labels_and_their_text_is_no_code(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = (
        "# FAQ\n\n## Is it cheap?\n\n::: code-tabs\n@tab npm\nRun `x`{: .sh}:\n:::\n{: .wide}\n\n"
        "> [!TIP] Mind **me**\n> us\n\n<script> is\n\n    [toc]\n\nand </script>.\n\n"
        "1. go\n\n   :::tip\n   Do *it*:\n\n       x\n   :::\n\n2. stop\n\n"
        "    ::: code-group\n    ```sh\n    x\n    ```\n    :::\n\n"
        "{% highlight sh linenos %}\n[toc]\n<b>\n{% endhighlight %}\n\n"
        '## Is it safe?\n\n!!! note "Before"\n    You need *root*.\n\n    !!! tip\n        Ask.\n\n'
        '=== "Linux"\n\n    ```sh\n    apt install x\n    ```\n\n=== "macOS"\n\n    Use brew.\n\nDone.\n\n'
        '## Is it fast?\n\n<Tabs groupId="os">\n  <TabItem value="win" label="Windows">\n\n    Set `x`.\n\n'
        "  </TabItem>\n  <TabItem value=\"mac\" label='macOS' default>\n\n```sh\n  open x\n```\n\n"
        "  </TabItem>\n</Tabs>\n\n"
        '    indented code\n\n## Is it free?\n\n{{% tab name="Docker" %}}\nYes.\n{{% /tab %}}\n\n'
        '{% tab title="Podman" %}\nNo.\n{% endtab %}\n\n```{note}\n:class: x\n\nAsk *us*.\n```\n\n:::{tip} Look\n'
        "<b>Here</b>: 2<sup>53</sup>, 1<sup>st</sup>.\n:::\n\n:::{code} sh\n:name: y\nrun\n"
    )
    assert imported(["faq.md"], faq_DOT_md=page).exit_code == 0
    safe, fast, free, cheap = (
        draft(tmp_path, name).partition("---\n\n")[2] for name in ("safe", "fast", "free", "cheap")
    )
    assert cheap.endswith(
        "\n\n**npm:**\n\nRun `x`:\n\n> **Mind me**\n>\n> us\n\n"
        "<script> is\n\n    [toc]\n\nand </script>.\n\n"
        "1. go\n\n   > **Tip**\n   >\n   > Do *it*:\n   >\n   >     x\n\n"
        "2. stop\n\n    ```sh\n    x\n    ```\n\n```sh\n[toc]\n<b>\n```\n"
    )
    assert "> **Before**\n>\n> You need *root*.\n>\n>\n> > **Tip**\n> >\n> > Ask.\n" in safe
    assert "**Linux:**\n\n```sh\napt install x\n```\n\n**macOS:**\n\nUse brew.\n\nDone.\n" in safe
    assert "\n**Windows:**\n\nSet `x`.\n\n**macOS:**\n\n```sh\n  open x\n```\n\n    indented code\n" in fast
    assert "**Docker:**\n\nYes.\n\n**Podman:**\n\nNo.\n" in free
    assert (
        "> **Note**\n>\n> Ask *us*.\n\n> **Look**\n>\n> **Here**: 2^53, 1st.\n\n:::{code} sh\n:name: y\n"
        in free
    )


def test_the_text_of_a_box_is_the_answer(imported: Callable[..., Result], tmp_path: Path) -> None:
    page = (
        "# FAQ\n\n::: details Why is it slow?\n- Look at *the* disk:\n\n  ```sh\n  iostat\n  ```\n"
        "<table>\n<tr><th>a</th><th>b</th></tr>\n<tr><td>c</td><td><code>d</code></td></tr>\n</table>\n\n"
        "<table><tr><td>\n\n- e\n- f\n\n</td></tr></table>\n:::\n\n"
        '??? question "Can I stop it?"\n\n    Yes:\n\n    1. wait\n    2. go\n\nMay I ask?\n\n:   Do.\n\n'
        '<Accordion title="Does it scale?">\n    <Note>\n    It does.\n    </Note>\n</Accordion>\n\n'
        "/// details | Where are logs?\n    type: tip\n\nIn `/var`.\n///\n"
    )
    assert imported(["faq.md"], faq_DOT_md=page).exit_code == 0
    assert (
        "- Look at *the* disk:\n\n  ```sh\n  iostat\n  ```\n\n| a | b |\n| --- | --- |\n| c | `d` |\n\n"
        "<table><tr><td>\n\n- e\n- f\n" in draft(tmp_path, "slow")
    )
    assert "Yes:\n\n1. wait\n2. go\n" in draft(tmp_path, "stop")
    assert ":::" not in draft(tmp_path, "slow")
    assert "\nDo.\n" in draft(tmp_path, "may-ask")
    assert "\nIt does.\n" in (scales := draft(tmp_path, "scale"))
    assert "<" not in scales.partition("---\n\n")[2]
    assert "type:" not in draft(tmp_path, "logs").partition("In `/var`.")[0].rpartition("---")[2]


def test_an_answer_that_is_set_in_is_no_quotation_and_a_quoted_error_is_a_signature(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    text = (
        "FAQ\n===\n\nWhy does it stop?\n-----------------\n\n  Because of\n\n  the disk.\n\n"
        "Is it fast?\n-----------\n\nNo.\n"
    )
    page = (
        '# FAQ\n\n## The server crashes at start\n\n> FATAL: could not map shared segment: "main"\n\n'
        "Give it memory.\n\n## Is it ok?\n\nYes.\n"
    )
    marked = "FAQ\n===\n\n  [Q] **Is it a dome?**\n\n  [A] It is.\n\n  [Q] **Can it turn?**\n\n  [A] No.\n"
    folded = "FAQ\n===\n\n.. dropdown:: Is it safe?\n\n   Yes, it *is*.\n\nEnd.\n"
    pages = {"faq_DOT_rst": text, "q_DOT_md": page, "dome_DOT_rst": marked, "safe_DOT_rst": folded}
    assert imported([name.replace("_DOT_", ".") for name in pages], **pages).exit_code == 0
    assert "\nIt is.\n" in draft(tmp_path, "dome")
    assert "\nYes, it *is*.\n" in draft(tmp_path, "safe")
    assert "Because of\n\nthe disk." in draft(tmp_path, "stop")
    assert "'FATAL: could not map shared segment: {quoted}'" in draft(tmp_path, "server-crashes-start")


def test_what_other_programs_export_is_plain_markdown(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = (
        "# FAQ\n\n## Is it stuck?\n\n>>>\nIt *is*:\n- no tags\n>>>\n\n"
        '<callout emoji="bulb">\nAsk for a `<text>`.\n</callout>\n\n'
        "## Can I stop it?\n\nSee [[faq|here]], [[#Is it stuck?]] and [[Setup]]; `[[ -f x ]]`, [[1, 2]].\n\n"
        '[]{#_Toc1 .anchor}Press [stop]{.underline}. ![a](a.png){width="5in" height="3in"}\n\n'
        '::: {custom-style="Code"}\nx = a[[1]]\n:::\n'
    )
    word = (
        "<title>Wiki &amp; more</title><div role='main'><h1><a href='#is-it-slow'>Is it slow?</a></h1>"
        "<p>Yes, see <a href='#top'>the next one</a><sup><a href='#n1'>[1]</a></sup>.</p>"
        "<h2><a href='#more'>More</a></h2>"
        "<h1>Is it fast?</h1><p><span style='font-family:Wingdings'>l<span>&nbsp;</span></span>Ask.</p>"
        "<p>Read <a href='https://www.google.com/url?q=https://example.com/a%3Fb&amp;sa=D'>this</a>.</p>"
        "<p><b>Not </b><a href='#is-it-slow'>so slow</a>.</p>"
        "<div role='tablist'><button role='tab' id='a'>pip</button><button role='tab' id='b'>uv</button></div>"
        "<div role='tabpanel' aria-labelledby='a'>Wait.</div><div role='tabpanel' aria-labelledby='b'>Go.</div>"
        "<aside class='quote'>It runs.</aside><p class='post-likes'>3 Likes</p></div>"
    )
    assert imported(["faq.md", "w.html"], faq_DOT_md=page, w_DOT_html=word).exit_code == 0
    assert "  - title: 'Wiki & more'\n" in draft(tmp_path, "slow")
    texts = [
        draft(tmp_path, name).partition("## Answer\n\n")[2] for name in ("stuck", "stop", "slow", "fast")
    ]
    assert texts == [
        "> It *is*:\n> - no tags\n\nAsk for a `<text>`.\n",
        "See here, [Is it stuck?](stuck.md) and Setup; `[[ -f x ]]`, [[1, 2]].\n\nPress stop. a\n\nx = a[[1]]\n",
        "Yes, see the next one[1].\n\n### More\n",
        "- Ask.\n\nRead [this](https://example.com/a?b).\n\n**Not** [so slow](slow.md).\n\n"
        "**pip**\n\nWait.\n\n**uv**\n\nGo.\n\nIt runs.\n",
    ]


def test_what_only_looks_like_an_export_of_another_program_stays(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = (
        "# FAQ\n\n## Is it typed?\n\nC++ has [[nodiscard]] f(x){ }, TOML [[tool.uv]]; see [[a guide]], "
        "[ref][r]{.x}.\n\n"
        "| a |\n|---|\n| [[Setup\\|here]] |\n\n    >>> x\n\n    >>>\n    y\n\n>>>\n\nDone in `{/*`. <!-- b -->End.\n\n"
        "## Is it done?\n\nYes, rm *{.o}:\n\n>>>\nx\n\n[r]: https://example.com/r\n"
    )
    site = (
        "<main class='noprint'><h1>FAQ</h1><h2>Is it tabbed?</h2><ul><li><a role='tab' id='a'>pip</a></ul>"
        "<div aria-labelledby='a'>Wait.</div><b role='tab'>uv</b><p>Go <a href='#'>up</a>.</p>"
        "<aside role='complementary'><p>Mind.</p></aside>"
        "<h3><a href='#b'>Letters</a> and <a href='#c'>digits</a></h3><p style='font-family:Symbol'>mm</p>"
        "<table><tr><th class='comments'>Comments</th></tr><tr><td class='comments'>None</td></tr></table>"
        "</main>"
    )
    boxes = (
        "<h1>FAQ</h1><div class='accordion-title'><a href='#d'>Is it folded?</a></div><div id='d'>Yes.</div>"
    )
    pages = {"faq_DOT_md": page, "w_DOT_html": site, "boxes_DOT_html": boxes}
    assert imported([name.replace("_DOT_", ".") for name in pages], **pages).exit_code == 0
    texts = [
        draft(tmp_path, name).partition("## Answer\n\n")[2] for name in ("typed", "done", "tabbed", "folded")
    ]
    assert texts == [
        "C++ has [[nodiscard]] f(x){ }, TOML [[tool.uv]]; see a guide, [ref](https://example.com/r).\n\n"
        "| a |\n|---|\n| here |\n\n    >>> x\n\n    >>>\n    y\n\n>>>\n\nDone in `{/*`. End.\n",
        "Yes, rm *{.o}:\n\n>>>\nx\n",
        "**pip**\n\nWait.\n\n**uv**\n\nGo up.\n\nMind.\n\n### Letters and digits\n\nmm\n\n"
        "| Comments |\n| --- |\n| None |\n",
        "Yes.\n",
    ]


@pytest.mark.parametrize(
    ("read", "before", "again"),
    [
        (lambda text: make_page(Path(__file__), text), "", "\n<!-- `a`"),
        (lambda text: make_page(Path(__file__), text), "", "\n<script>\nx"),
        (html_to_markdown, "<table>", "<th>x"),
        (html_to_markdown, "", "<table><th>x</table>"),
        (open_boxes, "", ":::tip\nx\n:::\n"),
    ],
)
def test_what_never_ends_and_many_tables_and_notices_are_read_in_linear_time(
    read: Callable[[str], object], before: str, again: str
) -> None:
    assert_linear(lambda times: read(before + again * times), 500)


def test_many_boxes_that_never_end_are_read() -> None:
    opened = [line for line, _ in open_boxes("::: details A\n" * 1200 + "x")]
    assert opened.count("<details><summary>A</summary>") == opened.count("</details>") == 1200


def test_tables_code_and_lists_within_lists_of_html_stay_what_they_are(
    imported: Callable[..., Result], tmp_path: Path
) -> None:
    page = """<div><h2>How do I search?</h2>Press s.</div>
<main><form id="page"><h1>FAQ</h1><h2>Which plug fits?</h2><p>One of these:
<form><h2>Did it help?</h2><input></form>
<p><a href="print.html"><i class="icon"></i></a></p>
<table><thead><tr><th>Model<th>Plug</tr></thead>
<tr><td>A<td><p><code>C13</code> | <b>old</b></p>
<tr><td>B<td><ul><li><code>C14</code>;<li>1 &lt;<li>C15;</ul><td>;</table>
<ol><li>Switch it off.<ul><li>At the back.</ul><li>Pull.</ol>
<pre>
<code><span class="linenos">1</span>pull --all

  # and wait
</code></pre>
<table><tr><td>Side by side</td><td>for looks</td></tr></table>
<table><tr><td>Light<td>Means<tr><td>red<td>Do:<ul><li>stop<li>wait</ul></table>
<table><tr><td>Light<td>Means<tr><td>red<td><p><b>stop</b></table>
<div class="admonition tip"><p class="admonition-title">Mind</p><p>It <b>moves</b>.</p></div>
<div class="alert"><p>Do <cite class="title-ref">it</cite>.</p></div>
<div class="footer">Ours</div>
<section><ol start="x"><li>Mind:</ol>
<aside>Never wrap it in a &lt;div&gt;, 2<sup>3</sup> &lt; 3<sup>rd</sup>,
<code><a href="x">&lt;!--<br>a`b</a></code></aside>
</section>
<h2>Is it safe?</h2>Yes."""
    assert "Questions: 2," in imported(["faq.html"], faq_DOT_html=page).output
    assert draft(tmp_path, "plug-fits").endswith("""
One of these:

| Model | Plug |  |
| --- | --- | --- |
| A | `C13` \\| **old** |  |
| B | `C14`; 1 <; C15 | ; |

1. Switch it off.

   - At the back.

2. Pull.

```
pull --all

  # and wait
```

Side by side for looks

Light Means

red

Do:

- stop

- wait

| Light | Means |
| --- | --- |
| red | **stop** |

> **Mind**
>
> It **moves**.

> Do it.

1. Mind:

Never wrap it in a `<div>`, 2^3 < 3rd, `` <!-- a`b ``
""")
