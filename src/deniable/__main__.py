"""``python -m deniable`` is the ``deniable`` command."""

from deniable.cli.app import main

if __name__ == "__main__":
    main()
