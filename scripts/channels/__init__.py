"""How near a channel comes: docs/experiments/channels.md."""
