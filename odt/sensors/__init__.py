"""From a sensor to events: features, windows, recordings and rules. Each class is loaded when it is named.

from odt.sensors import LogMel, Recorder, Stream
"""

from ..base import lazy

_HOMES = lazy.spread((
    ("features.logmel", "LogMel MFCC"), ("features.frontend", "MicroFrontend"), ("features.motion", "Motion"),
    ("features.filter", "Filter"), ("features.frames", "Frames"), ("features.rocket", "MiniRocket"),
    ("stream.window", "Window"), ("stream.events", "Events"), ("stream.live", "Stream Stalled"),
    ("stream.polled", "PolledSource"), ("stream.logs", "log"), ("stream.sources", "WavSource CsvSource"),
    ("record", "Recorder"), ("rules", "Rule Rules Count Sequence All Absence Above Below"),
    (None, "features stream"),
))  # fmt: skip
__getattr__ = lazy.getter("odt.sensors", _HOMES, globals())


def make(name, parameters, plan=None):
    """The feature whose ``parameters()`` are (name, parameters). ValueError for an unknown name; what is wrong in parameters, its class says.

    ``plan``: of the model file that has them, which an error names.
    """
    try:
        if not (_HOMES.get(name) or "").startswith("features."):
            raise ValueError("odt.sensors.make: no feature is called %r" % (name,))
        return __getattr__(name)(**parameters)
    except (ValueError, TypeError, ArithmeticError) as error:
        if plan is None:
            raise
        raise ValueError("%s is damaged: features %s: %s" % (plan.file, name, error))
