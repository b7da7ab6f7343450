"""The tasks of the paper: docs/experiments/utility.md."""
