"""IIR filters of int16 samples: a cascade of biquads, designed on a PC by SciPy.

    sos = scipy.signal.butter(4, 5, "lowpass", fs=100, output="sos")
    smooth = Filter(sos, channels=3)
    smooth(samples, samples)  # x, y, z, x, y, z, ..; in place

The arithmetic: docs/reference/numerics.md, Features.
"""

from array import array

from ...base import executor
from ...base.fixed import is_int, own
from ...base.primitives import size_of
from . import kernel

if 1 - 1:  # for type checkers alone
    from typing import Any

_ONE = 1 << 29
_SAMPLES, _OUT = 2, 3


def _quantised(sos):
    """Rows of floats as rows of ints in 1 / 2^29; the gain, which SciPy has in the first section, in equal parts in
    all.
    """
    gains = [max(abs(row[0]), abs(row[1]), abs(row[2])) for row in sos]
    total = 1.0
    for gain in gains:
        total *= gain
    part, rows = total ** (1 / len(sos)), []
    for row, gain in zip(sos, gains):
        factor = part / gain if gain else 1.0
        rows.append(tuple(_quantum(row[i] * (factor if i < 3 else 1)) for i in range(len(row))))
    return rows


def _quantum(value):
    if not -4 <= value < 4:
        raise ValueError("Filter: a coefficient is in -4 .. 4, got %r" % value)
    return int(value * _ONE + (0.5 if value >= 0 else -0.5))


class Filter:
    """A cascade of biquads over int16 samples, whose state goes on from call to call.

    sos: sections (b0, b1, b2, 1, a1, a2), as of SciPy's ``output="sos"``; floats, or ints in units of 1 / 2^29, which
    are what ``sos`` is afterwards: these are the same on every machine, floats of a board are not. At most 16.
    channels: interleaved, each with its state. TypeError, ValueError for coefficients out of -4 .. 4, an a0 that is not
    1, poles on or outside the unit circle.
    """

    sos: "tuple[tuple[int, ...], ...]"
    channels: "int"

    def __init__(self, sos: "Any", channels: "int" = 1) -> None:
        self.channels = size_of("Filter", "channels", channels, 16)
        sos = [[own(value) for value in row] for row in sos]
        size_of("Filter", "sections", len(sos), 16)
        for row in sos:
            for value in row:
                if not is_int(value) and not isinstance(value, float):
                    raise TypeError("Filter: sos has floats, or ints in 1 / 2^29, got %r" % (value,))
            if len(row) != 6 or row[3] not in (1.0, _ONE):
                raise ValueError("Filter: a section is (b0, b1, b2, 1, a1, a2), got %r" % (tuple(row),))
        sos = tuple(tuple(row) for row in (sos if is_int(sos[0][3]) and sos[0][3] == _ONE else _quantised(sos)))
        tables = array("i", (0x4649, len(sos), channels))
        for i, row in enumerate(sos):
            if not abs(row[5]) < _ONE or not abs(row[4]) < _ONE + row[5]:
                raise ValueError("Filter: section %d is not stable: a1 = %d, a2 = %d in 1 / 2^29" % (i, row[4], row[5]))
            for j in (0, 1, 2, 4, 5):
                if not -4 * _ONE <= row[j] < 4 * _ONE:
                    raise ValueError("Filter: a coefficient is in -2^31 .. 2^31 - 1, got %d" % row[j])
                tables.append(row[j])
        self.sos = sos
        self._tables = tables
        self._work = array("i", bytes(4 * channels * (3 * len(sos) + 2)))
        self._kernel = kernel("biquads", "_odt_motion")
        if self._kernel is None:
            from ...reference.biquads import biquads

            self._kernel = biquads

    @property
    def nbytes(self) -> "int":
        return 4 * (len(self._tables) + len(self._work))

    def parameters(self) -> "tuple[str, dict[str, Any]]":
        """(name, {keyword: value}), of which ``odt.sensors.make`` makes it again."""
        return "Filter", {"sos": self.sos, "channels": self.channels}

    def reset(self) -> None:
        """All inputs and outputs before the next are 0."""
        for i in range(len(self._work)):
            self._work[i] = 0

    def __call__(self, samples: "Any", out: "Any" = None) -> "Any":
        """The samples filtered, limited to int16, into out, which may be samples itself; None: a new array.

        samples: any number of int16, a multiple of the channels, in anything with the buffer protocol; bytes are raw
        int16. With out nothing is allocated. ValueError for another dtype or length; then nothing has changed.
        """
        if len(getattr(samples, "shape", ())) > 1:
            from ...run.arrays import rows

            samples = rows("samples", samples, self.channels)
        if out is None:
            try:
                size = executor.engine.nbytes(samples)
            except Exception:  # of CPython a BufferError, too
                size = 0
            out = array("h", bytes(size & ~1))
        error = self._kernel(out, samples, self._tables, self._work)
        if error == _SAMPLES:
            from .refused import told

            found = told("samples", samples, None)
            raise ValueError("samples: int16, a multiple of %d, are expected, got %s" % (self.channels, found))
        if error:
            raise ValueError("out: as many int16 as the samples are expected, in memory of its own")
        return out

    def __repr__(self):
        return "Filter(%d sections, %d channels, %d bytes)" % (len(self.sos), self.channels, self.nbytes)
