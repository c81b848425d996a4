"""The stream of a model: see Stream.of()."""

from ...run.session import ready
from .events import Events
from .window import Window

HINTS = {  # of Stream.listen, by what differs
    "channels": "a Window of as many, or another file: of a stereo sound's array x[:, 0] is one channel",
    "typecode": "a Window of it, or write the file in that type, in NumPy by astype()",
    "rate": "resample it, in SciPy by signal.resample_poly",
}
_CODES = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "float32": "f"}


def made(kind, model, events, hop, slots):
    layer, features, frames = ready(model).input, model.features, None
    if events is None:
        if not model.labels:
            raise ValueError("Stream.of: the model has no labels: give events, Events([..])")
        events = Events(model.labels)
    if features is None:
        if len(layer.shape) != 2:
            raise ValueError(
                "Stream.of: windows of (samples, channels) are expected, the model's have shape %r: give features"
                % (tuple(layer.shape),)
            )
        window = Window(layer.shape[0], layer.shape[1], hop, _CODES[layer.dtype], slots)
    elif hasattr(features, "rows"):  # of frames, which come one at a time; the model runs every ``hop`` of them
        frame = features.features
        window = Window(frame.window, features.axes, features.hop, "h", slots)
        frames, features = Window(features.rows, frame.outputs, hop or 1, "h"), frame
    else:
        window = Window(features.window, getattr(features, "axes", 1), hop, "h", slots)
    return kind(window, model, events, features, frames)
