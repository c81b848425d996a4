"""The executors, and how what two of them computed is compared."""

import struct

import pytest
from instructions import is_float

from odt.base import opcodes
from odt.reference import program as reference

try:
    import _odt
except ImportError:
    _odt = None

needs_native = pytest.mark.skipif(_odt is None, reason="the native module is not installed")


def explain(case, i, ours, theirs):
    """Which operand differs first, and how, for a failed comparison of region i."""
    op = opcodes.opcode(case.name)
    at = next(k for k in range(len(ours)) if ours[k] != theirs[k])
    names = [
        operand[0]
        for k, operand in enumerate(op.operands)
        if case.addresses[k] >> opcodes.REGION_SHIFT == i
        and 0 <= at - (case.addresses[k] & 0x3FFFFFF) < (op.bytes(k, case.immediates) or 64)
    ]
    word = at // 4 * 4
    return "%s: region %d byte %d (%s): reference %s, other %s; %s" % (
        case.name, i, at, names, ours[word : word + 4].hex(), theirs[word : word + 4].hex(),
        case.immediates,
    )  # fmt: skip


def with_one_nan(case, regions):
    """The regions with every NaN of a float32 operand made the same one."""
    op = opcodes.opcode(case.name)
    places = []
    for k, (name, _, dtype, _, _) in enumerate(op.operands):
        region = case.addresses[k] >> opcodes.REGION_SHIFT
        at = case.addresses[k] & 0x3FFFFFF
        if dtype == "f32":
            size = op.bytes(k, case.immediates) * case.times[k]
            places += [(region, i) for i in range(at, at + size, 4)]
        elif name == "c":
            places.append((region, 4 * opcodes.LOSS))
    regions = [None if r is None else bytearray(r) for r in regions]
    for region, at in places:
        if struct.unpack_from("<I", regions[region], at)[0] & 0x7FFFFFFF > 0x7F800000:
            struct.pack_into("<I", regions[region], at, 0x7FC00000)
    return regions


def compare(case, theirs):
    ours = case.run(reference)
    if is_float(case.name):  # which NaN an operation gives is the processor's choice
        ours, theirs = with_one_nan(case, ours), with_one_nan(case, theirs)
    for i in range(opcodes.REGIONS):
        assert ours[i] == theirs[i], explain(case, i, ours[i], theirs[i])


executors = pytest.mark.parametrize(
    "executor", (reference, pytest.param(_odt, marks=needs_native)), ids=("reference", "native")
)
