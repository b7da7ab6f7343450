"""The space and ε are chosen on public texts at the attacker asked for, and the judged texts have no say in
it."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deniable import Embedding, InvalidParameter
from deniable.audit.named import Named, NamedShares, Way
from deniable.channel.channel import Channel
from deniable.channel.draws import Draws
from deniable.channel.making import make_channel
from deniable.decoding.ngrams import count_bigrams
from deniable.embeddings import store
from deniable.embeddings.kinds import make_kinds
from deniable.errors import TargetsNotMet, TaskDataError
from deniable.measures.catalogue import Setting
from deniable.measures.texts import Texts
from deniable.mechanisms.catalogue import ChosenMechanism
from deniable.tuning import TuningFindings, TuningSettings, tune
from deniable.tuning.page import tuning_page
from deniable.tuning.search import Search, Space, Trial, make_spaces
from deniable.tuning.texts import (
    PublicAttributes,
    known_texts,
    read_attributes,
    split_parts,
    take_public,
    take_texts,
)
from deniable.utility.accuracy import DecodingEffort
from tests.support.commands import invoke
from tests.support.made_purpose import made_embedding, public_texts

EFFORT = DecodingEffort(support=250, directions=40)
FINER = DecodingEffort(support=250, directions=200)
SETTINGS = TuningSettings(
    attacker=0.15, dimensions=(0, 2), strengths=(1.0, 3.0), runs=1, quick=EFFORT, thorough=EFFORT
)
ONE_SPACE = replace(SETTINGS, dimensions=(2,), strengths=(3.0,))
FAST = "--dimension 2 --strength 3 --runs 1 --words 250 --effort 40 --rays 50"


def write_public(folder: Path, count: int) -> Path:
    """Write public texts with a mood, an author whom nothing tells, an age that hangs on the mood, stars that
    are whole numbers, a column of values that stand once, and one that is empty; install their embedding as
    made."""
    store.save(made_embedding(), "made")
    texts = public_texts(count)
    with (folder / "public.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "mood", "author", "age", "stars", "once", "nothing"])
        for i, (text, label) in enumerate(zip(texts.texts, texts.labels, strict=True)):
            years = "" if i % 40 == 0 else f"{(30 if label == 'class0' else 60) + i % 29 + 0.5}"
            once = f"only{i}" if i % 3 == 0 else ""
            writer.writerow([text, label, f"author{i % 3}", years, i % 5, once, ""])
    return folder / "public.csv"


@pytest.fixture
def public(tmp_path: Path) -> Path:
    return write_public(tmp_path, 500)


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Hardly more texts than are the least, for tests that do not look at how well something is told."""
    return write_public(tmp_path, 220)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> TuningFindings:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("DENIABLE_HOME", str(tmp_path_factory.mktemp("home")))
        public = write_public(tmp_path_factory.mktemp("public"), 500)
        return tune(
            public,
            text_column="text",
            label_column="mood",
            also=["author", "age", "stars", "once"],
            embedding="made",
            settings=SETTINGS,
        )


def test_the_purpose_survives_better_than_without_a_map_at_the_same_attacker(found: TuningFindings) -> None:
    assert found.space.strength is not None
    majority, _, shaped, as_it_is = found.label.shares
    assert shaped is not None
    assert shaped > (majority or 0.0) + 0.1
    assert shaped > (as_it_is or 0.0)
    for attack in (found.shaped, found.as_it_is):
        assert attack.alone.words <= 0.15 + 4 * attack.alone.words_error
        assert attack.alone.words > 0.1
        assert attack.in_context is None
    author = found.others[0]
    assert (author.name, author.values, author.problem) == ("author", 3, None)
    assert author.shaped is not None
    assert author.shaped.accuracy < 0.5
    assert len(found.tried) == 1 + 1 + 1 + 2  # as it is, reduced, the purpose alone at one strength, shaped
    assert found.space.name in [each.space.name for each in found.tried]
    counts = found.counts
    assert counts.shape + counts.learn + counts.choose + counts.judge == counts.texts == 500
    assert (
        json.loads(json.dumps(found.to_dict()))["space"]["fingerprint"] == found.space.embedding.fingerprint
    )
    assert found.warnings == ()


