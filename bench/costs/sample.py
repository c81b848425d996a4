"""What int8 convolutions of drawn shapes cost a multiplication: shapes that no kernel was written for.

    python bench/costs/sample.py           an RP2040's cycles and an M4's instructions; writes bench/results/sample.txt
    python bench/costs/sample.py rp2040    one machine, prints

SHAPES layers are drawn by SEED, which changes with each release, from sizes that networks for microcontrollers have:
images and series, a batch of 1, 4 or 16, filters of 1x1 to 7x7, strides of 1 and 2, depthwise layers and groups. Of
each layer one kernel is measured, forward, the input's gradient or the weights', as bench/costs/kernels.py does. Of
each kind: median, 90th percentile and worst of figures for a multiplication, then the worst ten of all.
"""

import random
import statistics
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import kernels  # noqa: E402
import written  # noqa: E402

from odt.base import opcodes  # noqa: E402

SEED, SHAPES = 20261130, 200
MACHINES = ("rp2040", "qemu_m4")
# Median and 90th percentile of convolutions that are not depthwise.
BOUNDS = {"rp2040": (4.3, 8), "qemu_m4": (1.25, 3)}
CHANNELS = (1, 2, 3, 4, 6, 8, 8, 12, 16, 16, 24, 32, 32, 48, 64)
MOST = 600_000, 24_000  # multiplications, and bytes of a tensor


def drawn(rng):
    """(label, operation without its direction, immediates) of a layer that is neither tiny nor too large to emulate."""
    while True:
        kind = rng.choices(("image", "series", "1x1", "depthwise", "groups"), (46, 20, 17, 12, 5))[0]
        B, C, N = rng.choice((1, 1, 1, 4, 16)), rng.choice(CHANNELS), rng.choice(CHANNELS[4:])
        H, W = (1, rng.choice((16, 25, 32, 50, 64, 100, 128))) if kind == "series" else (
            rng.choice((4, 5, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32)),) * 2  # fmt: skip
        KW = {"series": rng.choice((3, 3, 5, 7, 9)), "1x1": 1}.get(kind) or rng.choice((3, 3, 3, 3, 5, 5, 2, 7))
        KH, stride, more, op = 1 if H == 1 else KW, rng.choice((1, 1, 1, 2)), {}, "conv2d"
        if kind == "depthwise":
            op, N = "depthwise2d", C
        elif kind == "groups":
            G = rng.choice((2, 4, 8))
            op, N, C, more = "group_conv2d", G * rng.choice((1, 2, 4, 8)), rng.choice((1, 2, 4, 8)), {"G": G}
        sizes = dict(kernels.window(B, H, W, C, N, KH, KW, stride), **more)
        macs = kernels.macs_of(op, sizes)
        largest = B * max(H * W * C * more.get("G", 1), sizes["OH"] * sizes["OW"] * N)
        if kernels.LEAST <= macs <= MOST[0] and largest <= MOST[1]:
            name = "%dx%d/%d %d*%dx%dx%d->%d" % (KH, KW, stride, B, H, W, C * more.get("G", 1), N)
            return kind + " " + name, op, sizes


def measured(name):
    rng, machine, rows = random.Random(SEED), counting.open(name), []
    quant = dict(zx=-128, zy=-128, lo=-128, at=0)
    try:
        for number in range(SHAPES):
            label, op, sizes = drawn(rng)
            gradient, direction = kernels.GRADIENTS[number % 3]
            code = opcodes.opcode(op + gradient + "_i8")
            given = dict(quant, R=sizes["N"], **sizes)
            figure = kernels.count(machine, code.name, {key: given[key] for key in code.immediates})
            kind = "depthwise" if op == "depthwise2d" else direction
            rows.append((figure / kernels.macs_of(op, sizes), kind, label + ", " + direction))
    finally:
        machine.close()
    return rows


def report(name, rows):
    print("\n%s; seed %d, %d shapes" % (counting.heading(name), SEED, SHAPES))
    for kind in dict.fromkeys(row[1] for row in rows):
        found = sorted(row[0] for row in rows if row[1] == kind)
        three = statistics.median(found), found[-(-9 * len(found) // 10) - 1], found[-1]
        line = "  %-16s %3d shapes   median %5.2f   90th percentile %5.2f   worst %5.2f" % (kind, len(found), *three)
        if kind != "depthwise":
            met = ["met" if value <= bound else "MISSED" for value, bound in zip(three, BOUNDS[name])]
            line += "   bounds %g %g: %s" % (*BOUNDS[name], " ".join(met))
        print(line)
    print("  the worst ten")
    for figure, _, label in sorted(rows, reverse=True)[:10]:
        print("    %6.2f  %s" % (figure, label))


def main():
    names = sys.argv[1:] or MACHINES
    print("\n".join(counting.head("Drawn shapes. Written by: python bench/costs/sample.py")[:-1]))
    with ProcessPoolExecutor(len(names)) as pool:
        for name, rows in zip(names, pool.map(measured, names)):
            report(name, rows)


if __name__ == "__main__":
    written.recorded("sample.txt", main)
