"""The command line: one file per command, thin. Errors are one line on standard error and an exit code."""

from __future__ import annotations

import sys

from deniable.errors import DeniableError, printable


def main() -> None:
    """Run the ``deniable`` command."""
    from deniable.cli.app import app

    try:
        app()
    except DeniableError as error:
        print(f"deniable: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        named = f"{printable(error.filename)}: {error.strerror}" if error.filename and error.strerror else str(error)
        print(f"deniable: {named}", file=sys.stderr)
        sys.exit(1)
