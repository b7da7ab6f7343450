"""Noise on a GPU, and what is asked of PyTorch and Triton. Nothing here is loaded before a device is asked
for."""
