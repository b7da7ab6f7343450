"""Which tests stay in one process where several share the work: those that share what is made once, or it would be made in each.

The tests of a file share an index, a browser or a server; those of Spark share a cluster. Pages of the documentation share nothing.
``--dist loadgroup`` is for that, but keeps no group together under pytest 9.2 (pytest-xdist issue 1386).
"""

from __future__ import annotations

from typing import Any

import pytest


def kept_together(test: str) -> str:
    """Return a name that is the same for all tests which are to run in one process."""
    file, _, name = test.partition("::")
    if file.startswith("tests/integrations/test_spark") or "spark.md" in name:
        return "spark"
    return test if name.startswith("test_every_block_of_the_page_runs") else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = kept_together
    return scheduler
