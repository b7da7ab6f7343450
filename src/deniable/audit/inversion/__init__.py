"""Which word was it? Attackers who know the mechanism, ε, the embedding and public text guess the words
behind a release; one file each."""
