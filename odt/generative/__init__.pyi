from array import array
from typing import Any

from ..layers import Layer
from ..model import Model
from ..run.network import Network

class Sampling(Layer):
    """``mu + exp(v / 2) * g`` while training, g a normal number; ``mu`` otherwise. Input ``(2 n,)``: n means mu, then n log-variances v."""

    beta: float
    warmup: int
    free_bits: float
    def __init__(self, beta: float = 1, warmup: int = 0, free_bits: float = 0, name: str | None = None) -> None: ...

def decoder(model: Model, layer: str | None = None, seed: int = 0) -> Model:
    """A model of what comes after a Sampling, with its weights; it does not train."""

def points(size: int, count: int, seed: int = 0) -> array[float]:
    """``count`` rows of ``size`` normal numbers, the same on every machine for a seed."""

def generate(decoder: Network, count: int, seed: int = 0) -> list[Any]:
    """What ``decoder`` makes of ``count`` points: a list of predictions."""
