from ..losses import SparseCategoricalCrossentropy

class DarkExperience(SparseCategoricalCrossentropy):
    """ "sparse_categorical_crossentropy", and the distance of a kept sample's logits to those kept."""

    alpha: float
    def __init__(self, alpha: float = 0.1) -> None: ...
