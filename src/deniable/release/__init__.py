"""Text in, text out: tokenising, policies, the privatizer and its receipt."""
