"""What a network over features begins with: an Input of their shape, and what brings them to mean 0.

Loaded by ``layers()``.
"""

from ...layers import Input
from ...layers.normalization import Normalization
from ...run.data import samples


def layers(features, x=None):
    shape, preset = getattr(features, "shape", (features.outputs,)), features.preset
    name = type(features).__name__
    if x is None and not preset:
        raise ValueError("%s.layers: these features have several units: give x, those of the training samples" % name)
    scale, zero_point = preset or (1 / 1024, 0)
    begin = [Input(shape, dtype="int16", scale=scale, zero_point=zero_point)]
    if x is not None:
        found = getattr(x, "shape", ())
        if len(found) == 2 and found[1] == features.outputs:  # rows as they are made
            x = x.reshape(-1)
        x = samples("layers: x", x, ("int16",), features.outputs, shape)[0]
        width, view, norm = shape[-1], memoryview(x), Normalization()
        norm.adapt([list(view[at : at + width]) for at in range(0, len(view), width)])
        begin.append(norm)
    return begin
