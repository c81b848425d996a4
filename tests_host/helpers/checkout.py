"""The checkout that tests, scripts of bench/ and commands are in, and where they find what they share.

Imported, it puts the checkout, which comes before an installed odt, and the folders of helpers into sys.path. pytest
has it from conftest.py; what runs as a script puts this folder there first.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HELPERS = ("tests_host/helpers", "tests_host/convert/sources", "tests_device/machines")

sys.path[:0] = [str(ROOT / folder) for folder in ("", *HELPERS) if str(ROOT / folder) not in sys.path]
