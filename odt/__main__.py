"""python -m odt: what a PC does for a board. `python -m odt install --help` has more."""

import sys

from .host.commands import main

sys.exit(main())
