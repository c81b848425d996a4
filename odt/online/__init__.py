"""Learning from a stream, a sample at a time, without a backward pass. Each class is loaded when it is named.

from odt.online import OSELM
"""

from ..base import lazy

_HOMES = lazy.spread((
    ("oselm", "OSELM Autoencoder"), ("echo", "EchoState"), ("kswin", "KSWIN"), ("centroid", "CentroidDrift"),
    ("drift", "ADWIN DDM PageHinkley"), ("neighbours", "KMeans KNN NCM RCE"),
))  # fmt: skip
__getattr__ = lazy.getter("odt.online", _HOMES, globals())
