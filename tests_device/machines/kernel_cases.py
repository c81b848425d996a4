"""Cases of single instructions for machines, and how they are run there."""

import struct

import instructions
from checkout import ROOT

from odt.base import opcodes  # noqa: E402
from odt.host import routes, traits  # noqa: E402

# By the table: the instructions that compute integers alone; those of them for which route.h has a loop of a core, or
# that are named as one of these (adam_i16 as adam_i8); and those of layers and optimizers.
NAMES = [name for name in instructions.NAMES if not instructions.is_float(name)]
_ROUTED = {operation.split("_")[0] for operation, _, _ in routes.rows(ROOT)}
OF_CORES = {name for name in NAMES if name.split("_")[0] in _ROUTED or "2d_" in name}
_FAMILIES = ("linear", "pool", "join", "activation", "norm", "update")
OF_LAYERS = [name for name in NAMES if name in OF_CORES or traits.TRAITS[name].family in _FAMILIES]


ON_BOARD = """
import _odt, gc
if ODT_ARGS["parts"]:
    _odt.threads(0)
odd = 0
for batch in ODT_ARGS["batches"]:
    gc.collect()
    data = memoryview(f.read(batch))
    while data:
        blocks = []
        for _ in range(7):
            size = int.from_bytes(data[:4], "little")
            none = size == 0xFFFFFFFF
            blocks.append(None if none else bytearray(data[4 : 4 + size]))
            data = data[4 if none else 4 + size :]
        for data_region in odd * ODT_ARGS["data"]:  # the user's data lie anywhere
            if blocks[1 + data_region]:
                blocks[1 + data_region] = memoryview(bytearray(1) + blocks[1 + data_region])[1:]
        odd ^= 1
        program = bytes(blocks[0])
        _odt.run(_odt.load(program), blocks[1:], 12, len(program) // 4)
        print(*[_odt.crc32(region) for region in blocks[1:4]])
        if ODT_ARGS["whole"]:
            print(*[region.hex() for region in blocks[1:4]])
"""


