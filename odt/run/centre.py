"""The first bias of the output, of a network whose targets are far from 0.

An optimizer like Adam moves a weight by about the learning rate a step: a bias of 0 takes thousands of steps to targets
of hundreds, and all that time the error says nothing else. So fit begins with the mean of targets there, in a model
whose weights are those of compile.
"""

import struct

from ..base.exact import UNIT, ratio, whole
from ..base.fixed import ONE, put, scale_shift
from ..base.primitives import quantize
from ..base.regions import FLOAT32, Y_FORMAT

_SAMPLES = 16  # spread over the data
_FAR = 16  # a mean from here on


def centre(session, samples, y):
    """Set the output's biases to the means of float32 targets, where they are far from 0."""
    bias = session.plan.bias
    if session.control[Y_FORMAT] != FLOAT32 or bias is None:
        return
    count, channels = min(_SAMPLES, samples), bias.size // 4
    sums = [0] * channels
    for number in range(count):
        first = number * samples // count * session.width
        for index in range(session.width):
            sums[index % channels] += whole(struct.unpack_from("<I", y, 4 * (first + index))[0])
    numbers = count * session.width // channels
    for channel, total in enumerate(sums):
        if abs(total) >> UNIT < _FAR * numbers:
            continue
        bits = ratio(total, numbers, UNIT)
        if session.dtype == "int8":
            bits = max(-(1000 << 20), min(1000 << 20, quantize(bits, scale_shift(ONE, 20))))
        put(session.state, bias.offset + 4 * channel, bits)
        session.calibrated = 2 if session.dtype == "float32" else 0
