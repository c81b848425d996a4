"""What of a network trains: update policies, a choice by Fisher information, small branches. Each name is loaded when it is used.

from odt.adapt import update
"""

from ..base import lazy

_HOMES = lazy.spread((("tinytrain", "task_adaptive"), (None, "fisher lite update")))
__getattr__ = lazy.getter("odt.adapt", _HOMES, globals())
