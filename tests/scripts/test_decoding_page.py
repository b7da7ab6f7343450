"""Reading alone and in context are compared on the same runs."""

from __future__ import annotations

from scripts.decoding.page import in_context, read_rows


def test_alone_and_in_context_are_of_the_same_runs() -> None:
    row = next(
        row for row in read_rows() if row.names[0] == "AG News (topic)" and row.result["level"] == 0.08
    )
    (run,) = row.in_context
    assert len(row.runs) > 1
    alone, context = (100 * run["accuracy"][f"{version} words"]["both"] for version in ("decoded", "context"))
    line = in_context([row]).splitlines()[2]
    assert f"| {alone:.1f} | {context:.1f} |" in line
    assert f"| {100 * run['named']:.0f} % |" in line
