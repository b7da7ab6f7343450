"""Other languages: docs/research/languages.md."""
