"""What the best attacker names: docs/research/attackers.md."""
