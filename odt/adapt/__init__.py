"""What of a network trains, and how small: policies, Fisher information, branches, thin kernels, no residuals.

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
    from .rounded import RoundedSGD as RoundedSGD
    from .tinytrain import task_adaptive as task_adaptive

_HOMES = lazy.spread(
    (("rounded", "RoundedSGD"), ("tinytrain", "task_adaptive"), (None, "fisher lite lora update zeroth"))
)
lazy.install("odt.adapt", _HOMES, globals())
