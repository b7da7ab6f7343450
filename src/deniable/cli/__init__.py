"""The command line: one file per command, thin. Errors are one line on standard error and an exit code."""
