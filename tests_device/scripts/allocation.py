"""Sets weights, compiles, fits, saves and loads with ever more heap free, so that each allocation in turn is the first
that fails.

Runs on MicroPython. ODT_ARGS: ``step`` in bytes, which doubles with each of
``grow`` failures, if that is given; ``only`` names of what is tried.
"""

import gc

import odt
from odt.run import replace
from odt.slots import Blocks

try:
    ARGS = ODT_ARGS
except NameError:
    ARGS = {}

X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [0.5, -1.0], [-0.25, 0.0]]
Y = [0, 2, 1, 0, 1]
STEP = ARGS.get("step", 32)
GROW = ARGS.get("grow", 0)


class Memory:
    def __init__(self):
        self.data = bytearray(16 * 128)

    def ioctl(self, operation, argument):
        return {4: 16, 5: 128}.get(operation)

    def readblocks(self, number, buffer):
        buffer[:] = self.data[128 * number : 128 * (number + 1)]

    def writeblocks(self, number, buffer):
        self.data[128 * number : 128 * (number + 1)] = buffer


held = [None] * 2000


def fill(left):
    """Take all of the heap but for a hole of ``left`` bytes."""
    gc.collect()
    hole = bytearray(left)
    index = 0
    for size in (1 << 18, 1 << 15, 1 << 12, 1 << 9, 128, 32, 1):
        try:
            while index < len(held):
                held[index] = bytearray(size)
                index += 1
        except MemoryError:
            pass
    assert index < len(held), "the heap is too scattered"
    hole = None


def empty():
    for index in range(len(held)):
        held[index] = None
    gc.collect()


def network(dtype="int8", model=None):
    model = model or odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=2, seed=1)
    return model


def sweep(name, call, check):
    """``call()`` in ever more room, until it succeeds twice in a row."""
    if name not in ARGS.get("only", (name,)):
        return
    failures, good, left = 0, 0, 0
    while good < 2:
        fill(left)
        try:
            call()
            failed = False
        except MemoryError:
            failed = True
        empty()
        check(failed)
        failures += failed
        good = 0 if failed else good + 1
        last = STEP << (failures // GROW if GROW else 0)
        left += last
    print("%s: %d times out of memory, then done in %d bytes" % (name, failures, left - 2 * last))


model, other = network(), network()
model.fit(X, Y, verbose=0)
state, old = bytes(model.session.state), model.digest()
place = Blocks(Memory())
model.save(place)
model.fit(X, Y, verbose=0)
new = model.digest()
assert new != old


def compiled(failed):
    if failed:
        assert model.digest() == old and model.dtype == "int8" and model.batch_size == 2
        model.fit(X, Y, verbose=0)
        assert model.digest() == new
    else:
        model.fit(X, Y, verbose=0)
        network(model=model)
    replace.restore(model.session, state, 1)


def fitted(failed):
    """After one of the three steps, or none."""
    assert model.session.steps() in (3, 4, 5, 6) and (failed or model.digest() == new)
    if model.session.steps() == 3:
        assert model.digest() == old
    if model.session.steps() == 6:
        assert model.digest() == new
    replace.restore(model.session, state, 1)


def first(failed):
    """Of a model without ranges: what calibration left is begun anew."""
    if failed and other.session.calibrated == 0:
        other.fit(X, Y, verbose=0)
    if not failed or other.session.steps() == 3:
        assert other.digest() == old
    replace.restore(other.session, untrained, 0)
    other.session.calibrated = 0


def saved(failed):
    assert model.digest() == new
    other.load(place)
    assert other.digest() in ((old, new) if failed else (new,))
    replace.restore(model.session, state, 1)
    model.save(place)
    model.fit(X, Y, verbose=0)


def loaded(failed):
    assert other.digest() == (old if failed else new)
    assert other.session.steps() == (3 if failed else 6) and other.epoch == 1
    replace.restore(other.session, state, 1)


weights = other.get_weights()


def weighted(failed):
    """All of the weights or none, and with them the ranges."""
    assert (
        (model.digest() == old and model.session.calibrated == 2)
        if failed
        else (model.digest() == set_ and model.session.calibrated == 0)
    )
    replace.restore(model.session, state, 1)


replace.restore(model.session, state, 1)
model.set_weights(weights)
set_ = model.digest()
replace.restore(model.session, state, 1)
sweep("set_weights", lambda: model.set_weights(weights), weighted)
sweep("compile", lambda: model.compile(odt.SGD(0.1, 0.9), dtype="float32", batch_size=3), compiled)
sweep("fit", lambda: model.fit(X, Y, verbose=0), fitted)
other = network()
untrained = bytes(other.session.state)
sweep("first fit", lambda: other.fit(X, Y, verbose=0), first)
model.fit(X, Y, verbose=0)
sweep("save", lambda: model.save(place), saved)
model.save(place)
replace.restore(other.session, state, 1)
sweep("load", lambda: other.load(place), loaded)
print("digest %08x" % model.digest())
