"""MobileNetV2-w0.35 with the update "49 KB" of published.py on an emulated RP2040, from a model file in its flash.

    python bench/costs/pico_rows.py            the table, to bench/results/pico_rows.txt (needs: make rp2040 stock mpy)
    python bench/costs/pico_rows.py rp2040 96  one line of it, printed

The file and, at 128x128, the image lie in free blocks of the flash, where ``rp2.Flash`` shows them: frozen weights,
program and image are read in place. KB: arena, state and, at 96x96, the image. free: bytes of heap when the model is
open, by gc.mem_free(); the stock firmware has odt's base and its kernels in files. Three steps after a first one of the
PC's, to the PC's digests; cycles are those of the last. ReLU in place of ReLU6.
"""

import re
import sys
import tempfile
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import published  # noqa: E402
import written  # noqa: E402
from digests import on_the_pc  # noqa: E402

import odt  # noqa: E402
from odt.files.frozen import pack  # noqa: E402

LINES = (("rp2040", 96), ("rp2040", 128), ("stock_rp2040", 96), ("stock_rp2040", 128))
BLOCK = 4096  # of rp2.Flash
SCRIPT = counting.ROOT / "tests_device" / "scripts" / "in_flash.py"


def model_of(extent, **options):
    model = published.network("MobileNetV2-w0.35", "49 KB", "relu", extent)
    model.compile(odt.SGD(0.05), batch_size=1, seed=1, **options)
    return model


def image(extent):
    return bytes([(7 * at + (at >> 6)) & 255 for at in range(3 * extent * extent)])


@cache
def exported(extent):
    """(the Plan that takes the fewest bytes, the bytes of its model file after a step)"""
    frozen = pack(model_of(extent))
    model = model_of(extent, frozen=frozen, memory_budget=published.least(partial(model_of, extent, frozen=frozen)))
    model.train_step(image(extent), bytes([3]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.odt"
        model.export(path)
        return model.session.plan, path.read_bytes()


def lay(machine, data):
    """Write the bytes to the last free blocks of the machine's flash; returns how far from its end they begin."""
    file = machine._temp / "flash"
    flash = bytearray(file.read_bytes())
    free, last = b"\xff" * len(data), len(flash) - len(data)
    at = next(at for at in range(last, machine.files_at - 1, -BLOCK) if flash[at : at + len(data)] == free)
    flash[at : at + len(data)] = data
    file.write_bytes(flash)
    return len(flash) - at


def line(name, extent, folder):
    path = folder / "model.odt"
    plan, file = exported(extent)
    sample = image(extent)
    path.write_bytes(file)
    data = file + bytes(-len(file) % 4) + (sample if extent == 128 else b"")
    data = bytes(-len(data) % BLOCK) + data
    board = counting.Board(name)
    if name == "rp2040":
        board.machine.lay_flash(())
    args = {
        "file": str(path), "size": len(file), "flash": lay(board.machine, data), "length": len(data),
        "begin": data.index(file[:64]), "x": len(sample), "in_flash": extent == 128,
    }  # fmt: skip
    expected = on_the_pc(SCRIPT, args)
    try:
        cycles = board.run(SCRIPT.read_text(), args=args)
    finally:
        board.close()
    found = [re.findall(r"digest ([0-9a-f]{8})", text) for text in (board.said, expected)]
    assert found[0] == found[1] and len(set(found[0])) == 4, (board.said, expected)
    free = int(re.search(r"free (\d+)", board.said)[1])
    total = plan.arena + plan.state + (0 if extent == 128 else len(sample))
    return "%-13s %3dx%-3d  %7d %7d %8s %7.1f  %8d %8d  %8d  %10d %7.2f" % (
        name, extent, extent, plan.arena, plan.state, "in flash" if extent == 128 else len(sample), total / 1024,
        len(plan.code), len(file), free, cycles[-1], cycles[-1] / 125e6)  # fmt: skip


def main():
    lines = ["By rows from a model file in flash, an emulated RP2040. Written by: python bench/costs/pico_rows.py", ""]
    lines += [counting.heading("rp2040"), ""]
    lines.append("%-13s %7s  %7s %7s %8s %7s  %8s %8s  %8s  %10s %7s" % (
        "machine", "image", "arena", "state", "image", "KB", "program", "file", "free", "cycles",
        "seconds"))  # fmt: skip
    print("\n".join(lines), flush=True)
    for name, extent in [(sys.argv[1], int(sys.argv[2]))] if sys.argv[1:] else LINES:
        with tempfile.TemporaryDirectory() as folder:
            lines.append(line(name, extent, Path(folder)))
        print(lines[-1], flush=True)
    if not sys.argv[1:]:
        written.write("pico_rows.txt", lines)


if __name__ == "__main__":
    main()