def test_labels_that_nothing_tells_are_warned_of_before_the_work(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deniable.tuning.tuning.make_spaces", stop)
    for label in ("mood", "author"):
        with pytest.raises(KeyboardInterrupt):
            tune(
                few,
                text_column="text",
                label_column=label,
                embedding="made",
                settings=ONE_SPACE,
                warn=heard.append,
            )
    (warning,) = heard
    assert warning.startswith(
        "the labels “author” of public.csv cannot be told from its words better than by chance"
    )


@pytest.mark.parametrize(("other", "warned"), [(0.49, False), (0.5, True), (0.6, True)])
def test_a_space_that_is_not_shaped_and_serves_as_well_is_named(
    found: TuningFindings, other: float, warned: bool
) -> None:
    from deniable.tuning.tuning import _not_worth_it

    def trial(accuracy: float, dimension: int | None = None, strength: float | None = None) -> Trial:
        space = Space(embedding=found.space.embedding, dimension=dimension, strength=strength)
        return Trial(space=space, rows=(), epsilon=1.0, accuracy=accuracy)

    assert found.warnings == ()
    said = _not_worth_it(trial(0.5, 4, 2.0), (trial(0.3), trial(other, 4)))
    assert bool(said) == warned
    if warned:
        assert "told in the embedding reduced to 4 axes" in said[0]


def test_numbers_beside_the_purpose_are_told_by_quarters(found: TuningFindings, few: Path) -> None:
    _, age, stars, _ = found.others
    assert (age.name, age.values, stars.name, stars.values) == ("age (in quarters)", 4, "stars", 5)
    assert (age.original or 0.0) > (age.majority or 1.0) + 0.1
    with pytest.raises(
        TaskDataError, match=r"'age' holds numbers, and a space is tuned to classes; .*takes numbers"
    ):
        tune(few, text_column="text", label_column="age", embedding="made", settings=ONE_SPACE)


def test_an_attribute_that_cannot_be_learnt_is_said_to_be_so(found: TuningFindings) -> None:
    assert found.others[-1].problem == "fewer than two values stand with two texts or more"
    assert "was not measured: fewer than two values" in tuning_page(found, name="x").html()


def test_an_interrupted_search_installs_nothing_and_goes_on_where_it_was(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[float] = []

    def count(*given: object, epsilon: float, **how: object) -> Channel:
        made.append(epsilon)
        if len(made) == 8:
            raise KeyboardInterrupt
        return make_channel(*given, epsilon=epsilon, **how)  # type: ignore[arg-type]

    def find() -> TuningFindings:
        return tune(few, text_column="text", label_column="mood", embedding="made", settings=ONE_SPACE)

    monkeypatch.setattr("deniable.measures.catalogue.make_channel", count)
    with pytest.raises(KeyboardInterrupt):
        find()
    assert [facts.name for facts in store.installed()] == ["made"]
    begun = made[:7]
    found = find()
    assert made[8] not in begun, "what was finished is not made again"
    made.clear()
    again = find()
    assert len(made) == 2, "all numbers are there: only the channels of the last releases are made"
    assert again.epsilon == found.epsilon
    assert again.shaped == found.shaped
    assert [each.to_dict() for each in again.tried] == [each.to_dict() for each in found.tried]


def test_by_points_the_same_is_found_and_few_channels_are_made(
    public: Path, monkeypatch: pytest.MonkeyPatch, found: TuningFindings
) -> None:
    """As by default, where thousands of words may have gone in and every ε has points of its own."""
    monkeypatch.setattr("deniable.channel.rows.FEWEST_INPUTS", 100)
    made: list[int] = []
    told: list[tuple[int, int]] = []

    def count(*given: object, directions: int, **how: object) -> Channel:
        made.append(directions)
        return make_channel(*given, directions=directions, **how)  # type: ignore[arg-type]

    monkeypatch.setattr("deniable.measures.catalogue.make_channel", count)
    settings = replace(ONE_SPACE, quick=FINER, thorough=replace(FINER, directions=210))
    by_points = tune(
        public,
        text_column="text",
        label_column="mood",
        embedding="made",
        settings=settings,
        report=lambda *rows: told.append(rows),
    )
    assert by_points.epsilon_as_it_is == pytest.approx(found.epsilon_as_it_is, rel=0.1)
    for attack in (by_points.shaped, by_points.as_it_is):
        assert 0.1 < attack.alone.words <= 0.15 + 4 * attack.alone.words_error
    assert made[:15] == [200] * 5 * len(by_points.tried), "each space at five ε, for all measures"
    assert set(made[15:]) == {210}
    assert len(made[15:]) <= 2 * 4
    (total,) = {of for _, of in told}
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    shares = np.array([done for done, _ in told]) / total
    assert np.diff(shares, prepend=0.0).max() < 1 / 5, "a part ends early at most"


def test_labels_of_judged_texts_have_no_say(public: Path) -> None:
    attributes = read_attributes(public, text_column="text", label_column="mood")
    attributes, cut = known_texts(attributes, made_embedding())
    parts = split_parts(cut.labels)
    together = np.concatenate([parts.shape, parts.learn, parts.choose, parts.judge])
    assert sorted(together.tolist()) == list(range(500))
    for part in (parts.shape, parts.learn, parts.choose, parts.judge):
        share = np.mean([cut.labels[i] == "class0" for i in part])
        assert share == pytest.approx(0.5, abs=0.03)
    wrong = list(cut.labels)
    for i in parts.judge.tolist():
        wrong[i] = "class0" if wrong[i] == "class1" else "class1"
    spaces = [
        make_spaces(
            made_embedding(),
            take_public(replace(attributes.public, labels=labels), parts.shape),
            (2,),
            (3.0,),
        )[1]
        for labels in (list(cut.labels), wrong)
    ]
    assert spaces[0].embedding.fingerprint == spaces[1].embedding.fingerprint
    assert take_texts(cut, parts.learn).labels == take_texts(replace(cut, labels=wrong), parts.learn).labels
    assert take_texts(cut, parts.choose).labels == take_texts(replace(cut, labels=wrong), parts.choose).labels


def cut_public(texts: int) -> Texts:
    return known_texts(PublicAttributes(public_texts(texts), {}), made_embedding())[1]


def make_search(target: float, reading: Way = "named") -> Search:
    cut = cut_public(300)
    attacker = Named.by_ids(cut, make_kinds(made_embedding(), clusters=10))
    return search_of(attacker, cut, reading, target)


def search_of(attacker: Named, labelled: Texts, reading: Way, target: float) -> Search:
    return Search(
        mechanism=ChosenMechanism(),
        attacker=attacker,
        labelled=labelled,
        learnt=150,
        reading=reading,
        target=target,
        quick=EFFORT,
        thorough=EFFORT,
    )


def named_again(attacker: Named, search: Search, setting: Setting) -> NamedShares:
    """Return what an attacker names alone in another release."""
    return attacker.alone(
        search.channel(setting), Draws(setting.mechanism_at_epsilon, seed=9).of_each(attacker.texts.ids)
    )


def test_a_search_finds_the_same_epsilon_again_and_the_attacker_stays_within_the_target() -> None:
    (_, space) = make_spaces(made_embedding(), public_texts(300), (3,), (2.0,))
    trials = [make_search(0.2).look(space) for _ in range(2)]
    assert trials[0].epsilon == trials[1].epsilon
    assert trials[0].points == trials[1].points
    search = make_search(0.2)
    named = named_again(search.attacker, search, search.match(trials[0]))
    assert 0.13 < named.words < 0.2 + 4 * named.words_error


def test_an_attacker_in_context_is_brought_to_the_target_too() -> None:
    # Words that follow one another, so that context tells much more than single words do.
    rng, embedding = np.random.default_rng(5), made_embedding()
    texts = np.empty((300, 12), dtype=np.int64)
    texts[:, 0] = rng.integers(0, 250, 300)
    for place in range(1, 12):
        texts[:, place] = (2 * texts[:, place - 1] + rng.integers(0, 2, 300)) % 250
    cut = Texts(
        ids=texts.ravel(),
        offsets=np.arange(0, 3_601, 12),
        spelled=[embedding.words[i] for i in texts.ravel().tolist()],
        labels=["odd" if text[0] % 2 else "even" for text in texts],
    )
    alone = Named.by_ids(cut, make_kinds(embedding, clusters=10))
    both = replace(alone, context=count_bigrams(texts, 251))
    space = Space(embedding=embedding)
    found = []
    for attacker in (alone, both):
        search = search_of(attacker, cut, "context", 0.3)
        setting = search.match(search.look(space))
        released = Draws(setting.mechanism_at_epsilon, seed=9).of_each(cut.ids)
        in_context = both.in_context(search.channel(setting), released)
        assert in_context is not None
        found.append((setting.epsilon, in_context))
    (loose, seen_through), (tight, held) = found
    assert tight < loose
    assert held.words < 0.3 + 4 * held.words_error
    assert seen_through.words > 0.3 + 8 * seen_through.words_error, (
        "matched on single words, context names far more"
    )


def test_kinds_are_brought_to_the_target_and_words_are_not() -> None:
    (_, space) = make_spaces(made_embedding(), public_texts(300), (3,), (2.0,))
    cut, kinds = cut_public(300), make_kinds(made_embedding(), clusters=10)
    attacker, found = Named.by_ids(cut, kinds), {}
    target = attacker.blind.kinds + 0.15
    for reading in ("named", "kinds"):
        search = make_search(target, reading)
        setting = search.match(search.look(space))
        found[reading] = setting.epsilon, named_again(attacker, search, setting)
    epsilon, named = found["kinds"]
    assert target - 0.06 < named.kinds < target + 4 * named.kinds_error
    assert named.words < target - 8 * named.words_error, "fewer words are named than kinds"
    loose, by_words = found["named"]
    assert loose > 1.2 * epsilon
    assert by_words.kinds > target + 8 * by_words.kinds_error, "matched on words, far more kinds are named"


def test_a_public_text_goes_to_the_attacker_that_epsilon_is_matched_to(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "corpus.txt").write_text("\n".join(public_texts(50, seed=9).texts))
    attackers: list[Named] = []
    readings: list[object] = []

    def stop(search: Search, *_: object, **__: object) -> None:
        attackers.append(search.attacker)
        readings.append(search.reading)
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "look", stop)
    kinds = replace(ONE_SPACE, attacker=0.3, reading="kinds")
    for corpus, settings in ((tmp_path / "corpus.txt", ONE_SPACE), (None, ONE_SPACE), (None, kinds)):
        with pytest.raises(KeyboardInterrupt):
            tune(
                few,
                text_column="text",
                label_column="mood",
                embedding="made",
                settings=settings,
                public=corpus,
            )
    assert [attacker.context is None for attacker in attackers] == [False, True, True]
    assert readings == ["context", "named", "kinds"]


def test_a_target_below_a_blind_guess_is_refused() -> None:
    with pytest.raises(TargetsNotMet, match="an attacker who sees nothing names"):
        make_search(0.001)
    with pytest.raises(
        TargetsNotMet, match=r"kinds = 0\.001: an attacker who sees nothing names .* of these kinds"
    ):
        make_search(0.001, "kinds")


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"label_column": "text"}, InvalidParameter, "is the column of texts as well"),
        ({"also": ["mood"]}, InvalidParameter, "is named already"),
        ({"also": ["author", "author"]}, InvalidParameter, "is named already"),
        ({"also": ["colour"]}, InvalidParameter, "colour"),
        ({"also": ["nothing"]}, TaskDataError, "no text has a value in 'nothing'"),
        ({"texts": 100}, InvalidParameter, "texts = 100: must be a whole number of at least 200"),
        ({"settings": replace(SETTINGS, dimensions=(40,))}, InvalidParameter, "choose at most 11"),
        (
            {"settings": replace(SETTINGS, reading="context")},
            InvalidParameter,
            "the reading context needs a public text",
        ),
    ],
)
def test_bad_input_is_refused_before_the_work(
    public: Path, options: dict[str, object], error: type[Exception], says: str
) -> None:
    given = {
        "text_column": "text",
        "label_column": "mood",
        "embedding": "made",
        "settings": SETTINGS,
    } | options
    with pytest.raises(error, match=says):
        tune(public, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"attacker": 0.0},
        {"attacker": 1.0},
        {"dimensions": ()},
        {"strengths": (0.0,)},
        {"runs": 0},
        {"reading": "worst"},
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidParameter):
        replace(SETTINGS, **wrong)  # type: ignore[arg-type]


