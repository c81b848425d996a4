# On a board as _odt.py, which is found before _odt.mpy: the first import chooses the kernels, and is theirs after all.
import sys

import odt_kernels

odt_kernels.choose(__file__.rsplit("/", 1)[0])
del sys.modules["_odt"], sys.modules["odt_kernels"]
from _odt import *  # noqa: E402, F403
