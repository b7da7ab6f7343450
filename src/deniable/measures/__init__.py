"""Numbers that say what a release protects, one in each file with its proof, and the search for the ε that
reaches a target."""