def test_the_command_installs_calibrates_and_writes_a_page(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(public_texts(200, seed=9).texts))
    options = "--text text --label mood --also author --attacker 0.15 --embedding made --as moody --public"
    done = invoke("tune", few, options, corpus, FAST)
    assert done.exit_code == 0, done.output
    assert "the labelled texts must be public" in done.stderr
    said = " ".join(done.stdout.split())
    assert "An attacker who reads in context names" in said or "looks at single words names" in said
    assert (
        "at an attacker who names 15 % of the words, in the better of the two ways to read a release" in said
    )
    page = (tmp_path / "moody-tuning.html").read_text(encoding="utf-8")
    for heading in (
        "What survives by design",
        "What else survives",
        "What an attacker names",
        "Words that hardly change",
        "The trade-off",
    ):
        assert heading in page
    assert "in context (by corpus.txt)" in page
    space = Embedding.open("moody")
    assert space.linear_map is not None
    (noted,) = space.linear_map.origin.public
    assert (noted.name, noted.texts, noted.drawn_from, noted.seed) == ("public.csv", 88, 220, 0)
    assert "88 public texts (drawn from 220 with the seed 0)" in noted.in_words()
    epsilon = page.partition("Released at ε = ")[2].partition(" ")[0]
    (tmp_path / "in.txt").write_text("wordaa wordbb\n")
    released = invoke("privatize in.txt -o out.txt --embedding moody --epsilon", epsilon)
    assert released.exit_code == 0, released.output
    assert "calibration: at ε" in " ".join(released.output.split())


