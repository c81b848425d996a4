"""The executors agree beyond the blocks and lanes in which kernels take sizes: 4, 32 and their like."""

import random

import instructions
import pytest
from executors import _odt, compare, needs_native
from instructions import NAMES, draw

CASES = 12
WIDE = (31, 32, 33, 63, 64, 65, 70)
SIZES = ("C", "F", "K", "N", "S")

draw_immediates = instructions.draw_immediates


def draw_wide(rng, op):
    """Immediates with one size, of those that are no image's, around a multiple of 32."""
    values = draw_immediates(rng, op)
    sizes = [name for name in SIZES if name in values]
    if sizes and "at" not in values:
        values[rng.choice(sizes)] = rng.choice(WIDE)
        if "C" in values and "N" in values and "conv2d" not in op.name:
            values["N"] = values["C"] = max(values["N"], values["C"])
    return values


@needs_native
@pytest.mark.parametrize("name", NAMES)
def test_native_agrees_with_reference_on_sizes_beyond_a_block(name, monkeypatch):
    monkeypatch.setattr(instructions, "draw_immediates", draw_wide)
    for seed in range(CASES):
        case = draw(random.Random("wide %s %d" % (name, seed)), name)
        compare(case, case.run(_odt))
