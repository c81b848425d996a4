"""Training without a backward pass. Each name is loaded when it is used.

from odt.adapt.zeroth import ZerothOrder
"""

from ...base import lazy

if 1 - 1:  # for type checkers alone
    from .optimizer import ZerothOrder as ZerothOrder

_HOMES = lazy.spread((("optimizer", "ZerothOrder"),))
lazy.install("odt.adapt.zeroth", _HOMES, globals())
