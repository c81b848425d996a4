"""Recurrent layers: GRU, LSTM, SimpleRNN; Steps runs a network step by step, reset_states() is for stateful layers.

Each name is loaded when it is used: from odt.recurrent import GRU
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from .layers import GRU as GRU
    from .layers import LSTM as LSTM
    from .layers import SimpleRNN as SimpleRNN
    from .stateful import reset_states as reset_states
    from .steps import Steps as Steps

_HOMES = lazy.spread((("layers", "GRU LSTM SimpleRNN"), ("steps", "Steps"), ("stateful", "reset_states")))
lazy.install("odt.recurrent", _HOMES, globals())
