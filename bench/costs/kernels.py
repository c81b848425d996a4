"""What the int8 kernels cost a multiplication: cycles of an RP2040, instructions of other cores, time here.

    build/venv/bin/python bench/costs/kernels.py                    all machines, writes bench/results/kernels.txt, .png
    build/venv/bin/python bench/costs/kernels.py rp2040 dense       one machine, the lines with "dense" in them

Each line is a program of one instruction, run by `_odt` on the machine: the figure is the whole
kernel's, with its packing and rescaling. rp2040: cycles by odt's own
interpreter, rp2040js: by that emulator's own core (tests_device/rp2040js/README.md); qemu_*: instructions executed by
QEMU; pc: nanoseconds of this PC. MACs count the taps on the padding too, as CMSIS-NN's figures do. Shapes that are hard
on a kernel (few channels, groups, one row) have lines of their own, "shape", and so have those of networks
(bench/costs/architectures.py), "network": their medians, 90th percentiles and worst, each and of all shapes, "all".
What is between the layers is counted per element, of the larger tensor where there are two: "element". Whole training
steps: bench/costs/steps.py. Where the cycles go, by the listings: bench/costs/kernels.md.
"""

import argparse
import random
import statistics
import sys
from array import array
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import architectures
import counting
import instructions
import listings
from counting import ROOT, UNITS

from odt.base import opcodes

MACHINES = ("rp2040", "qemu_m3", "qemu_m4", "qemu_m7", "qemu_m33", "qemu_rv32", "pc")
# A kind: what its lines' median may be on a machine.
BOUNDS = {
    "forward": {"rp2040": 4.5, "qemu_m4": 1.4},
    "forward, batch 1": {"rp2040": 5.5},
    "input gradient": {"rp2040": 5.0, "qemu_m4": 1.7},
    "weight gradient": {"rp2040": 5.0, "qemu_m4": 1.7},
    "depthwise": {"rp2040": 9.0, "qemu_m4": 4.0},
}
# Of all shapes: median, 90th percentile, worst.
ALL = {
    "depthwise": {"rp2040": (7.5, 12, 18), "qemu_m4": (1.25, 3, 5)},
    "forward": {"rp2040": (4.3, 8, 12), "qemu_m4": (1.25, 3, 5)},
    "input gradient": {"rp2040": (4.4, 8, 12), "qemu_m4": (1.25, 3, 5)},
    "weight gradient": {"rp2040": (4.7, 8, 12), "qemu_m4": (1.25, 3, 5)},
}


