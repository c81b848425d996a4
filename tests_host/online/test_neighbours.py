"""odt.online's classifiers by what they keep decide as scikit-learn and NumPy do; budgets, bad input, checkpoints."""

import numpy as np
import pytest

from odt.online import KNN, NCM, RCE, KMeans
from odt.online import neighbours as module
from odt.slots import Bytes

PLACE = np.dtype([("y", "<u2"), ("score", "<i2"), ("x", "<i2", 5)])


def blobs(seed, samples=400, inputs=5, classes=4):
    """Samples in whole units of 1/256, of several classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, samples)
    x = rng.normal(size=(classes, inputs))[y] + rng.normal(size=(samples, inputs))
    return np.round(x * 256) / 256, y


def units(x):
    return np.round(x * 256).astype(int)


@pytest.mark.parametrize("seed", range(3))
def test_nearest_class_mean_decides_as_scikit_learn(seed):
    from sklearn.neighbors import NearestCentroid

    x, y = blobs(seed)
    model = NCM(5, 4)
    for i in range(300):
        model.learn_one(x[i], y[i])
    oracle = NearestCentroid().fit(x[:300], y[:300])
    assert [model.predict_one(row) for row in x] == oracle.predict(x).tolist()
    assert np.allclose([model.mean(label) for label in range(4)], oracle.centroids_, atol=1e-12)
    assert sum(model.count(label) for label in range(4)) == 300


@pytest.mark.parametrize("metric", ("l1", "l2"))
@pytest.mark.parametrize("k", (1, 3, 5))
def test_neighbours_decide_as_numpy_and_scikit_learn(k, metric):
    from sklearn.neighbors import KNeighborsClassifier

    x, y = blobs(k)
    model = KNN(5, 60, k, metric=metric)
    q, same = units(x), 0
    for i in range(200):
        model.learn_one(x[i], int(y[i]))
        kept = range(max(0, i - 59), i + 1)
        place = sorted(kept, key=lambda j: j % 60)  # the oldest are written over
        gap = np.abs(q[place] - q[i + 1])
        distance = (gap**2 if metric == "l2" else gap).sum(1)
        nearest = np.argsort(distance, kind="stable")[:k]
        assert model.predict_one(x[i + 1]) == np.bincount(y[place][nearest]).argmax()
    oracle = KNeighborsClassifier(k, p=1 if metric == "l1" else 2, algorithm="brute").fit(x[140:200], y[140:200])
    for row in x[200:]:
        distances = np.sort(oracle.kneighbors([row], k + 1)[0][0])
        if k == 60 or distances[k - 1] < distances[k]:  # else either may count
            assert model.predict_one(row) == oracle.predict([row])[0]
            same += 1
    assert same > 150 and len(model) == 60


def test_a_condensed_model_keeps_only_what_it_got_wrong():
    x, y = blobs(7, 300, classes=2)
    model, kept = KNN(5, 300, condense=True), []
    for row, label in zip(units(x), y):
        best = min(kept, key=lambda other: ((other[0] - row) ** 2).sum()) if kept else (None, None)
        if best[1] != label:
            kept.append((row, label))
    for row, label in zip(x, y):
        model.learn_one(row, int(label))
    assert len(model) == len(kept) < 150
    states = [(label, *row) for row, label in kept]
    found = np.frombuffer(bytes(model.state[64:]), PLACE)[: len(kept)]
    assert [(each["y"], *each["x"]) for each in found] == states


@pytest.mark.parametrize("budget", (1, 4, 9))
@pytest.mark.parametrize("k", (1, 3))
def test_a_full_condensed_model_lets_go_of_the_sample_with_the_lowest_score(budget, k):
    """By its definition: places with a score each; the votes are scikit-learn's, where no two distances are equal."""
    from sklearn.neighbors import KNeighborsClassifier

    x, y = blobs(k, 100, classes=3)
    model, following = KNN(5, budget, min(k, budget), condense=True), 0
    places = []  # [row, label, score]
    for row, q, label in zip(x, units(x), y):
        place = following
        if places:
            gaps = [((each[0] - q) ** 2).sum() for each in places]
            nearest = places[int(np.argmin(gaps))]
            right = nearest[1] == label
            nearest[2] = min(3, nearest[2] + 1) if right else max(-3, nearest[2] - 2)
            number = min(k, budget, len(places))
            oracle = KNeighborsClassifier(number).fit([each[0] for each in places], [each[1] for each in places])
            vote = oracle.predict([q])[0]
            model.learn_one(row, int(label))
            if vote == label:
                continue
            if len(places) == budget:
                scores = [places[(following + i) % budget][2] for i in range(budget)]
                place = (following + int(np.argmin(scores))) % budget
        else:
            model.learn_one(row, int(label))
        places[place : place + 1] = [[q, label, 0]]
        following = (place + 1) % budget
    found = np.frombuffer(bytes(model.state[64:]), PLACE)
    assert len(places) == budget
    assert [(*each["x"], each["y"], each["score"]) for each in found] == [(*q, y, score) for q, y, score in places]
    with pytest.raises(ValueError, match=r"y: a label in 0\.\.65535 is expected, got 65536"):
        model.learn_one(x[0], 65536)


