"""Mechanisms side by side at equal privacy. Their ε do not compare, so ε is chosen for each by what an adversary meets."""
