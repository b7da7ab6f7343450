"""Tries to refute the bound that a mechanism promises, as a black box."""
