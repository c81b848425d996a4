"""Checkpoints where there is no file system that can be written. Each name is loaded when it is used.

from odt.slots import Blocks, Bytes
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .places import Blocks as Blocks
    from .places import Bytes as Bytes

_HOMES = lazy.spread((("places", "Blocks Bytes"),))
lazy.install("odt.slots", _HOMES, globals())
