"""Attention for short sequences: MultiHeadAttention, PositionEmbedding. Each name is loaded when it is used.

from odt.attention import MultiHeadAttention
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .layers import MultiHeadAttention as MultiHeadAttention
    from .layers import PositionEmbedding as PositionEmbedding

_HOMES = lazy.spread((("layers", "MultiHeadAttention PositionEmbedding"),))
lazy.install("odt.attention", _HOMES, globals())
