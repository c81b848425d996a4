from .logmel import LogMel

class MicroFrontend(LogMel):
    """As TensorFlow's microfrontend, to the same integers: int16, 64 times a natural logarithm. Noise is learned from frame to frame."""

    def reset(self) -> None: ...
