"""Rays: what a word becomes at every length of noise at once, and so at every ε."""
