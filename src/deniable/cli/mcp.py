"""``deniable mcp``: a tool for agents."""

from __future__ import annotations

from pathlib import Path

from deniable.cli.options import with_groups


@with_groups
def mcp(*, settings: Path | None = None) -> None:
    """Serve a tool that releases texts to agents, by the Model Context Protocol on standard input and output.

    :param settings: A TOML file, as for `deniable serve`: embedding, mechanism, ε, policies, key.
    """
    from deniable.service.settings import read_settings
    from deniable.service.tool import make_server

    make_server(read_settings(settings)).run()
