"""What is left of a question, and how long a guardrail takes.

    python -m benchmarks.prompts --peer-python PEERS/bin/python      # writes docs/data/prompts.json
    python -m scripts.pages prompts          # writes the tables of docs/guide/prompts.md

The questions were written for this. Every draw of a seed counts; the examples are the first one. PEERS is an
environment with presidio-analyzer, presidio-anonymizer, Flask and gunicorn: LiteLLM's guardrail for Presidio
asks these two over HTTP. Presidio has no language model here: it finds by patterns alone, which takes less.
"""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import numpy as np
from scripts.pages import DATA, DOCS, options_of, read_json, table, write_json

from benchmarks.machine import machine, texts_by_rank
from benchmarks.service import latencies, latency_table, presidio, request_of, service, started
from deniable import Embedding, Privatizer, Release
from deniable.arrays import Floats
from deniable.noise.randomness import InsecureSeededRandomness

PAGE, RESULT = DOCS / "guide" / "prompts.md", DATA / "prompts.json"
QUESTIONS = (
    "how do I ask my landlord to repair the heating before the winter",
    "which train goes from london to paris on a sunday morning",
    "my daughter has a fever and a rash on her arm should I see a doctor",
    "please write a letter to the bank because my card was stolen",
    "what can I cook with rice and chicken for six people",
    "is it legal to record a phone call with my boss at work",
    "how much water does a tomato plant need in july",
    "translate this poem about the sea into spanish",
    "why does my car make a noise when I turn the wheel",
    "explain to a child how the moon changes its shape",
    "which medicine must not be taken together with alcohol",
    "my husband wants a divorce and the house belongs to both of us",
    "summarise the speech of the president about the war",
    "how can I lose weight without running or going to the gym",
    "find the mistake in the tax return of a small company",
    "what should I wear to a wedding in the church of a village",
    "how do I teach my dog not to bark at the neighbours",
    "the school says that my son hits other children what can I do",
    "compare the batteries of these two phones",
    "write a song about a football team that always loses",
)
SETTINGS: dict[str, dict[str, object]] = {
    "risk low": {"risk": "low"},
    "risk medium": {"risk": "medium"},
    "risk high": {"risk": "high"},
    "ε = 8": {"epsilon": 8.0},
    "ε = 10": {"epsilon": 10.0},
    "ε = 14": {"epsilon": 14.0},
}
DRAWS, HISTORY, CONNECTIONS = 50, 20, 8


def gist(vectors: Floats, embedding: Embedding, texts: list[str]) -> Floats:
    """Return the direction of the mean of the words of each text."""
    mean = np.array([vectors[embedding.ids(text.split())].mean(axis=0) for text in texts])
    return np.asarray(mean / np.linalg.norm(mean, axis=1, keepdims=True))


def survival() -> list[dict[str, object]]:
    """Return what is left of the questions at each setting."""
    rows: list[dict[str, object]] = []
    for name, setting in SETTINGS.items():
        release = Release(**setting)  # type: ignore[arg-type]
        private: Privatizer = release.make(randomness=InsecureSeededRandomness(insecure_seed=1))
        embedding = private.mechanism.embedding
        vectors = np.asarray(embedding.vectors[: len(embedding)], dtype=np.float64)
        vectors = np.vstack([vectors - vectors.mean(axis=0), np.zeros(embedding.dimension)])  # ⊥ says nothing
        own = gist(vectors, embedding, list(QUESTIONS))
        kept = words = found = 0
        first: list[str] = []
        for _ in range(DRAWS):
            released = [str(text) for text in private.many(QUESTIONS)]
            first = first or released
            for text, question in zip(released, QUESTIONS, strict=True):
                same = [a == b for a, b in zip(text.split(), question.split(), strict=False)]
                kept, words = kept + sum(same), words + len(question.split())
            nearest = (gist(vectors, embedding, released) @ own.T).argmax(axis=1)
            found += int((nearest == np.arange(len(QUESTIONS))).sum())
        rows.append(
            {
                "setting": name,
                "epsilon": release.epsilon,
                "unchanged": kept / words,
                "found": found / (DRAWS * len(QUESTIONS)),
                "examples": first[:3],
            }
        )
    return rows


def latency(peer: Path | None, *, rounds: int, seconds: float) -> dict[str, dict[str, float]]:
    """Return how long requests take in turns, over a few connections."""
    texts = texts_by_rank(Embedding.open(), 200, 20)
    spans = [f"{text} mail to anna.k@corp.com or 212-555-0142" for text in texts]
    guard = [request_of("/guardrail", {"input_type": "request", "texts": [text]}) for text in texts]
    long = [
        request_of("/guardrail", {"input_type": "request", "texts": texts[i : i + HISTORY]})
        for i in range(0, len(texts), HISTORY)
    ]
    with tempfile.TemporaryDirectory() as place, contextlib.ExitStack() as servers:
        port = servers.enter_context(started(service(), "/ready", Path(place)))
        alone = [request_of("/privatize", {"text": text}) for text in texts]
        ways = {
            "`/privatize`, one text of 20 words": (port, alone),
            "`/guardrail`, one message of 20 words": (port, guard),
            f"`/guardrail`, a history of {HISTORY} such messages": (port, long),
        }
        if peer is not None:
            theirs = servers.enter_context(started(presidio(peer), "/health", Path(place)))
            asked = [request_of("/guard", {"text": text}) for text in spans]
            ways["Presidio by patterns, one message"] = (theirs, asked)
        return latencies(ways, rounds=rounds, seconds=seconds, connections=CONNECTIONS)


def main() -> None:
    """Measure, and write the result."""
    parser = options_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--peer-python", type=Path)
    options = parser.parse_args()
    how = {"rounds": options.rounds, "seconds": options.seconds}
    setting = (
        f"{options.rounds} rounds of {options.seconds:g} s in turns, {CONNECTIONS} connections; {machine()}"
    )
    took = latency(options.peer_python, **how)
    write_json(RESULT, {"setting": setting, "survival": survival(), "latency": took})


def tables() -> dict[str, str]:
    """Return what was measured as the guide shows it."""
    content = read_json(RESULT)
    rows = [
        [
            row["setting"],
            f"{row['epsilon']:.3g}",
            *(f"{100 * row[key]:.0f} %" for key in ("unchanged", "found")),
        ]
        for row in content["survival"]
    ]
    head = ["", "ε", "words unchanged", "nearest to its own question"]
    examples = [
        [question, *(row["examples"][i] for row in content["survival"][1:])]
        for i, question in enumerate(QUESTIONS[:3])
    ]
    names = [f"ε = {row['epsilon']:.2g}" for row in content["survival"][1:]]
    return {
        "survival": table(head, rows, align="lr"),
        "examples": table(["question", *names], examples),
        "latency": f"{latency_table('', content['latency'])}\n\n{content['setting']}.",
    }


if __name__ == "__main__":
    main()
