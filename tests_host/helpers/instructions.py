"""Programs of one instruction with random shapes, places and contents, for the tests of executors.

What is drawn keeps the promises the compiler makes (scales are positive and normal, float32
operands are values that `store` leaves alone), and is otherwise as unpleasant as it gets.
"""

import math
import struct
from array import array

from odt.base import opcodes
from odt.base.fixed import ONE, float_to_bits, multiplier
from odt.base.opcodes import (
    ARENA,
    CONSTANTS,
    CONTROL,
    CONTROL_WORDS,
    LIMITS,
    PREFIXES,
    REGION_SHIFT,
    STATE,
    WINDOW,
    X_DATA,
    Y_DATA,
)
from odt.host import traits
from odt.host.traits import is_float

LINES = sorted([line.split() for line in traits.LINES], key=lambda words: int(words[0]))  # what is drawn goes by it
NAMES = tuple(words[1] for words in LINES if words[1] not in PREFIXES)
ELEMENT_SIZES = (1, 1, 2, 4, 4, 2)
SCALES = {"sk", "sx", "sw", "sy", "s", "se", "sdx", "gs", "so", "rate", "var", "va", "total", "largest", "seen"}


class Case:
    """A program of one instruction and the six regions it runs on.

    ``times``: how often each operand lies there, one behind the other: more than once behind an ``each``.
    """

    def __init__(self, name, program, regions, immediates, addresses, times):
        self.name = name
        self.program = program
        self.regions = regions
        self.immediates = immediates
        self.addresses = addresses
        self.times = times

    def run(self, executor):
        """The regions after the executor has run the program on copies of them, as bytes."""
        regions = [None if r is None else bytearray(r) for r in self.regions]
        words = array("i", self.program)
        executor.run(executor.load(self.program), regions, 12, len(words))
        return [None if r is None else bytes(r) for r in regions]


def assemble(op, addresses, immediates, arena, state, constants, prefix=()):
    """A program of this instruction alone, or with its prefix's words; every section is the whole of it."""
    stop = 12 + len(prefix) + op.words
    words = [
        0x3154444F,
        opcodes.VERSION,
        stop,
        arena,
        state,
        constants,
        12,
        stop,
        12,
        stop,
        12,
        stop,
    ]
    words += prefix
    words += [op.number] + addresses + [immediates[name] for name in op.immediates]
    return array("i", words).tobytes()


