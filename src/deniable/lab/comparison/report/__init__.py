"""A comparison in plain words: sentences, one table, one figure, one page."""
