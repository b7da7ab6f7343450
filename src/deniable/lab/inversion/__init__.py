"""Attackers of running text that learn, or ask a language model what comes next."""
