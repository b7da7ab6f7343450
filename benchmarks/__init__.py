"""How fast and how large things are: a folder for each topic of several files."""
