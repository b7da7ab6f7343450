"""Text into words: the cutter, and lists of words."""
