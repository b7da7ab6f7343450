"""Measure the membership audit of docs/research/privacy.md: the releases of the paper, or the baselines.

    python -m scripts.privacy.measure releases irc_ubuntu_by_user.jsonl.xz
    python -m scripts.privacy.measure baselines irc_ubuntu_by_user.jsonl.xz --wordnet dict

The embedding glove-840b must be installed. Models are trained on a GPU if there is one. Noise comes from
explicit seeds, so that the experiment can be repeated: this is no release of anybody's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import torch

from deniable import Embedding, Multivariate
from deniable.audit.draws import Users, draw_users
from deniable.calibration.by_rays import measure_by_rays
from deniable.calibration.choice import protect
from deniable.lab.baselines import (
    Collection,
    IncognitoLike,
    VersatileSemantic,
    VersatileStatistical,
    WordNet,
)
from deniable.lab.membership.audit import choose_users, measure_texts, train_and_ask
from deniable.lab.membership.auditor import ORIGINAL, LanguageModelSettings, judge_conditions, make_plan
from deniable.lab.membership.models import encode_conditions
from deniable.neighbours import set_device
from deniable.records.reading import read_labelled
from deniable.words.cutter import words_of
from scripts.pages import EXPERIMENTS, options_of, write_json

SCALE = 17.1677
EPSILONS = [round(x / SCALE, 4) for x in (25, 50, 75, *range(100, 1001, 100))]
"""The paper's ε for GloVe 300d, which it prints rounded, and three below: this embedding has fewer words, so
that they stay unchanged at smaller ε."""
MOST_UNCHANGED, MOST_EXPOSED, RAYS = 0.5, 0.95, 200
SEED, USERS, FEWEST_TEXTS, MOST_TEXTS = 20200203, 400, 65, 150
TARGETS, SHADOWS = 5, 10
COLLECTION = 40_000
"""Texts of other people that the baselines search and count in."""

Conditions = dict[str, Users]
Facts = dict[str, dict[str, Any]]


def main() -> None:
    """Measure one part, and write its result."""
    parser = options_of(__doc__)
    parser.add_argument("part", choices=("releases", "baselines"))
    parser.add_argument("data", type=Path, help="the Ubuntu IRC set as JSON Lines: user, text")
    parser.add_argument("--wordnet", type=Path, help="the dict folder of WordNet, for the baselines")
    given = parser.parse_args()
    embedding, data = (
        Embedding.open("glove-840b"),
        read_labelled(given.data, label_column="user", text_column="text"),
    )
    users = choose_users(data, embedding, fewest=FEWEST_TEXTS, most=MOST_TEXTS, seed=SEED)
    chosen = dict(list(users.items())[:USERS])
    if given.part == "releases":
        if torch.cuda.is_available():
            set_device("cuda")
        conditions, facts = releases(embedding, list(chosen.values()))
        target = EXPERIMENTS / "membership.json"
    else:
        others = {name: texts for name, texts in data.by_label().items() if name not in chosen}
        conditions, facts = baselines(list(chosen.values()), others, given.wordnet), {}
        target = EXPERIMENTS / "membership-baselines.json"
    write_json(target, measure(embedding, list(chosen.values()), conditions, facts))


def measure(embedding: Embedding, users: Users, conditions: Conditions, facts: Facts) -> dict[str, Any]:
    """Return what the auditor reaches in each condition, by the protocol's ranks and by finer ones."""
    settings = LanguageModelSettings()
    plan = make_plan(len(users), targets=TARGETS, shadows=SHADOWS, seed=SEED)
    streams = encode_conditions({ORIGINAL: users, **conditions})
    counts = train_and_ask(plan, streams, settings, seed=SEED, report=None)
    return {
        "data": measure_texts(users),
        "embedding": {
            "name": embedding.name,
            "fingerprint": embedding.fingerprint,
            "words": len(embedding),
            "dimension": embedding.dimension,
        },
        "seed": SEED,
        "plan": plan.summarise(),
        "settings": asdict(settings),
        "device": "cuda" if torch.cuda.is_available() else "cpu",
        "facts": facts,
        "protocol": msgspec.to_builtins(judge_conditions(plan, list(streams), counts)),
        "finer_ranks": msgspec.to_builtins(judge_conditions(plan, list(streams), counts, fine=True)),
    }


def releases(embedding: Embedding, users: Users) -> tuple[Conditions, Facts]:
    """Return what the mechanism releases at each ε, without and with protection of exposed words, and facts
    about it."""
    rays = measure_by_rays(embedding, rays=RAYS)
    unchanged = {epsilon: rays.unchanged(epsilon)[0] for epsilon in EPSILONS}
    conditions, facts = {}, {}
    for number, (name, space, epsilon, about) in enumerate(_spaces(embedding, unchanged)):
        conditions[name], changed = draw_users(
            Multivariate(space, epsilon=epsilon), users, seed=SEED + number
        )
        facts[name] = {**about, "changed": changed}
    return conditions, facts


def _spaces(
    embedding: Embedding, unchanged: dict[float, Any]
) -> Iterator[tuple[str, Embedding, float, dict[str, Any]]]:
    for epsilon, shares in unchanged.items():
        about = {"kind": "d_χ", "epsilon": epsilon, "mean_unchanged": float(shares.mean())}
        yield f"d_χ ε = {epsilon:.4g}", embedding, epsilon, about
    for epsilon, shares in unchanged.items():
        exposed = np.flatnonzero(shares > MOST_UNCHANGED)
        if len(exposed) <= MOST_EXPOSED * len(embedding):
            about = {"kind": "d_χ, protected", "epsilon": epsilon, "words_mapped": len(exposed)}
            yield f"d_χ protected ε = {epsilon:.4g}", protect(embedding, exposed), epsilon, about


def baselines(users: Users, others: dict[str, list[str]], wordnet: Path | None) -> Conditions:
    """Return what the baselines make of the texts; they search and count in texts of other people."""
    names, people, texts = sorted(others), dict[str, list[list[str]]](), 0
    for place in np.random.default_rng(SEED).permutation(len(names)):
        if texts >= COLLECTION:
            break
        people[names[place]] = [words_of(text) for text in others[names[place]]]
        texts += len(people[names[place]])
    collection, net = Collection(people), None if wordnet is None else WordNet(wordnet)
    scramblers: list[IncognitoLike | VersatileSemantic | VersatileStatistical] = [
        IncognitoLike(collection, wordnet=net, seed=SEED),
        IncognitoLike(collection, noise=0.3, wordnet=net, seed=SEED),
        *([] if net is None else [VersatileSemantic(net)]),
        VersatileStatistical(collection, wordnet=net),
    ]
    return {
        each.name: [[text for text in each.scramble(user) if text] for user in users] for each in scramblers
    }


if __name__ == "__main__":
    main()
