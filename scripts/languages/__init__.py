"""Other languages: docs/experiments/languages.md."""
