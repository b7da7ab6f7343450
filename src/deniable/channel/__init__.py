"""What a word becomes: P(y | x) of any mechanism, by exact sums, by rays or by draws."""
