"""A short run of each fuzzer from its seeds; `make fuzz FUZZ_SECONDS=3600` runs long."""

import os
import sys

import pytest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "fuzz"))

import fuzz

RUNS = {
    "executor": 4000, "executor_panel": 4000, "verifiers": 1500, "checkpoint": 3000, "slots": 1500,
    "npy": 3000, "csv": 3000,
}  # fmt: skip


@pytest.mark.parametrize("target", fuzz.TARGETS)
def test_nothing_is_found_in_a_short_run(target, tmp_path):
    """So many inputs, the same each time: from a fresh corpus, with a fixed seed."""
    options = ("-runs=%d" % RUNS[target], "-seed=1")
    seen = fuzz.fuzz(target, 0, corpus=str(tmp_path / "corpus"), options=options)
    assert seen["executions"] >= RUNS[target] and seen["edges"] > 50
