"""odt.continual.prototypes against scikit-learn and NumPy, and the episodic training of odt.host.episodes against its
definition.
"""

import functools

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid

import odt
from odt.continual import Latents, Prototypes
from odt.host import episodes

DIGITS = load_digits()
X, Y = DIGITS.images.astype("uint8")[..., None], DIGITS.target.astype("uint8")


@functools.cache
def latents(dtype, last="relu"):
    """Of a network that has learned five of the digits."""
    layers = [
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Flatten(),
        odt.Dense(32, "relu"),
        odt.Dense(24, last),
    ]
    model = odt.Sequential([*layers, odt.Dense(10)])
    model.compile(odt.Adam(0.004), dtype=dtype, seed=1)
    known = Y[:800] < 5
    model.fit(X[:800][known], Y[:800][known], epochs=4, verbose=0)
    front = odt.Sequential(layers)
    front.compile(None, "mse", dtype=dtype, batch_size=1, seed=1)
    front.set_weights(model.get_weights()[:-2])
    front.calibrate(X[:100])
    return Latents(front, X[:100])


@functools.cache
def embedded(dtype, last):
    front = latents(dtype, last)
    return np.frombuffer(front(X), "int8").reshape(len(X), -1).astype(int) - front.zero_point


def taught(dtype="int8", last="relu", metric="euclidean", shots=5, classes=10, **options):
    found = Prototypes(latents(dtype, last), classes, metric, **options)
    rows = np.concatenate([np.flatnonzero(Y[:800] == label)[:shots] for label in range(classes)])
    found.partial_fit(X[rows], Y[rows])
    return found, rows


@pytest.mark.parametrize("last", ("relu", None))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_euclidean_decisions_are_scikit_learns(dtype, last):
    prototypes, rows = taught(dtype, last)
    z = embedded(dtype, last)
    oracle = NearestCentroid().fit(z[rows].astype("float64"), Y[rows])
    ours = [prototypes.predict_one(x) for x in X[800:1200]]
    assert ours == oracle.predict(z[800:1200].astype("float64")).tolist() and len(set(ours)) == 10
    means = np.stack([z[rows][Y[rows] == label].mean(0) for label in range(10)])
    for i in range(800, 840):
        label, distance = prototypes.nearest_one(X[i])
        exact = np.linalg.norm(z[i] - means[label]) * prototypes.front.scale
        assert distance == pytest.approx(exact, abs=prototypes.front.scale / 200)


@pytest.mark.parametrize("last", ("relu", None))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_cosine_decisions_are_those_of_normalised_embeddings(dtype, last):
    prototypes, rows = taught(dtype, last, "cosine")
    z = embedded(dtype, last).astype("float64")
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    means = np.stack([z[rows][Y[rows] == label].mean(0) for label in range(10)])
    cosines = z @ (means / np.linalg.norm(means, axis=1, keepdims=True)).T
    for i in range(800, 1200):
        label, distance = prototypes.nearest_one(X[i])
        assert cosines[i, label] > cosines[i].max() - 2e-3  # of two that are level to 1/1024 either
        assert distance == pytest.approx(1 - cosines[i].max(), abs=2e-3)
    ours = np.array([prototypes.predict_one(x) for x in X[800:1200]])
    assert (ours == cosines[800:1200].argmax(1)).mean() > 0.99


def test_classes_come_and_go_and_nothing_else_changes():
    empty = Prototypes(latents("int8"), 10)
    assert empty.predict_one(X[0]) is None and empty.nearest_one(X[0]) == (None, None) and empty.labels == []
    whole, rows = taught()
    other = Prototypes(latents("int8"), 10)
    for i in rows[np.random.default_rng(1).permutation(len(rows))]:
        other.learn_one(X[i], int(Y[i]))
    assert other.digest() == whole.digest() and other.labels == list(range(10)) and other.count(7) == 5
    before = whole.digest()
    more = [i for i in range(800) if Y[i] == 7]
    whole.partial_fit(X[more], Y[more])
    whole.forget(7)
    assert whole.labels == [0, 1, 2, 3, 4, 5, 6, 8, 9]
    assert 7 not in [whole.predict_one(x) for x in X[800:900]]
    sevens = rows[Y[rows] == 7]
    whole.partial_fit(X[sevens], Y[sevens])
    assert whole.digest() == before


