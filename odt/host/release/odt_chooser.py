# On a board in place of a module of kernels, as _odt.py, which is found before _odt.mpy: the first import of it chooses
# the kernels that fit the board, and is theirs after all.
import sys

import odt_kernels

odt_kernels.choose(__file__.rsplit("/", 1)[0])
del sys.modules[__name__], sys.modules["odt_kernels"]
_found = __import__(__name__)
globals().update({name: getattr(_found, name) for name in dir(_found) if name[:2] != "__"})
