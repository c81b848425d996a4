"""The first statistics of a BatchNorm that int8 samples are read by: those of the data that ranges are found on.

Zero and one, with which other BatchNorms begin, would give features of thousandths no step of their own.
"""

import struct

from ..base.exact import UNIT, statistics, whole
from ..base.fixed import ONE, get, put
from ..base.primitives import scale_add
from ..base.regions import FLOAT32, SAMPLES, STATE, X_DATA, X_FORMAT, X_SCALE, X_ZERO

_NUMBERS = 1024  # that are looked at, of samples spread over the data
_SAMPLES = 8  # but at least this number
_CODES = "bBhiIH"  # by format: of float32 the bits


def prime(session):
    """Set the running mean and variance that the session's plan calls ``reading`` from the data in hand."""
    mean, variance, channels, epsilon = session.plan.reading
    control, x = session.control, session.regions[X_DATA]
    row, samples = session.row, control[SAMPLES]
    count = min(samples, max(_SAMPLES, _NUMBERS // row))
    code = "<" + _CODES[control[X_FORMAT]]
    size, real = struct.calcsize(code), control[X_FORMAT] == FLOAT32
    sums, squares = [0] * channels, [0] * channels
    for number in range(count):
        first = number * samples // count * row
        for index in range(row):
            value = struct.unpack_from(code, x, size * (first + index))[0]
            if real:
                value = whole(value)
            sums[index % channels] += value
            squares[index % channels] += value * value
    count = count * row // channels
    if real:
        found = statistics(count, sums, squares, UNIT)
    else:
        found = statistics(count, sums, squares, 0, control[X_SCALE], control[X_ZERO])
    state = session.regions[STATE]
    for channel in range(channels):
        put(state, mean + 4 * channel, get(found[0], 4 * channel))
        put(state, variance + 4 * channel, scale_add(get(found[1], 4 * channel) or ONE, epsilon))