@pytest.mark.parametrize("metric", ("euclidean", "cosine"))
def test_a_sample_beyond_reject_is_of_no_class(metric):
    prototypes, _ = taught(metric=metric)
    found = [prototypes.nearest_one(x) for x in X[800:900]]
    for limit in (0, 0.05, found[3][1] * 1.001, 1e6):
        prototypes.reject = limit
        ours = [prototypes.predict_one(x) for x in X[800:900]]
        for (label, distance), our in zip(found, ours):
            if abs(distance - limit) > 0.002 * (1 + limit):
                assert our == (label if distance < limit else None)
        assert (None in ours) == (limit < 1e6)


def test_a_checkpoint_is_of_the_same_front_and_metric(tmp_path):
    prototypes, _ = taught()
    prototypes.save(tmp_path / "known.bin")
    again = Prototypes(latents("int8"), 10)
    again.load(tmp_path / "known.bin")
    assert again.digest() == prototypes.digest()
    for other, text in (
        (Prototypes(latents("int8"), 9), "another kind"), (Prototypes(latents("int8"), 10, "cosine"), "another kind"),
        (Prototypes(latents("float32"), 10), "stale prototypes"),
    ):  # fmt: skip
        before = bytes(other.state)
        with pytest.raises(ValueError, match=text):
            other.load(tmp_path / "known.bin")
        assert bytes(other.state) == before


def test_what_is_bad_is_named_and_changes_nothing():
    prototypes, _ = taught(shots=1)
    before = bytes(prototypes.state)
    for call, error, text in (
        (lambda: prototypes.learn_one(X[0], 10), ValueError, r"y: a label in 0\.\.9"),
        (lambda: prototypes.learn_one(X[:2], 1), ValueError, "one sample is expected, got 2"),
        (lambda: prototypes.learn_one(X[0, :3], 1), ValueError, r"expected \(samples, "),
        (lambda: prototypes.partial_fit(X[:3], [1, 2]), ValueError, "2 labels, x has 3"),
        (lambda: prototypes.partial_fit(X[:3], [1, 2, 11]), ValueError, "y: a label"),
        (lambda: prototypes.predict_one(X[:2]), ValueError, "one sample"),
        (lambda: prototypes.forget(10), ValueError, "forget: label"),
        (lambda: Prototypes(latents("int8"), 0), ValueError, "Prototypes: classes"),
        (lambda: Prototypes(latents("int8"), metric="l1"), ValueError, "metric"),
        (lambda: Prototypes(latents("int8"), reject=-1), ValueError, "reject"),
        (lambda: Prototypes(latents("int8"), reject="far"), ValueError, "reject"),
        (lambda: Prototypes(latents("int8").front), TypeError, "a Latents"),
    ):  # fmt: skip
        with pytest.raises(error, match=text):
            call()
        assert bytes(prototypes.state) == before


# Episodes


