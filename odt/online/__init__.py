"""Learning from a stream, a sample at a time, without a backward pass. Each class is loaded when it is named.

from odt.online import OSELM
"""

_HOMES = {"OSELM": "oselm", "Autoencoder": "oselm", "EchoState": "echo", "KSWIN": "kswin", "CentroidDrift": "centroid"}
for _name in ("ADWIN", "DDM", "PageHinkley"):
    _HOMES[_name] = "drift"
for _name in ("KMeans", "KNN", "NCM", "RCE"):
    _HOMES[_name] = "neighbours"


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError("module 'odt.online' has no attribute %r" % name)
    found = getattr(__import__("odt.online." + _HOMES[name], None, None, ("*",)), name)
    globals()[name] = found
    return found
