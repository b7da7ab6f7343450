"""What analysts ask of released text: how often words are used, what the text may have said, features to learn from."""
