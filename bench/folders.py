"""The folders that scripts of bench/ import from: the checkout, helpers of the tests, and bench/'s own."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HELPERS = ("tests_host/helpers", "tests_host/convert/sources", "tests_device/machines")
if not (ROOT / HELPERS[0]).is_dir():  # an older commit, which bench/costs/compare.py builds
    HELPERS = ("tests_host", "tests_device")
FOLDERS = ("", "bench", "bench/costs", "bench/accuracy", "bench/examples", "bench/studies", *HELPERS)

sys.path[:0] = [str(ROOT / folder) for folder in FOLDERS]
