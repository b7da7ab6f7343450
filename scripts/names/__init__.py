"""The built-in lists of words: names that never come out, and counts of English words."""
