"""From a sensor to events: windows of samples as they come, a model, and a label when it is sure. Each class is loaded when it is named.

from odt.stream import Events, Stream, Window
"""

_HOMES = {"Window": "window", "Events": "events", "Stream": "live", "Stalled": "live"}
_HOMES["PolledSource"] = "polled"
_HOMES["log"] = "logs"
_HOMES["WavSource"] = _HOMES["CsvSource"] = "sources"


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError("module 'odt.stream' has no attribute %r" % name)
    found = getattr(__import__("odt.stream." + _HOMES[name], None, None, ("*",)), name)
    globals()[name] = found
    return found
