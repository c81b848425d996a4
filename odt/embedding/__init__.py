"""Tokens in: Embedding, and pad() for sequences of several lengths. Each name is loaded when it is used.

from odt.embedding import Embedding, pad
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .layers import Embedding as Embedding
    from .layers import pad as pad

_HOMES = lazy.spread((("layers", "Embedding pad"),))
lazy.install("odt.embedding", _HOMES, globals())
