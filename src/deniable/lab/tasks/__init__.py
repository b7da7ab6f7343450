"""What text is still good for on the paper's three downstream tasks: their data, the experiment, and
``reproduce`` to run it.

data set ──► task ──► texts as ids ──► perturbed texts ──► model (``lab/neural``) ──► score ──► curve
"""

from deniable.lab.tasks.reproduction import Reproduction, reproduce

__all__ = ["Reproduction", "reproduce"]
