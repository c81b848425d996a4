"""What test_by_rows.py and test_back_by_rows.py share: plans and steps by rows, of random image networks that train
partly, with branches, pools, strides and layers that do not train.
"""

import random
import re
from unittest import mock

import numpy as np
import pytest
from networks import spread

import odt
from odt import executor
from odt.adapt import update
from odt.host.rows import place
from odt.host.rows.choose import ROWS, Forward
from odt.plan import compiler, memory
from odt.plan.compiler import prepare, train
from odt.plan.program import Program
from odt.plan.schedule import Schedule
from odt.run.session import batch, bind, clear

STEPS = 3


def least(make):
    """The smallest budget, as the refusal of another names it."""
    with pytest.raises(MemoryError) as error:
        make(memory_budget=1)
    return int(re.findall(r"at least (\d+)", str(error.value))[0])


def draw(seed, biases=False):
    """(model, options of compile): one sample to a step; its frozen front is a few layers long, or all of it trains.

    ``biases``: in int8; the last layer trains, of the others the biases alone.
    """
    d = random.Random(seed)
    height, width = d.choice((8, 9, 12, 16)), d.choice((4, 6, 8))
    x = odt.Input((height, width, d.choice((1, 2, 3))), dtype="uint8", scale=1 / 128, zero_point=128)
    y, before = x, None
    front = d.choice((2, 4, 6, 99, 0)) * (not biases)
    for number in range(d.randint(3, 7)):
        frozen = {"trainable": number >= front}
        strides = d.choice((1, 1, 1, 2)) if y.shape[0] > 4 else 1
        size = d.choice((1, 2, 3, (3, 1)))
        channels = d.choice((2, 4, 8))
        kind = d.choice(("conv", "conv", "depthwise", "group", "pool", "add", "activation", "gate"))
        shape = y.shape
        if kind == "conv":
            padding = d.choice(("same", "same", "valid")) if min(shape[:2]) > 3 else "same"
            y = odt.Conv2D(channels, size, strides=strides, padding=padding, **frozen)(y)
        elif kind == "depthwise":
            y = odt.DepthwiseConv2D(size, strides=strides, padding="same", **frozen)(y)
        elif kind == "group" and shape[2] % 2 == 0:
            y = odt.Conv2D(channels, size, padding="same", groups=2, **frozen)(y)
        elif kind == "pool" and min(shape[:2]) > 3:
            y = d.choice((odt.MaxPool2D, odt.AvgPool2D))(2)(y)
        elif kind == "add" and before is not None and before.shape == shape:
            y = odt.Add(activation=d.choice((None, "relu")))([y, before])
        elif kind == "gate":
            y = odt.Multiply()([y, odt.Sigmoid()(odt.Conv2D(shape[2], 1, **frozen)(y))])
        y = d.choice((lambda y: y, odt.ReLU(), odt.LeakyReLU(0.1), odt.Tanh()))(y)
        before = d.choice((before, y))
    y = odt.Dense(d.choice((3, 5)))(d.choice((odt.GlobalAvgPool, odt.Flatten))()(y))
    model = odt.Model(x, y)
    if biases:
        update.bias(model)
    return model, {
        "optimizer": d.choice((odt.SGD(0.05), odt.SGD(0.05, 0.9), odt.Adam(0.01))),
        "dtype": d.choice(("int8", "int8", "int8" if biases else "float32")),
        "batch_size": d.choice((1, 1, 3)), "seed": seed,
    }  # fmt: skip


def data(model, count, seed=1):
    rng = np.random.default_rng(seed)
    shape = (count,) + tuple(model.nodes[0].shape)
    return rng.integers(0, 256, shape).astype("uint8"), rng.integers(0, model.nodes[-1].shape[0], count).astype("uint8")


def front(height=16, trainable=1, dtype="int8", **options):
    """A front that is frozen, three residual blocks at full resolution, before a few layers that train."""
    x = odt.Input((height, 12, 2), dtype="uint8", scale=1 / 128, zero_point=128)
    frozen = {"trainable": False}
    y = odt.Conv2D(4, 3, padding="same", activation="relu", name="first", **frozen)(x)
    for number in range(3):
        z = odt.Conv2D(12, 1, activation="relu", name="wide%d" % number, **frozen)(y)
        z = odt.DepthwiseConv2D(3, padding="same", activation="relu", name="deep%d" % number, **frozen)(z)
        y = odt.Add(name="sum%d" % number)([odt.Conv2D(4, 1, name="narrow%d" % number, **frozen)(z), y])
    y = odt.Conv2D(6, 3, strides=2, padding="same", activation="relu", name="trains")(y)
    model = odt.Model(x, odt.Dense(5, name="head")(odt.GlobalAvgPool(name="mean")(y)))
    model.compile(odt.SGD(0.05), dtype=dtype, **dict({"batch_size": 1, "seed": 3}, **options))
    return model


def ram(model):
    return len(model.session.arena) + len(model.session.state)


def steps(model, plan, x, y, state):
    """CRCs of the state after each of a few steps by a plan, from a ``state``."""
    session = model.session
    session.state[:] = state
    code, arena, found = bytes(plan.code), bytearray(plan.arena), []
    loaded, section = session.engine.load(code), Program(code).section("train")
    for number in range(STEPS):
        bind(session, x[number : number + 1], y[number : number + 1])
        clear(session)
        batch(session, 0, 1)
        session.set_rate()
        session.engine.run(loaded, [arena, *session.regions[1:]], *section)
        found.append(session.engine.crc32(session.state))
    return found


def drawn(seed, backend=None, biases=False):
    """(model, what compile_graph takes, state before a step, samples) of a random network."""
    model, options = draw(seed, biases)
    if backend:
        executor.use(backend)
    try:
        model.compile(**dict(options, batch_size=1))
    finally:
        executor.use("native")
    spread(model)
    x, y = data(model, STEPS)
    model.train_step(x[:1], y[:1])  # finds the ranges
    session = model.session
    return model, (model.nodes, session.loss, session.optimizer, session.dtype, 1), bytes(session.state), x, y


def planned(what, bits=True, micro=None, back=False):
    """The Schedule before activations are in place, its ends, and its Forward, ``back`` as that has it."""
    nodes, loss, optimizer, dtype, size = what
    prepare(nodes, dtype, size)
    s = Schedule(dtype, size, optimizer)
    found = []

    def look(s, ends):
        found.extend((s, list(ends), Forward(s, ends, back=back)))

    with mock.patch.object(compiler, "share"):
        train(s, nodes, loss, micro, (), bits, look)
    return found


def stages_at_random(chance, forward):
    stages, a = [], 0
    while a < len(forward.units):
        b, rows, _, _ = chance.choice(forward.options(a, 1 << 30, len(forward.units), ROWS))
        if rows:
            stages.append((a, b, rows))
        a = b
    return stages


def real(s, ends, forward, stages, whole=False):
    """Bytes that live at the worst moment of the forward pass, or of the ``whole`` step: of the instructions."""
    arena = memory.Arena()
    for name in ("sizes", "kinds", "roots", "shifts"):
        setattr(arena, name, list(getattr(s.arena, name)))
    copy = Schedule.__new__(Schedule)
    copy.__dict__.update(s.__dict__, arena=arena, instructions=list(s.instructions))
    after = list(ends)
    forward.rewrite(copy, after, stages)
    memory.share(copy.instructions, arena)
    live = place.live_bytes(place.shapes(copy.instructions, arena).values(), len(copy.instructions))
    return max(live[: after[-1 if whole else 0]])
