"""Words that Japanese and Chinese text is full of and that embeddings often leave out, and the forms of
Japanese verbs and adjectives.

Text without spaces is cut by the words of a vocabulary. Vocabularies lack the commonest of all: many are made
with a list of stop words, and Japanese ones hold the dictionary forms of words only. Where 的, は or ました is
unknown, so is where its neighbours begin. These are closed classes, which change as little as the English
clitics do. A word of the lists is a place to cut and no more: where the vocabulary does not hold it, it is an
unknown word.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import regex

_JAPANESE = """
    の に は を が と も で て から まで より へ や か ね よ な ば けど けれど けれども ながら たり つつ って など だけ しか ほど くらい
    ぐらい ばかり のみ こそ さえ すら でも とか なら ので のに ぞ ぜ わ かしら きり ずつ じゃ ちゃ とも なり やら
    だ です でし でしょう でしょ だっ だろう だろ ます まし ませ ましょう ましょ ない なかっ なく なけれ なき ず ぬ ん た たら たろう
    たい たく たかっ れ れる られ られる せ せる させ させる う よう まい らしい らしく みたい べき べく てる ちゃう ちゃっ
    する し さ すれ しろ せよ ある あり あっ あれ あろう いる い いれ おる おり おっ なる なっ なれ できる でき できれ いう いい いっ
    いわ いえ いく いき いか いけ くる き こ くれ くれる ください くださっ いただく いただき いただい いただけ もらう もらい もらっ
    あげる あげ しまう しまい しまっ おく おい おき みる み みれ みえ やる やり やっ よる よっ わかる わかり わかっ わから
    この その あの どの これ それ どれ ここ そこ あそこ どこ こちら そちら あちら どちら こっち そっち どっち こう そう ああ どう こんな
    そんな あんな どんな なに なん だれ いつ いくつ いくら わたし あなた みんな みな
    こと もの ため とき ところ ほう まま うち はず わけ つもり たち さん くん ちゃん さま ら ほか あと まえ なか うえ した たび ごと
    また まだ もう とても かなり よく すぐ ほとんど あまり しかし そして それで だから または および ただし なお さらに まず もし
    たとえば やはり やっぱり ずっと もっと ちょっと たくさん いつも とくに すべて かつ ところが つまり すると ちなみに あるいは すでに
    よい よかっ やすい にくい ほしい すごい すごく お ご
"""
JAPANESE = frozenset(_JAPANESE.split())
"""Particles, auxiliaries and light verbs in the forms they take, words that point, formal nouns and common
adverbs, in kana."""

_CHINESE = """
    的 了 是 在 和 有 不 这 那 他 她 它 我 你 我们 你们 他们 她们 它们 个 为 于 与 而 以 及 以及 但 但是 因 因为 所以 由 由于 从 到 对
    对于 把 被 让 给 向 往 跟 同 同时 或 或者 并 并且 而且 也 都 就 还 又 再 才 只 很 最 更 太 非常 已 已经 曾 曾经 正在 将 会 能 可
    可以 可能 应 应该 必须 要 想 等 之 其 其中 其他 该 此 这些 那些 这个 那个 这里 那里 什么 谁 哪 怎么 怎样 如何 为何 多少 几 每 各
    某 任何 一些 所有 主要 开始 根据 按照 通过 关于 作为 虽然 然而 如果 则 即 使 没有 没 无 非 就是 不是 还是 只有 后 前 中 上 下 里
    内 外 时 年 月 日 人 地 得 着 过 来 去 所 者 自己 自 当 至 比 用 大 小 多 少 好 说 做 看 位 次 种 名 家 市 省 县 区 国 号 岁 世纪
    公司 公里 平方公里 以后 以前 之后 之前 之间 以上 以下 后来 然后 现在 当时
    這 我們 你們 他們 她們 它們 個 為 於 與 因為 對 對於 讓 給 同時 並 並且 還 只 非常 已經 曾經 將 會 應 應該 必須 這些 這個 這裡
    那裡 什麼 誰 怎麼 怎樣 為何 幾 任何 開始 根據 通過 關於 作為 雖然 則 沒有 沒 無 還是 後 裡 內 時 著 過 來 當 說 種 縣 區 國 號
    歲 世紀 以後 之後 之間 後來 然後 現在 當時
"""
CHINESE = frozenset(_CHINESE.split())
"""Particles, pronouns, prepositions, conjunctions, auxiliaries, measure words and words of place and time,
simplified and traditional."""

NUMERALS = regex.compile("第?[一二三四五六七八九十百千万亿萬億零〇两兩]++")
"""Numbers and ordinals in Chinese characters: one word, as digits are."""

_VERB_ENDINGS = {
    "う": "わいっえお",
    "く": "かきいけこ",
    "ぐ": "がぎいげご",
    "す": "さししせそ",
    "つ": "たちってと",
    "ぬ": "なにんねの",
    "ぶ": "ばびんべぼ",
    "む": "まみんめも",
    "る": "らりっれろ",
}
_ADJECTIVE_ENDINGS = ("く", "かっ", "けれ", "かろ")
_DICTIONARY_FORM = regex.compile(
    r"[\p{Han}\p{Hiragana}]*?\p{Han}\p{Hiragana}*+(?<=[うくぐすつぬぶむるい])|\p{Hiragana}{2,}+(?<=[うくぐすつぬぶむる])"
)
_BEFORE_RU = regex.compile(r"[\p{Han}いきしちにひみりぎじびえけせてねへめれげぜでべ]\Z")
"""What stands before the る of a verb that drops it (見る, 食べる)."""


def inflected_forms(spellings: Mapping[str, int]) -> dict[str, int]:
    """Return the forms of the Japanese verbs and adjectives of a vocabulary that it does not hold, with the
    id of the word itself.

    A form of several words (行っ, of 行う and 行く) belongs to the first. Some of what comes out is no Japanese; it
    does not occur either.
    """
    forms: dict[str, int] = {}
    for word, word_id in spellings.items():
        if _DICTIONARY_FORM.fullmatch(word):
            for form in _forms_of(word):
                if form not in spellings and forms.get(form, word_id) >= word_id:
                    forms[form] = word_id
    return forms


def _forms_of(word: str) -> Iterator[str]:
    stem, ending = word[:-1], word[-1]
    if ending == "い":
        yield from (stem + tail for tail in _ADJECTIVE_ENDINGS)
        return
    yield from (stem + tail for tail in _VERB_ENDINGS[ending])
    yield stem + _VERB_ENDINGS[ending][-1] + "う"
    if word.endswith(("行く", "いく", "ゆく")):
        yield stem + "っ"
    if ending == "る" and _BEFORE_RU.search(stem):
        yield stem
        yield stem + "よう"
