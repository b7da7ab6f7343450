"""Write docs/figures/two-directions.svg: a word on its way forward, and what can be told backward from the
word it became.

The forward half shows one real draw; where the words lie in it is not to scale. The percentages of the
backward half are those of Bayes' rule with the built-in embedding, the mechanism of the paper at ε = 6 and
words as frequent as their rank says, from at most 8,192 points in the cell of the released word.

Usage: python -m scripts.embedding.two_directions
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib import resources
from itertools import count

import numpy as np

from deniable import Embedding, InsecureSeededRandomness, Multivariate, Privatizer
from deniable.channel.columns import columns_of
from deniable.report.figure import BLUE, INK, MUTED, PAPER, RULE, RUST, VARIABLES
from deniable.words.frequency import by_rank
from scripts.pages import FIGURES

PICTURE = FIGURES / "two-directions.svg"
EPSILON = 6.0
POINTS = 8192
WENT_IN = ("my", "doctor", "said")
CAME_OUT = "nurse"
NAMED = 5
"""How many candidates are named beside the word that really went in."""

WIDTH, HEIGHT = 760, 404
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Helvetica Neue', Arial, sans-serif"
OTHERS = (
    ("physician", 304, 88),
    ("patient", 312, 174),
    ("teacher", 402, 80),
    ("hospital", 404, 166),
    ("woman", 526, 168),
    ("she", 540, 84),
)
"""Words that stand around in the picture, and where."""


def real_release(embedding: Embedding) -> list[str]:
    """Return a release of the words in which the one in the middle became ``CAME_OUT``: the first seed that
    gives one."""
    for seed in count():
        private = Privatizer(
            Multivariate(embedding, epsilon=EPSILON), randomness=InsecureSeededRandomness(insecure_seed=seed)
        )
        released = private(" ".join(WENT_IN)).split()
        if released[1] == CAME_OUT:
            return released
    raise AssertionError


def candidates(embedding: Embedding) -> list[tuple[str, float]]:
    """Return the likeliest words behind ``CAME_OUT``, the one that went in and all the others together, with
    their probabilities."""
    output = np.array([list(embedding.words).index(CAME_OUT)])
    channel = columns_of(Multivariate(embedding, epsilon=EPSILON), output, seed=0, points=POINTS)
    posterior = next(channel.columns(output)) * by_rank(embedding)
    posterior /= posterior.sum()
    shown = {embedding.words[i]: float(posterior[i]) for i in np.argsort(-posterior)[:NAMED]}
    shown[WENT_IN[1]] = float(posterior[list(embedding.words).index(WENT_IN[1])])
    rest = f"{len(embedding) - len(shown):,} other words"
    return [*shown.items(), (rest, 1.0 - sum(shown.values()))]


def style() -> str:
    """Return the style sheet: the colours of pages, light and dark."""
    sheet = (resources.files("deniable.report") / "page.css").read_text(encoding="utf-8")
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#\w+);", block))
        for block in re.findall(r":root \{([^}]*)\}", sheet)[:2]
    )

    def rules(colours: dict[str, str]) -> str:
        fills = (
            ("ink", INK),
            ("muted", MUTED),
            ("paper", PAPER),
            ("rule", RULE),
            ("blue", BLUE),
            ("rust", RUST),
        )
        named = [(name, colours[VARIABLES[colour]]) for name, colour in fills] + [("wash", colours["wash"])]
        return "".join(
            f".{name}{{fill:{colour}}}.line-{name}{{fill:none;stroke:{colour}}}" for name, colour in named
        )

    return f"text{{font-family:{FONT}}}{rules(light)}@media (prefers-color-scheme:dark){{{rules(dark)}}}"


def text(
    x: float, y: float, words: str, kind: str = "ink", *, size: float = 14, anchor: str = "middle"
) -> str:
    """Return words at a place."""
    return (
        f'<text class="{kind}" x="{x}" y="{y}" font-size="{size}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def heading(y: float, name: str, kind: str, says: str) -> str:
    """Return the name of a direction and what it is."""
    start = f'<text x="20" y="{y}" font-size="15"><tspan class="{kind}" font-weight="650">{name}</tspan>'
    return f'{start}<tspan class="muted" dx="10" font-size="14">{escape(says)}</tspan></text>'


def box(x: float, y: float, width: float, height: float, kind: str = "wash") -> str:
    """Return a filled box with round corners."""
    return f'<rect class="{kind}" x="{x}" y="{y}" width="{width}" height="{height}" rx="6"/>'


def arrow(
    start: tuple[float, float], end: tuple[float, float], kind: str = "muted", *, dashed: bool = False
) -> str:
    """Return an arrow between two points."""
    (x, y), (to_x, to_y) = start, end
    along = np.array([to_x - x, to_y - y]) / np.hypot(to_x - x, to_y - y)
    across = np.array([-along[1], along[0]])
    wings = [np.array(end) - 8 * along + side * 4.5 * across for side in (1, -1)]
    head = " ".join(f"{px:.1f},{py:.1f}" for px, py in (wings[0], end, wings[1]))
    dash = ' stroke-dasharray="4 4"' if dashed else ""
    line = (
        f'<path class="line-{kind}" d="M{x} {y}L{to_x - 6 * along[0]:.1f} {to_y - 6 * along[1]:.1f}" '
        f'stroke-width="1.8"{dash}/>'
    )
    return f'{line}<polygon class="{kind}" points="{head}"/>'


def dot(x: float, y: float, kind: str, radius: float = 4) -> str:
    """Return a word in the space."""
    return f'<circle class="{kind}" cx="{x}" cy="{y}" r="{radius}"/>'


def forward(released: list[str]) -> Iterator[str]:
    """Yield the upper half: from the text to the text that is released."""
    yield heading(32, "forward", "blue", f"what is released, in one draw at ε = {EPSILON:g}")
    yield box(20, 98, 118, 40) + text(79, 123, " ".join(WENT_IN))
    yield arrow((142, 118), (164, 118))
    for place, word in enumerate(WENT_IN):
        yield box(168, 64 + 38 * place, 66, 32) + text(
            201, 85 + 38 * place, word, "blue" if place == 1 else "ink"
        )
    yield arrow((238, 118), (260, 118))
    yield box(264, 50, 308, 136)
    for word, x, y in OTHERS:
        yield dot(x, y, "muted", 3) + text(x, y - 8, word, "muted", size=12)
    yield dot(330, 130, "blue", 5) + text(330, 149, WENT_IN[1], "blue")
    yield arrow((337, 127), (456, 99), "rust", dashed=True)
    yield (
        dot(476, 112, "ink", 5)
        + '<circle class="line-ink" cx="476" cy="112" r="10" stroke-width="1.5"/>'
        + text(476, 139, CAME_OUT)
    )
    yield arrow((576, 118), (598, 118))
    yield box(602, 98, 138, 40) + text(671, 123, " ".join(released))
    steps = (
        ("text", 79),
        ("words", 201),
        ("vectors", 306),
        ("+ noise", 404),
        ("nearest word", 514),
        ("text", 671),
    )
    yield from (text(x, 206, step, "muted", size=13) for step, x in steps)


def backward(found: list[tuple[str, float]]) -> Iterator[str]:
    """Yield the lower half: from the released word to the words that could have stood there."""
    yield heading(248, "backward", "rust", "which words could have stood there, and how likely each is")
    yield box(640, 306, 100, 40) + text(690, 331, CAME_OUT)
    yield arrow((636, 326), (566, 326)) + text(601, 314, "Bayes’ rule", "muted", size=12)
    for place, (word, probability) in enumerate(found):
        y = 276 + 18.5 * place
        kind = "blue" if word == WENT_IN[1] else "muted" if place == len(found) - 1 else "rust"
        yield text(152, y, word, kind if kind == "blue" else "ink", size=13, anchor="end")
        yield (
            f'<rect class="{kind}" x="164" y="{y - 10}" width="{max(2.0, 420 * probability):.1f}" '
            'height="11" rx="2"/>'
        )
        yield text(
            round(172 + 420 * probability, 1),
            y,
            f"{probability:.0%}".replace("%", " %"),
            "muted",
            size=13,
            anchor="start",
        )


def draw(released: list[str], found: list[tuple[str, float]]) -> str:
    """Return the picture."""
    title = "Forward and backward"
    shares = ", ".join(f"{word} {probability:.0%}" for word, probability in found)
    description = (
        f"Forward: {' '.join(WENT_IN)} becomes words, the words vectors; noise is added, and the nearest "
        "word is released: "
        f"{' '.join(released)}. Backward: {CAME_OUT} was released; what stood there may have been {shares}."
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-labelledby="title description">',
        f'<title id="title">{escape(title)}</title><desc id="description">{escape(description)}</desc>',
        f"<style>{style()}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}" rx="10"/>',
        *forward(released),
        f'<path class="line-rule" d="M20 224H{WIDTH - 20}" stroke-width="1"/>',
        *backward(found),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Write the picture."""
    embedding = Embedding.open()
    PICTURE.write_text(draw(real_release(embedding), candidates(embedding)), encoding="utf-8")


if __name__ == "__main__":
    main()
