"""What a network is worth where its weights are noisy: on copies of its state, so that the model never changes.

mean, worst, each = odt.noise.evaluate(model, x_test, y_test, weight=0.1, draws=10)
"""

from ..base.fixed import bits_to_float, float_to_bits, get, hash32, is_int, multiplier, own, put, scale_div
from ..base.fixed import scale_shift
from ..base.primitives import rescale, size_of
from ..base.regions import CONSTANTS, CONTROL, STATE, const
from ..run.network import Network
from ..run.session import Session, ready
from ..run.weights import residual_spans
from .optimizer import share

if 1 - 1:  # for type checkers alone
    from ..run.network import Data

_SIGMA = const(0x43510583)  # of a sum of eight bytes, 209.02, as float32 bits
_MOST = const(32512)  # 127 steps in 256ths
_FARTHEST = const(1020)  # the largest sum of eight bytes, less their mean


def evaluate(
    model: "Network",
    x: "Data",
    y: "Data | None" = None,
    weight: "float" = 0.1,
    drift: "float" = 0,
    draws: "int" = 10,
    seed: "int" = 0,
) -> "tuple[float, float, list[float]]":
    """The accuracy under noise, as (mean, worst, that of each draw); the loss, where the loss has no accuracy.

    ``x``, ``y``: as ``model.evaluate`` takes them, readers too. ``weight``, ``drift``: standard deviations in 0..0.5,
    as of Noisy, with which all kernels are drawn ``draws`` times; draw n depends on ``seed`` and n alone, to the same
    bits on every machine. A weight that would pass the end of int8's range is held in a larger scale. The model may be
    compiled with any optimizer or none, or come from a file. It is not changed, whatever interrupts the call. The call
    needs RAM for a copy of the state, and of weights that are frozen in flash. Dropout drops nothing.

    RuntimeError for a model that is not compiled; TypeError, ValueError for other arguments, and for a layer that is
    frozen with 4 bits.
    """
    session = ready(model)
    session.alone("noise.evaluate")
    weight, drift = share("evaluate", "weight", weight), share("evaluate", "drift", drift)
    draws, seed = size_of("evaluate", "draws", draws), own(seed)
    if not is_int(seed) or not 0 <= seed < 1 << 30:
        raise ValueError("evaluate: seed is an int in 0..%d, got %r" % ((1 << 30) - 1, seed))
    for layer, weights in session.plan.weights:
        if weights.kernel and hasattr(weights.kernel, "bits"):
            raise ValueError("evaluate: %r is frozen with 4 bits: pack() it with 8 bits" % (layer,))
    model.evaluate(x, y)  # checks the data, and finds ranges that are not known yet
    twin = _Twin(session)
    noisy, found = Network(), []
    noisy.session = twin
    for number in range(draws):
        twin.draw(hash32(seed, number), weight, drift)
        loss, accuracy = noisy.evaluate(x, y)
        found.append(loss if accuracy is None else accuracy)
    worst = max(found) if accuracy is None else min(found)
    return sum(found) / draws, worst, found


class _Twin(Session):
    """A session with a state of its own, and the arena, program and data of another one."""

    def __init__(self, session):
        for name, value in session.__dict__.items():
            setattr(self, name, value)
        self.like = session
        self.control = session.control[:]
        self.state, self.regions = bytearray(session.state), list(session.regions)
        self.regions[STATE], self.regions[CONTROL] = self.state, self.control
        self.known = self.call = self.used = None
        if session.scale is not None:
            at = session.plan.output.scale.offset
            self.scale = memoryview(self.state)[at : at + 4]
            if session.watched is not None:
                self.watched, self.before, self.now = self.scale, bytearray(4), bytearray(4)
        if session.frozen is not None:
            self.frozen = self.regions[CONSTANTS] = bytearray(session.frozen)

    def draw(self, key, weight, drift):
        """Set all kernels to those of the other session, with noise."""
        self.state[:] = self.like.state
        int8 = self.dtype == "int8"
        for number, (_, weights) in enumerate(self.plan.weights):
            kernel = weights.kernel
            if kernel is None:
                continue
            key_of = hash32(key, number)
            if not int8:
                _draw_float(self._memory(kernel), kernel.offset, kernel.size >> 2, key_of, weight, drift)
                continue
            rows = [(0, weights.rows)] if weights.common else [(row, 1) for row in range(weights.rows)]
            for first, count in rows:
                self._draw_rows(weights, first, count, key_of, weight, drift)

    def _memory(self, buffer):
        return self.frozen if buffer.region == CONSTANTS else self.state

    def _draw_rows(self, weights, first, count, key, weight, drift):
        """The same of int8 rows that share a scale."""
        columns, spans = weights.columns, residual_spans(weights)
        kernel, scales = self._memory(weights.kernel), self._memory(weights.scale)
        given = self.like.frozen if weights.kernel.region == CONSTANTS else self.like.state
        held = self.like.frozen if weights.scale.region == CONSTANTS else self.like.state
        at = weights.kernel.offset
        begin, end = first * columns, (first + count) * columns

        def value(index):
            byte = given[at + index]
            found = (byte - 256 if byte > 127 else byte) * 256
            for start, stop, place in spans:
                if start <= index < stop:
                    byte = given[place + index]
                    return found + (byte - 256 if byte > 127 else byte)
            return found

        added, scaled = [multiplier(scale_div(each, _SIGMA)) if each else None for each in (weight, drift)]
        largest = 0
        for index in range(begin, end):
            largest = max(largest, abs(value(index)))
        most, shift = largest, 0
        for each in (added, scaled):
            if each:
                most += rescale(largest * _FARTHEST, each[0], each[1])
        while most >> shift > _MOST:
            shift += 1
        half = 128 << shift
        for index in range(begin, end):
            made = value(index)
            change = half
            if added:
                change += rescale(largest * _normal(key, 4 * index), added[0], added[1])
            if scaled:
                change += rescale(made * _normal(key, 4 * index + 2), scaled[0], scaled[1])
            kernel[at + index] = made + change >> 8 + shift & 255
        for row in range(first, first + count):
            place = weights.scale.offset + 4 * row
            put(scales, place, scale_shift(get(held, place), shift))


def _draw_float(memory, at, count, key, weight, drift):
    """Add noise to float32 weights."""
    largest = 0
    for index in range(count):
        largest = max(largest, get(memory, at + 4 * index) & 0x7FFFFFFF)
    unit, part = (bits_to_float(scale_div(each, _SIGMA)) if each else 0.0 for each in (weight, drift))
    unit = _rounded(unit * bits_to_float(largest))
    for index in range(count):
        value = bits_to_float(get(memory, at + 4 * index))
        made = value
        if weight:
            made = _rounded(made + _rounded(unit * _normal(key, 4 * index)))
        if drift:
            made = _rounded(made + _rounded(_rounded(part * value) * _normal(key, 4 * index + 2)))
        put(memory, at + 4 * index, float_to_bits(made))


def _rounded(value):
    return bits_to_float(float_to_bits(value))


def _normal(key, number):
    """A sum of eight random bytes, less its mean: near a normal distribution with a standard deviation of 209.02."""
    total = -_FARTHEST
    for each in (number, number + 1):
        bits = hash32(key, each)
        total += (bits & 255) + (bits >> 8 & 255) + (bits >> 16 & 255) + (bits >> 24)
    return total
