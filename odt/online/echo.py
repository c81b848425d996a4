"""Echo state networks: a fixed random recurrent layer, and linear outputs by recursive least squares.

    model = EchoState(1, units=32)
    y = model.predict_one(x)
    model.learn_one(x, y)

Jaeger, The "echo state" approach (2001); leaky units: Jaeger et al. (2007). The reservoir is integers in Python, so
that every machine has the same bits, and its readout is OSELM's. The arithmetic: docs/reference/numerics.md, Online.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, hash32, is_int, own, scale_div, scale_int, scale_shift
from ..base.primitives import exp2n, log2q, size_of
from ..files.stored import whole
from .oselm import _LIMIT, _X_VALUE, _Y_FORM, OSELM, positive

if 1 - 1:  # for type checkers alone
    from typing import Literal

    from ..run.network import Numbers

_ACTIVATIONS = {"tanh": 1, "clip": 4}
_UNIT = 18  # states are in units of 2^-18
_SILENT = "%s: the reservoir of this seed has no echo, take another or more units"
_tanh = array("H")  # filled when it is needed
_WARM, _WINDOW = 32, 64  # steps of the power iteration: before, and in each of two windows that are compared


def _limited(kind, name, value, high):
    scale = positive(kind, name, value)
    if not scale_shift(ONE, -10) <= scale <= scale_shift(ONE, high):
        raise ValueError("%s: %s is in 2^-10..%d, got %r" % (kind, name, 1 << high, value))
    return scale


def _short(scale, drop=0):
    """(m, s) with m / 2^s = scale * 2^drop, m of 10 bits: products with 20 bits are small ints on boards."""
    return (scale & 0x7FFFFF | 0x800000) + 8192 >> 14, 136 - (scale >> 23) - drop


def _drop(bound):
    """Bits below which a sum of at most ``bound`` is cut, to have 20."""
    drop = 0
    while bound >> drop >= 1 << 20:
        drop += 1
    return drop


def _table():
    """OSELM's tanh of 0, 1/32 .. 6 in units of 2^-15, and the last once more:
    between them lines, within five of tanh.
    """
    if not _tanh:
        for i in range(193):
            decay = exp2n(5909 * i)
            _tanh.append((65536 - decay << 15) // (65536 + decay))
        _tanh.append(_tanh[-1])
    return _tanh


class EchoState(OSELM):
    """A regressor of ``outputs`` numbers or, with ``classes``, a classifier of labels, of a sequence's samples in their
    order.

    units: of the reservoir, x' = (1 - leak) x + leak * activation(W x + W_in [u, 1]); each hears ``connections``
    others, and all inputs. radius: W's spectral radius, to some percent. activation: "tanh", or "clip", the identity
    limited to -1 .. 1. input_scale: the largest of W_in; inputs beyond +-8 count as that. The outputs are linear in the
    units, the inputs and 1. inputs, forgetting, regularization, seed, classes: OSELM's.

    ``learn_one`` and ``step_one`` take a sample into the reservoir; ``predict_one``, ``predict_proba_one`` and
    ``score_one`` say what would follow from one and change nothing; the same sample after them is not computed twice.

    The reservoir is Python: of 32 units a sample takes 0.7 million cycles of an (emulated) RP2040 and is learned in 0.8
    million more, and making the model takes 80 million. Its int8 weights are kept, 2 bytes per connection: to hash
    those 192 again would take 3.4 million cycles for each sample.
    """

    units: "int"
    connections: "int"
    gain: "float"

    def __init__(
        self,
        inputs: "int",
        outputs: "int | None" = None,
        units: "int" = 32,
        activation: "Literal['tanh', 'clip']" = "tanh",
        classes: "int | None" = None,
        leak: "float" = 1.0,
        radius: "float" = 0.9,
        connections: "int" = 4,
        input_scale: "float" = 0.2,
        forgetting: "float" = 1.0,
        regularization: "float" = 1e-8,
        seed: "int" = 0,
    ) -> None:
        kind = type(self).__name__
        inputs = size_of(kind, "inputs", inputs, 63)
        self.units = units = size_of(kind, "units", units, 960)
        self.connections = connections = size_of(kind, "connections", connections, 32)
        if connections < 2:
            raise ValueError("%s: connections is in 2..32, got 1" % kind)
        if activation not in _ACTIVATIONS:
            raise ValueError('%s: activation is "tanh" or "clip", got %r' % (kind, activation))
        seed = own(seed)
        if not is_int(seed):
            raise TypeError("%s: seed is an int, got %r" % (kind, seed))
        leaks = _limited(kind, "leak", leak, 0)
        wide = _limited(kind, "radius", radius, 2)
        entry = _limited(kind, "input_scale", input_scale, 4)
        seed &= 0xFFFFFFFF
        # The readout draws nothing: its seed says whose it is.
        settings = struct.pack("<8I", inputs, units, connections, _ACTIVATIONS[activation], leaks, wide, entry, seed)
        whose = executor.engine.crc32(settings)
        super().__init__(units + inputs, outputs, None, "tanh", classes, forgetting, regularization, whose)
        self.inputs, self._tanh = inputs, _table() if activation == "tanh" else None
        readout = len(self.state)
        self.state += bytes(4 * units)
        self._readout = memoryview(self.state)[:readout]
        self._features = self._x
        self._x, self._new = array("f", bytes(4 * inputs)), array("f", bytes(4 * inputs))
        self._q = array("i", bytes(4 * inputs + 4))
        self._q[inputs] = 1 << 14
        self._now, self._next = array("i", bytes(4 * units)), array("i", bytes(4 * units))
        self._fresh = False  # whether _next is what follows _now and _x
        count = units * (inputs + 1)
        self._entry = array("b", bytes(count))
        for i in range(count):
            self._entry[i] = (hash32(seed, i) >> 24 | 1) - 128
        self._weights = array("b", bytes(units * connections))
        self._sources = array("B" if units <= 256 else "H", bytes(units * connections * (1 if units <= 256 else 2)))
        for i in range(units * connections):
            u = hash32(seed, count + i)
            self._weights[i], self._sources[i] = (u >> 24 | 1) - 128, (u & 0xFFFF) * units >> 16
        self._leak = _short(leaks)
        drop = _drop(127 * (inputs + 1) << 17)
        self._in = (drop,) + _short(scale_shift(entry, -5), drop)  # sums are in units of 2^-21, z of 2^-16
        drop = _drop(127 * connections << _UNIT)
        gain = scale_div(wide, self._growth())
        self._within = (drop,) + _short(scale_shift(gain, -2), drop)
        if self._within[2] < 1:
            raise ValueError(_SILENT % kind)
        #: what the reservoir's int8 weights are multiplied by
        self.gain = self._within[1] * 4 / (1 << self._within[2] + drop)

    def _growth(self):
        """The spectral radius of the int8 matrix, as a scale: the growth of a vector between two means of its size's
        logarithm.
        """
        v, w, shift, sums = array("i", self._now), self._next, 0, [0, 0]
        for i in range(self.units):
            v[i] = self._entry[i * (self.inputs + 1)] << 10
        for t in range(_WARM + 2 * _WINDOW):
            self._multiply(v, w)
            most = total = 0
            for value in w:
                most = max(most, abs(value))
            if not most:
                raise ValueError(_SILENT % type(self).__name__)
            by = 0
            while most >> by >= 1 << _UNIT:
                by += 1
            while by <= 0 and most << -by < 1 << (_UNIT - 1):
                by -= 1
            for i in range(self.units):
                v[i] = w[i] >> by if by > 0 else w[i] << -by
                total += abs(v[i])
            shift += by
            if t >= _WARM:
                sums[(t - _WARM) // _WINDOW] += (shift << 16) + log2q(max(total, 1))
        for i in range(self.units):
            w[i] = 0
        log2 = (sums[1] - sums[0]) // (_WINDOW * _WINDOW)
        return scale_shift(scale_int(exp2n(65536 - (log2 & 65535))), (log2 >> 16) - 15)

    def _multiply(self, v, out):
        weights, sources, count, at = self._weights, self._sources, self.connections, 0
        for n in range(self.units):
            total = 0
            for i in range(at, at + count):
                total += weights[i] * v[sources[i]]
            at += count
            out[n] = total

    def states(self) -> "array[float]":
        """The reservoir's states, an array('f')."""
        found = array("f", bytes(4 * self.units))
        for i in range(self.units):
            found[i] = self._now[i] / (1 << _UNIT)
        return found

    def weights(self):
        """The linear weights, an array('f') of (units + inputs + 1, outputs)."""
        return array("f", bytes(self._readout[64 + 2 * self.hidden * (self.hidden + 1) :]))

    def step_one(self, x: "Numbers") -> None:
        """Take a sample into the reservoir and learn nothing: where no target is known, and before the first."""
        self._hear(x)
        self._go_on()

    def reset(self) -> None:
        """The reservoir's states become 0, as before a first sample; what was learned stays."""
        for i in range(self.units):
            self._next[i] = 0
        self._go_on()

    def load(self, place):
        """Read a checkpoint of a model of the same sizes and settings; ValueError and no change where it is none or
        damaged.
        """
        new, at = self.read(place), len(self._readout)
        now = array("i", struct.unpack("<%di" % self.units, new[at:]))

        def change():
            self._fresh = False
            self.state[:] = new
            self._now = now

        whole(change)

    def _call(self, x, y, learn):
        self._hear(x)
        seen = self.seen
        try:
            code = self._rls(self._readout, self._work, self._features, y, learn)
            if code == _Y_FORM:
                y = self._copy("y", y, self._y)
                code = self._rls(self._readout, self._work, self._features, y, learn)
            if code:
                self._explain(code, x, y)
            if learn:
                self._go_on()
        except BaseException:
            if self.seen != seen:  # the outputs have learned it
                self._go_on()
            raise

    def _go_on(self):
        """The next state becomes the current one, in one step."""
        whole(self._follow)

    def _follow(self):
        state, now, then, at = self.state, self._now, self._next, len(self._readout)
        self._fresh = False
        for i in range(self.units):
            now[i] = then[i]
            struct.pack_into("<i", state, at + 4 * i, then[i])

    def _hear(self, x):
        """Into _next and _features what follows from x."""
        if len(getattr(x, "shape", ())) > 1:
            from ..run.arrays import one_sample

            x = one_sample("x", x, (self.inputs,))
        new, old, same = self._copy("x", x, self._new), self._x, self._fresh
        for i in range(self.inputs):
            value = new[i]
            if not -_LIMIT < value < _LIMIT:
                self._explain(_X_VALUE, new, None)
            if value != old[i]:
                same = False
        if same:
            return
        self._fresh = False
        q, features, units = self._q, self._features, self.units
        for i in range(self.inputs):
            old[i] = features[units + i] = value = new[i]
            q[i] = int(max(-8.0, min(8.0, value)) * 32768) + 1 >> 1
        then, now, entry, tanh, at = self._next, self._now, self._entry, self._tanh, 0
        self._multiply(now, then)
        drop, m, s = self._in
        drop_w, m_w, s_w = self._within
        m_leak, s_leak = self._leak
        half, half_leak, one = 1 << s_w - 1, 1 << s_leak - 1, 1 / (1 << _UNIT)
        for n in range(units):
            total = 0
            for value in q:
                total += value * entry[at]
                at += 1
            z = ((total >> drop) * m >> s) + ((then[n] >> drop_w) * m_w + half >> s_w)
            a = -z if z < 0 else z
            if not tanh:
                a = 262144 if a > 65536 else a << 2
            elif a < 393216:
                below = tanh[a >> 11]
                a = (below << 3) + ((tanh[(a >> 11) + 1] - below) * (a & 2047) >> 8)
            else:
                a = tanh[192] << 3
            before = now[n]
            then[n] = z = before + (((-a if z < 0 else a) - before) * m_leak + half_leak >> s_leak)
            features[n] = z * one
        self._fresh = True