def draw(rng, name, prefix=None):
    """A random Case of the instruction, behind a prefix if one is given; rng is a random.Random."""
    op = opcodes.opcode(name)
    immediates = draw_immediates(rng, op)
    varied = None
    if prefix == "each":
        varied = rng.choice([size for size in op.immediates if is_size(size)])
        total, most = rng.randint(1, 5), rng.randint(1, 4)
    control = draw_control(rng, op)
    sizes = [0] * 6
    repeats = [1] * len(op.operands)
    addresses = []
    where = {}
    pieces = []
    for i, (operand, access, dtype, _, shares) in enumerate(op.operands):
        if dtype == "buf":
            addresses.append((X_DATA if operand == "x" else Y_DATA) << REGION_SHIFT)
            continue
        need = op.bytes(i, immediates)
        if operand == "c":
            addresses.append(CONTROL << REGION_SHIFT)
            continue
        if shares is not None and rng.random() < 0.4 and not varied:
            where[operand] = shares  # its address is that of a later operand
            addresses.append(None)
            continue
        places = (ARENA, STATE, CONSTANTS) if access == ":" else (ARENA, STATE)
        if operand in where.values():
            places = (ARENA, STATE)
        region = rng.choice(places)
        unit = min(4, opcodes.SIZES[dtype])
        offset = (sizes[region] + rng.randrange(9) + unit - 1) // unit * unit
        times = (most if region == ARENA else total) if varied in op.operands[i][3] else 1
        sizes[region] = offset + need * times
        addresses.append(region << REGION_SHIFT | offset)
        repeats[i] = times
        for repeat in range(times):
            piece = contents(rng, op, operand, dtype, need, immediates)
            pieces.append((region, offset + repeat * need, piece))
    names = [operand[0] for operand in op.operands]
    for operand, other in where.items():
        addresses[names.index(operand)] = addresses[names.index(other)]
    words = []
    if prefix:
        if prefix == "few":
            chosen = [size for size in op.immediates if is_size(size) and rng.random() < 0.5]
            most = math.gcd(*[immediates[size] for size in chosen]) or 1
            given = [most, sum(1 << op.immediates.index(size) for size in chosen)]
            listed = [[rng.randint(0, most + 1)]]
        else:
            places = [-1] + [k for k, other in enumerate(op.immediates) if other in ("at", "id")]
            given = [total, most, op.immediates.index(varied), rng.choice(places)]
            rows = rng.sample(range(-1, total + 1), min(most, total + 2)) + [0] * most
            listed = [[rng.randint(0, most + 1)], rows[:most]]
        words = [opcodes.opcode(prefix).number]
        for values in listed:
            offset = (sizes[ARENA] + 3) // 4 * 4
            pieces.append((ARENA, offset, array("i", values).tobytes()))
            words.append(offset)
            sizes[ARENA] = offset + 4 * len(values)
        words += given
    sizes = [size + rng.randrange(5) for size in sizes]
    regions = [bytearray(rng.randbytes(size)) for size in sizes]
    for region, offset, data in pieces:
        regions[region][offset : offset + len(data)] = data
    regions[CONTROL] = bytearray(control.tobytes())
    regions[X_DATA] = regions[Y_DATA] = None
    for operand, _, dtype, _, _ in op.operands:
        if dtype == "buf":
            region = X_DATA if operand == "x" else Y_DATA
            regions[region] = draw_data(rng, op, control, immediates)
    program = assemble(op, addresses, immediates, sizes[ARENA], sizes[STATE], sizes[CONSTANTS], words)
    return Case(name, program, regions, immediates, addresses, repeats)


# Immediates


def is_size(name):
    return name.isupper() and name not in ("PT", "PL")


def draw_name(rng):
    """An instruction's name, and the prefix it has, mostly none."""
    name = rng.choice(NAMES)
    return name, rng.choice((None, None, *PREFIXES)) if has_size(name) else None


def has_size(name):
    """Whether a prefix can belong to the instruction."""
    return any(is_size(immediate) for immediate in opcodes.opcode(name).immediates)


