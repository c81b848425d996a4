"""Looking inside a step: tensors, ranges, time by layer. Each name is loaded when it is used.

from odt.inspect import Ranges, profile
"""

from ..base import lazy

_HOMES = lazy.spread((
    ("tensors", "Map Ranges Tensor Trace names"), ("timing", "profile"), ("watch", "PHASES Phases Watch"),
))  # fmt: skip
__getattr__ = lazy.getter("odt.inspect", _HOMES, globals())
