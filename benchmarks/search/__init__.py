"""How fast the search is: docs/search.md."""
