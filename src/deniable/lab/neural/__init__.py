"""Models that are trained with PyTorch: the paper's classifier and rankers."""
