"""What text is still good for on the paper's three downstream tasks: their data, the experiment, and
``reproduce`` to run it.

data set ──► passages ──► perturbed passages ──► model ──► score ──► curve
data/        learning/passages, perturbation     learning/classifier, ranker   experiment/
"""

from deniable.lab.tasks.experiment.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
