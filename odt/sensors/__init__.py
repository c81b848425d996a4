"""From a sensor to events: features, windows, recordings and rules. Each class is loaded when it is named.

from odt.sensors import LogMel, Recorder, Stream
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from typing import Any

    from . import features as features
    from . import stream as stream
    from .features.filter import Filter as Filter
    from .features.frames import Frames as Frames
    from .features.frontend import MicroFrontend as MicroFrontend
    from .features.logmel import MFCC as MFCC
    from .features.logmel import LogMel as LogMel
    from .features.motion import Motion as Motion
    from .features.rocket import MiniRocket as MiniRocket
    from .record import Recorder as Recorder
    from .rules import Above as Above
    from .rules import Absence as Absence
    from .rules import All as All
    from .rules import Below as Below
    from .rules import Count as Count
    from .rules import Rule as Rule
    from .rules import Rules as Rules
    from .rules import Sequence as Sequence
    from .stream.events import Events as Events
    from .stream.live import Stalled as Stalled
    from .stream.live import Stream as Stream
    from .stream.logs import log as log
    from .stream.polled import PolledSource as PolledSource
    from .stream.sources import CsvSource as CsvSource
    from .stream.sources import WavSource as WavSource
    from .stream.window import Window as Window

_HOMES = lazy.spread((
    ("features.logmel", "LogMel MFCC"),
    ("features.frontend", "MicroFrontend"),
    ("features.motion", "Motion"),
    ("features.filter", "Filter"),
    ("features.frames", "Frames"),
    ("features.rocket", "MiniRocket"),
    ("stream.window", "Window"),
    ("stream.events", "Events"),
    ("stream.live", "Stream Stalled"),
    ("stream.polled", "PolledSource"),
    ("stream.logs", "log"),
    ("stream.sources", "WavSource CsvSource"),
    ("record", "Recorder"),
    ("rules", "Rule Rules Count Sequence All Absence Above Below"),
    (None, "features stream"),
))  # fmt: skip
_get = lazy.install("odt.sensors", _HOMES, globals())


def make(name: "str", parameters: "dict[str, Any]", plan: "Any" = None) -> "Any":
    """The feature whose ``parameters()`` are (name, parameters).

    ValueError for an unknown name; what is wrong in parameters, its class says.

    ``plan``: of the model file that has them, which an error names.
    """
    try:
        if not (_HOMES.get(name) or "").startswith("features."):
            raise ValueError("odt.sensors.make: no feature is called %r" % (name,))
        return _get(name)(**parameters)
    except (ValueError, TypeError, ArithmeticError) as error:
        if plan is None:
            raise
        raise ValueError("%s is damaged: features %s: %s" % (plan.file, name, error))
