"""Samples that do not fit into RAM, read a batch at a time. Each class is loaded when it is named.

from odt.data import CsvReader
"""

from ..base import lazy

_HOMES = lazy.spread((("readers", "Column CsvReader Normalizer NpyReader RawReader"), (None, "readers")))
__getattr__ = lazy.getter("odt.data", _HOMES, globals())
