"""The second comment of an instruction's line: what it may say, and that Python on a board agrees with it."""

import pytest

from odt.base.opcodes import opcode
from odt.host import traits
from odt.host.release.pieces import PIECES
from odt.plan.listing import updates

LINE = '    # step: counters\n    b"1 clear y=i32[N] ; N\\n"  # y = 0'


def test_every_instruction_has_a_piece_that_there_is():
    assert {row.piece for row in traits.TRAITS.values()} == set(PIECES)


def test_what_updates_in_the_arena_is_so_in_its_row():
    """``updates`` of odt/plan/listing.py runs on boards, which have no rows: with no operand in the state, only the
    marked ones update.
    """
    names = [name for name in traits.TRAITS if updates(opcode(name), [0] * len(opcode(name).operands))]
    assert names == [name for name, row in traits.TRAITS.items() if row.updates] == ["plain_i32"]


@pytest.mark.parametrize("comment, message", [
    ("", "instruction clear has the clause ''"),
    ("  # cost 1 N", "instruction clear has no clause 'in'"),
    ("  # in base; fast", "instruction clear has the clause 'fast'; .* in, rows, cost, updates"),
    ("  # in base; cost as clear", "instruction clear: cost as clear, which has no terms"),
    ("  # in base; cost as tick", "instruction clear: cost as tick, which has no terms"),
])  # fmt: skip
def test_a_row_that_is_no_row_is_refused_by_its_name(comment, message):
    with pytest.raises(ValueError, match=message):
        traits._read(LINE + comment)


def test_a_row_says_its_piece_its_cost_and_how_it_is_cut():
    more = LINE.replace("1 clear", "2 tick") + "  # in f32_conv; rows ab; cost as clear"
    families, found = traits._read(LINE + "  # in base; cost 1 N; updates\n" + more)
    assert families == {"step": ("counters", ["clear", "tick"])}  # a capability's goes on with the base's
    assert (found["tick"].piece, found["tick"].rows, found["tick"].cost) == ("_odt_f32_conv", "ab", "1 N")
    assert (found["clear"].piece, found["clear"].rows, found["clear"].updates) == ("_odt", None, True)
