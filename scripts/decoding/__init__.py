"""What decoding gives back: docs/experiments/decoding.md."""
