"""What a word becomes: P(y | x) of any mechanism, by exact sums, by rays, by points that all words share, or
by draws."""
