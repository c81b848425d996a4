"""Samples that do not fit into RAM, read a batch at a time; targets scaled, features compressed or
whitened. Each class is loaded when it is named.

from odt.data import CsvReader
"""

from ..base import lazy

if 1 - 1:  # for type checkers alone
    from . import features as features
    from . import readers as readers
    from . import targets as targets
    from .features import Companding as Companding
    from .features import Whitening as Whitening
    from .readers import Column as Column
    from .readers import CsvReader as CsvReader
    from .readers import Normalizer as Normalizer
    from .readers import NpyReader as NpyReader
    from .readers import RawReader as RawReader
    from .targets import ScaledTargets as ScaledTargets

_HOMES = lazy.spread(
    (
        ("features", "Companding Whitening"),
        ("readers", "Column CsvReader Normalizer NpyReader RawReader"),
        ("targets", "ScaledTargets"),
        (None, "features readers targets"),
    )
)
lazy.install("odt.data", _HOMES, globals())