def window(B, H, W, C, N, KH, KW, stride=1):
    """A "same" convolution's immediates."""
    SH = 1 if H == 1 else stride
    OH, OW = -(-H // SH), -(-W // stride)
    PT = max((OH - 1) * SH + KH - H, 0) // 2
    PL = max((OW - 1) * stride + KW - W, 0) // 2
    sizes = dict(B=B, H=H, W=W, C=C, N=N, KH=KH, KW=KW, SH=SH, SW=stride, PT=PT, PL=PL)
    return dict(sizes, OH=OH, OW=OW)


CONVOLUTIONS = {
    "conv 3x3 16x16x16->32": window(1, 16, 16, 16, 32, 3, 3),
    "conv 3x3/2 16x16x16->32": window(1, 16, 16, 16, 32, 3, 3, 2),
    "conv 1x1 16x16x32->32": window(1, 16, 16, 32, 32, 1, 1),
    "conv 3x3 16x16x1->8": window(1, 16, 16, 1, 8, 3, 3),
    "conv 1x3 16*40x25->25": window(4, 1, 40, 25, 25, 1, 3),
    "conv 3x3 16*4x4x8->16": window(16, 4, 4, 8, 16, 3, 3),
}
DENSE = {
    "dense 256->32 batch 16": dict(M=16, K=256, N=32),
    "dense 64->32 batch 16": dict(M=16, K=64, N=32),
    "dense 64->10 batch 16": dict(M=16, K=64, N=10),
    "dense 256->32 batch 1": dict(M=1, K=256, N=32),
}
DEPTHWISE = {
    "depthwise 3x3 16x16x32": window(1, 16, 16, 32, 32, 3, 3),
    "depthwise 3x3 8x8x16": window(1, 8, 8, 16, 16, 3, 3),
    "depthwise 3x3/2 16x16x32": window(1, 16, 16, 32, 32, 3, 3, 2),
}


# Of models as they are, and not easy: few channels, few taps, groups, one row.
SHAPES = {
    "conv2d": {
        "3x3 8x8x1->8 (digits)": window(4, 8, 8, 1, 8, 3, 3),
        "3x3 4x4x8->16 (digits)": window(4, 4, 4, 8, 16, 3, 3),
        "10x4/2 49x10x1->24 (keywords)": window(1, 49, 10, 1, 24, 10, 4, 2),
        "5x5 16x16x1->6 (LeNet)": window(1, 16, 16, 1, 6, 5, 5),
        "3x3 16x16x3->8": window(1, 16, 16, 3, 8, 3, 3),
        "3x3/2 16x16x3->8": window(1, 16, 16, 3, 8, 3, 3, 2),
        "1x1 16x16x4->4": window(1, 16, 16, 4, 4, 1, 1),
        "1x1 8x8x8->16": window(1, 8, 8, 8, 16, 1, 1),
        "1x3 64x1->4": window(1, 1, 64, 1, 4, 1, 3),
        "1x3 128x9->16 (HAR)": window(1, 1, 128, 9, 16, 1, 3),
        "1x5 128x3->8": window(1, 1, 128, 3, 8, 1, 5),
    },
    "group_conv2d": {
        "2 groups, 1x1 8x8x32->32": dict(window(1, 8, 8, 16, 32, 1, 1), G=2),
        "4 groups, 3x3 8x8x16->16": dict(window(1, 8, 8, 4, 16, 3, 3), G=4),
        "16 groups, 3x3 8x8x16->32": dict(window(1, 8, 8, 1, 32, 3, 3), G=16),
        "8 groups, 3x3 8x8x32->8": dict(window(1, 8, 8, 4, 8, 3, 3), G=8),
        "8 groups, 3x3/2 16x16x8->16": dict(window(1, 16, 16, 1, 16, 3, 3, 2), G=8),
        "8 groups, 1x3 128x8->8": dict(window(1, 1, 128, 1, 8, 1, 3), G=8),
        "8 groups, 1x1 8x8x32->8": dict(window(1, 8, 8, 4, 8, 1, 1), G=8),
        "8 groups, 1x1 16x16x8->8": dict(window(1, 16, 16, 1, 8, 1, 1), G=8),
    },
    "transposed2d": {
        "transposed 2x2/2 8x8x16->16": dict(
            B=1, H=8, W=8, C=16, N=16, KH=2, KW=2, SH=2, SW=2, PT=0, PL=0, OH=16, OW=16
        ),
    },
    "dense": {
        "64->10 batch 1": dict(M=1, K=64, N=10),
        "128->64 batch 1": dict(M=1, K=128, N=64),
        "64->32 batch 3": dict(M=3, K=64, N=32),
        "3->1 batch 1": dict(M=1, K=3, N=1),
        "32->1 batch 16": dict(M=16, K=32, N=1),
        "64->1 batch 1": dict(M=1, K=64, N=1),
        "1->64 batch 1": dict(M=1, K=1, N=64),
        "6->561 batch 1": dict(M=1, K=6, N=561),
        "1000->1 batch 16": dict(M=16, K=1000, N=1),
    },
    "depthwise2d": {
        "depthwise 3x3 2x2x64": window(2, 2, 2, 64, 64, 3, 3),
        "depthwise 3x3/2 16x16x16": window(1, 16, 16, 16, 16, 3, 3, 2),
        "depthwise 3x1 25x5x24": window(1, 25, 5, 24, 24, 3, 1),
        "depthwise 1x3 64x16": window(1, 1, 64, 16, 16, 1, 3),
        "depthwise 7x7 8x8x16": window(1, 8, 8, 16, 16, 7, 7),
        "depthwise 8x8 8x8x16": window(1, 8, 8, 16, 16, 8, 8),
        "depthwise 1x9 64x16": window(1, 1, 64, 16, 16, 1, 9),
        "depthwise 1x8 128x3": window(1, 1, 128, 3, 3, 1, 8),
        "depthwise 3x3 16x16x3": window(1, 16, 16, 3, 3, 3, 3),
        "depthwise 3x3 16x16x1": window(1, 16, 16, 1, 1, 3, 3),
    },
}
GRADIENTS = ("", "forward"), ("_dx", "input gradient"), ("_dw", "weight gradient")
LEAST = 2000  # MACs of a shape that counts
# Of a weight gradient that is measured: of the first rows, where all are more than a board has room for.
SUMS = 24 << 10
POOL = dict(B=1, H=16, W=16, C=16, N=16, KH=2, KW=2, SH=2, SW=2, PT=0, PL=0, OH=8, OW=8)
POOL3 = dict(POOL, KH=3, KW=3, OH=7, OW=7)
POOL4 = dict(B=1, H=1, W=64, C=16, N=16, KH=1, KW=4, SH=1, SW=4, PT=0, PL=0, OH=1, OW=16)
FACTOR = 0x3F800000
BATCH_NORM = dict(M=1, S=256, G=16, C=1)
NORMS = (
    ("LayerNorm, 8 wide", dict(M=64, S=1, G=1, C=8)),
    ("LayerNorm, 64 wide", dict(M=16, S=1, G=1, C=64)),
    ("GroupNorm of 4 channels", dict(M=4, S=64, G=4, C=4)),
)


def of_norms():
    """Lines of ELEMENTS."""
    for label, sizes in NORMS:
        width = sizes["S"] * sizes["G"] * sizes["C"]
        count = sizes["M"] * width
        yield label, "norm_stats_i8", dict(sizes, z=0, factor=FACTOR, eps=0x3A83126F), 0, count
        yield label, "norm_i8", dict(sizes, zx=0), 29, count
        yield label, "norm_dw_i8", dict(sizes, zx=0, bits=8), 0, count
        yield label, "norm_dx_i8", dict(sizes, zx=0, factor=FACTOR, rows=0, id=3, F=width), 0, count


# A label, the instruction, sizes, the shift of its multipliers, elements; a format of what it reads from the user.
ELEMENTS = (
    ("Add", "add_i8", dict(N=2048, za=-128, zb=0), 32, 2048),
    ("Multiply", "multiply_i8", dict(N=2048, za=-128, zb=0), 39, 2048),
    ("Concatenate", "concat_i8", dict(M=32, K=32, N=64, at=0, zx=0), 31, 1024),
    ("Concatenate", "slice", dict(M=32, K=32, N=64, at=0), 0, 1024),
    ("BatchNorm", "batch_stats_i8", dict(B=16, S=16, N=16, z=0, factor=FACTOR, eps=0x3A83126F), 0, 4096),
    ("BatchNorm", "norm_i8", dict(BATCH_NORM, zx=0), 29, 4096),
    ("BatchNorm", "norm_dw_i8", dict(BATCH_NORM, zx=0, bits=8), 0, 4096),
    ("BatchNorm", "norm_dx_i8", dict(BATCH_NORM, zx=0, factor=FACTOR, rows=0, id=3, F=256), 0, 4096),
    *of_norms(),
    ("softmax", "softmax_i8", dict(M=16, N=10, factor=0x3C800000), 0, 160),
    ("softmax, 100 classes", "softmax_i8", dict(M=4, N=100, factor=0x3C800000), 0, 400),
    ("softmax", "softmax_dx_i8", dict(M=16, N=10), 46, 160),
    ("sigmoid, tanh", "sigmoid_i8", dict(N=2048, z=0, factor=FACTOR), 0, 2048),
    ("sigmoid, tanh", "sigmoid_dx_i8", dict(N=2048), 45, 2048),
    ("ReLU", "relu_dx_i8", dict(N=2048), 0, 2048),
    ("average pool 2x2", "avgpool2d_i8", dict(POOL, adaptive=0), 0, 4096),
    ("average pool 2x2", "avgpool2d_dx_i8", dict(POOL, adaptive=0, top=4), 41, 4096),
    ("average pool 3x3/2", "avgpool2d_i8", dict(POOL3, adaptive=0), 0, 4096),
    ("average pool 3x3/2", "avgpool2d_dx_i8", dict(POOL3, adaptive=0, top=9), 41, 4096),
    ("max pool 2x2", "maxpool2d_choice_i8", dict(POOL, S=256, bits=2), 0, 4096),
    ("max pool 2x2", "unpool2d_i8", dict(POOL, S=256, bits=2), 0, 4096),
    ("max pool 1x4", "maxpool2d_choice_i8", dict(POOL4, S=64, bits=2), 0, 1024),
    ("max pool 1x4", "unpool2d_i8", dict(POOL4, S=64, bits=2), 0, 1024),
    ("global average 8x8x16", "globalavg_i8", dict(B=1, S=64, N=16, zx=-128), 37, 1024),
    ("UpSampling 2x2", "upsample2d", dict(B=1, H=8, W=8, N=16, SH=2, SW=2), 0, 4096),
    ("UpSampling 2x2", "upsample2d_dx_i8", dict(B=1, H=8, W=8, N=16, SH=2, SW=2), 33, 4096),
    ("input, uint8", "gather_i8", dict(B=8, F=64, z=-128), 0, 512, 1),
    ("input, int16", "gather_i8", dict(B=8, F=64, z=0), 0, 512, 2),
    ("input, float32", "gather_i8", dict(B=8, F=64, z=0), 0, 512, 4),
    ("crossentropy, 10 classes", "softmax_xent_i8", dict(B=16, N=10, z=0), 0, 160, 1),
    ("MSE, uint8 targets", "mse_i8", dict(B=16, N=16, z=0), 0, 256, 1),
    ("MSE, float32 targets", "mse_i8", dict(B=16, N=16, z=0), 0, 256, 4),
    ("Adam, float32 state", "adam_i32", dict(N=8, K=64, factor=0x3C000000, b1=0x3F666666, c1=0x3DCCCCCD,
        b2=0x3F7FBE77, c2=0x3A83126F, eps=0x33D6BF95, at=0), 0, 512),
)  # fmt: skip


def lines():
    """(label, kind, instruction, immediates, divisor, shift, format) of all that is measured."""
    quant = dict(zx=-128, zy=-128, lo=-128)
    for layers, op in ((CONVOLUTIONS, "conv2d"), (DENSE, "dense"), (DEPTHWISE, "depthwise2d")):
        for gradient, kind in GRADIENTS:
            for label, sizes in layers.items():
                macs = macs_of(op, sizes)
                name = "depthwise" if op == "depthwise2d" else kind
                if sizes.get("M") == 1:
                    name = kind + ", batch 1"
                yield label, name, op + gradient + "_i8", dict(quant, **sizes), macs, None, 0
    sizes = dict(N=32, K=64, id=5, common=0)
    adam = dict(sizes, factor=0x3C000000, c1=410, r2=65503, rc2=518)
    momentum = dict(sizes, factor=0x3C000000, mu=58982)
    yield "adam_i8 64->32", "update by Adam", "adam_i8", adam, 64 * 32, None, 0
    yield "apply_i8 64->32", "update by momentum", "apply_i8", sizes, 64 * 32, None, 0
    yield "momentum_i16 64->32", "update by momentum", "momentum_i16", momentum, 64 * 32, None, 0
    for gradient, kind in GRADIENTS:
        for op, layers in SHAPES.items():
            for label, sizes in layers.items():
                name = "shape, %s%s" % ("depthwise " if op == "depthwise2d" else "", kind)
                yield label, name, op + gradient + "_i8", dict(quant, **sizes), macs_of(op, sizes), None, 0
    for network in architectures.NETWORKS:
        for label, op, gradient, sizes in architectures.shapes(network):
            name = "network, %s%s" % ("depthwise " if op == "depthwise2d" else "", dict(GRADIENTS)[gradient])
            macs = macs_of(op, sizes)
            if gradient == "_dw":
                sizes["R"] = min(sizes["N"], SUMS // products(op, sizes))
                macs = macs // sizes["N"] * sizes["R"]
            yield label, name, op + gradient + "_i8", sizes, macs, None, 0
    for label, op, sizes, shift, count, *form in ELEMENTS:
        yield label, "element", op, dict(quant, **sizes), count, shift, form[0] if form else 0


def macs_of(op, sizes):
    """How many multiplications a layer's forward pass is, or either of its gradients."""
    if op == "dense":
        return sizes["M"] * sizes["K"] * sizes["N"]
    rows, columns = ("H", "W") if op == "transposed2d" else ("OH", "OW")
    macs = sizes["B"] * sizes[rows] * sizes[columns] * sizes["KH"] * sizes["KW"] * sizes["N"]
    return macs * (1 if op == "depthwise2d" else sizes["C"])


def products(name, sizes):
    """How many products an output of the instruction sums."""
    if "K" in sizes:
        return sizes["N"] if "_dx" in name else sizes["K"]
    taps = sizes.get("KH", 1) * sizes.get("KW", 1)
    return taps * (1 if "depthwise" in name else sizes["N"] if "_dx" in name else sizes.get("C", 1))


def build(name, sizes, multiplier_shift=None, form=0):
    """(program, arena, control, data) of the instruction, with contents as models have them."""
    op = opcodes.opcode(name)
    rng = random.Random(name)
    addresses, arena, given = [], bytearray(), b""
    control = array("i", [0] * opcodes.CONTROL_WORDS)
    control[opcodes.KEY], control[opcodes.RATE] = 0x1234567, 0x3B03126F
    control[opcodes.X_FORMAT] = control[opcodes.Y_FORMAT] = form
    control[opcodes.X_SCALE] = control[opcodes.Y_SCALE] = 0x3E000000 if form < 2 else 0x3B000000
    control[opcodes.COUNT] = control[opcodes.SAMPLES] = sizes.get("B", sizes.get("M", 1))
    for i, (operand, _, dtype, _, _) in enumerate(op.operands):
        if dtype == "buf":
            addresses.append((opcodes.X_DATA if operand == "x" else opcodes.Y_DATA) << opcodes.REGION_SHIFT)
            count = sizes["B"] * sizes.get("F", sizes.get("N", 1))
            if form == 4:
                given = array("f", [rng.gauss(0, 1) for _ in range(count)])
            elif form == 2:
                given = array("h", [int(rng.gauss(0, 500)) for _ in range(count)])
            else:
                given = bytes([rng.randrange(sizes["N"] if operand == "labels" else 17) for _ in range(count)])
            given = bytes(given)
            continue
        if operand == "c":
            addresses.append(opcodes.CONTROL << opcodes.REGION_SHIFT)
            continue
        arena += bytes(-len(arena) % 4)
        addresses.append(len(arena))
        size = op.bytes(i, sizes)
        count = size // opcodes.SIZES[dtype]
        if dtype == "mul":  # such that few outputs saturate, as the ranges follow what was there
            shift = multiplier_shift or 39 + (products(name, sizes) - 1).bit_length() // 2
            data = array("i", [v for _ in range(count) for v in (rng.randrange(1 << 23, 1 << 24) << 7, shift)])
        elif operand in ("peak", "dw", "db"):
            data = array("i", [0] * count)
        elif operand == "rate":  # a change of a third of an int8 step
            data = array("I", [0x39000000] * count)
        elif operand == "st":
            data = array("I", [v for _ in range(count // 2) for v in (rng.randrange(4096), 0x3C555555)])
        elif operand in ("gamma", "beta"):
            data = array("i", [rng.randrange(1 << 19, 1 << 20) for _ in range(count)])
        elif operand in ("s", "sx", "se", "sdx", "so"):
            data = array("I", [0x3C800000 if operand == "sdx" else 0x3D000000] * count)
        elif dtype == "f32" or operand in ("mean", "var", "va") or op.name == "adam_i32" and operand in ("m", "v"):
            data = array("f", [abs(rng.gauss(0, 0.01)) for _ in range(count)])
        elif operand in ("gs", "sw", "ds"):
            data = array("I", [0x3C000000] * count)
        elif operand == "ex":
            data = array("b", [-13] * count)  # as large as these gradients make it
        elif operand == "b":
            data = array("i", [rng.randrange(-4000, 4000) for _ in range(count)])
        elif operand == "d":
            data = array("i", [int(rng.gauss(0, 3000)) for _ in range(count)])
        elif dtype == "i16":
            data = array("h", [rng.randrange(0, 1000) for _ in range(count)])
        elif operand == "e":  # many errors are small
            data = array("b", [max(-127, min(127, int(rng.gauss(0, 20)))) for _ in range(count)])
        elif operand == "w" and name == "apply_i8":  # far from their limits
            data = array("b", [max(-100, min(100, int(rng.gauss(0, 30)))) for _ in range(count)])
        else:
            data = array("b", [rng.randrange(-127, 128) for _ in range(count)])
        arena += data.tobytes()
    arena += bytes(-len(arena) % 4)
    return instructions.assemble(op, addresses, sizes, len(arena), 0, 0), arena, control.tobytes(), given


ON_BOARD = """
import _odt, gc
with open(ODT_ARGS.get("folder", "") + "case", "rb") as f:
    program = f.read(ODT_ARGS["program"])
    gc.collect()
    arena = bytearray(ODT_ARGS["arena"])
    f.readinto(arena)
    control = bytearray(f.read(ODT_ARGS["control"]))
    data = f.read()
regions = [arena, bytearray(0), control, data, data, bytearray(0)]
loaded = _odt.load(program)
def measure(start, stop):
    begin()
    _odt.run(loaded, regions, start, stop)
    end()
stop = len(program) // 4
gc.collect()
gc.disable()
begin()
end()
for _ in range(ODT_ARGS["repeats"]):
    measure(stop, stop)
    measure(12, stop)
"""


def count(machine, name, sizes, shift=None, form=0):
    """Of one instruction, less what a run of none takes: the least of some, as USB interrupts a board now and then."""
    program, arena, control, data = build(name, sizes, shift, form)
    (machine.files / "case").write_bytes(program + arena + control + data)
    counts = machine.run(
        ON_BOARD, dict(program=len(program), arena=len(arena), control=len(control), repeats=max(machine.repeats, 3))
    )
    return min(counts[1::2]) - min(counts[::2])


def measure(name, words):
    """The text for one machine, and its medians by kind."""
    machine = counting.open(name)
    out = [counting.heading(name), ""]
    print(out[0])
    found, labels = {}, {}
    try:
        for label, kind, op, sizes, macs, shift, form in lines():
            text = "%s %s %s" % (label, kind, op)
            if words and not any(word in text for word in words):
                continue
            sizes = dict({"at": 0, "R": sizes.get("N")}, **sizes)  # all rows
            sizes = {key: sizes[key] for key in opcodes.opcode(op).immediates}
            figure = count(machine, op, sizes, shift, form)
            if macs >= LEAST or kind == "element":
                found.setdefault(kind, []).append(figure / macs)
                labels.setdefault(kind, []).append(label)
            unit = "   " if kind == "element" else "MAC"
            row = "  %-29s %-22s %9d %s %11d %7.2f" % (label, op, macs, unit, figure, figure / macs)
            print(name + row, flush=True)
            out.append(row)
    finally:
        machine.close()
    out.append("")
    for kind in list(found):  # all shapes together
        layer = [name for name in ALL if name in kind]
        if layer:
            found.setdefault("all, " + layer[0], []).extend(found[kind])
            labels.setdefault("all, " + layer[0], []).extend(labels[kind])
    medians = {}
    for kind, figures in found.items():
        if kind == "element":
            continue
        update = "update" in kind
        medians[kind] = total = sum(figures) if update else statistics.median(figures)
        row = "  %-9s %-35s %10.2f" % ("sum" if update else "median", kind, total)
        group, _, rest = kind.partition(", ")
        if group in ("shape", "network", "all"):
            order = sorted(zip(figures, labels[kind]))
            tenth = order[-(-9 * len(order) // 10) - 1]
            row += "   90th percentile %.2f, worst %.2f (%s)" % (tenth[0], *order[-1])
            bounds = ALL[rest].get(name) if group == "all" else None
            if bounds:
                met = [figure <= bound for figure, bound in zip((total, tenth[0], order[-1][0]), bounds)]
                row += "   bounds %s: %s" % ("%g %g %g" % bounds, " ".join(["met" if m else "MISSED" for m in met]))
        bound = BOUNDS.get(kind, {}).get(name)
        if bound:
            row += "   bound %g: %s" % (bound, "met" if total <= bound else "MISSED")
        print(name + row, flush=True)
        out.append(row)
    return out, medians


def picture(medians, path):
    """Bars: each machine's medians by kind, the bounds as lines across them."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(medians), 1, figsize=(9, 2.4 * len(medians)))
    for axis, (name, found) in zip(axes, medians.items()):
        kinds = [kind for kind in found if not kind.startswith("update")]
        axis.barh(range(len(kinds)), [found[kind] for kind in kinds], 0.6)
        for place, kind in enumerate(kinds):
            axis.annotate(" %.2f" % found[kind], (found[kind], place), va="center", fontsize=8)
            bound = BOUNDS.get(kind, {}).get(name)
            if bound:
                axis.plot((bound, bound), (place - 0.45, place + 0.45), color="C3")
        axis.set_yticks(range(len(kinds)), kinds)
        axis.invert_yaxis()
        bounded = " (red: the bound)" if any(name in bounds for bounds in BOUNDS.values()) else ""
        axis.set_title("%s: %s a multiplication, median%s" % (name, UNITS[name], bounded), fontsize=10)
        axis.margins(x=0.1)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("words", nargs="*", help="machines, and words that lines must hold")
    words = parser.parse_args().words
    names = [word for word in words if word in UNITS] or MACHINES
    words = [word for word in words if word not in UNITS]
    out = counting.head("The int8 kernels, whole instructions. Written by: python bench/costs/kernels.py")
    counted = [name for name in names if name != "pc"]  # they count the same beside one another
    with ProcessPoolExecutor() as pool:
        found = dict(zip(counted, pool.map(measure, counted, [words] * len(counted))))
    if "pc" in names:
        found["pc"] = measure("pc", words)
    medians = {name: found[name][1] for name in names}
    for name in names:
        out += found[name][0] + [""]
    if not words and names is MACHINES:
        for name in listings.LOOPS:
            out += listings.listing(name)
        (ROOT / "bench/results/kernels.txt").write_text("\n".join(out).rstrip() + "\n")
        picture(medians, ROOT / "bench/results/kernels.png")


if __name__ == "__main__":
    main()
