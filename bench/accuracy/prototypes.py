"""Few-shot: classes that a front never saw, by odt.continual.prototypes, with and without the episodic training of
odt.host.episodes.

    git clone https://github.com/brendenlake/omniglot build/omniglot
    git clone https://github.com/Jakobovski/free-spoken-digit-dataset build/fsdd
    python bench/accuracy/prototypes.py                ten minutes of one core; writes bench/results/prototypes.txt
    python bench/accuracy/prototypes.py --seeds 1 --trials 50

Omniglot's two small background sets (Lake et al., 2015; MIT licence): five alphabets of small1 are learned on, each
character also turned by 90, 180 and 270 degrees, 544 classes of 20 drawings; the three alphabets that small2 has alone,
106 classes, are the test. Cross-domain: scikit-learn's digits, enlarged, and spoken ones:
bench/examples/story_keyword.py's recordings as log-mel pictures, 32 frames of 20 channels, resized. speaker: those of a
trial are all of one of the six speakers, each as often; speakers: of any. Images of 14x14 pixels. The network: three
convolutions of 3x3 to 16, 32 and 64 channels, each with BatchNorm, ReLU and a pooling: 64 numbers.

pixels: no front, in NumPy. none: first weights. classes: trained as a classifier of the 544 classes. episodes: 20
classes of 5 samples and 5 queries, by squared distance or by cosine. Both trained ones see as many images, by Adam at
the same rates. A trial draws 5 or 20 classes, 1 or 5 samples of each, and asks 5 others of each. Accuracy in %: mean
over seeds, each with its own weights and trials, +- standard error. PyTorch: float32 embeddings and NumPy; float32,
int8: odt's front, 8-bit latents, Prototypes.
"""

import argparse
import io
import itertools
import sys
import zipfile
from pathlib import Path


import numpy as np  # noqa: E402
import torch  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402
import written  # noqa: E402
from PIL import Image  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

from odt.continual import (
    Latents,  # noqa: E402
    Prototypes,  # noqa: E402
)
from odt.host import episodes  # noqa: E402

SIZE, WAYS, QUERIES, SHOTS = 14, (5, 20), 5, (1, 5)
EPISODES, EPISODE, RATE = 1000, (20, 5, 5), 0.002
FILES = [ROOT / "build/omniglot/python" / ("images_background_small%d.zip" % n) for n in (1, 2)]
METRICS = "euclidean", "cosine"


def drawings(file, leave_out=()):
    """(images of 0..1 with bright strokes, classes, alphabets)."""
    images, classes, names = [], [], {}
    with zipfile.ZipFile(file) as archive:
        for name in sorted(archive.namelist()):
            parts = name.split("/")
            if not name.endswith(".png") or parts[1] in leave_out:
                continue
            image = Image.open(io.BytesIO(archive.read(name))).convert("L").resize((SIZE, SIZE), Image.Resampling.BOX)
            images.append(1 - np.asarray(image, "float32") / 255)
            classes.append(names.setdefault((parts[1], parts[2]), len(names)))
    return np.stack(images)[:, None], np.array(classes), {alphabet for alphabet, _ in names}


def turned(x, y):
    count = y.max() + 1
    return np.concatenate([np.rot90(x, k, (2, 3)) for k in range(4)]), np.concatenate([y + k * count for k in range(4)])


def enlarged_digits():
    data = load_digits()
    images = [Image.fromarray((image * 255 / 16).astype("uint8")).resize((SIZE, SIZE)) for image in data.images]
    return np.stack([np.asarray(image, "float32") / 255 for image in images])[:, None], data.target


def spoken():
    """(images, digits, speakers)."""
    import story_keyword

    data = story_keyword.Recordings()
    images = [Image.fromarray(image[..., 0]).resize((SIZE, SIZE), Image.Resampling.BOX) for image in data.x]
    return np.stack([np.asarray(image, "float32") / 255 for image in images])[:, None], data.y, data.who


def network(seed):
    torch.manual_seed(seed)
    layers, before = [], 1
    for channels in (16, 32, 64):
        layers += [
            torch.nn.Conv2d(before, channels, 3, padding=1),
            torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(),
            torch.nn.MaxPool2d(2),
        ]
        before = channels
    return torch.nn.Sequential(*layers, torch.nn.Flatten())


