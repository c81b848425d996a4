"""Layers as bytecode, as native code of MicroPython's own compiler, and in C, on the same emulated core.

    python bench/costs/viper.py              writes bench/results/viper.txt

Each line is a program of one instruction, int8: instructions that QEMU executed, of which the Python executor's copies
of operands are a part. Another state than the C kernels' ends the run.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting
import kernels
import machines

from odt.base import opcodes

MACHINES = {"stock_qemu_rv32": ("rv32imc", "rv32imc"), "stock_qemu_m3": ("armv7m", "armv6m")}
CONV = kernels.window(1, 8, 8, 8, 16, 3, 3)
LINES = [(name, CONV, "conv 3x3 8x8x8->16") for name in ("conv2d_i8", "conv2d_dx_i8", "conv2d_dw_i8")] + [
    (name, {"M": 4, "K": inputs, "N": outputs}, "dense %d->%d, batch 4" % (inputs, outputs))
    for inputs, outputs in ((64, 16), (256, 32))
    for name in ("dense_i8", "dense_dx_i8", "dense_dw_i8")
]
ON_BOARD = (
    machines.COUNTER
    + """
import _odt, gc
from odt.reference import program
with open("case", "rb") as f:
    code = f.read(ODT_ARGS["program"])
    arena = f.read(ODT_ARGS["arena"])
    control = bytearray(f.read(ODT_ARGS["control"]))
    data = f.read()
loops = program.faster
for executor, faster in ((program, {}), (program, loops), (_odt, loops)):
    program.faster = faster
    program._functions.clear()
    regions = [bytearray(arena), bytearray(0), control, data, data, bytearray(0)]
    loaded = executor.load(code)
    gc.collect()
    start()
    executor.run(loaded, regions, 12, len(code) // 4)
    print(executed(), _odt.crc32(regions[0]))
"""
)


def main():
    lines = counting.head("Layers as bytecode, viper and C. Written by: python bench/costs/viper.py")
    for name, (kernels_of, loops_of) in MACHINES.items():
        loops = machines.BUILD / "mpy" / "viper" / loops_of / "_odt_viper.mpy"
        lines += ["%s: instructions; loops for %s, %d bytes; C for %s" % (
            name, loops_of, loops.stat().st_size, kernels_of)]  # fmt: skip
        with machines.open(name) as machine:
            folder = machines.BUILD / "mpy"
            machine.install([folder / "python" / "odt", loops, *sorted((folder / kernels_of).glob("_odt*.mpy"))])
            for op, sizes, label in LINES:
                sizes = dict({"at": 0, "R": sizes["N"], "zx": 3, "zy": -5, "lo": -127}, **sizes)
                sizes = {key: sizes[key] for key in opcodes.opcode(op).immediates}
                program, arena, control, data = kernels.build(op, sizes)
                (machine.files / "case").write_bytes(program + arena + control + data)
                args = dict(program=len(program), arena=len(arena), control=len(control))
                rows = [line.split() for line in machine.exec(ON_BOARD, args=args, timeout=300).splitlines()]
                if len({crc for _, crc in rows}) > 1:
                    raise SystemExit("%s, %s: the executors differ: %s" % (name, op, rows))
                bytecode, viper, c = [int(count) for count, _ in rows]
                lines.append("  %-22s %-13s bytecode %10d   viper %9d, %5.1f times faster   C %7d, %6.1f times" % (
                    label, op, bytecode, viper, bytecode / viper, c, bytecode / c))  # fmt: skip
                print(lines[-1], flush=True)
    (counting.ROOT / "bench" / "results" / "viper.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
