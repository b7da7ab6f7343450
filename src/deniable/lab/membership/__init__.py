"""Was this user's text among what a language model was trained on? The auditor of Song and Shmatikov (2019).

What a machine with an accelerator needs for the training (``models`` and all it imports) is NumPy and PyTorch
alone.
"""
