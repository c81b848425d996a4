"""Looking inside a step: tensors, ranges, time by layer. Each name is loaded when it is used.

from odt.inspect import Ranges, profile
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .rounding import Rounding as Rounding
    from .tensors import Map as Map
    from .tensors import Ranges as Ranges
    from .tensors import Tensor as Tensor
    from .tensors import Trace as Trace
    from .tensors import names as names
    from .timing import profile as profile
    from .watch import PHASES as PHASES
    from .watch import Phases as Phases
    from .watch import Watch as Watch

_HOMES = lazy.spread((
    ("rounding", "Rounding"), ("tensors", "Map Ranges Tensor Trace names"), ("timing", "profile"),
    ("watch", "PHASES Phases Watch"),
))  # fmt: skip
lazy.install("odt.inspect", _HOMES, globals())
