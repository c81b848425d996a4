from ..layers import Layer

class Node:
    """One layer applied to the outputs of other nodes; ``shape`` is the output's, without the batch."""

    layer: Layer
    inputs: list[Node]
    shape: tuple[int, ...]
    def __init__(self, layer: Layer, inputs: list[Node], shape: tuple[int, ...]) -> None: ...
