"""How fast the search is: docs/research/search.md."""
