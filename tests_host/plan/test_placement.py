"""Placement that searches for longer (odt/host/rows/climb.py), and plans that are chosen for their placement."""

import random
import sys
from functools import partial
from itertools import permutations

import pytest
from checkout import ROOT

import odt
from odt.adapt import update
from odt.files.frozen import pack
from odt.host.rows import Rows
from odt.host.rows.climb import Climb, first_fit, meetings
from odt.host.rows.place import live_bytes
from odt.plan.compiler import compile_graph

sys.path.insert(0, str(ROOT / "bench"))

import folders  # noqa: E402, F401
import published  # noqa: E402
import tiny_rows  # noqa: E402


def drawn(seed, count, pieces):
    """Shapes of one or more pieces, each with a life of its own."""
    draw, found = random.Random(seed), []
    for _ in range(count):
        at, shape = 0, []
        for _ in range(draw.randint(1, pieces)):
            first, size = draw.randrange(12), 4 * draw.randint(1, 12)
            shape.append((at, size, first, first + draw.randrange(6)))
            at += size
        found.append(shape)
    return found


def assert_apart(shapes, offsets):
    """No byte belongs to two pieces at once."""
    placed = [(o + at, o + at + size, a, b) for o, shape in zip(offsets, shapes) for at, size, a, b in shape]
    owners = [number for number, shape in enumerate(shapes) for _ in shape]
    for n, (low, high, first, last) in enumerate(placed):
        for m, (other, end, begin, finish) in enumerate(placed[:n]):
            meets = low < end and other < high and first <= finish and begin <= last
            assert not meets or owners[n] == owners[m]


@pytest.mark.parametrize("pieces", (1, 3))
def test_shapes_that_live_at_once_lie_apart(pieces):
    for seed in range(12):
        shapes = drawn(seed, 14, pieces)
        fixed = 3 if seed % 2 else None
        total, offsets = Climb(shapes, fixed).best(max(live_bytes(shapes, 20)) + 24)
        assert_apart(shapes, offsets)
        assert fixed is None or offsets[3] == 0
        assert total == max(o + max(at + size for at, size, _, _ in shape) for o, shape in zip(offsets, shapes))


def test_no_order_of_a_few_shapes_takes_fewer_bytes():
    """Against first fit in every order."""
    for seed in range(8):
        shapes = drawn(seed, 5, 2)
        sizes = [max(at + size for at, size, _, _ in shape) for shape in shapes]
        meets = meetings(shapes)
        fewest = min(first_fit(order, sizes, meets, None, None)[0] for order in permutations(range(5)))
        assert Climb(shapes).best(fewest)[0] == fewest, seed


@pytest.mark.slow
def test_a_network_with_skips_takes_stages_that_can_be_placed():
    """The fewest bytes that live at once belong to stages whose placement takes a third more."""
    frozen = pack(tiny_rows.compiled("ResNet-8", "last layer"))
    make = partial(tiny_rows.compiled, "ResNet-8", "last layer", frozen=frozen)
    assert published.least(make) <= 1024 * tiny_rows.GOALS["ResNet-8"]


@pytest.mark.slow
def test_a_placement_far_from_its_bound_is_searched_for_longer():
    """Of ProxylessNAS, biases of all layers: a board's placement takes 4 % more than the bound."""
    model = published.network("ProxylessNAS-w0.3", "49 KB")
    update.bias(model)
    model.compile(odt.SGD(0.05), batch_size=1)
    frozen = len(pack(model))
    what = model.nodes, model.session.loss, model.session.optimizer, "int8", 1, None, (), frozen
    plain, rows = compile_graph(*what), Rows(stages=())
    rows.is_patient = True
    made = compile_graph(*what, rows=rows)
    assert plain.arena > 1.04 * plain.lower_bound and made.lower_bound == plain.lower_bound
    assert made.arena <= 1.01 * made.lower_bound
    assert compile_graph(*what, rows=rows).code == made.code