def draw_window(rng):
    """Sizes of a 2-D window: mostly a consistent one, padded as "same" or "valid", or neither."""
    v = {"B": rng.randint(1, 3), "C": rng.randint(1, 5), "N": rng.randint(1, 5)}
    v["H"], v["W"] = rng.randint(1, 7), rng.randint(1, 7)
    v["KH"], v["KW"] = rng.randint(1, 4), rng.randint(1, 4)
    v["SH"], v["SW"] = rng.randint(1, 3), rng.randint(1, 3)
    v["PT"], v["PL"] = rng.randint(0, 3), rng.randint(0, 3)
    if rng.random() < 0.4:
        v["PT"], v["PL"] = (v["KH"] - 1) // 2, (v["KW"] - 1) // 2
    bottom, right = rng.randint(0, 2), rng.randint(0, 2)
    v["OH"] = max(1, (v["H"] + v["PT"] + bottom - v["KH"]) // v["SH"] + 1)
    v["OW"] = max(1, (v["W"] + v["PL"] + right - v["KW"]) // v["SW"] + 1)
    if rng.random() < 0.1:  # windows that lie beside x
        v["OH"] += 1
        v["OW"] += 1
    return v


def draw_choices(rng, values):
    """Of a max-pooling: mostly such as there are, and their bytes;
    often of windows of 2x2 or 1x2 beside one another.
    """
    values["bits"] = rng.choice((1, 2, 4, 8, 16, 2, 4, 3, draw_int32(rng)))
    height = rng.choice((0, 0, 0, 0, 1, 1, 2, 2, 2))
    if height:
        values.update(bits=height, KH=height, KW=2, SH=height, SW=2, PT=0, PL=0)
        for size, outputs, window in (("H", "OH", height), ("W", "OW", 2)):
            values[size] += values[size] < window
            values[outputs] = values[size] // window + (rng.random() < 0.05)
    outputs = values["B"] * values["OH"] * values["OW"] * values["N"]
    values["S"] = max(1, (outputs * max(1, values["bits"] % 32) + 7) // 8 - (rng.random() < 0.1))


def draw_cell(rng, name, values):
    """Of a recurrent layer: mostly sizes that fit together."""
    kind, units, steps = rng.randint(0, 2), rng.randint(1, 5), rng.randint(1, 4)
    values.update(kind=kind, H=units, T=steps, G=(1, 3, 4)[kind] * units)
    for name in ("R", "K", "E"):
        values[name] = rng.choice((steps, steps, steps, rng.randint(1, steps)))
    if rng.random() < 0.15:
        values[rng.choice(("G", "R", "K", "E"))] = rng.randint(1, 6)
    if rng.random() < 0.3:
        values["kind"] += 4  # it goes on
    if rng.random() < 0.05:
        values["kind"] = draw_int32(rng)


def draw_immediates(rng, op):
    values = draw_window(rng) if set(WINDOW.split()) <= set(op.immediates) else {}
    if op.name.startswith("transposed"):  # x and y change places
        for name in ("H", "W"):
            values[name], values["O" + name] = values["O" + name], values[name]
    elif op.name.startswith("group") and rng.random() < 0.9:
        values["G"] = rng.randint(1, 3)
        values["N"] = values["G"] * rng.randint(1, 3)
    elif values and "conv2d" not in op.name:
        values["C"] = values["N"]
    if op.name.startswith("depthwise") and rng.random() < 0.25:  # a filter as large as the image
        values.update(KH=values["H"], KW=values["W"], PT=0, PL=0, OH=1, OW=1)
    if op.name.startswith("recur"):
        draw_cell(rng, op.name, values)
    elif "R" in op.immediates:  # rows of N, mostly among them
        values["R"], before = rng.randint(1, 6), rng.choice((0, rng.randint(0, 5)))
        values["N"] = values["R"] + before + rng.choice((0, rng.randint(0, 5)))
        if op.name.startswith("depthwise"):
            values["C"] = values["N"]
        values["at"] = rng.choice((before, before, before, -1, rng.randint(0, 12), draw_int32(rng)))
    elif op.name in ("place", "slice") or op.name.startswith("concat"):  # columns of a row, mostly inside it
        values["K"], before = rng.randint(1, 9), rng.choice((0, rng.randint(0, 9)))
        values["N"] = values["K"] + before + rng.choice((0, rng.randint(0, 9)))
        values["at"] = rng.choice((before, before, before, -1, rng.randint(0, 20), draw_int32(rng)))
    elif "fill" in op.immediates or op.name == "batch_to_space":  # mostly as much as the image has
        for size, step, before, batches in (("H", "SH", "PT", "OH"), ("W", "SW", "PL", "OW")):
            values[size], values[step] = rng.randint(1, 7), rng.randint(1, 3)
            values[before] = rng.choice((0, rng.randint(0, values[step] - 1), rng.randint(0, 12)))
            whole = (values[size] + values[before] + values[step] - 1) // values[step]
            values[batches] = max(1, whole + rng.choice((0, 0, 0, 1, -1)))
    if "bits" in op.immediates and "OH" in values:
        draw_choices(rng, values)
    if op.name.startswith("curve") and rng.random() < 0.3:  # so many that all bytes' results are computed first
        values["N"] = rng.randint(256, 300)
    if op.name.startswith(("open", "masked")):
        values["N"] = rng.randint(1, 40)
        values["S"] = max(1, (values["N"] + 7) // 8 + rng.choice((0, 0, 0, 1, -1)))
    zero = rng.randint(-128, 127)
    zero_lo = rng.choice(((-128, -128), (0, -127), (0, 0), (zero, -127), (zero, -128), (zero, zero)))
    floats = is_float(op.name)
    beta = 1.0 - 10 ** rng.uniform(-3, 0)
    for name in op.immediates:
        if name in values:
            continue
        if name in LIMITS or name in ("M", "N", "K", "S", "F", "C", "U", "T", "V"):
            v = rng.choice((1, rng.randint(1, 4), rng.randint(1, 19)))
        elif name in ("beta", "unit", "error"):
            v = draw_scale(rng, -12, 18)
        elif name == "free":
            v = rng.choice((0, draw_scale(rng, -6, 3) if floats else rng.randint(0, 1 << 19), draw_int32(rng)))
            v &= 0x7FFFFFFF
        elif name in ("warmup", "width"):
            v = rng.choice((0, 1, rng.randint(1, 1000), draw_int32(rng)))
        elif name == "factor" and op.name == "mean2d_i8" and rng.random() < 0.5:
            v = ONE  # and of one scale, see contents(): an exact mean
        elif name == "factor" or name == "limit" and "clip" in op.name:
            v = draw_scale(rng, -12, 12)
        elif name == "limit":
            v = rng.choice((127, 255, 1, 0x7FFFFFFF, rng.randint(1, 1 << 30)))
        elif name in ("beta1", "beta2"):
            v = rng.choice((0, 966367642, 1072668082, rng.randrange(1 << 30), (1 << 30) - 1))
        elif name == "zy":
            v = zero_lo[0]
        elif name == "hi":
            v = (
                rng.choice((0x7F800000, 0x40C00000, draw_scale(rng, -2, 3)))
                if floats
                else rng.choice((128, 128, 127, 3))
            )
        elif name == "lo":
            v = zero_lo[1] if "zy" in op.immediates else rng.choice((-128, -128, -128, -127, 0, 5))
        elif name == "fall":
            v = rng.choice((3, 5, 15, 0, draw_int32(rng)))
        elif name in ("relu", "common", "adaptive", "fine", "batch", "away"):
            v = rng.randint(0, 1)
        elif name == "top":
            v = rng.choice((1, rng.randint(1, 16), draw_int32(rng)))
        elif name == "decay":
            v = draw_scale(rng, -16, 2)
        elif name == "G":
            v = rng.choice((1, 2, rng.randint(1, 4)))
        elif name == "drop":
            v = rng.choice((0, 32768, rng.randrange(65536), draw_int32(rng)))
        elif name == "smooth":
            if floats:
                v = rng.choice((0, float_to_bits(rng.random())))
            else:
                v = rng.choice((0, rng.randint(0, 65536), rng.randint(0, 65536), draw_int32(rng)))
        elif name == "alpha":
            v = (
                draw_scale(rng, -8, 8)
                if floats or op.name.startswith("curve")
                else rng.choice((0, rng.randint(1, 1 << 17), draw_int32(rng)))
            )
        elif name == "diversity":
            v = rng.choice((0, draw_scale(rng, -4, 4))) if floats else rng.choice((0, 65536, draw_int32(rng)))
        elif name == "delta":
            v = draw_scale(rng, -8, 8)
        elif name == "rows":
            v = rng.choice((0, 1, rng.randint(1, 9), draw_int32(rng)))
        elif name == "bits":
            v = rng.choice((8, rng.randint(0, 12), draw_int32(rng)))
        elif name in ("keep", "rest"):
            v = float_to_bits(beta if name == "keep" else 1.0 - beta)
        elif name == "slope":
            v = rng.choice((0, draw_scale(rng, -8, 0), 0x3F800000))
        elif name == "kind":
            v = rng.choice((0, 1, 2, draw_int32(rng)))
        elif name == "gain":
            v = draw_scale(rng, -8, 8)
        elif name == "fill":
            v = rng.choice((-128, 0, rng.randint(-128, 127), draw_int32(rng)))
        elif name == "causal" or name == "id" and op.name.startswith("mix") and rng.random() < 0.5:
            v = rng.choice((0, 1)) if name == "causal" else 0
        elif name == "all":
            v = rng.choice((0, 1))
        elif name in ("id", "at", "ahead"):
            v = rng.randrange(-1 << 31, 1 << 31)
        elif name == "which":
            v = rng.choice((0, 1, 2, 3, draw_int32(rng)))
        elif name in ("sign", "back"):
            v = rng.choice((0, 0, 1, -1))
        elif name == "degree":
            v = rng.choice((0, 1, 2, draw_int32(rng)))
        elif name == "epsilon":
            v = draw_int32(rng) if op.name == "perturb_i32" else draw_scale(rng, -12, 4)
        elif name == "mu":
            v = float_to_bits(beta) if floats else rng.choice((0, int(beta * 65536), 65535))
        elif name in ("b1", "b2"):
            v = float_to_bits(beta)
        elif name in ("c1", "c2") and floats:
            v = float_to_bits(1.0 - beta)
        elif name == "c1":
            v = rng.choice((410, 4096, 1, rng.randint(1, 4096), rng.randint(1, 4096), draw_int32(rng)))
        elif name == "r2":
            v = rng.choice((65503, 62176, rng.randint(0, 65535)))
        elif name == "rc2":
            v = rng.choice((518, 5181, 16385, rng.randint(0, 16384), rng.randint(0, 16384), draw_int32(rng)))
        elif name in ("low", "high"):
            v = rng.choice((0, 6554, 32768, 65536, draw_int32(rng)))
        elif name == "eps":
            v = float_to_bits(10 ** rng.uniform(-8, -3))
        elif name in ("z", "zx", "za", "zb"):
            v = rng.choice((-128, 0, rng.randint(-128, 127)))
        else:
            raise KeyError("nothing draws the immediate %s of %s" % (name, op.name))
        values[name] = v
    return values


# Contents


def draw_scale(rng, low=-20, high=4):
    """Float32 bits of a scale between powers of two."""
    mantissa = rng.choice((0, 0x7FFFFF, rng.randrange(1 << 23)))
    return (rng.randint(low, high - 1) + 127) << 23 | mantissa


def any_scale(rng):
    """Mostly a scale as models have them, sometimes any."""
    if rng.random() < 0.02:  # a word that is none
        return rng.choice((0, 1, -1, 0x7F800000, 0x7FC00000, 0x7FFFFF, -0x40800000))
    return draw_scale(rng) if rng.random() < 0.9 else draw_scale(rng, -126, 127)


def draw_float(rng):
    """Float32 bits of a value that store leaves as it is."""
    if rng.random() < 0.1:
        return 0
    wide = rng.random() < 0.1
    bits = draw_scale(rng, -51, 30) if wide else draw_scale(rng, -6, 3)
    return bits | rng.randrange(2) << 31


def draw_int32(rng):
    v = rng.choice((0, 1 << rng.randrange(31), rng.randrange(1 << rng.randint(1, 31))))
    return v if rng.randrange(2) else -v


def draw_peak(rng):
    return rng.choice((0, rng.randrange(300), rng.randrange(1 << 31)))


def contents(rng, op, operand, dtype, size, immediates):
    """Random bytes for an operand, by its name and dtype."""
    count = size // opcodes.SIZES[dtype]
    if dtype == "mul":
        wide = rng.random() < 0.1
        pairs = [multiplier(any_scale(rng) if wide else draw_scale(rng, -14, 0)) for _ in range(count)]
        return array("i", [v for pair in pairs for v in pair]).tobytes()
    if dtype == "i8":
        low = -127 if operand == "w" else -128
        if operand == "ex":
            return array("b", [rng.randint(-128, 100) for _ in range(count)]).tobytes()
        span = rng.choice((127, 127, 3))
        values = [rng.randint(max(low, -span - 1), span) for _ in range(count)]
        if operand == "e" and rng.random() < 0.3:  # behind a max-pooling
            values = [v if rng.random() < 0.1 else 0 for v in values]
        if operand == "w" and rng.random() < 0.2:
            values = [rng.choice((-127, 127)) for _ in range(count)]
        return array("b", values).tobytes()
    if dtype == "i16":
        top = rng.choice((0, 300, 1 << 12, 1 << 14, 32767))
        low = 0 if op.name.startswith("adam") and operand == "v" else -top
        if operand == "weights":
            low, top = rng.choice((0, 0, -1)), 32767
        return array("h", [rng.randint(low, top) for _ in range(count)]).tobytes()
    if dtype == "f32":
        values = [draw_float(rng) for _ in range(count)]
        if rng.random() < 0.1:  # a model that has diverged
            for _ in range(1 + count // 8):
                values[rng.randrange(count)] = rng.choice((0x7F800000, 0xFF800000, 0x7FC00000))
        if (operand == "v" and op.name.startswith("adam")) or operand in ("weights", "var", "va", "total", "largest"):
            values = [v & 0x7FFFFFFF for v in values]
        return array("I", values).tobytes()
    if op.name == "unpack_i4":  # any words
        return rng.randbytes(4 * count)
    if operand == "h":
        p = (1 << 30, rng.randrange(1 << 30))
        return array("I", [rng.getrandbits(32), rng.getrandbits(32), rng.choice(p), rng.choice(p)]).tobytes()
    if op.name == "mean2d_i8" and immediates["factor"] == ONE:
        return array("i", [ONE]).tobytes()
    if operand == "peak":
        return array("i", [draw_peak(rng)]).tobytes()
    if operand == "rate":
        rate = 0 if rng.random() < 0.1 else draw_scale(rng, -16, 0)
        if op.name in ("adam_i8", "apply_i8", "round_i8") and rng.random() < 0.2:
            rate = draw_scale(rng, 0, 20)
        return array("i", [rate, draw_scale(rng, -8, 0)][:count]).tobytes()
    if operand == "st":  # pairs: a mean in steps / 1024, the inverse of a deviation
        wide = rng.random() < 0.1
        means = [draw_int32(rng) if wide else rng.randint(-1 << 17, 1 << 17) for _ in range(count // 2)]
        pairs = [(mean, any_scale(rng) if wide else draw_scale(rng, -7, 1)) for mean in means]
        return array("i", [v for pair in pairs for v in pair]).tobytes()
    if operand in ("gamma", "beta", "mean"):  # times 2^-20
        top = rng.choice((21, 21, rng.randint(1, 30)))
        return array("i", [rng.randint(-1 << top, 1 << top) for _ in range(count)]).tobytes()
    is_scale = operand in SCALES or op.name == "product" or (operand == "ds" and op.name.startswith(("apply", "round")))
    if is_scale:
        draw = draw_scale if is_float(op.name) else any_scale
        if op.name in ("apply_i8", "round_i8") and operand == "ds":
            values = [draw_scale(rng, -26, -6) for _ in range(count)]
        else:
            values = [draw(rng) for _ in range(count)]
        if rng.random() < 0.4:  # rows like the one before: what belongs to a scale may be kept
            values = [values[rng.randrange(min(2, count))] for _ in values]
        return array("i", values).tobytes()
    if operand in ("count", "ratio"):
        top = 20 if operand == "count" else 65536
        return array("i", [rng.choice((0, -1, rng.randint(1, top), rng.randint(1, top), draw_int32(rng)))]).tobytes()
    if operand == "rows":
        return array("i", [rng.randint(-1, immediates["N"]) for _ in range(count)]).tobytes()
    if operand in ("sums", "r"):
        return bytes(4 * count)
    if operand in ("m", "k"):  # losses and hits
        return array("i", [rng.choice((draw_int32(rng), 0, 0)) for _ in range(count)]).tobytes()
    if operand == "g":  # a scale and a sign
        sign = rng.choice((1, -1, 1, -1, 0, draw_int32(rng)))
        return array("i", [0 if rng.random() < 0.1 else any_scale(rng), sign]).tobytes()
    if operand == "limited":
        return array("i", [rng.choice((0, 1, draw_int32(rng)))]).tobytes()
    if operand in ("b", "d", "ds", "y", "dw", "db", "cell"):
        span = rng.choice((1 << 30, 1000, 1))
        values = [draw_int32(rng) if span > 1000 else rng.randint(-span, span) for _ in range(count)]
        if operand == "b":
            values = [max(-1 << 30, min(1 << 30, v)) for v in values]
        if (
            op.name == "adam_i8" and operand == "d" and rng.random() < 0.5
        ):  # rows of units that let nothing through, or one element
            K = immediates["K"]
            dead = [rng.random() < 0.6 for _ in range(count // K)]
            spared = rng.randrange(count) if rng.random() < 0.5 else -1
            values = [0 if dead[at // K] and at != spared else v for at, v in enumerate(values)]
        return array("i", values).tobytes()
    raise KeyError("nothing draws the operand %s of %s" % (operand, op.name))


# The user's data


def draw_control(rng, op):
    control = array("i", [rng.randrange(-1 << 31, 1 << 31) for _ in range(CONTROL_WORDS)])
    samples = rng.choice((1, 2, rng.randint(1, 9), rng.randint(1, 300)))
    control[opcodes.SAMPLES] = samples
    control[opcodes.POSITION] = rng.choice((0, rng.randrange(samples + 1), -1))
    control[opcodes.COUNT] = rng.choice((rng.randint(-1, 4), 19, 19))
    control[opcodes.ORDER] = rng.choice((0, rng.randrange(-1 << 31, 1 << 31)))
    control[opcodes.RATE] = rng.choice((0, draw_scale(rng, -12, 0), draw_scale(rng, -12, 0)))
    for base in (opcodes.X_FORMAT, opcodes.Y_FORMAT):
        control[base] = rng.choice((0, 1, 2, 3, 4, 4, 5))
        control[base + 1] = draw_scale(rng, -10, 4)
        control[base + 2] = rng.choice((0, rng.randint(-300, 300), draw_int32(rng)))
    control[opcodes.LOSS] = rng.choice((0, rng.randrange(1 << 20), -1, draw_int32(rng)))
    control[opcodes.LOSS_HIGH] = rng.choice((0, rng.randrange(1 << 30), -1))
    control[opcodes.CORRECT] = rng.randrange(1000)
    if rng.random() < 0.1:
        control[opcodes.KEY] = rng.randint(0, 1)
    if op.name.startswith("distil") and rng.random() < 0.7:  # labels have logits
        control[opcodes.Y_ZERO] = 1
    if is_float(op.name):
        control[opcodes.LOSS] = draw_float(rng) & 0x7FFFFFFF
    return control


def draw_data(rng, op, control, immediates):
    """A whole buffer of samples in the control block's format, sometimes too short."""
    is_x = op.name.startswith("gather")
    kind = control[opcodes.X_FORMAT if is_x else opcodes.Y_FORMAT]
    labels = "labels" in [operand[0] for operand in op.operands]
    elements = (
        immediates.get("F", immediates.get("S", 1) * immediates.get("C", 1))
        if is_x
        else 1
        if labels
        else immediates["N"]
    )
    samples = control[opcodes.SAMPLES] - (rng.random() < 0.1)
    count = samples * elements
    if labels:
        top = min(immediates["N"] + (rng.random() < 0.2), 128 if kind == 0 else 1 << 15)
        values = [rng.randrange(top) - (rng.random() < 0.05) for _ in range(count)]
        if op.name.startswith("distil") and control[opcodes.Y_ZERO] == 1:
            none = rng.random()
            for at, value in enumerate(values):
                logits = [rng.randint(-127, 127) for _ in range(immediates["N"])]
                logits[0] = -128 if rng.random() < none else logits[0]
                values[at : at + 1] = [[value] + logits]
            values = [value for row in values for value in row]
            count = len(values)
        if kind == 4:
            return bytearray(struct.pack("<%df" % count, *[v + rng.uniform(-0.4, 0.4) for v in values]))
        values = [v & 255 if kind == 1 else v & 65535 if kind == 5 else v for v in values]
        return bytearray(struct.pack("<%d%s" % (count, "bBhi H"[kind]), *values))
    if kind != 4:
        return bytearray(rng.randbytes(count * ELEMENT_SIZES[kind] + rng.randrange(3)))
    values = [draw_float(rng) for _ in range(count)]
    for i in range(count):  # what only the user's data may hold
        if rng.random() < 0.1:
            specials = (0x80000000, rng.randrange(1 << 23), draw_scale(rng, -126, -40))
            if not is_float(op.name):
                specials += (0x7F800000, 0xFF800000, 0x7FC00000, draw_scale(rng, 20, 127))
            values[i] = rng.choice(specials)
    return bytearray(array("I", values).tobytes())