def test_after_a_drift_the_newest_samples_are_left():
    model = KNN(1, 5)
    for i in range(8):
        model.learn_one([i], i)
    model.forget(2)
    assert len(model) == 2 and [model.predict_one([i]) for i in (0, 6, 7)] == [6, 6, 7]
    for i in range(20, 24):
        model.learn_one([i], i)
    assert len(model) == 5 and model.predict_one([0]) == 7
    model.forget()
    assert len(model) == 0 and model.predict_one([1]) is None
    with pytest.raises(ValueError, match="left"):
        model.forget(-1)


def macqueen(x, clusters):
    sums, counts, decisions = [], [], []
    for row in x:
        distances = [((row - s / n) ** 2).sum() for s, n in zip(sums, counts)]
        place = int(np.argmin(distances)) if distances else 0
        if len(sums) < clusters and not (distances and distances[place] == 0):
            place = len(sums)
            sums.append(np.zeros(len(row)))
            counts.append(0)
        sums[place] = sums[place] + row
        counts[place] += 1
        decisions.append(place)
    return decisions, [s / n for s, n in zip(sums, counts)]


@pytest.mark.parametrize("seed", range(3))
def test_clusters_are_macqueens(seed):
    x, _ = blobs(seed)
    x[1] = x[0]
    model = KMeans(5, 6)
    decisions = [model.learn_one(row) for row in x]
    expected, means = macqueen(x, 6)
    assert decisions == expected and decisions[:2] == [0, 0]
    assert np.allclose([model.mean(place) for place in range(6)], means, atol=1e-9)


class Fields:
    """RCE in NumPy, from its description."""

    def __init__(self, reach, metric):
        self.reach, self.metric, self.neurons = reach, metric, []

    def distance(self, row):
        return [
            int((np.abs(x - row).sum if self.metric == "l1" else np.abs(x - row).max)()) for x, _, _ in self.neurons
        ]

    def learn(self, row, label):
        distances = self.distance(row)
        others = [d for d, (_, other, _) in zip(distances, self.neurons) if other != label]
        claimed = any(d < r and other == label for d, (_, other, r) in zip(distances, self.neurons))
        self.neurons = [
            (x, other, d if other != label and d < r else r) for d, (x, other, r) in zip(distances, self.neurons)
        ]
        if not claimed and min([self.reach, *others]) > 0:
            self.neurons.append((row, label, min([self.reach, *others])))

    def classify(self, row):
        firing = [(d, i) for i, d in enumerate(self.distance(row)) if d < self.neurons[i][2]]
        labels = {self.neurons[i][1] for _, i in firing}
        if not firing:
            return "unknown", None, None
        first = min(firing)[1]
        return "identified" if len(labels) == 1 else "uncertain", int(self.neurons[first][1]), first


@pytest.mark.parametrize("metric, reach", (("l1", 3), ("lsup", 1)))
def test_influence_fields_are_those_of_the_description(metric, reach):
    x, y = blobs(11, 300, 3, 3)
    model, oracle, seen = RCE(3, 300, reach, metric), Fields(reach * 256, metric), set()
    for row, label in zip(x, y):
        answer = model.classify_one(row)
        assert answer == oracle.classify(units(row))
        assert model.predict_one(row) == answer[1]
        seen.add(answer[0])
        model.learn_one(row, int(label))
        oracle.learn(units(row), label)
    assert len(model) == len(oracle.neurons) and seen == {"identified", "uncertain", "unknown"}


