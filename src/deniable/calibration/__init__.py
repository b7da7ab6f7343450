"""Choosing ε by looking at every word: rays, the statistics N_w and S_w, and what follows from them."""
