"""What a step within a budget costs on the emulated Cortex-M7: instructions, beside the same step without a budget.

    python bench/costs/by_rows.py                        the table, to bench/results/by_rows.txt (needs: make qemu)
    python bench/costs/by_rows.py "MCUNet-5FPS" "49 KB"  one network of bench/costs/published.py, printed
    python bench/costs/by_rows.py inside                 MobileNetV2's "49 KB" with the sample in the arena, counted:
                                                         to bench/results/sample_inside.txt

Samples of 128x128x3, SGD, one to a step, frozen weights in flash, ReLU in place of ReLU6. The budget is that of
published.GOALS, or the smallest. Both programs take five steps from the PC's own state after a first, and have to leave
what the PC leaves.
"""

import re
import sys
import zlib
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import counting  # noqa: E402
import published  # noqa: E402
import written  # noqa: E402

from odt.files.frozen import pack  # noqa: E402
from odt.host.rows import WithSample  # noqa: E402
from odt.run.session import batch, bind, clear  # noqa: E402

MEMORY = 0x60000000  # 16 MB of an MPS2 board with a Cortex-M7 that the firmware does not use
ARENA = MEMORY + (8 << 20)
STEPS = 5
INSIDE = 116  # KB, the sample among them
SCRIPT = """
import gc, _odt, uctypes
from array import array
A = ODT_ARGS
def memory(at, size):
    return uctypes.bytearray_at(at, size)
begin()
end()
for run in A["runs"]:
    gc.collect()
    loaded = _odt.load(bytes(memory(*run["code"])))
    state = memory(*run["state"])
    control = bytes(memory(*run["control"]))
    frozen = memory(*run["frozen"])
    begin()
    for _ in range(A["steps"]):
        arena, x = memory(A["arena"], run["size"]), memory(*A["x"])
        if run["inside"]:
            x = memoryview(arena)[-len(x):]
            x[:] = memory(*A["x"])
        regions = [arena, state, array("i", control), x, memory(*A["y"]), frozen]
        _odt.run(loaded, regions, run["start"], run["stop"])
    end()
    print("crc", _odt.crc32(state))
"""  # fmt: skip


def model_of(name, trains, **options):
    model = published.network(name, trains, "relu")
    model.compile(published.optimizer(trains), batch_size=1, seed=1, **options)
    return model


def step(name, trains, inside=0):
    """(instructions of a step without a budget, and within one; both models)

    ``inside``: KB of a budget of which the sample is part, and lies in the arena.
    """
    frozen = pack(model_of(name, trains))
    budget = WithSample(1024 * inside) if inside else 1024 * published.GOALS[name].get(trains, 0)
    budget = budget or published.least(partial(model_of, name, trains, frozen=frozen))
    models = model_of(name, trains, frozen=frozen), model_of(name, trains, frozen=frozen, memory_budget=budget)
    size = models[0].session.row
    x, y = bytes([(7 * at + (at >> 6)) & 255 for at in range(size)]), bytes([3])
    board = counting.open("qemu_m7")
    laid = bytearray()

    def lay(data):
        data = bytes(data)
        laid.extend(bytes(-len(laid) % 16) + data)
        return MEMORY + len(laid) - len(data), len(data)

    args = {"x": lay(x), "y": lay(y), "arena": ARENA, "runs": [], "steps": STEPS}
    for model in models:
        session = model.session
        model.train_step(x, y)
        bind(session, x, y)
        clear(session)
        batch(session, 0, 1)
        session.set_rate()
        start, stop = session.sections["train"]
        args["runs"].append({
            "code": lay(session.plan.code), "state": lay(session.state), "control": lay(session.control),
            "frozen": lay(session.frozen), "size": session.plan.arena, "start": start, "stop": stop,
            "inside": bool(inside) and model is models[1],
        })  # fmt: skip
    try:
        board.machine.loaded += ((_file(board, laid), MEMORY),)
        counts = board.run(SCRIPT, args=args)
        found = [int(each) for each in re.findall(r"crc (\d+)", board.said)]
    finally:
        board.close()
    before = [bytes(each) for each in models[0].get_weights()]
    for model in models:
        for _ in range(STEPS):
            model.train_step(x, y)
    after = [[bytes(each) for each in model.get_weights()] for model in models]
    assert found == [zlib.crc32(model.session.state) for model in models], board.said
    assert after[0] == after[1] and sum([a != b for a, b in zip(before, after[0])]) > 1
    return [count // STEPS for count in counts], *models


def _file(board, data):
    path = Path(board.files) / "laid"
    path.write_bytes(data)
    return path


def main():
    inside = INSIDE if sys.argv[1:] == ["inside"] else 0
    command = "python bench/costs/by_rows.py" + " inside" * bool(inside)
    lines = ["Steps within a budget on the emulated Cortex-M7. Written by: " + command, ""]
    lines.append("%-18s  %-14s  %9s %9s  %12s %12s %7s" % (
        "network", "trains", "KB", "within", "instructions", "within", "more"))  # fmt: skip
    print("\n".join(lines), flush=True)
    asked = [tuple(sys.argv[1:3])] if sys.argv[1:] else [(n, t) for n, each in published.UPDATES.items() for t in each]
    for name, trains in [("MobileNetV2-w0.35", "49 KB")] if inside else asked:
        counts, *models = step(name, trains, inside)
        more = 100 * (counts[1] / counts[0] - 1)
        sizes = [(model.session.plan.arena + model.session.plan.state) / 1024 for model in models]
        lines.append("%-18s  %-14s  %9.1f %9.1f  %12d %12d %5.1f %%" % (name, trains, *sizes, *counts, more))
        print(lines[-1], flush=True)
    if inside or not sys.argv[1:]:
        written.write("sample_inside.txt" if inside else "by_rows.txt", lines)


if __name__ == "__main__":
    main()
