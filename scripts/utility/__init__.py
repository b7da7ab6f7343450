"""The tasks of the paper: docs/research/utility.md."""
