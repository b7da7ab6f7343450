"""What decoding gives back: docs/research/decoding.md."""
