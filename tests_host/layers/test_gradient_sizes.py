"""int8 gradients have the size of the float ones: a cosine would not see a lost factor."""

import numpy as np
import pytest
from gradient_cases import LOSSES, NETWORKS, batch, build, dequantized
from twin import Twin

import odt
from odt.run import session

MASK = 0x3FFFFFF


def steps(model, x, y):
    """``{offset of a weight: its gradient}``, as apply is given it: integers times their row's scale."""
    session.bind(model.session, x, y)
    model.session.prepare(2)
    session.clear(model.session)
    session.batch(model.session, 0, len(x))
    found = {}
    for at, code, addresses, immediates in model.program.walk(*model.program.section("train")):
        if not code.name.startswith("apply_"):
            if code.name != "range_i8":
                model.session.engine.run(model.session.loaded, model.session.regions, at, at + code.words)
            continue
        names = [operand[0] for operand in code.operands]
        sizes = dict(zip(code.immediates, immediates))

        def read(name, dtype):
            index = names.index(name)
            start = addresses[index] & MASK
            return np.frombuffer(bytes(model.session.arena[start : start + code.bytes(index, sizes)]), dtype)

        scales = read("ds", "float32").astype("float64")
        gradient = read("d", "int32").reshape(len(scales), -1) * scales[:, None]
        found[addresses[0] & MASK] = gradient.reshape(-1)
    return found


# The gradients of its biases are small: in one batch of 8 samples int8's are off by up to a third, to both sides.
SEEDS = {"dilated lines": 12}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_int8_gradients_have_the_size_of_the_float_ones(name, loss):
    sizes = {}  # by weight or bias: of each seed, the size of its int8 gradient along the float one
    for seed in range(3, 3 + SEEDS.get(name, 1)):
        model = build(name)
        model.compile(odt.SGD(0.1), loss, dtype="int8", batch_size=8, seed=seed)
        x, y = batch(model, loss, seed - 2, 8)
        found = steps(model, x, y)
        expected = iter(Twin(model, weights=dequantized(model)).gradients(x, y, loss))
        compared = 0
        for _, weights in model.session.plan.weights:
            for buffer in [weights.kernel] + weights.vectors:
                if buffer is None:
                    continue
                gradient = next(expected)
                if gradient is None:
                    assert buffer.offset not in found
                    continue
                gradient = np.asarray(gradient).reshape(-1)
                size = found[buffer.offset] @ gradient / (gradient @ gradient)
                sizes.setdefault(buffer.name, []).append(size)
                compared += 1
        assert compared == len(found)
    for name, found in sizes.items():
        assert 0.8 < np.mean(found) < 1.25, (name, found)
