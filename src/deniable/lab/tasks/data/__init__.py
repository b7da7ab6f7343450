"""The data sets of the three tasks, read and checked."""