def classifier(net, x, y, seed):
    """As many images as episodes see, in batches as large, at the same rates."""
    torch.manual_seed(seed)
    head = torch.nn.Linear(64, int(y.max()) + 1)
    steer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=RATE)
    schedule = torch.optim.lr_scheduler.StepLR(steer, max(1, EPISODES // 5), 0.5)
    x, y = torch.as_tensor(x), torch.as_tensor(y)
    net.train()
    for _ in range(EPISODES):
        rows = torch.randint(len(y), (EPISODE[0] * (EPISODE[1] + EPISODE[2]),))
        loss = torch.nn.functional.cross_entropy(head(net(x[rows])), y[rows])
        steer.zero_grad()
        loss.backward()
        steer.step()
        schedule.step()
    net.eval()


class Known:
    """Latents that were computed once: of images by their number."""

    def __init__(self, latents, x):
        self.width, self.scale, self.zero_point, self.crc = (
            latents.width,
            latents.scale,
            latents.zero_point,
            latents.crc,
        )
        self.rows, self.check = np.frombuffer(latents(x), "uint8").reshape(len(x), -1), latents.check

    def __call__(self, numbers):
        return self.rows[numbers].tobytes()


def trials(y, who, ways, shots, count, seed):
    """At least ``count``, the samples of each of one ``who``."""
    groups = np.unique(who)
    for number, one in enumerate(groups):
        rows = np.flatnonzero(who == one)
        share = -(-count // len(groups))
        for support, queries in episodes.trials(y[rows], ways, shots, QUERIES, share, seed + 1000 * number):
            yield rows[support], rows[queries]


def by_odt(known, y, who, ways, shots, metric, count, seed):
    right = []
    for support, queries in trials(y, who, ways, shots, count, seed):
        prototypes = Prototypes(known, ways, metric)
        prototypes.partial_fit(support.ravel(), np.repeat(np.arange(ways), shots))
        right += [prototypes.predict_one([i]) == label for label in range(ways) for i in queries[label]]
    return 100 * np.mean(right)


def by_numpy(z, y, who, ways, shots, metric, count, seed):
    if metric == "cosine":
        z = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-9)
    right = []
    for support, queries in trials(y, who, ways, shots, count, seed):
        means = z[support].mean(1)
        if metric == "cosine":
            scores = -z[queries] @ (means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-9)).T
        else:
            scores = ((z[queries][:, :, None] - means) ** 2).sum(3)
        right.append(scores.argmin(2) == np.arange(ways)[:, None])
    return 100 * np.mean(right)


def study(seeds, count):
    x, y, learned = drawings(FILES[0])
    x, y = turned(x, y)
    tests = {"Omniglot": drawings(FILES[1], learned)[:2], "digits": enlarged_digits()}
    tests = {name: (xt, yt, np.zeros(len(yt))) for name, (xt, yt) in tests.items()}
    tests["speaker"] = spoken()
    tests["speakers"] = (*tests["speaker"][:2], np.zeros(len(tests["speaker"][1])))
    print("learned on: %d images of %d classes; tests: %s" % (len(y), y.max() + 1, ", ".join(
        ["%s, %d images of %d classes" % (name, len(labels), labels.max() + 1) for name,
        (_, labels, _) in tests.items()])))  # fmt: skip
    print("%d seeds of %d trials\n" % (seeds, count), flush=True)
    found = {}
    for seed in range(seeds):
        for test, (xt, yt, who) in tests.items():
            for ways, shots, metric in itertools.product(WAYS, SHOTS, METRICS):
                if ways <= yt.max() + 1:
                    of_pixels = by_numpy(xt.reshape(len(xt), -1), yt, who, ways, shots, metric, count, seed)
                    found.setdefault((test, ways, "pixels", metric, shots, "PyTorch"), []).append(of_pixels)
        for name in ("none", "classes", "episodes, euclidean", "episodes, cosine"):
            net = network(seed)
            if name == "classes":
                classifier(net, x, y, seed)
            elif name != "none":
                ways, shots, queries = EPISODE
                episodes.train(net, x, y, ways, shots, queries, EPISODES, RATE, name.split()[-1], seed=seed)
            net.eval()
            calibrate = x[np.random.default_rng(seed).permutation(len(x))[:200]].copy()
            for dtype in ("float32", "int8"):
                model = episodes.backbone(net, calibrate, dtype=dtype)
                latents = Latents(model, model.imported.samples(calibrate))
                for test, (xt, yt, who) in tests.items():
                    known = Known(latents, model.imported.samples(xt))
                    with torch.no_grad():
                        z = net(torch.as_tensor(xt)).numpy()
                    for ways, shots, metric in itertools.product(WAYS, SHOTS, METRICS):
                        if ways > yt.max() + 1 or name.startswith("episodes") and not name.endswith(metric):
                            continue
                        key, trial = (test, ways, name, metric, shots), (yt, who, ways, shots, metric, count, seed)
                        found.setdefault((*key, dtype), []).append(by_odt(known, *trial))
                        if dtype == "float32":
                            found.setdefault((*key, "PyTorch"), []).append(by_numpy(z, *trial))
    return found


def cell(values):
    if values is None:
        return ""
    return "%5.1f +- %3.1f" % (np.mean(values), np.std(values) / max(len(values) - 1, 1) ** 0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=100)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    found = study(arguments.seeds, arguments.trials)
    kinds = "PyTorch", "float32", "int8"
    heads = [
        "%-8s" % ("%d shot%s" % (shots, "s" * (shots > 1))) + "".join(["%-14s" % kind for kind in kinds])
        for shots in SHOTS
    ]
    print(("%-10s%-6s%-22s%-11s" % ("", "ways", "front", "metric") + "".join(heads)).rstrip())
    for row in sorted(dict.fromkeys([key[:4] for key in found]), key=lambda row: row[:2]):
        cells = [
            "%-8s" % "" + "".join(["%-14s" % cell(found.get((*row, shots, kind))) for kind in kinds]) for shots in SHOTS
        ]
        print(("%-10s%-6d%-22s%-11s" % row + "".join(cells)).rstrip())


if __name__ == "__main__":
    written.recorded("prototypes.txt", main)