def test_a_used_up_budget_says_so_and_learns_nothing():
    model = RCE(1, budget=2, reach=1)
    assert [model.learn_one([v], v) for v in (0, 10)] == [1, 1]
    before = model.digest()
    assert model.learn_one([20], 5) == -1 and model.digest() == before
    assert model.learn_one([0], 0) == 0


# Bad input


@pytest.mark.parametrize("make", (lambda: NCM(2, 3), lambda: KNN(2, 4), lambda: RCE(2, 4), lambda: KMeans(2, 3)))
def test_what_is_no_sample_changes_nothing(make):
    model = make()
    learn = model.learn_one if isinstance(model, KMeans) else lambda x: model.learn_one(x, 1)
    learn([1, 2])
    before = bytes(model.state)
    for x in ([1, float("nan")], [float("inf"), 1], [1], [1, 2, 3], 5, None, ["a", 1], [1 << 20, 0]):
        with pytest.raises((ValueError, TypeError), match=r"x.* expected, got"):
            learn(x)
        with pytest.raises((ValueError, TypeError), match=r"x.* expected, got"):
            model.predict_one(x)
    if not isinstance(model, KMeans):
        for y in (-1, 1 << 31, 1.0, True, None, "a", 3 if isinstance(model, NCM) else -5):
            with pytest.raises(ValueError, match="y: a label in"):
                model.learn_one([1, 2], y)
    assert bytes(model.state) == before
    learn([1e5, -1e5])  # the largest there are
    assert model.predict_one([127, -128]) is not None


@pytest.mark.parametrize("make, text", (
    (lambda: NCM(0, 2), "inputs"), (lambda: NCM(2, 0), "classes"), (lambda: KNN(2, 4, 5), "k is in 1..4"),
    (lambda: KNN(2, metric="cosine"), "metric"),
    (lambda: RCE(2, reach=0), "reach"), (lambda: RCE(2, metric="l2"), "metric"), (lambda: KNN(2, point=16), "point"),
))  # fmt: skip
def test_bad_arguments_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_count_at_its_limit_lets_half_go(monkeypatch):
    monkeypatch.setattr(module, "_MANY", 10)
    model = NCM(1, 1)
    for _ in range(10):
        model.learn_one([2], 0)
    model.learn_one([2], 0)
    assert model.count(0) == 6 and model.mean(0) == [2.0]


@pytest.mark.parametrize("make", (lambda: NCM(2, 3), lambda: KNN(2, 4), lambda: RCE(2, 4), lambda: KMeans(2, 3)))
def test_checkpoints(make, tmp_path):
    model, place = make(), Bytes(bytearray(1024))
    model.learn_one(*(([1, 2],) if isinstance(model, KMeans) else ([1, 2], 1)))
    model.save(str(tmp_path / "a"))
    model.save(place)
    for source in (str(tmp_path / "a"), place):
        other = make()
        other.load(source)
        assert other.digest() == model.digest() != make().digest()
        assert other.predict_one([1, 2]) == model.predict_one([1, 2])
    for other in (NCM(2, 4), KNN(2, 4, k=2), RCE(2, 4, 5), KMeans(2, 4), NCM(2, 3, point=4)):
        before = other.digest()
        with pytest.raises(ValueError, match="another kind"):
            other.load(place)
        assert other.digest() == before


def test_an_interrupt_within_a_change_is_raised_after_it():
    class Interrupted(bytearray):
        left = 1

        def __setitem__(self, key, value):
            if self.left == 0:
                self.left = -1
                raise KeyboardInterrupt
            self.left -= 1
            super().__setitem__(key, value)

    model, expected = KNN(2, 4), KNN(2, 4)
    expected.learn_one([1, 2], 3)
    model.state = Interrupted(model.state)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one([1, 2], 3)
    assert bytes(model.state) == bytes(expected.state)


@pytest.mark.parametrize("label", (2, 255, 256, -1, 1 << 31, 1.0, "1", None, True))
def test_the_count_of_what_is_no_label_is_refused(label):
    for model in (NCM(3, 2), KMeans(3, 2)):
        with pytest.raises(ValueError, match=r"count: label: .* not in 0\.\.1"):
            model.count(label)
        with pytest.raises(ValueError, match="count: label"):
            model.mean(label)
        assert model.count(1) == model.count(np.int64(1)) == 0 and model.mean(0) is None
