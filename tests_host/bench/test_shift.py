"""bench/accuracy/shift.py says of a run what the run gives."""

import sys

import numpy as np
import pytest
from checkout import ROOT

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import shift  # noqa: E402


@pytest.mark.parametrize("gain, word", ((0, "level"), (5, "ahead"), (-5, "behind")))
def test_the_verdicts_follow_from_the_accuracies(gain, word):
    draw = np.random.default_rng(3)
    base = {name: 70 + draw.normal(size=5) for name in shift.SHIFTS}
    found = dict.fromkeys(shift.POLICIES, base)
    for policy in ("task-adaptive", "adaptive, head first"):
        found[policy] = {name: values + gain for name, values in base.items()}
    lines = list(shift.accuracy_lines(shift.PLAIN, found, dict.fromkeys(shift.POLICIES, 0.01), {}))
    said = [part for line in lines for part in line.split() if part in ("level", "ahead", "behind")]
    assert said == 16 * [word]
