"""Other programs beside ours, one adapter a file, and the child process that runs them:
docs/research/peers.md."""
