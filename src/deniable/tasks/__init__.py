"""What the text is still good for: the three downstream tasks of the paper, their data, models and measurements.

data set ──► passages ──► perturbed passages ──► model ──► score ──► curve
imdb.py …    passages.py  perturbation.py        classifier.py, ranker.py   experiment.py, outcomes.py, figure.py
"""
