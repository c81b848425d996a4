"""Each core's int8 kernels compute what the PC's do, to the bit, on random programs."""

import itertools
import random
import zlib
from array import array

import instructions  # noqa: E402
import machines
import pytest
from kernel_cases import NAMES, OF_CORES, draw_medium, run

from odt.base import opcodes  # noqa: E402
from odt.base.fixed import ONE, float_to_bits  # noqa: E402

FLOATS = ["adam_f32", "adam_i32"]  # of float32 state: by integers on cores without floats, and everywhere
SMALL = 16  # cases of each instruction as the host's tests draw them; a third of one without loops of a core
MEDIUM = 10  # and with more channels, so that blocks are full, and then some


def is_finite(case):
    """Whether no float of a case is infinite or none: what comes of these is not the same everywhere."""
    op = opcodes.opcode(case.name)
    for i, (_, _, dtype, _, _) in enumerate(op.operands):
        if dtype == "f32":
            region, at = case.addresses[i] >> opcodes.REGION_SHIFT, case.addresses[i] & (1 << opcodes.REGION_SHIFT) - 1
            words = array("I", case.regions[region][at : at + op.bytes(i, case.immediates)])
            if any(word >> 23 & 255 == 255 for word in words):
                return False
    return True


def draw_all(monkeypatch):
    cases = []
    for name in NAMES + FLOATS:
        few = 1 if name in OF_CORES or name in FLOATS else 3
        for seed in range(SMALL // few):
            cases.append(instructions.draw(random.Random("board %s %d" % (name, seed)), name))
        for seed in range((2 * MEDIUM if "2d" in name else MEDIUM) // few):
            cases.append(draw_medium(random.Random("medium %s %d" % (name, seed)), name, monkeypatch))
    cases += draw_corners()
    return [case for case in cases if sum([len(region or b"") for region in case.regions]) < 8000 and is_finite(case)]


def build(name, sizes, contents, control, data):
    """A case whose operands, each behind another in the arena, hold the given bytes; sizes: its immediates, among
    others; data: what X and Y are.
    """
    op, arena, addresses = opcodes.opcode(name), b"", []
    sizes = {key: sizes[key] for key in op.immediates}
    words = array("i", [0] * opcodes.CONTROL_WORDS)
    for place, value in control.items():
        words[place] = value
    for operand, _, dtype, _, _ in op.operands:
        if operand == "c" or dtype == "buf":
            region = opcodes.CONTROL if operand == "c" else opcodes.X_DATA if operand == "x" else opcodes.Y_DATA
            addresses.append(region << opcodes.REGION_SHIFT)
            continue
        arena += bytes(-len(arena) % 4)
        addresses.append(len(arena))
        arena += contents[operand]
    program = instructions.assemble(op, addresses, sizes, len(arena), 0, 0)
    regions = [bytearray(arena), bytearray(), bytearray(words.tobytes()), data, data, bytearray()]
    return instructions.Case(name, program, regions, sizes, addresses, [1] * len(addresses))


def draw_adam(rng):
    """Steps in which products and sums lie half way, moments cancel, 0s lie among others, bits are all set."""
    count = 60

    def draw(low, high):
        few = rng.choice((0, 0x3FF, 0xFFF, 0x7FFFF, 0x7FFFFF))
        mantissa = rng.choice((rng.randrange(1 << 23) & ~few, few, few ^ 1, rng.randrange(1 << 23)))
        return 0 if rng.random() < 0.05 else rng.randint(low, high) << 23 | mantissa & 0x7FFFFF

    factors = rng.choice(((0.9, 0.999), (0.5, 0.75), (0.75, 0.5), (1 - 2.0**-12, 1 - 2.0**-10)))
    sizes = {"b1": factors[0], "c1": 1 - factors[0], "b2": factors[1], "c2": 1 - factors[1], "eps": 1e-7}
    sizes = {name: float_to_bits(value) for name, value in sizes.items()}
    low, high = rng.choice(((112, 126), (120, 122), (76, 160), (74, 80), (155, 165)))
    m = [draw(low, high) | rng.randrange(2) << 31 for _ in range(count)]
    d = [draw(low, high) | rng.randrange(2) << 31 for _ in range(count)]
    for i in range(0, count, 5):  # c1 * d about -b1 * m
        d[i] = (m[i] ^ 1 << 31) + (rng.randrange(8) << rng.randrange(20))
    v = [draw(max(2 * low - 137, 25), min(2 * high - 120, 190)) for _ in range(count)]
    words = lambda values: array("I", values).tobytes()  # noqa: E731
    operands = {"d": words(d), "m": words(m), "v": words(v), "rate": words([ONE, 0x3D000000])}
    return build("adam_f32", {"N": count, **sizes}, operands, {}, b"")


def draw_adam_i32(rng):
    """Steps of moments and gradients of any size to each other, moments that cancel, 0s among others; some are of no
    model.
    """
    count, middle = 60, rng.choice((107, 107, 120, 95, 60, 20, 200))  # the scale's exponent

    def draw(field, spread):
        field = max(0, min(255, field + rng.randint(-spread, spread)))
        return 0 if rng.random() < 0.08 else field << 23 | rng.choice((0, 0x7FFFFF, rng.randrange(1 << 23)))

    d = [rng.choice((-1, 1)) * (rng.randrange(1 << rng.randrange(1, 32)) >> rng.randrange(2)) for _ in range(count)]
    edges = (0, 0, 1, 255, 256, -256, 65535, 65536, -65537, (1 << 31) - 1, -1 << 31)
    d = [rng.choice(edges) if rng.random() < 0.3 else value for value in d]
    spread, ratio = rng.choice(((4, 0), (12, 0), (40, 20), (4, 30))), rng.choice((0, 0, 10))
    m = [draw(middle + 8 + spread[1], spread[0]) | rng.randrange(2) << 31 for _ in range(count)]
    v = [draw(2 * (middle + 8 - ratio) - 127 + spread[1], spread[0]) for _ in range(count)]
    for i in range(0, count, 6):
        m[i], v[i], d[i] = rng.choice(((0, v[i], 0), (m[i], 0, 0), (0, 0, 0), (m[i], v[i] & ~0x7FFFFF, 0)))
    factors = rng.choice(((0.9, 0.999), (0.5, 0.75), (1e-6, 1e-6), (1 - 2.0**-12, 1 - 2.0**-20)))
    sizes = {"b1": factors[0], "c1": 1 - factors[0], "b2": factors[1], "c2": 1 - factors[1]}
    sizes["eps"] = rng.choice((1e-7, 1e-7, 1e-12, 1.0))
    sizes = {name: float_to_bits(value) for name, value in sizes.items()}
    words = lambda values: array("I", [value & 0xFFFFFFFF for value in values]).tobytes()  # noqa: E731
    operands = {"d": words(d), "m": words(m), "v": words(v), "ds": bytes(4)}
    operands.update(gs=words([middle << 23 | rng.randrange(1 << 23)]), rate=words([ONE, 0x3D000000]))
    return build("adam_i32", {"N": 1, "K": count, "factor": ONE, **sizes}, operands, {}, b"")


def draw_layer_norm(rng):
    """Statistics of rows, and what is made of them: some are all alike, some deviations and means are of no row."""
    C = rng.choice((2, 3, 4, 5, 8, 8, 16, 31, 32, 33, 63, 64, 65))
    M, z = min(45, 1200 // C), rng.choice((-128, 0, 127))
    words = lambda values: array("i", values).tobytes()  # noqa: E731
    scale = lambda low, high: rng.randint(low, high) << 23 | rng.choice((0, 0x7FFFFF, rng.randrange(1 << 23)))  # noqa: E731
    x, st, e = [], [], []
    top = rng.choice((8, 20, 20, 24))
    low = rng.choice((-1 << top, (1 << top) - 9))
    for _ in range(M):
        middle, span = rng.randint(-128, 127), rng.choice((0, 1, 3, 30, 30, 255))
        row = [max(-128, min(127, middle + rng.randint(-span, span))) for _ in range(C)]
        if rng.random() < 0.2:
            row = [rng.choice((-128, 127)) for _ in range(C)]
        mean = sum(row) / C
        deviation = (sum([(v - mean) ** 2 for v in row]) / C) ** 0.5 + 0.1
        pair = [int((mean - z) * 1024), float_to_bits(1 / deviation)]
        span = rng.choice((3, 30))
        errors = [
            rng.choice((-127, 127)) if rng.random() < 0.05 else max(-127, min(127, int(rng.gauss(0, span))))
            for _ in row
        ]
        if rng.random() < 0.1:
            pair[rng.randrange(2)] = scale(95, 133)
        elif rng.random() < 0.05:  # a mean next to the least byte
            pair = [(-128 - z) * 1024 + 1, scale(119, 123) | 0x7FFFFF]
        elif span > 3 and rng.random() < 0.1:  # products that are as large as they may be
            pair[1] = scale(125, 125)
            errors = [127 if v > mean else -127 for v in row]
        x += row
        e += errors
        st += pair
    operands = {"x": array("b", x).tobytes(), "e": array("b", e).tobytes(), "st": words(st), "y": bytes(M * C)}
    operands.update(dx=bytes(M * C), dw=bytes(4 * C), peak=words([rng.choice((0, 60, 60, 1 << 20))]))
    operands.update(q=words([v for _ in range(C) for v in (rng.randint(-1 << 23, 1 << 23) << 7, rng.randint(28, 30))]))
    operands.update(b=words([rng.randint(-20000, 20000) for _ in range(C)]))
    operands.update(gamma=words([rng.randint(low, 1 << top) for _ in range(C)]))
    operands.update(se=words([scale(120, 121)]), sx=words([ONE]))
    operands.update(sdx=words([scale(*rng.choice(((118, 121), (104, 119))))]))
    factor = scale(120, 132)
    control = {opcodes.COUNT: M, opcodes.KEY: rng.randrange(1 << 30), opcodes.POSITION: rng.randrange(100)}
    sizes = {"M": M, "S": 1, "G": 1, "C": C, "z": z, "zx": z, "zy": rng.choice((-128, 0, 5)), "lo": -128, "factor": ONE}
    sizes.update(rows=0, id=3, F=C, bits=rng.choice((6, 8, 12)))
    for name in ("norm_i8", "norm_dw_i8", "norm_dx_i8"):
        yield build(name, sizes, operands, control, b"")
    grouped = {**sizes, "M": 1, "G": M}  # the same as groups, of channels of their own
    gains = {"q": operands["q"] * M, "b": operands["b"] * M}
    yield build("norm_i8", grouped, {**operands, **gains}, control, b"")
    sizes.update(factor=factor, eps=scale(100, 125))
    for G in [1] + [G for G in (2, 3, 4) if C % G == 0]:
        sizes.update(G=G, C=C // G)
        operands.update(st=bytes(8 * M * G))
        yield build("norm_stats_i8", sizes, operands, {}, b"")


def draw_layer_errors():
    """Gradients of a LayerNorm's input whose sums are as large as they may be, or nearly 2^32, or next to a whole
    output.
    """
    bytes_of = lambda values: array("b", values).tobytes()  # noqa: E731
    words = lambda values: array("i", values).tobytes()  # noqa: E731

    def case(C, x, e, st, gamma, key=1, sdx=121):
        operands = {"x": bytes_of(x), "e": bytes_of(e), "st": words(st), "gamma": words([gamma] * C)}
        operands.update(
            dx=bytes(len(x)), se=words([120 << 23]), sx=words([ONE]), sdx=words([sdx << 23]), peak=words([1 << 20])
        )
        sizes = {"M": len(x) // C, "S": 1, "G": 1, "C": C, "zx": 0, "factor": ONE, "rows": 0, "id": 3, "F": C}
        return build("norm_dx_i8", sizes, operands, {opcodes.COUNT: 1, opcodes.KEY: key}, b"")

    for C, gamma in itertools.product((8, 15, 16, 31, 32, 33, 63, 64), ((1 << 20) - 1, 1 - (1 << 20))):
        for error in (127, -127):
            st = [v for exponent in range(122, 128) for v in (-1000, exponent << 23 | 0x7FFFFF)]
            yield case(C, [127] * (6 * C), [error] * (6 * C), st, gamma)
        yield case(C, [127] * (6 * C), [-128] * (6 * C), st, 64 - (1 << 20))  # with C = 64 a sum just below 2^32
    for mean, mantissa in ((6201, 4215794), (27452, 6824364), (-30100, 1359793)):  # h * slope / 4096 is about 2^32
        yield case(2, [127] * 2, [127] * 2, [mean, 125 << 23 | mantissa], (1 << 20) - 1)
    rng = random.Random(3)
    x, e, st = [], [], []
    for _ in range(40):
        row = [rng.randint(-60, 60) for _ in range(8)]
        x += row
        e += [rng.randint(-127, 127) for _ in range(8)]
        st += [int(sum(row) * 1024 / 8), 121 << 23 | rng.randrange(1 << 23)]
    for key in (3116, 12448, 19046, 111, 473, 1481):  # less than 2^-16 below an output, or above
        yield case(8, x, e, st, (1 << 20) - 1, key)
    for key in (13, 82, 179, 321):  # multipliers that are too small
        yield case(8, x, e, st, (1 << 20) - 1, key, 134)
    x = [sign * v for v in range(9, 49) for sign in (1, -1)]
    st = [word for v in range(9, 49) for word in (0, float_to_bits(1 / (v + 0.01)))]
    for sdx in (100, 101, 102):  # of two elements little more is left than what was rounded
        yield case(2, x, [v % 7 - 3 for v in e[:80]], st, (1 << 20) - 1, 1, sdx)


def draw_errors(rng):
    """The gradient of a normalisation's input by multipliers of any size: some are 0."""
    M, S, G, C = rng.choice(
        (
            *((1, 150, 3, 1), (2, 12, 2, 5), (9, 1, 1, 64), (1, 4, 4, 30), (4, 1, 1, 120), (70, 1, 1, 8)),
            *((2, 9, 3, 4), (1, 40, 2, 8), (1, 35, 5, 2), (3, 3, 2, 32), (2, 5, 2, 12), (1, 3, 1, 70)),
        )
    )
    count, exponent, top = M * S * G * C, rng.randint(118, 124), rng.choice((1, 8, 127, 127))
    bytes_of = lambda values: array("b", values).tobytes()  # noqa: E731
    words = lambda values: array("i", values).tobytes()  # noqa: E731
    scale = lambda exponent: exponent << 23 | rng.choice((0, 0x7FFFFF, rng.randrange(1 << 23)))  # noqa: E731
    operands = {"x": bytes_of([rng.randint(-128, 127) for _ in range(count)]), "dx": bytes(count)}
    operands.update(e=bytes_of([rng.choice((-top, top, rng.randint(-top, top))) for _ in range(count)]))
    operands.update(st=words([v for _ in range(M * G) for v in (rng.randint(-20000, 20000), scale(exponent))]))
    operands.update(gamma=words([rng.randrange(1 << rng.randint(8, 20)) for _ in range(G * C - 1)] + [(1 << 20) - 1]))
    operands.update(
        se=words([ONE]), sx=words([ONE]), sdx=words([scale(rng.choice((116, rng.randint(113, 142))) + exponent - 121)])
    )
    operands.update(peak=words([rng.choice((0, 60, 1 << 20))]))
    sizes = {"M": M, "S": S, "G": G, "C": C, "zx": -3, "factor": ONE, "rows": 0, "id": 3, "F": S * G * C}
    return build("norm_dx_i8", sizes, operands, {opcodes.COUNT: M, opcodes.KEY: rng.randrange(1 << 30)}, b"")


def draw_windows(rng):
    """A convolution whose channels have nearly one multiplier: pixels with a stride, rows of windows beside the border
    or not.
    """
    sizes = rng.choice((
        {"H": rng.randint(2, 9), "W": rng.randint(2, 9), "C": rng.choice((4, 8, 16, 20)), "KH": 1, "KW": 1},
        {"H": rng.randint(4, 6), "W": rng.choice((4, 5, 9, 16)), "C": rng.choice((4, 6, 8)), "KH": 3, "KW": 3},
        {"H": rng.randint(5, 7), "W": rng.randint(7, 12), "C": rng.choice((2, 6)), "KH": 5, "KW": 5},
        {"H": 1, "W": rng.randint(12, 30), "C": rng.choice((3, 9, 12)), "KH": 1, "KW": rng.choice((3, 7))},
    ))  # fmt: skip
    sizes.update(B=rng.randint(1, 2), N=rng.choice((3, 4, 9, 16)), SH=rng.choice((1, 1, 2)), SW=rng.choice((1, 1, 2)))
    pad = rng.randrange(2)
    sizes.update(PT=pad * (sizes["KH"] // 2), PL=pad * (sizes["KW"] // 2))
    for o, i, k, s, p in (("OH", "H", "KH", "SH", "PT"), ("OW", "W", "KW", "SW", "PL")):
        sizes[o] = (sizes[i] + 2 * sizes[p] - sizes[k]) // sizes[s] + 1
    sizes.update(zx=rng.choice((-128, 0, 5)), zy=rng.choice((-128, 3)), lo=-128)
    count, shift = sizes["N"], rng.randint(36, 49)
    some = lambda count: bytes([rng.randrange(256) for _ in range(count)])  # noqa: E731
    q = [v for _ in range(count) for v in (rng.randrange(1 << 23, 1 << 24) << 7, shift + (rng.random() < 0.1))]
    operands = {"x": some(sizes["B"] * sizes["H"] * sizes["W"] * sizes["C"]), "peak": bytes(4)}
    operands["w"] = some(count * sizes["KH"] * sizes["KW"] * sizes["C"]).replace(b"\x80", b"\x81")
    operands["b"] = array("i", [rng.randrange(-9000, 9000) for _ in range(count)]).tobytes()
    operands.update(q=array("i", q).tobytes(), y=bytes(sizes["B"] * sizes["OH"] * sizes["OW"] * count))
    return build("conv2d_i8", sizes, operands, {}, b"")


def draw_sparse(rng):
    """Gradients of a convolution most of whose errors are 0: of few images and of many, of images that are too large
    or too wide to be copied at once, of parts of the filters.
    """
    H, W, C, KH, KW = rng.choice((
        *((4, 4, 8, 3, 3), (8, 8, 1, 3, 3), (6, 7, 5, 3, 2), (9, 5, 6, 5, 5), (1, 60, 3, 1, 5), (3, 3, 4, 1, 1)),
        *((24, 24, 4, 3, 3), (3, 100, 9, 3, 3), (2, 170, 4, 2, 3), (12, 12, 20, 3, 3), (7, 1, 16, 5, 1)),
    ))  # fmt: skip
    N, stride = rng.choice((1, 2, 5, 8, 8, 16, 37 if C < 8 else 6)), rng.choice((1, 1, 1, 2, 3))
    sizes = {"H": H, "W": W, "C": C, "N": N, "KH": KH, "KW": KW, "SH": stride if H > 1 else 1, "SW": stride}
    sizes.update(PT=rng.randint(0, KH // 2), PL=rng.randint(0, KW // 2))
    for o, i, k, s, p in (("OH", "H", "KH", "SH", "PT"), ("OW", "W", "KW", "SW", "PL")):
        sizes[o] = (sizes[i] + 2 * sizes[p] - sizes[k]) // sizes[s] + 1
    B = sizes["B"] = max(1, min(40, 3000 // max(H * W * C, sizes["OH"] * sizes["OW"] * N)))
    at = rng.randrange(N) if rng.random() < 0.3 else 0
    sizes.update(zx=rng.choice((-128, 0, 5, 127)), at=at, R=min(N - at, rng.randint(1, 4)))
    count, share = B * sizes["OH"] * sizes["OW"] * N, rng.choice((0.004, 0.03, 0.03, 0.08))
    errors = [rng.choice((rng.randint(-127, 127), 127, -127)) if rng.random() < share else 0 for _ in range(count)]
    if rng.random() < 0.2:
        errors[rng.randrange(count)] = -128
    q = [rng.randrange(1 << 23, 1 << 24) << 7, rng.randint(36, 49)]
    operands = {"e": array("b", errors).tobytes(), "x": rng.randbytes(B * H * W * C), "dx": bytes(B * H * W * C)}
    operands["w"] = rng.randbytes(N * KH * KW * C).replace(b"\x80", b"\x81")
    operands.update(dw=bytes(4 * sizes["R"] * KH * KW * C), q=array("i", q).tobytes(), peak=bytes(4))
    yield build("conv2d_dw_i8", sizes, operands, {}, b"")
    yield build("conv2d_dx_i8", sizes, operands, {}, b"")


def draw_narrow(rng):
    """Gradients of a dense layer with one output or one weight of each, or few: errors and multipliers of any size."""
    M, K, N = rng.choice(((1, 64, 1), (16, 32, 1), (5, 1, 1), (3, 7, 1), (40, 33, 1), (2, 130, 1), (9, 4, 1))
                         + ((1, 1, 64), (1, 6, 50), (1, 7, 9), (1, 40, 3), (4, 30, 3)))  # fmt: skip
    at = rng.randrange(N) if rng.random() < 0.3 else 0
    sizes = {"M": M, "K": K, "N": N, "zx": rng.choice((-128, 0, 5)), "at": at, "R": rng.choice((1, N - at))}
    share, shift = rng.choice((0.1, 0.6, 1)), rng.choice((33, 36, rng.randint(33, 62), *range(39, 46), 50, 51))
    some = lambda count: [rng.randint(-127, 127) if rng.random() < share else 0 for _ in range(count)]  # noqa: E731
    errors, weights = some(M * N), some(N * K)
    if rng.random() < 0.2:
        errors[rng.randrange(M * N)] = weights[rng.randrange(N * K)] = -128
    m = rng.choice((rng.randrange(1 << 23, 1 << 24), (1 << 24) - 1, rng.randrange(1 << 24))) << 7
    operands = {"e": array("b", errors).tobytes(), "w": array("b", weights).tobytes(), "x": rng.randbytes(M * K)}
    operands.update(
        dx=bytes(M * K), dw=bytes(4 * sizes["R"] * K), peak=array("i", [rng.choice((0, 60, 300))]).tobytes()
    )
    operands["q"] = array("i", [m | (rng.random() < 0.05), shift]).tobytes()
    yield build("dense_dx_i8", sizes, operands, {}, b"")
    yield build("dense_dw_i8", sizes, operands, {}, b"")


def draw_corners():
    """What random programs seldom meet."""
    for seed in range(120):
        yield draw_windows(random.Random("windows %d" % seed))
    for seed in range(120):
        yield from draw_sparse(random.Random("sparse %d" % seed))
    for seed in range(160):
        yield from draw_narrow(random.Random("narrow %d" % seed))
    rng = random.Random("lines")
    for shift in range(36, 50):  # many errors by few weights, whose sums are of any shift
        sizes = {"B": 1, "H": 4, "W": 20, "C": rng.choice((4, 5, 8)), "N": rng.choice((4, 8, 10)), "KH": 1, "KW": 1}
        sizes.update(SH=1, SW=1, PT=0, PL=0, OH=4, OW=20)
        operands = {
            name: rng.randbytes(80 * sizes[n]).replace(b"\x80", b"\x81") for name, n in (("e", "N"), ("dx", "C"))
        }
        operands["w"] = rng.randbytes(sizes["N"] * sizes["C"]).replace(b"\x80", b"\x81")
        operands.update(peak=bytes(4), q=array("i", [rng.randrange(1 << 23, 1 << 24) << 7, shift]).tobytes())
        yield build("conv2d_dx_i8", sizes, operands, {}, b"")
    # averages of windows that overlap, of more positions than are finished at once
    for H, K, S, P, C in ((9, 3, 2, 1, 16), (6, 3, 1, 1, 35), (5, 5, 1, 0, 7), (4, 4, 2, 0, 32), (5, 2, 1, 0, 40)):
        size = (H + 2 * P - K) // S + 1
        sizes = dict(B=2, H=H, W=H, C=C, N=C, KH=K, KW=K, SH=S, SW=S, PT=P, PL=P, OH=size, OW=size, adaptive=0)
        sizes["top"] = K * K
        operands = {"e": rng.randbytes(2 * size**2 * C).replace(b"\x80", b"\x81"), "dx": bytes(2 * H * H * C)}
        for shift in (40, 44):
            operands.update(peak=bytes(4), q=array("i", [rng.randrange(1 << 23, 1 << 24) << 7, shift]).tobytes())
            yield build("avgpool2d_dx_i8", sizes, operands, {}, b"")
    for seed in range(60):
        yield draw_adam(random.Random(seed))
    for seed in range(80):
        yield draw_adam_i32(random.Random("state %d" % seed))
    for seed in range(40):
        yield from draw_layer_norm(random.Random("layer %d" % seed))
    yield from draw_layer_errors()
    for seed in range(240):
        yield draw_errors(random.Random("errors %d" % seed))
    word = lambda v: array("I", [v]).tobytes()  # noqa: E731
    for target in (128, 127, 0, 255):  # differences of -2^16 and next to it, squares whose sum needs a 33rd bit
        for peak in (0, 300, 90000):
            control = {opcodes.SAMPLES: 1, opcodes.COUNT: 1, opcodes.Y_FORMAT: 1, opcodes.Y_SCALE: 0x40000000}
            for x in (-128, -127, 127):
                operands = {"x": bytes([x & 255]) * 45, "e": bytes(45), "sx": word(ONE), "se": word(ONE)}
                operands.update(so=bytes(4), peak=word(peak))
                yield build("mse_i8", {"B": 1, "N": 45, "z": -128}, operands, control, bytes([target]) * 45)
    biases = (0, 200000, 231000, 231424, 232822, 232823, 400000, 1 << 20, (1 << 31) - 1)
    for weight, bias, K in itertools.product((-127, 127, -128), biases, (3, 5)):  # sums of 19 bits, and of more
        sizes = dict.fromkeys(("B", "C", "N", "SH", "SW"), 1)
        sizes.update(dict.fromkeys(("H", "W", "KH", "KW", "OH", "OW"), K), PT=K // 2, PL=K // 2, zx=127, zy=3, lo=-128)
        operands = {"x": bytes([128] * K**2), "w": bytes([weight & 255] * K**2)}
        operands["b"] = word((bias if weight < 0 else -bias) & 0xFFFFFFFF)
        operands.update(q=array("i", [(1 << 24) - 1 << 7, 44]).tobytes(), y=bytes(K**2), peak=word(0))
        yield build("depthwise2d_i8", sizes, operands, {}, b"")
    for B in (28, 29, 31, 56):  # more images of a few pixels than are finished as one
        sizes = dict(B=B, C=2, N=2, H=3, W=3, KH=3, KW=3, SH=1, SW=1, PT=1, PL=1, OH=3, OW=3, zx=3, zy=-128, lo=-128)
        operands = {"x": rng.randbytes(18 * B), "w": rng.randbytes(18).replace(b"\x80", b"\x81"), "b": bytes(8)}
        operands.update(q=array("i", [3 << 29, 42, 5 << 28, 43]).tobytes(), y=bytes(18 * B), peak=word(0))
        yield build("depthwise2d_i8", sizes, operands, {}, b"")
    for B, PT, PL in itertools.product((1, 2), (0, 1), (0, 1)):  # with strides, more rows than are summed at once
        sizes = dict(B=B, C=2, N=2, H=36, W=36, KH=3, KW=3, SH=2, SW=2, PT=PT, PL=PL, OH=18, OW=18)
        sizes.update(zx=3, zy=-1, lo=-128)
        operands = {"x": rng.randbytes(2592 * B), "w": rng.randbytes(18).replace(b"\x80", b"\x81"), "b": bytes(8)}
        operands.update(q=array("i", [3 << 29, 42, 5 << 28, 43]).tobytes(), y=bytes(648 * B), peak=word(0))
        yield build("depthwise2d_i8", sizes, operands, {}, b"")
    places = itertools.product(((40, 35), (5, 6), (5, 1)), (0, 1), (0, 1, 2), (1, 2), (1, 2))
    # more outputs than between two polls, and few, whose windows are outside, too
    for (H, W), PT, PL, SH, SW in places:
        sizes = dict(B=1 if H == 40 else 2, C=2, N=2, H=H, W=W, KH=3, KW=3, SH=SH, SW=SW, PT=PT, PL=PL, OH=H // SH)
        sizes.update(OW=max(W // SW, 1), zx=3, zy=3, lo=-128, at=0, R=2)
        outputs = sizes["B"] * 2 * sizes["OH"] * sizes["OW"]
        operands = {"x": rng.randbytes(sizes["B"] * 2 * H * W), "e": rng.randbytes(outputs), "dw": bytes(72)}
        operands.update(w=rng.randbytes(18).replace(b"\x80", b"\x81"), b=bytes(8), y=bytes(outputs), peak=word(0))
        operands["q"] = array("i", [3 << 29, 45, 1 << 30, 44]).tobytes()
        yield build("depthwise2d_dw_i8", sizes, operands, {}, b"")
        yield build("depthwise2d_i8", sizes, operands, {}, b"")
    shifts = (41, 42, 47, 48, 49)
    for K, sign, zy, shift in itertools.product((48, 54, 60), (1, -1), (-128, 3), shifts):  # and of 20 bits
        sizes = dict.fromkeys(("B", "H", "KH", "KW", "SH", "SW", "OH"), 1)
        sizes.update(W=9, OW=9, C=K, N=5, PT=0, PL=0, zx=0, zy=zy, lo=-128)
        x = b"".join([bytes([127] * n + [128] * (K - n)) for n in range(0, K + 1, K // 8)][:9])
        operands = {"x": x, "w": bytes([127 * sign & 255]) * (5 * K), "y": bytes(45), "peak": word(0)}
        operands["b"] = array("i", [0, 5000 * sign, 1 << 30, -1 << 30, 1 << 18]).tobytes()
        multipliers = [(m << 7, shift) for m in ((1 << 24) - 1, (1 << 24) - 2048, 3 << 22, 1 << 23, 0xFFF7FF)]
        operands["q"] = array("i", itertools.chain.from_iterable(multipliers)).tobytes()
        yield build("conv2d_i8", sizes, operands, {}, b"")
    rng = random.Random("rows")
    some = lambda count: bytes([rng.randrange(256) for _ in range(count)])  # noqa: E731
    line = {"B": 1, "H": 1, "N": 5, "KH": 1, "SH": 1, "SW": 1, "PT": 0, "PL": 0, "OH": 1}
    for weight in (127, -127):  # rows of filters or errors, longer than is packed at once, of the largest sums
        for place in ({"W": 5, "C": 300, "KW": 1, "OW": 5}, {"W": 6, "C": 72, "KW": 5, "PL": 2, "OW": 6}):
            sizes = {**line, **place, "zx": 127, "zy": 3, "lo": -128}
            K = sizes["KW"] * sizes["C"]
            operands = {"x": some(sizes["W"] * sizes["C"]), "w": bytes([weight & 255]) * (4 * K) + some(K)}
            operands.update(
                b=bytes(20), q=array("i", [3 << 29, 47] * 5).tobytes(), y=bytes(5 * sizes["OW"]), peak=word(0)
            )
            yield build("conv2d_i8", sizes, operands, {}, b"")
        for place in ({"W": 300, "KW": 1}, {"W": 600, "KW": 1, "SW": 2}, {"W": 300, "KW": 3, "PL": 1}):
            for error in (weight, -128):
                sizes = {**line, **place, "C": 4, "OW": 300, "zx": -9, "at": 0, "R": 5}
                operands = {"x": some(4 * sizes["W"]), "e": bytes([error & 255]) * 1500, "dw": bytes(80 * sizes["KW"])}
                yield build("conv2d_dw_i8", sizes, operands, {}, b"")
    for N in (1, 15, 16, 17, 32, 33, 70):  # one class alone is near to 1, or all are alike; powers to 2^-17
        for name, operands in (("softmax_xent_i8", {"se": bytes(4)}), ("softmax_i8", {})):
            for scale in (ONE, 0x3D800000, 0x3E3504F3, 0x3F317218):
                for x in (bytes(N), bytes([127] + [128] * (N - 1)), bytes([i * 37 & 255 for i in range(N)])):
                    operands.update(x=x, e=bytes(N), y=bytes(N), sx=word(scale))
                    control = {opcodes.SAMPLES: 1, opcodes.COUNT: 1, opcodes.Y_FORMAT: 1}
                    sizes = {"B": 1, "N": N, "z": 0} if "xent" in name else {"M": 1, "N": N, "factor": ONE}
                    yield build(name, sizes, operands, control, bytes([N - 1]))
    samples = {opcodes.SAMPLES: 290, opcodes.COUNT: 280, opcodes.POSITION: 3}
    for order in (0, 0x1234567):  # more rows than are computed at once, in order and shuffled, some labels of no class
        for form, code in ((1, "B"), (2, "h")):
            for B, N in ((300, 5), (6, 255), (6, 256)):
                operands = {"x": some(B * N), "e": bytes(B * N), "sx": word(0x3D800000), "se": bytes(4)}
                top = 255 if form == 1 else 300
                labels = [min(N, top) if rng.random() < 0.1 else rng.randrange(N) for _ in range(290)]
                control = {**samples, opcodes.Y_FORMAT: form, opcodes.ORDER: order}
                data = array(code, labels).tobytes()
                yield build("softmax_xent_i8", {"B": B, "N": N, "z": 0}, operands, control, data)


def describe(case, expected, lines):
    """Where the machine's regions, in hexadecimal, differ from what is expected."""
    op = opcodes.opcode(case.name)
    for region, text in enumerate(lines[1].split(" ")):
        theirs = bytes.fromhex(text)
        for at in range(len(theirs)):
            if theirs[at] != expected[region][at]:
                names = [
                    operand[0]
                    for k, operand in enumerate(op.operands)
                    if case.addresses[k] >> opcodes.REGION_SHIFT == region
                    and 0 <= at - (case.addresses[k] & 0x3FFFFFF) < op.bytes(k, case.immediates)
                ]
                return "%s: region %d, byte %d (%s): %s" % (
                    case.name, region, at, names, case.immediates,
                )  # fmt: skip


@pytest.fixture(scope="module")
def cases():
    with pytest.MonkeyPatch.context() as patch:
        return draw_all(patch)


@pytest.mark.parametrize(
    "name, parts", [("qemu_m3", 0), ("qemu_m4", 0), ("qemu_rv32", 0), ("rp2040", 0), ("rp2040", 1), ("unix_float30", 1)]
)
def test_kernels_of_the_core_agree_with_the_pc_to_the_bit(name, parts, cases):
    native = pytest.importorskip("_odt")
    with machines.open(name) as machine:
        lines = run(machine, cases, parts)
        assert len(lines) == len(cases)
        for case, line in zip(cases, lines):
            expected = case.run(native)
            if [int(word) for word in line.split()] != [zlib.crc32(r) for r in expected[:3]]:
                pytest.fail(describe(case, expected, run(machine, [case], parts, whole=True)))
