"""``deniable tune``: find the space and the ε that serve a declared purpose best at a given attacker, on
public texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from deniable.cli.options import FileOptions, MechanismOptions, with_groups
from deniable.cli.terminal import make_table, open_console, print_json, progress, warn
from deniable.report.wording import percent, percent_fixed

if TYPE_CHECKING:
    from deniable.tuning.findings import TuningFindings
    from deniable.tuning.tuning import TuningSettings

R = TypeVar("R", bound=str)


@dataclass(frozen=True, kw_only=True)
class TuningOptions:
    """What is tried, and how much is drawn.

    :param attacker: The share of the words that an attacker may name, in the best way that it has. Default:
        0.1.
    :param target -t READING=VALUE: In place of --attacker, what all spaces have in common: named (words,
        each by itself), context (words, reading in context too; needs --public) or kinds (the kind of a
        less frequent word). Unknown words are not counted.
    :param dimension: A number of principal axes to try; 0 is the purpose alone. May be repeated. Default:
        0, 8, 16, 32.
    :param strength: A strength to try. May be repeated. Default: 2, 4 and 8.
    :param runs: How many releases are judged at the end.
    :param words: How many words may have gone in, the most frequent ones of the texts.
    :param directions --effort: For the attacker, at the end: at most how many points are drawn around each
        word, or directions followed, or draws made.
    :param rays: How many directions the calibration follows from each word; 0 leaves it out.
    """

    attacker: float | None = None
    target: str | None = None
    dimension: list[int] | None = None
    strength: list[float] | None = None
    runs: int = 2
    words: int = 8_000
    directions: int = 200
    rays: int = 100

    def settings(self) -> TuningSettings:
        """Return the settings of the search: spaces are compared with part of the words and directions that
        are used at the end.

        :raises InvalidParameter: if a number is not allowed.
        """
        from deniable.audit.named import WAYS
        from deniable.errors import InvalidParameter
        from deniable.parameters import validated_count
        from deniable.tuning.tuning import DIMENSIONS, STRENGTHS, TuningSettings
        from deniable.utility.accuracy import DecodingEffort

        if self.target is not None and self.attacker is not None:
            raise InvalidParameter("--target", self.target, "says what --attacker says: give one of them")
        share: dict[str, Any] = {} if self.attacker is None else {"attacker": self.attacker}
        if self.target is not None:
            share["reading"], share["attacker"] = parse_reading(self.target, WAYS)
        words = validated_count(self.words, "--words")
        validated_count(self.rays, "--rays", at_least=0)
        return TuningSettings(
            **share,
            dimensions=tuple(self.dimension or DIMENSIONS),
            strengths=tuple(self.strength or STRENGTHS),
            runs=self.runs,
            quick=DecodingEffort(
                support=max(1, words * 3 // 8), directions=max(1, self.directions * 3 // 10)
            ),
            thorough=DecodingEffort(support=words, directions=self.directions),
        )


@with_groups
def tune(
    data: Path,
    *,
    text: str,
    label: str,
    new: str,
    also: list[str] | None = None,
    public: Path | None = None,
    tuning: TuningOptions,
    texts: int | None = None,
    reading: FileOptions,
    mechanism: MechanismOptions,
    report: Path | None = None,
    as_json: bool = False,
    quiet: bool = False,
    device: str = "cpu",  # noqa: ARG001 - reading it sets it
) -> None:
    """Find the shaped space and the ε that serve a purpose best at a given attacker, on PUBLIC labelled
    texts; install and calibrate it.

    The classes of a column are the purpose. The search tries numbers of axes, strengths and ε, all at an
    equal attacker who knows the word frequencies and guesses the given share of the words, or of their
    kinds. The texts that choose the space do not judge it. A page for a privacy officer shows what survives
    by design, what else survives, and what an attacker guesses. The same command continues an interrupted
    search.

    :param data: PUBLIC labelled texts (CSV, TSV, JSON Lines, Parquet); never the text that is to be
        protected.
    :param text: The column that holds the text.
    :param label: The column that holds the class: the purpose.
    :param new --as: The name to install the space under.
    :param also: A column with another attribute, of which it is measured what survives. May be repeated.
    :param public: A public text, one document per line: the attacker then also reads in context.
    :param texts: Use at most this many texts, drawn at random: for a quick look.
    :param report: Where to write the page. Default: NAME-tuning.html in the current folder.
    :param as_json --json: Print JSON for machines; a page is written only with --report.
    """
    from deniable.atomic import check_place
    from deniable.embeddings.store import free_place
    from deniable.errors import InvalidParameter
    from deniable.purposes.installing import save_mapped
    from deniable.purposes.shaping import PUBLIC_ONLY
    from deniable.tuning.page import tuning_page
    from deniable.tuning.tuning import calibrate_tuned
    from deniable.tuning.tuning import tune as tune_space

    chosen = mechanism.arguments()
    free_place(new)
    if report is None and not as_json:
        report = Path(f"{new}-tuning.html")
        if report.exists():
            raise InvalidParameter(
                "--as",
                new,
                f"{report} is there already, from another space; say with --report where to write the page",
            )
    if report is not None:
        check_place(report)
    settings = tuning.settings()
    warn(PUBLIC_ONLY)
    said: list[str] = []

    def warn_once(warning: str) -> None:
        if warning not in said:
            said.append(warning)
            warn(warning)

    with (
        progress("looking at spaces", unit="words", quiet=quiet) as looking,
        progress("measuring", unit="releases", quiet=quiet) as measuring,
    ):
        found = tune_space(
            data,
            text_column=text,
            label_column=label,
            also=also or (),
            **chosen,
            public=public,
            settings=settings,
            texts=texts,
            report=looking,
            measure_report=measuring,
            warn=warn_once,
            **reading.reading(),
        )
    for warning in found.warnings:
        warn_once(warning)
    save_mapped(found.space.embedding, new)
    if report is not None:
        tuning_page(found, name=new).write(report)
    if tuning.rays:
        with progress(f"calibrating {new}", unit="words", quiet=quiet) as calibrating:
            try:
                isolated = calibrate_tuned(found, new, rays=tuning.rays, report=calibrating)
            except BaseException:
                again = (
                    f"deniable calibrate --embedding {new}{found.mechanism.as_typed} --epsilon "
                    f"{found.epsilon:g} --effort {tuning.rays}"
                )
                warn(f"{new} is installed, and not calibrated yet; to go on: {again}")
                raise
        if report is not None:
            tuning_page(found, name=new, isolated=isolated).write(report)
    if as_json:
        print_json(found.to_dict() | {"name": new})
        return
    _show(found, new)
    if report is not None:
        typer.echo(f"\nFor the person responsible for the release: {report}")


def _show(found: TuningFindings, name: str) -> None:
    from deniable.tuning.page import lead

    console = open_console()
    console.print(f"{found.space.name}; installed. {lead(found, name)}")
    rows = [[each.name, *map(percent_fixed, each.shares)] for each in (found.label, *found.others)]
    console.print(make_table(["told rightly", "most frequent", "original", "this space", "as it is"], rows))
    console.print(
        f"Spaces were compared at an attacker who names {percent(found.target)} of the {found.matched}, "
        f"{found.matched_way}."
    )


def parse_reading(typed: str, readings: Sequence[R]) -> tuple[R, float]:
    """Return one of these readings and the share it is to have, typed as READING=VALUE.

    :raises InvalidParameter: if there is no such reading, or the value is not a share.
    """
    from deniable.errors import InvalidParameter

    name, _, value = typed.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    for known in readings:
        if name == known and 0.0 < number < 1.0:
            return known, number
    raise InvalidParameter(
        "--target",
        typed,
        f"must be READING=VALUE with a reading of {', '.join(readings)} and a value between 0 and 1",
    )
