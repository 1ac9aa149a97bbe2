"""English words: which there are, which only serve a sentence, and what inflected forms share."""

import threading
from functools import lru_cache

import numpy as np
import snowballstemmer
from spellchecker import SpellChecker


class EnglishWords:
    """The words of a general English dictionary, as sorted hashes: 155,000 in little more than a megabyte.

    Two words of the same 64-bit hash would only leave a typo uncorrected.
    """

    def __init__(self) -> None:
        words = SpellChecker(language="en").word_frequency.dictionary
        self._hashes = np.sort(np.fromiter((hash(word) for word in words), dtype=np.int64, count=len(words)))

    def __contains__(self, word: str) -> bool:
        place = int(self._hashes.searchsorted(hash(word)))
        return place < len(self._hashes) and bool(self._hashes[place] == hash(word))


# Words a question is made of rather than what it is about. They are indexed like all others and weigh little
# in a query. `not`, `is not`, `no`, `none` and `without` carry meaning here and are not among them.
FUNCTION_WORDS = frozenset(
    """a about after again all also am an and any anybody anyone anything are as at be because been before being
    but by can cannot could did do does doing don't during each else ever everything for from get gets
    getting give gives go goes going got had has have having he help her here him how i i'm if in into is
    isn't it it's its itself just keep keeps kept let like make makes many may me might more most much
    must my need needs nothing of on one only or other our out over please same she should so some
    somebody somehow something still such support supported supports than that the their them then there
    these they thing things this those though to too try trying under until up us use used using very via
    want was way we were what what's whats when where which while who whose why will with would you your""".split()
)
CHINESE_FUNCTION_WORDS = frozenset(
    """的 了 是 在 我 你 他 它 我们 你们 他们 吗 呢 吧 啊 呀 么 嘛 怎么 怎样 怎么样 怎么办 如何 为什么 为何
    为啥 什么 啥 哪 哪里 哪个 哪些 哪儿 谁 多少 几 请 请问 想 想要 想问 一下 一个 一些 一直 有 没有 有没有
    是否 是不是 能 能不能 可以 可不可以 会 要 需要 应该 该 应 把 被 给 让 对 对于 关于 和 与 或 或者 以及
    还 还是 也 都 就 才 又 再 很 太 非常 特别 这 那 这个 那个 这样 那样 这种 那种 这些 那些 时候 时 后
    之后 以后 前 之前 中 里 上 下 从 到 用 做 办 办法 问题 情况 出现 遇到 碰到 发生 进行 然后 因为 所以
    如果 但 但是 而 则 且 并 并且 只 只有 跟 同 比 于 以 为 由 来 去 过 着 地 得 之 其 大家 各位 大佬 求助
    帮忙 求 谢谢 感谢 意思 原因 怎 样 什 个 种 次 些 点 请教 知道 觉得 感觉 看 看到 说 说明 自己 目前 现在
    当前 已经 正在""".split()
)


class Stemmer:
    """Snowball's English stemmer, with its results kept: a corpus repeats its words. Safe to share between threads."""

    def __init__(self) -> None:
        self._stemmer = snowballstemmer.stemmer("english")
        # It keeps the word it is working on in itself; two threads at once would get each other's.
        self._lock = threading.Lock()
        self.stem = lru_cache(maxsize=65_536)(self._stem)

    def _stem(self, word: str) -> str:
        with self._lock:
            stem: str = self._stemmer.stemWord(word)
        return stem


def is_function_word(text: str) -> bool:
    """Whether a case-folded word only serves the sentence it stands in."""
    return text in FUNCTION_WORDS or text in CHINESE_FUNCTION_WORDS
