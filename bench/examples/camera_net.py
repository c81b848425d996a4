"""The network of bench/examples/camera.py, its images, and how PyTorch and odt train it."""

import copy
import sys
from functools import cache, partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import numpy as np  # noqa: E402
import published  # noqa: E402
import torch  # noqa: E402
from large_networks import eighths, stack  # noqa: E402
from nitro import mnist  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils.fusion import fuse_conv_bn_eval  # noqa: E402

import odt  # noqa: E402
from odt.adapt import update  # noqa: E402
from odt.files.frozen import pack  # noqa: E402
from odt.host import convert  # noqa: E402

BLOCKS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
EXTENT, LEARN, TEST, EPOCHS, BATCH, MOMENTUM = 48, 1000, 2000, 10, 16, 0.9
FRONT, DEPTH, RATE = 11, 17, 0.012  # what trains in int8: kernels up to these of PyTorch's layers
FOLDED, LIVE = 0.003, 0.01  # rates of float32
CHANGES = {
    "turned": lambda x: np.ascontiguousarray(np.rot90(x, 1, (1, 2))), "inverted": lambda x: 255 - x,
    "low contrast": lambda x: x // 8 + 100,
}  # fmt: skip


def seen(x, rng):
    """MNIST's images as the camera sees them, (n, 48, 48, 3) uint8: without their border, each pixel two by two."""
    low, high = rng.integers(0, 80, (len(x), 1, 1, 3)), rng.integers(150, 256, (len(x), 1, 1, 3))
    x = np.kron(x.reshape(-1, 28, 28)[:, 2:26, 2:26], np.ones((2, 2), "uint8")).astype("int32")[..., None]
    return (low + (high - low) * x // 255).astype("uint8")


def tensor(x):
    return torch.tensor(x).permute(0, 3, 1, 2).float().sub(128).div(128).contiguous(memory_format=torch.channels_last)


def network():
    torch.manual_seed(0)
    first = eighths(32 * 0.35)
    channels, blocks = stack(first, BLOCKS, 0.35)
    head = [nn.Conv2d(3, first, 3, 2, 1, bias=False), nn.BatchNorm2d(first), nn.ReLU6()]
    return nn.Sequential(*head, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


def fitted(net, steer, schedule, batches):
    for x, y in batches:
        steer.zero_grad()
        nn.functional.cross_entropy(net(tensor(x)), torch.tensor(y.astype("int64"))).backward()
        steer.step()
        schedule.step()


@cache
def pretrained():
    x, y = mnist()[0]
    net, rng = network().train(), np.random.default_rng(0)
    steer = torch.optim.Adam(net.parameters(), lr=0.004)
    orders = [rng.permutation(50000)[:29952].reshape(-1, 64) for _ in range(2)]
    schedule = torch.optim.lr_scheduler.OneCycleLR(steer, 0.004, 2 * len(orders[0]))
    fitted(net, steer, schedule, ((seen(x[rows], rng), y[rows]) for order in orders for rows in order))
    return net.eval()


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        found = [net(tensor(part)).argmax(1).numpy() for part in np.array_split(x, -(-len(x) // 250))]
    return 100 * (np.concatenate(found) == y).mean()


def fused(net):
    """The Sequential with each BatchNorm in the convolution before it."""
    found = []
    for layer in net:
        if isinstance(layer, nn.BatchNorm2d):
            found[-1] = fuse_conv_bn_eval(found[-1], layer)
            continue
        layer = copy.deepcopy(layer)
        for name, part in layer.named_children():
            setattr(layer, name, fused(part))
        found.append(layer)
    return nn.Sequential(*found)


def by_torch(live, learn, seed):
    """The network after all its layers have trained in float32."""
    x, y = learn
    net = copy.deepcopy(pretrained()).train() if live else fused(pretrained())
    steer = torch.optim.SGD(net.parameters(), lr=LIVE if live else FOLDED, momentum=MOMENTUM)
    steps = -(-len(x) // BATCH)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(steer, EPOCHS * steps)
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(x)) for _ in range(EPOCHS)]
    fitted(net, steer, schedule, ((x[rows], y[rows]) for order in orders for rows in np.array_split(order, steps)))
    return net


def policy(front, depth, model):
    """All biases train, the kernels up to ``front`` of PyTorch's layers, depthwise ones up to ``depth``, the last."""
    owners = [node.layer for node in model.nodes if node.layer.kernel_shape]
    most = {"depthwise2d": max(front, depth)}
    chosen = [each.name for each in owners if int(each.name.split(".")[0]) <= most.get(each.kind, front)]
    update.sparse(model, dict.fromkeys([*chosen, owners[-1].name], 1), len(owners))


def imported(train, optimizer, dtype="int8", seed=0, **options):
    few = seen(mnist()[0][0][:100], np.random.default_rng(0)) if dtype == "int8" else None
    given = {"dtype": "uint8", "scale": 1 / 128, "zero_point": 128}
    return convert.load(
        pretrained(), shape=(3, EXTENT, EXTENT), train=train, input=given, calibrate=few, dtype=dtype,
        optimizer=optimizer, batch_size=1, seed=seed, **options,
    )  # fmt: skip


def by_odt(learn, seed, front=FRONT, depth=DEPTH, rate=RATE):
    optimizer = odt.SGD(odt.CosineDecay(rate, EPOCHS * len(learn[1])))
    model = imported(partial(policy, front, depth), optimizer, seed=seed)
    model.fit(*learn, epochs=EPOCHS, verbose=0)
    return model


def parts(x, y, change, seed, test=TEST):
    """(images and labels to learn, others to test)"""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    rows = order[:LEARN], order[LEARN : LEARN + test]
    return [(CHANGES[change](seen(x[each], rng)), y[each]) for each in rows]


def small():
    """(the model in the least budget, the smallest budget, bytes of its frozen weights)"""
    whole = imported(partial(policy, FRONT, DEPTH), odt.SGD(0.004))
    frozen = pack(whole)

    def compiled(**options):
        model = odt.Model(whole.nodes[0], whole.nodes[-1])
        loss = "sparse_categorical_crossentropy"
        model.compile(odt.SGD(0.004), loss, "int8", batch_size=1, frozen=frozen, **options)
        return model

    least = published.least(compiled)
    model = compiled(memory_budget=least)
    model.load_weights(whole)
    x, y = mnist()[0]
    learn = seen(x[:100], np.random.default_rng(0)), y[:100]
    for each in (whole, model):
        each.calibrate(*learn)
    for at in range(3):  # both plans train alike
        for each in (whole, model):
            each.train_step(learn[0][at], learn[1][at : at + 1])
    assert [bytes(part) for part in whole.get_weights()] == [bytes(part) for part in model.get_weights()]
    return model, least, len(frozen)
