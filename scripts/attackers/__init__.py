"""What the best attacker names: docs/experiments/attackers.md."""
