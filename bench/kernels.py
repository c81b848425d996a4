"""What the int8 kernels cost a multiplication: cycles of an RP2040, instructions of Cortex-M cores, time here.

    build/venv/bin/python bench/kernels.py                     all machines, writes bench/results/kernels.txt, .png
    build/venv/bin/python bench/kernels.py rp2040 dense        one machine, the lines with "dense" in them

Each line is a program of one instruction, run by `_odt` on the machine: the figure is the whole
kernel's, with its packing and rescaling. rp2040: cycles by odt's own
interpreter, rp2040js: by that emulator's own core (tests_device/rp2040js/README.md); qemu_*: instructions executed by QEMU; pc: nanoseconds of this PC. MACs count the taps on the padding too, as CMSIS-NN's figures do.
Whole training steps: bench/steps.py. Where the cycles go, by the listings: bench/kernels.md.
"""

import argparse
import random
import statistics
from array import array

import counting
import instructions
import listings
from counting import ROOT, UNITS

from odt import opcodes

MACHINES = ("rp2040", "qemu_m3", "qemu_m4", "qemu_m7", "pc")
# A kind: what its lines' median may be on a machine.
BOUNDS = {
    "forward": {"rp2040": 4.5, "qemu_m4": 1.4},
    "forward, batch 1": {"rp2040": 5.5},
    "input gradient": {"rp2040": 5.0, "qemu_m4": 1.7},
    "weight gradient": {"rp2040": 5.0, "qemu_m4": 1.7},
    "depthwise": {"rp2040": 9.0, "qemu_m4": 4.0},
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


def lines():
    """(label, kind, instruction, immediates, divisor) of all that is measured."""
    quant = dict(zx=-128, zy=-128, lo=-128)
    for layers, op in ((CONVOLUTIONS, "conv2d"), (DENSE, "dense"), (DEPTHWISE, "depthwise2d")):
        for gradient, kind in (("", "forward"), ("_dx", "input gradient"), ("_dw", "weight gradient")):
            for label, sizes in layers.items():
                if op == "dense":
                    macs = sizes["M"] * sizes["K"] * sizes["N"]
                else:
                    macs = sizes["B"] * sizes["OH"] * sizes["OW"] * sizes["KH"] * sizes["KW"]
                    macs *= sizes["N"] * (sizes["C"] if op == "conv2d" else 1)
                name = "depthwise" if op == "depthwise2d" else kind
                if sizes.get("M") == 1:
                    name = kind + ", batch 1"
                yield label, name, op + gradient + "_i8", dict(quant, **sizes), macs
    sizes = dict(N=32, K=64, id=5, common=0)
    adam = dict(sizes, factor=0x3C000000, c1=410, r2=65503, rc2=518)
    momentum = dict(sizes, factor=0x3C000000, mu=58982)
    yield "adam_i8 64->32", "update by Adam", "adam_i8", adam, 64 * 32
    yield "apply_i8 64->32", "update by momentum", "apply_i8", sizes, 64 * 32
    yield "momentum_i16 64->32", "update by momentum", "momentum_i16", momentum, 64 * 32


def products(name, sizes):
    """How many products an output of the instruction sums."""
    if "K" in sizes:
        return sizes["N"] if "_dx" in name else sizes["K"]
    taps = sizes.get("KH", 1) * sizes.get("KW", 1)
    return taps * (1 if "depthwise" in name else sizes["N"] if "_dx" in name else sizes.get("C", 1))


def build(name, sizes):
    """(program, arena) of the instruction, with contents as models have them."""
    op = opcodes.opcode(name)
    rng = random.Random(name)
    addresses, arena = [], bytearray()
    for i, (operand, _, dtype, _, _) in enumerate(op.operands):
        if operand == "c":
            addresses.append(opcodes.CONTROL << opcodes.REGION_SHIFT)
            continue
        arena += bytes(-len(arena) % 4)
        addresses.append(len(arena))
        size = op.bytes(i, sizes)
        count = size // opcodes.SIZES[dtype]
        if dtype == "mul":  # such that few outputs saturate, as the ranges follow what was there
            shift = 39 + (products(name, sizes) - 1).bit_length() // 2
            data = array("i", [v for _ in range(count) for v in (rng.randrange(1 << 23, 1 << 24) << 7, shift)])
        elif operand in ("peak", "dw", "db"):
            data = array("i", [0] * count)
        elif operand == "rate":  # a change of a third of an int8 step
            data = array("I", [0x39000000] * count)
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
    return instructions.assemble(op, addresses, sizes, len(arena), 0, 0), arena


ON_BOARD = """
import _odt, gc
with open(ODT_ARGS.get("folder", "") + "case", "rb") as f:
    program = f.read(ODT_ARGS["program"])
    gc.collect()
    arena = bytearray(ODT_ARGS["arena"])
    f.readinto(arena)
regions = [arena, bytearray(0), bytearray(64), None, None, bytearray(0)]
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


def count(machine, name, sizes):
    """Of one instruction, less what a run of none takes: the least of some, as USB interrupts a board now and then."""
    program, arena = build(name, sizes)
    (machine.files / "case").write_bytes(program + arena)
    counts = machine.run(ON_BOARD, {"program": len(program), "arena": len(arena), "repeats": max(machine.repeats, 3)})
    return min(counts[1::2]) - min(counts[::2])


def measure(name, words):
    """The text for one machine, and its medians by kind."""
    machine = counting.open(name)
    out = [counting.heading(name), ""]
    print(out[0])
    found = {}
    try:
        for label, kind, op, sizes, macs in lines():
            text = "%s %s %s" % (label, kind, op)
            if words and not any(word in text for word in words):
                continue
            sizes = dict({"at": 0, "R": sizes.get("N")}, **sizes)  # all rows
            sizes = {key: sizes[key] for key in opcodes.opcode(op).immediates}
            figure = count(machine, op, sizes)
            found.setdefault(kind, []).append(figure / macs)
            row = "  %-26s %-22s %9d MAC %11d %7.2f" % (label, op, macs, figure, figure / macs)
            print(row, flush=True)
            out.append(row)
    finally:
        machine.close()
    out.append("")
    medians = {}
    for kind, figures in found.items():
        update = "update" in kind
        medians[kind] = total = sum(figures) if update else statistics.median(figures)
        row = "  %-9s %-24s %10.2f" % ("sum" if update else "median", kind, total)
        bound = BOUNDS.get(kind, {}).get(name)
        if bound:
            row += "   bound %g: %s" % (bound, "met" if total <= bound else "MISSED")
        print(row, flush=True)
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
    out = counting.head("The int8 kernels, whole instructions. Written by: python bench/kernels.py")
    medians = {}
    for name in names:
        text, medians[name] = measure(name, words)
        out += text + [""]
    if not words and names is MACHINES:
        for name in listings.LOOPS:
            out += listings.listing(name)
        (ROOT / "bench/results/kernels.txt").write_text("\n".join(out).rstrip() + "\n")
        picture(medians, ROOT / "bench/results/kernels.png")


if __name__ == "__main__":
    main()