def grow(rng, values, op):
    """Sizes that fill blocks and do not: channels and depths of 1 to 90, windows of 1 to 7,
    some rows or elements more.
    """
    wide = lambda: rng.choice((1, 3, 4, 5, 8, 16, rng.randint(1, 90)))  # noqa: E731
    if "KH" not in values:
        if "dense" in op:
            values.update(M=rng.choice((1, 2, 3, 4, 5, 7, 16, 33, rng.randint(1, 80))), K=wide(), N=wide())
            return
        times = rng.choice((1, 3, 8, 16, 37))
        longer = [name for name in ("N", "S", "C", "F") if name in values]
        for name in ("K", "N", "at") if "concat" in op else longer and [rng.choice(longer)]:
            values[name] *= times
        if op.startswith(("open", "masked")):
            values["S"] = (values["N"] + 7) // 8
        elif op.startswith("bias_dw"):  # sums of 256 at a time, of four channels
            values.update(M=rng.choice((1, 7, 255, 256, 257, 600)), N=rng.choice((1, 3, 4, 8, 12)))
        return
    values.update(B=rng.randint(1, 2), C=wide() % 40 + 1, N=wide() % 24 + 1)
    if "depthwise" in op:
        values["N"] = values["C"]
    elif "G" in values:
        values["G"] = rng.randint(1, 4)
        values.update(C=rng.choice((1, 3, 4, 8, 12)), N=values["G"] * rng.choice((1, 2, 3, 4, 6)))
    values.update(H=rng.choice((1, 2, 3, 5, 8)), W=rng.choice((2, 3, 8, 35)))
    values.update(KH=rng.choice((1, 2, 3, 5)), KW=rng.choice((1, 2, 3, 5)))
    if "conv2d" in op and rng.random() < 0.5:  # windows that are gathered
        values.update(C=rng.choice((1, 2, 3)), KH=rng.choice((1, 3, 10)), KW=rng.choice((3, 4, 5)))
    elif "depthwise" in op and rng.random() < 0.2:
        values.update(KH=rng.choice((7, 8, 9)), KW=rng.choice((7, 8, 9, 10)))
    elif "depthwise" in op and rng.random() < 0.4:  # few channels, filters wider than are packed for four
        C = rng.choice((1, 2, 3, 6))
        values.update(C=C, N=C, W=rng.choice((16, 35, 70)), KW=rng.choice((3, 8, 9, 12)))
    values.update(SH=rng.randint(1, 2), SW=rng.choice((1, 1, 2, 3)))
    if "pool" in op and rng.random() < 0.5:  # each pixel is of one window
        values.update(SH=values["KH"], SW=values["KW"])
    if op.startswith("conv2d") and rng.random() < 0.15:  # a line, or a row of errors, longer than is packed at once
        values.update(rng.choice((
            {"B": 1, "H": 2, "W": 8, "C": rng.choice((72, 90)), "N": 5, "KH": rng.choice((1, 2)), "KW": 5},
            {"B": 1, "H": 1, "W": 600, "C": rng.choice((1, 4)), "N": 5, "KH": 1, "KW": 3, "SW": 2},
        )))  # fmt: skip
    if op.startswith("conv2d") and rng.random() < 0.25:  # many small images: by positions
        values.update(B=rng.choice((8, 9, 16, 26)), H=rng.randint(1, 4), W=rng.randint(2, 5), SH=1, SW=1)
        values.update(KH=rng.choice((1, 3, 5)), KW=rng.choice((3, 5)), C=rng.randint(1, 12), N=rng.randint(2, 13))
    values.update(PT=values["KH"] // 2, PL=values["KW"] // 2)
    if rng.random() < 0.3:
        values.update(PT=0, PL=0)
    if "depthwise" in op and rng.random() < 0.2:  # each weight meets one input
        values.update(KH=values["H"], KW=values["W"], PT=0, PL=0)
    upwards = "transposed" in op and rng.random() < 0.7
    if upwards and rng.random() < 0.3:  # rows that are longer than a panel is deep
        values.update(B=1, H=1, W=300, KH=1, PT=0, C=rng.choice((1, 3, 8)), N=rng.choice((1, 4, 5)))
    elif upwards and rng.random() < 0.3:  # images of one pixel
        values.update(H=1, W=1, PT=0, PL=0)
    for o, i, k, s, p in (("OH", "H", "KH", "SH", "PT"), ("OW", "W", "KW", "SW", "PL")):
        if upwards:
            values[o] = max(1, (values[i] - 1) * values[s] - 2 * values[p] + values[k])
        else:
            values[o] = max(1, (values[i] + 2 * values[p] - values[k]) // values[s] + 1)
    if "bits" in values:
        instructions.draw_choices(rng, values)


def draw_medium(rng, name, monkeypatch):
    small = instructions.draw_immediates

    def medium(rng, op):
        values = small(rng, op)
        grow(rng, values, op.name)
        return values

    with monkeypatch.context() as patch:
        patch.setattr(instructions, "draw_immediates", medium)
        return instructions.draw(rng, name)


def run(machine, cases, parts, whole=False):
    """The lines that a machine prints of the cases: CRCs of what may have been written, or all of it.

    parts: kernels compute in two parts as for two cores, but one after the other.
    """
    batches = [b""]  # that are read at a time
    for case in cases:
        blocks = b""
        for block in [case.program, *case.regions]:
            blocks += struct.pack("<i", -1 if block is None else len(block)) + (block or b"")
        if len(batches[-1]) + len(blocks) > 20000:
            batches.append(b"")
        batches[-1] += blocks
    laid = machine.lay(b"".join(batches))
    args = {"batches": [len(batch) for batch in batches], "whole": whole, "parts": parts}
    args["data"] = [opcodes.X_DATA, opcodes.Y_DATA]
    return machine.exec(laid + ON_BOARD, timeout=300, args=args).splitlines()
