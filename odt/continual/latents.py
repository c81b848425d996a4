"""What a frozen front says of samples, as int8 numbers: small enough to keep, and enough to train the layers after it.

    front = teach.front(model, "pool")          # the network up to a layer, which does not train
    latents = Latents(front)
    head = odt.Sequential([latents.input(), odt.Flatten(), odt.Dense(10)])
    z = latents(x)                              # a byte per number, sample after sample: what head.fit takes

One range holds for all samples, as their size tells classes too: an int8 front's own, or that of the samples a float32
front is given.
"""

import struct
from array import array

from ..base import executor
from ..base.fixed import ONE, get, scale_div, scale_int
from ..base.primitives import quantize, scale_of
from ..base.regions import const
from ..run.session import ready

if 1 - 1:  # for type checkers alone
    from typing import Any

    from ..plan.graph import Node
    from ..run.network import Network

_INFINITE = const(0x7F800000)


class Latents:
    """The outputs of ``front``, a calibrated model that does not change, in int8.

    ``x``: samples that a float32 front's range is found with; later outputs beyond it are clipped. An int8 front has a
    range, which is fixed from now on. ``shape``: of a sample's; ``(raw - zero_point) * scale`` is what the front said.
    ValueError where ``x`` lacks, or says nothing.
    """

    front: "Network"
    shape: "tuple[int, ...]"
    width: "int"
    scale: "float"
    zero_point: "int"
    crc: "int"

    def __init__(self, front: "Network", x: "Any" = None) -> None:
        session = ready(front)
        if session.calibrated < 1:
            raise ValueError("Latents: the front's int8 ranges are not known: calibrate(x) it")
        self.front, self.shape, self._session = front, tuple(session.shape), session
        output = session.plan.output
        self.width, self.zero_point = output.count // session.rows, output.zero
        self._out = array("f", bytes(4 * self.width))
        if session.dtype == "int8":
            session.fix_ranges()
            self.scale = _decimal(get(session.scale, 0))
        else:
            if x is None:
                raise ValueError("Latents: a float32 front has no range: give x=, samples to find it with")
            self.scale, self.zero_point = self._range(x)
        self.crc = self._crc()

    def input(self, name: "str | None" = None) -> "Node":
        """The Input of a network that reads them."""
        from ..layers import Input

        return Input(self.shape, dtype="int8", scale=self.scale, zero_point=self.zero_point, name=name)

    def check(self) -> None:
        """ValueError where the front is not as it was: what it said then means something else now."""
        if self.front.session is not self._session or self._crc() != self.crc:
            raise ValueError("Latents: stale: the front has changed since its range was taken: make new Latents of it")

    def __call__(self, x: "Any") -> "bytearray":
        """The latents of samples as ``front.predict`` takes them: a bytearray of int8 numbers.

        ValueError where the front has changed.
        """
        self.check()
        width, at = self.width, 0
        found = None
        for count, offset in self._each(x):
            if found is None:
                found = bytearray(count * width)
            if self._session.dtype == "int8":
                found[at : at + width] = self._session.arena[offset : offset + width]
            else:
                self._quantize(found, at, offset)
            at += width
        return found

    def _each(self, x):
        """Run the front on each sample; yields (samples, where the output lies in the arena)."""
        session = self._session
        x, _, count = session.look_at(x, None, "", True)
        size, view = len(x) // count, memoryview(x)
        for i in range(count):
            self.front.predict(view[i * size : (i + 1) * size], self._out)
            yield count, session.plan.output.buffer.offset

    def _range(self, x):
        """(scale, zero_point) of a float32 front's outputs: all 8 bits for those that are never negative."""
        top, negative = 0, False
        for _, offset in self._each(x):
            for i in range(offset, offset + 4 * self.width, 4):
                bits = get(self._session.arena, i)
                top = max(top, bits & 0x7FFFFFFF)
                negative = negative or bits > 0x80000000
        if not 0x00800000 <= top < _INFINITE:
            raise ValueError("Latents: x: the front's outputs are all 0, or not finite")
        return _decimal(scale_div(top, scale_int(127 if negative else 255))), 0 if negative else -128

    def _quantize(self, found, at, offset):
        inverse, arena = scale_div(ONE, scale_of(self.scale)), self._session.arena
        for i in range(self.width):
            bits = get(arena, offset + 4 * i)
            if bits & 0x7FFFFFFF >= _INFINITE:
                raise ValueError("x: the front's output is not finite")
            value = quantize(bits, inverse) + self.zero_point
            found[at + i] = max(-128, min(127, value)) & 255

    def _crc(self):
        range_ = struct.pack("<Ii", scale_of(self.scale), self.zero_point)
        code = executor.engine.crc32(self._session.plan.code, self.front.digest())
        return executor.engine.crc32(range_, code)

    def __repr__(self):
        return "Latents(%s, scale %g, zero_point %d)" % (self.shape, self.scale, self.zero_point)


def _decimal(bits):
    """The number of 4 digits nearest to a scale: what Input takes, the same on machines whose floats are short."""
    mantissa, exponent, digits = bits & 0x7FFFFF | 0x800000, (bits >> 23) - 150, 0
    over, under = mantissa << max(exponent, 0), 1 << max(-exponent, 0)
    while over < 1000 * under:
        over *= 10
        digits -= 1
    while over >= 10000 * under:
        under *= 10
        digits += 1
    return float("%de%d" % ((2 * over + under) // (2 * under), digits))
