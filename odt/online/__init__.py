"""Learning from a stream, a sample at a time, without a backward pass. Each class is loaded when it is named.

from odt.online import OSELM
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .centroid import CentroidDrift as CentroidDrift
    from .drift import ADWIN as ADWIN
    from .drift import DDM as DDM
    from .drift import PageHinkley as PageHinkley
    from .echo import EchoState as EchoState
    from .kswin import KSWIN as KSWIN
    from .neighbours import KNN as KNN
    from .neighbours import NCM as NCM
    from .neighbours import RCE as RCE
    from .neighbours import KMeans as KMeans
    from .oselm import OSELM as OSELM
    from .oselm import Autoencoder as Autoencoder

_HOMES = lazy.spread((
    ("oselm", "OSELM Autoencoder"),
    ("echo", "EchoState"),
    ("kswin", "KSWIN"),
    ("centroid", "CentroidDrift"),
    ("drift", "ADWIN DDM PageHinkley"),
    ("neighbours", "KMeans KNN NCM RCE"),
))  # fmt: skip
lazy.install("odt.online", _HOMES, globals())
