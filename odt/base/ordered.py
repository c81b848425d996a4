"""An executor for programs that read a sample by rows (host/rows): the epoch's order is of samples, not of rows."""

from .primitives import order
from .regions import CONTROL, ORDER, POSITION, SAMPLES


class Ordered:
    """An executor that runs a step of one sample with that sample's place in the data, in the natural order."""

    def __init__(self, engine):
        self.engine = engine

    def __getattr__(self, name):
        return getattr(self.engine, name)

    def run(self, loaded, regions, *words):
        """As the executor's."""
        control = regions[CONTROL]
        position, key = control[POSITION], control[ORDER]
        if key:
            control[POSITION] = order(position, control[SAMPLES], key)
            control[ORDER] = 0
        try:
            self.engine.run(loaded, regions, *words)
        finally:
            if key:
                control[POSITION] = position
                control[ORDER] = key