def toy(classes, seed):
    """A class is a place in two of ten numbers; the rest is noise, larger than what tells."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(classes), 20)
    x = rng.normal(size=(len(y), 10)).astype("float32") * 3
    x[:, :2] = rng.normal(size=(classes, 2))[y] * 3 + rng.normal(size=(len(y), 2)) * 0.3
    return x, y


def right(front, x, y, metric, count=60):
    """How often Prototypes are right with one sample of each of five classes."""
    found = []
    for support, queries in episodes.trials(y, 5, 1, 3, count, seed=4):
        prototypes = Prototypes(front, 5, metric)
        prototypes.partial_fit(x[support.ravel()], range(5))
        found += [prototypes.predict_one(x[i]) == label for label in range(5) for i in queries[label]]
    return np.mean(found)


@pytest.mark.parametrize("metric", ("euclidean", "cosine"))
def test_episodes_teach_what_tells_classes_that_never_came(metric, tmp_path):
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(10, 16), torch.nn.ReLU(), torch.nn.Linear(16, 12))
    x, y = toy(5, 1)
    before = right(Latents(episodes.backbone(net, x)), x, y, metric)
    losses = episodes.train(net, *toy(40, 2), shots=2, episodes=300, rate=0.01, metric=metric, seed=3)
    assert np.mean(losses[-50:]) < 0.7 * np.mean(losses[:20]) and not net.training
    model = episodes.backbone(net, x, tmp_path / "front.odt")
    after = right(Latents(model), x, y, metric)
    assert after > before + 0.15, (before, after)
    opened = Latents(odt.load_model(str(tmp_path / "front.odt")))
    assert opened(x) == Latents(model)(x)
    exact = Latents(episodes.backbone(net, x, dtype="float32"), x)
    assert abs(right(exact, x, y, metric) - after) < 0.05


@pytest.mark.parametrize("metric", ("euclidean", "cosine"))
def test_the_loss_of_an_episode_is_its_definition(metric):
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=(24, 6)).astype("float32"), np.repeat(np.arange(3), 8)
    net = torch.nn.Identity()
    net.weight = torch.nn.Parameter(torch.zeros(1))
    net.forward = lambda z: z + 0 * net.weight
    found = episodes.train(net, x, y, ways=3, shots=5, queries=3, episodes=4, metric=metric, seed=9)
    draws = np.random.default_rng(9)
    for loss in found:
        chosen = draws.choice(3, 3, False)
        rows = [draws.choice(np.flatnonzero(y == label), 8, False) for label in chosen]
        z = x.astype("float64")
        if metric == "cosine":
            z = z / np.linalg.norm(z, axis=1, keepdims=True)
        means = [z[part[:5]].mean(0) for part in rows]
        total = []
        for label, part in enumerate(rows):
            for i in part[5:]:
                if metric == "cosine":
                    scores = np.array([10 * z[i] @ mean / np.linalg.norm(mean) for mean in means])
                else:
                    scores = np.array([-((z[i] - mean) ** 2).sum() for mean in means])
                total.append(np.log(np.exp(scores).sum()) - scores[label])
        assert loss == pytest.approx(np.mean(total), rel=1e-4)


def test_trials_never_ask_about_what_was_shown():
    y = np.repeat(np.arange(7), [20, 3, 20, 20, 20, 20, 20])
    for support, queries in episodes.trials(y, 5, 4, 6, 50):
        assert support.shape == (5, 4) and queries.shape == (5, 6)
        assert len(set(support.ravel()) | set(queries.ravel())) == 50
        labels = y[np.concatenate([support, queries], 1)]
        assert (labels == labels[:, :1]).all() and len(set(labels[:, 0])) == 5 and 1 not in labels


def test_episodes_that_cannot_be_drawn_are_named():
    net = torch.nn.Linear(10, 4)
    x, y = toy(4, 1)
    for options in ({"ways": 5}, {"ways": 4, "shots": 16}, {"ways": 1}):
        with pytest.raises(ValueError, match="y: .* classes have"):
            episodes.train(net, x, y, **options)
    with pytest.raises(ValueError, match="metric"):
        episodes.train(net, x, y, ways=3, metric="l1")


def test_no_two_kinds_of_state_begin_alike():
    """A checkpoint of one is none of another: odt.online's, and what is made of them."""
    from odt import online
    from odt.continual import Replay

    front = latents("int8")
    head = odt.Sequential([front.input(), odt.Dense(10)])
    head.compile(batch_size=4)
    kept = [Prototypes(front), online.NCM(2, 2), online.KMeans(2, 2), online.KNN(2, 4), online.RCE(2, 4, 1)]
    kept.append(online.CentroidDrift(2, 2))
    others = [online.OSELM(2), Replay(head, front=front)]
    first = [bytes(model.state[:4]) for model in [kept[0], *others]]
    assert len({bytes(model.state[:8]) for model in kept}) == len(kept) and len(set(first)) == len(first)
    assert {bytes(model.state[:4]) for model in kept} == {first[0]}