def test_interrupted_while_it_calibrates_the_command_says_how_to_go_on(
    few: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("deniable.tuning.tuning.calibrate", stop)
        options = "--text text --label mood --embedding made --as moody --attacker 0.15 -m gaussian"
        done = invoke("tune", few, options, FAST)
    assert done.exit_code == 130
    command = "deniable calibrate --embedding moody --mechanism gaussian --epsilon "
    said = done.stderr.partition("warning: moody is installed, and not calibrated yet; to go on: deniable ")[
        2
    ].split()
    page = " ".join((tmp_path / "moody-tuning.html").read_text(encoding="utf-8").split())
    assert "This was not measured" in page
    assert command in page
    assert said[:5] == command.split()[1:6]
    again = invoke(*said[: said.index("--effort") + 2])
    assert again.exit_code == 0, again.output


def test_the_command_refuses_before_the_work_and_leaves_nothing(
    public: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old-tuning.html").write_text("a page")
    for more, says in (
        ("--as made", "is installed already"),
        ("--as new --attacker 2", "from 0 to less than 1"),
        ("--as new --target worst=0.5", "must be READING=VALUE with a reading of named, context, kinds"),
        ("--as new --target kinds=0.3 --attacker 0.1", "says what --attacker says"),
        ("--as new --target context=0.3", "the reading context needs a public text"),
        ("--as new --report .", "is a folder"),
        ("--as old", "old-tuning.html is there already"),
        ("--as new --rays -1", "--rays = -1: must be a whole number of at least 0"),
        ("--as new --words 0", "--words = 0: must be a whole number of at least 1"),
        ("--as new --mechanism magic", "magic"),
    ):
        done = invoke("tune", public, "--text text --label mood --embedding made", more)
        assert done.exit_code != 0
        assert says in " ".join((done.output + str(done.exception)).split())
    assert [facts.name for facts in store.installed()] == ["made"]
    assert [(page.name, page.read_text()) for page in tmp_path.glob("*.html")] == [
        ("old-tuning.html", "a page")
    ]
