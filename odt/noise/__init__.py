"""Training for hardware whose weights are noisy, as analog arrays are. Each name is loaded when it is used.

from odt.noise import Noisy, evaluate
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .measure import evaluate as evaluate
    from .optimizer import Noisy as Noisy

_HOMES = lazy.spread((("optimizer", "Noisy"), ("measure", "evaluate")))
lazy.install("odt.noise", _HOMES, globals())
