"""The contestants of the release benchmark, one adapter a file, and the child process that runs them."""
