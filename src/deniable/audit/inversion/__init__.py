"""Which word was it? The Bayes adversary, who knows the mechanism, ε, the embedding and how frequent words are."""
