from ..losses import SparseCategoricalCrossentropy
from ..run.network import Data, Network

class Entropy(SparseCategoricalCrossentropy):
    """The mean entropy of what a classifier says, less that of its mean over the batch."""

    diversity: float
    def __init__(self, diversity: float = 1) -> None: ...

def adapt(model: Network, x: Data, epochs: int = 5, guard: bool = True) -> None:
    """Train a model that has the loss Entropy on samples without labels."""
