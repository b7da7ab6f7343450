"""What text is still good for on the paper's three downstream tasks: their data, the experiment, and
``reproduce`` to run it.

data set (``data/``) ──► passages ──► perturbed passages ──► model (``lab/neural``) ──► score ──► curve
(``experiment/``)
"""

from deniable.lab.tasks.experiment.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
