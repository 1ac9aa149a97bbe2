"""What an import could not decide: said in the language of the draft; `jieda check` reports it until it is gone."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jieda.entry import Language

TEXTS: Mapping[str, Mapping[Language, str]] = {
    "alone": {
        Language.EN: "no {other} page has this question: write that edition, or leave it out",
        Language.ZH: "{other}页面里没有这个问题：补写对应版本，或者不要",
    },
    "pair": {
        Language.EN: "paired with line {line} of the Chinese page by order: see that both answer the same question",
        Language.ZH: "与英文页面第 {line} 行的配对主要依据顺序：请确认两边回答的是同一个问题",
    },
    "slug": {
        Language.EN: "the title gave no good file name, so {slug} was made up: rename both editions",
        Language.ZH: "标题里取不出合适的文件名，暂用 {slug}：请给两个版本改名",
    },
    "title": {
        Language.EN: "the question was cut to 200 characters: shorten it",
        Language.ZH: "问题超长，已截到 200 个字符：请改短",
    },
    "duplicate": {
        Language.EN: "{id} has this title, too: join the two, or tell them apart",
        Language.ZH: "{id} 也叫这个标题：请合并，或者改得能区分开",
    },
    "kind": {
        Language.EN: "{kind} is a guess, for the question says nothing definite",
        Language.ZH: "类型 {kind} 是猜的，问题本身看不出来",
    },
    "topics": {
        Language.EN: "{topics}, a guess from the title: check them",
        Language.ZH: "{topics}，按标题猜的：请核对",
    },
    "error-types": {
        Language.EN: "{types}, a guess from the title: check them",
        Language.ZH: "{types}，按标题猜的：请核对",
    },
    "sample": {
        Language.EN: "signatures come from what the page quotes: compare with real logs, put two into samples/{id}/",
        Language.ZH: "特征行取自页面里引用的报错：请对照真实日志，并在 samples/{id}/ 放两份",
    },
    "title-from-log": {
        Language.EN: "the error line as it was printed: word it the way people ask",
        Language.ZH: "就是打印出来的报错行：请改成大家提问的说法",
    },
    "framework-from-log": {
        Language.EN: "{framework} is a guess from the paths in the log: `jieda mv` changes it",
        Language.ZH: "{framework} 是按日志里的路径猜的：不对就用 `jieda mv` 改",
    },
    "duplicate-from-log": {
        Language.EN: "{ids} may be about the same: join them, or tell them apart",
        Language.ZH: "{ids} 说的可能是同一件事：请合并，或者改得能区分开",
    },
    "signature-from-log": {
        Language.EN: "no line of the log made a good signature: add one",
        Language.ZH: "日志里没有适合作特征行的内容：请补上",
    },
    "sample-from-log": {
        Language.EN: "one log is in samples/{id}/: add a second, and look it through for names, hosts and paths",
        Language.ZH: "samples/{id}/ 里只有一份日志：请再放一份，并检查其中的人名、主机名和路径",
    },
    "source-from-log": {
        Language.EN: "name where the answer comes from",
        Language.ZH: "请写明答案的来源",
    },
    "title-from-threads": {
        Language.EN: "as one of {count} threads has it: word it the way people ask, in this language",
        Language.ZH: "取自 {count} 个讨论之一：请用本语言改成大家提问的说法",
    },
    "source-from-threads": {
        Language.EN: "{url} seems to have solved it: write the fix from there; see that it fits the others",
        Language.ZH: "看来是 {url} 解决的：请据此写解决办法，并确认其他讨论也适用",
    },
    "unsolved-from-threads": {
        Language.EN: "none of the threads says what helped: find out before you publish",
        Language.ZH: "这些讨论都没有说怎么解决的：弄清楚再发布",
    },
    "signature-from-threads": {
        Language.EN: "{fits} of {count} threads have one of these signatures: see to the others",
        Language.ZH: "{count} 个讨论中有 {fits} 个含有这里的特征行：请看看其余的",
    },
    "sample-from-threads": {
        Language.EN: "quoted from threads: write samples of your own with the same lines",
        Language.ZH: "引自讨论原文：请改写成自己的样本，保留其中的报错行",
    },
    "shared": {
        Language.EN: "{ids} has one of these signatures, too: make it more specific, or say `confidence: likely`",
        Language.ZH: "{ids} 也有这里的某条特征行：请改得更具体，或者注明 `confidence: likely`",
    },
    "symptoms": {
        Language.EN: "the page quotes no error text, so the title is the symptom: add signatures or better symptoms",
        Language.ZH: "页面没有引用报错原文，现象暂用标题：请补上特征行，或改写现象",
    },
    "fix": {
        Language.EN: "taken over as the page has it: see that it can be followed without the rest of the page",
        Language.ZH: "照搬自原页面：请确认脱离上下文也能照做",
    },
    "answer": {
        Language.EN: "the page has no answer: write one",
        Language.ZH: "页面没有给出答案：请补写",
    },
    "source": {
        Language.EN: "{what} of the page was not given: fill in `source`",
        Language.ZH: "没有指定页面的{what}：请补全 `source`",
    },
    "updated": {
        Language.EN: "the page says no date, so this is the day of its file",
        Language.ZH: "页面没有写日期，这里用的是文件的修改日期",
    },
    "link": {
        Language.EN: "{target} could not be resolved and is plain text now: link it again where it matters",
        Language.ZH: "链接 {target} 无法解析，已改成纯文本：需要的话请重新加上",
    },
    "image": {
        Language.EN: "image {target} was not found beside the page and is a link now: copy it here if it is needed",
        Language.ZH: "图片 {target} 不在页面旁边，已改成链接：需要的话请把文件放到这里",
    },
    "identifier": {
        Language.EN: "the editions differ in what stands in backticks ({names}): see whether something is missing",
        Language.ZH: "两个版本反引号里的内容不一致（{names}）：请检查是否有遗漏",
    },
}
"""By rule. The rule stands in front of the text, so that what `jieda check` finds by its own rules has its doubt."""

MAX_CHARS = 300

ORIGINS = re.compile(r"-from-(?:log|threads)$")
"""Ends the name of a text that says for an entry made from these what its rule says otherwise for one from a page."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A choice somebody has to look at; `values` fill its text."""

    rule: str
    values: tuple[tuple[str, str], ...] = ()

    def say(self, lang: Language) -> str:
        """Rule and text, one line."""
        text = f"{ORIGINS.sub('', self.rule)}: {TEXTS[self.rule][lang].format(**dict(self.values))}"
        return text if len(text) <= MAX_CHARS else f"{text[: MAX_CHARS - 1]}…"


def doubt(rule: str, **values: object) -> Doubt:
    """A doubt of one of the rules in `TEXTS`."""
    return Doubt(rule, tuple((name, str(value)) for name, value in values.items()))
