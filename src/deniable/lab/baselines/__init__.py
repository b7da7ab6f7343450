"""The query-scrambling methods that the paper compares with, for texts given as words.

None of them has a privacy guarantee: they are here to be attacked.
"""
