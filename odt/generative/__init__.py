"""Variational autoencoders. Each name is loaded when it is used.

from odt.generative import Sampling
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from . import vae as vae
    from .vae import Sampling as Sampling
    from .vae import decoder as decoder
    from .vae import generate as generate
    from .vae import points as points

_HOMES = lazy.spread((("vae", "Sampling decoder points generate"), (None, "vae")))
lazy.install("odt.generative", _HOMES, globals())
