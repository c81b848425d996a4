"""A board as a node of a fleet that learns together: its data stay on the board, what it learnt goes to the PC.

from odt.fleet import Node
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from . import frames as frames
    from . import secret as secret
    from . import shared as shared
    from . import updates as updates
    from .node import Node as Node
    from .zeroth import ZerothNode as ZerothNode

place = 0, 1  # this node's number, and how many nodes there are: set by whoever starts the script, odt.host.fleet

_HOMES = lazy.spread((("node", "Node"), ("zeroth", "ZerothNode"), (None, "frames secret shared updates")))
lazy.install("odt.fleet", _HOMES, globals())
