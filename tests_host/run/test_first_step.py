"""What a first step runs to find int8 ranges is in proportion to the depth, with sums in place and in micro-batches."""

import types

import _odt
import pytest
from networks import residual


X, Y = bytes([7 * i % 251 for i in range(4 * 75)]), bytes(range(4))


def compiled(blocks, micro_batch):
    model = residual(blocks)
    model.compile("adam", batch_size=4, micro_batch=micro_batch, seed=1)
    return model


def runs(model):
    """How often the first step runs instructions, without the engine's calibrate(); and its state."""
    count = 0

    def run(*arguments):
        nonlocal count
        count += 1
        return _odt.run(*arguments)

    engine = {name: value for name, value in vars(_odt).items() if name not in ("calibrate", "step")}
    model.session.engine = types.SimpleNamespace(**dict(engine, run=run))
    model.train_step(X, Y)
    return count, bytes(model.session.state)


@pytest.mark.parametrize("micro_batch", [None, 2])
def test_twice_the_blocks_take_twice_the_runs(micro_batch):
    (few, _), (many, state) = [runs(compiled(blocks, micro_batch)) for blocks in (4, 8)]
    assert many < 2.2 * few
    model = compiled(8, micro_batch)
    model.train_step(X, Y)
    assert bytes(model.session.state) == state
