"""Was this user's text among what a language model was trained on? The auditor of Song and Shmatikov (2019).

The modules that train (``streams``, ``vocabulary``, ``language_models``, ``training``, ``ranks``, ``jobs``) import nothing but
NumPy and PyTorch, so that they also run on a bare machine with an accelerator.
"""
