from . import Constant

class StepDecay(Constant):
    """``initial * gamma ** (step // step_size)``."""

    def __init__(self, initial: float, step_size: int, gamma: float = 0.1) -> None: ...

class CosineDecay(Constant):
    """``initial * (1 + cos(pi * step / decay_steps)) / 2``, then 0 (Loshchilov and Hutter, 2017)."""

    def __init__(self, initial: float, decay_steps: int) -> None: ...
