"""One experiment: what is perturbed, trained, judged and kept."""
