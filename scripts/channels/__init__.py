"""How near a channel comes: docs/research/channels.md."""
