"""On a machine: the functions of _odt_viper against those of odt.reference, on drawn shapes, formats and scales.

Prints the name and ODT_ARGS["count"] of each; an assertion fails where a bit differs.
"""

from array import array

from _odt_viper import FASTER

from odt.base.fixed import hash32
from odt.reference import linear_i8

seed = 1


def draw(low, high):
    global seed
    seed += 1
    return low + hash32(51, seed) % (high - low + 1)


def bytes_of(count, low=-128):
    return array("b", [draw(low, 127) for _ in range(count)])


def words(count, bits):
    return array("i", [draw(-(1 << bits), (1 << bits) - 1) for _ in range(count)])


class Arguments:
    pass


def scales(count, products):
    """Multipliers that bring sums into range, and some that do not: tiny, saturating, shifted by more than a word."""
    pairs = []
    for _ in range(count):
        kind = draw(0, 7)
        shift = draw(1, 62) if kind == 0 else 1 if kind == 1 else 31 + 7 + products
        pairs += [0x7FFFFFFF if kind == 1 else draw(1 << 30, (1 << 31) - 1), shift]
    return array("i", pairs)


def dense():
    o = Arguments()
    o.M, o.K, o.N = draw(1, 5), draw(1, 40), draw(1, 9)
    return o, o.M, o.K, o.N, o.K


def conv2d():
    o = Arguments()
    o.B, o.H, o.W, o.C, o.N = draw(1, 3), draw(1, 7), draw(1, 7), draw(1, 5), draw(1, 6)
    o.KH, o.KW, o.SH, o.SW = draw(1, min(3, o.H)), draw(1, min(3, o.W)), draw(1, 2), draw(1, 2)
    o.PT, o.PL = draw(0, o.KH - 1), draw(0, o.KW - 1)
    o.OH, o.OW = (o.H + o.PT - o.KH) // o.SH + draw(1, 1 + (o.PT > 0)), (o.W + o.PL - o.KW) // o.SW + 1
    return o, o.B, o.H * o.W * o.C, o.OH * o.OW * o.N, o.KH * o.KW * o.C


def case(name):
    """Arguments of an instruction, and the names of what it writes."""
    o, samples, width, outputs, size = (conv2d if name[0] == "c" else dense)()
    dx, dw = "_dx_" in name, "_dw_" in name
    o.peak = array("i", [draw(0, 300)])
    o.zx = draw(-128, 127)
    o.w = bytes_of(o.N * size, -127)
    if dx:
        o.e, o.dx, o.q = bytes_of(samples * outputs), bytes_of(samples * width), scales(1, 3)
        return o, ("dx", "peak")
    o.x = bytes_of(samples * width)
    if dw:
        o.R = draw(1, o.N)
        o.at = draw(0, o.N - o.R + 1)  # the last: not among the filters
        o.e, o.dw = bytes_of(samples * outputs), words(o.R * size, 30)
        return o, ("dw",)
    o.zy = draw(-128, 127)
    o.lo = (-128, -127, o.zy)[draw(0, 2)]
    o.y, o.b, o.q = bytes_of(samples * outputs), words(o.N, draw(8, 30)), scales(o.N, 2)
    return o, ("y", "peak")


for name in FASTER:
    for number in range(ODT_ARGS["count"]):  # noqa: F821
        begin = seed
        o, written = case(name)
        before = {key: bytes(getattr(o, key)) for key in written}
        getattr(linear_i8, name)(o)
        expected = [bytes(getattr(o, key)) for key in written]
        for key in written:
            memoryview(getattr(o, key))[:] = memoryview(array("b" if key in ("y", "dx") else "i", before[key]))
        FASTER[name](o)
        assert [bytes(getattr(o, key)) for key in written] == expected, (name, number, begin)
    print(name, number + 1)
