"""Was this user's text among what a language model learnt from? The auditor of Song and Shmatikov (2019)."""
