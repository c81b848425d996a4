"""What a step by rows costs on the emulated Cortex-M7: instructions, beside the same step without a budget.

    python bench/by_rows.py                        the table, to bench/results/by_rows.txt (needs: make qemu)
    python bench/by_rows.py "MCUNet-5FPS" "49 KB"  one network of bench/published.py, printed

Samples of 128x128x3, SGD, one to a step, frozen weights in flash, ReLU in place of ReLU6. Both programs take the
smallest budget's model's own state after a first step, and have to leave the PC's.
"""

import re
import sys
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import counting  # noqa: E402
import published  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402
from odt.files.frozen import pack  # noqa: E402
from odt.plan.program import Program  # noqa: E402
from odt.run.session import batch, bind, clear  # noqa: E402

MEMORY = 0x60000000  # 16 MB of an MPS2 board with a Cortex-M7 that the firmware does not use
ARENA = MEMORY + (8 << 20)
SCRIPT = """
import gc, _odt, uctypes
from array import array
A = ODT_ARGS
def memory(at, size):
    return uctypes.bytearray_at(at, size)
control = bytes(memory(*A["control"]))
begin()
end()
for code, arena, start, stop in A["runs"]:
    gc.collect()
    loaded = _odt.load(bytes(memory(*code)))
    state = bytearray(memory(*A["state"]))
    regions = [memory(A["arena"], arena), state, array("i", control)]
    regions += [memory(*A["x"]), memory(*A["y"]), memory(*A["frozen"])]
    begin()
    _odt.run(loaded, regions, start, stop)
    end()
    print("crc", _odt.crc32(state))
"""  # fmt: skip


def model_of(name, trains, **options):
    model = published.network(name, trains, "relu")
    model.compile(odt.SGD(0.05), batch_size=1, seed=1, **options)
    return model


def step(name, trains):
    """(instructions without a budget, and by rows; the model by rows, the Plan without)"""
    frozen = pack(model_of(name, trains))
    try:
        model_of(name, trains, frozen=frozen, memory_budget=1)
    except MemoryError as error:
        least = int(re.search(r"at least (\d+)", str(error))[1])
    model = model_of(name, trains, frozen=frozen, memory_budget=least)
    session, plain = model.session, model.session.plan.rows.whole
    x, y = bytes([(7 * at + (at >> 6)) & 255 for at in range(session.row)]), bytes([3])
    model.train_step(x, y)
    bind(session, x, y)
    clear(session)
    batch(session, 0, 1)
    session.set_rate()
    board = counting.open("qemu_m7")
    laid = bytearray()

    def lay(data):
        data = bytes(data)
        laid.extend(bytes(-len(laid) % 16) + data)
        return MEMORY + len(laid) - len(data), len(data)

    args = {"x": lay(x), "y": lay(y), "state": lay(session.state), "frozen": lay(frozen), "arena": ARENA, "runs": []}
    args["control"] = lay(session.control)
    for plan in (plain, session.plan):
        args["runs"].append((lay(plan.code), plan.arena, *Program(plan.code).section("train")))
    try:
        board.machine.loaded += ((_file(board, laid), MEMORY),)
        counts = board.run(SCRIPT, args=args)
        found = {int(each) for each in re.findall(r"crc (\d+)", board.said)}
    finally:
        board.close()
    model.train_step(x, y)
    assert found == {zlib.crc32(session.state)}, board.said
    return counts, model, plain


def _file(board, data):
    path = Path(board.files) / "laid"
    path.write_bytes(data)
    return path


def main():
    lines = ["Steps by rows on the emulated Cortex-M7. Written by: python bench/by_rows.py", ""]
    lines.append("%-18s  %-12s  %9s %9s  %12s %12s %7s" % (
        "network", "trains", "arena", "by rows", "instructions", "by rows", "more"))  # fmt: skip
    print("\n".join(lines), flush=True)
    asked = (
        [tuple(sys.argv[1:3])] if sys.argv[1:] else [(n, t) for n in published.UPDATES for t in published.UPDATES[n]]
    )
    for name, trains in asked:
        counts, model, plain = step(name, trains)
        more = 100 * (counts[1] / counts[0] - 1)
        sizes = plain.arena, model.session.plan.arena
        lines.append("%-18s  %-12s  %9d %9d  %12d %12d %5.1f %%" % (name, trains, *sizes, *counts, more))
        print(lines[-1], flush=True)
    if not sys.argv[1:]:
        written.write("by_rows.txt", lines)


if __name__ == "__main__":
    main()
