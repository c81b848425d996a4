"""What of a network trains: update policies, a choice by Fisher information, small branches, pairs of thin kernels.

Each name is loaded when it is used.

from odt.adapt import update
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from . import fisher as fisher
    from . import lite as lite
    from . import lora as lora
    from . import update as update
    from . import zeroth as zeroth
    from .tinytrain import task_adaptive as task_adaptive

_HOMES = lazy.spread((("tinytrain", "task_adaptive"), (None, "fisher lite lora update zeroth")))
lazy.install("odt.adapt", _HOMES, globals())
