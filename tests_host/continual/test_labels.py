"""odt.continual.labels: queries, votes of rules, labels of the network's own; against NumPy in float64."""

from array import array

import numpy as np
import pytest
from checkout import ROOT

import odt
from odt.continual import labels
from odt.online import OSELM


def network(outputs=4, dtype="int8", loss="sparse_categorical_crossentropy", last=(), seed=1):
    model = odt.Sequential([odt.Input((6,)), odt.Dense(8, "relu"), odt.Dense(outputs), *last])
    model.compile(odt.Adam(0.02), loss, dtype=dtype, batch_size=8, seed=seed)
    return model


def trained(dtype="int8", outputs=4):
    rng = np.random.default_rng(3)
    y = rng.integers(0, outputs, 96)
    x = (rng.normal(size=(96, 6)) + 2 * np.eye(outputs, 6)[y]).astype("float32")
    model = network(outputs, dtype)
    model.fit(x, y.astype("uint8"), epochs=10, verbose=0)
    return model, rng.normal(size=(60, 6)).astype("float32") * 2


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_probabilities_are_those_of_float64(dtype):
    model, x = trained(dtype)
    wanted = softmax(np.array(model.predict(x), "float64").reshape(60, 4))
    found = np.array(labels.probabilities(model, x)) / 65536
    assert np.abs(found - wanted).max() < 2e-4
    assert wanted.max(1).min() > 0.3 and wanted.max(1).max() > 0.99  # sure and unsure ones


@pytest.mark.parametrize("by", ["margin", "entropy", "least_confidence"])
def test_measures_are_those_of_the_literature(by):
    model, x = trained()
    p = np.sort(softmax(np.array(model.predict(x), "float64").reshape(60, 4)), 1)
    wanted = {
        "margin": 1 - (p[:, -1] - p[:, -2]),
        "entropy": -(p * np.log(np.maximum(p, 1e-30))).sum(1) / np.log(4),
        "least_confidence": 1 - p[:, -1],
    }[by]
    found = np.array(labels.uncertainty(model, x, by)) / 65536
    assert np.abs(found - wanted).max() < 1e-3 and np.ptp(wanted) > 0.3


def test_a_query_takes_the_least_certain_first_and_each_once():
    model, x = trained()
    scores = np.array(labels.uncertainty(model, x))
    chosen = labels.query(model, x, 7)
    assert list(scores[chosen]) == sorted(scores, reverse=True)[:7]
    for by in ("margin", "coreset"):
        assert sorted(labels.query(model, x, 100, by)) == list(range(60))


def test_a_core_set_is_the_greedy_one():
    model, x = trained()
    rows = np.array(labels.probabilities(model, x), "int64")
    chosen = [int(np.argmax(labels.uncertainty(model, x)))]
    while len(chosen) < 9:
        distance = ((rows[:, None] - rows[chosen]) ** 2).sum(2).min(1)
        distance[chosen] = -1
        chosen.append(int(distance.argmax()))
    assert labels.query(model, x, 9, "coreset") == chosen


def test_of_two_classes_a_logit_a_sigmoid_and_a_softmax_say_the_same():
    x = np.random.default_rng(0).normal(size=(5, 6)).astype("float32")
    logit = network(1, "float32", "binary_crossentropy")
    found = np.array(labels.probabilities(logit, x)) / 65536
    z = np.array(logit.predict(x)).reshape(-1)
    assert np.abs(found[:, 1] - 1 / (1 + np.exp(-z))).max() < 2e-4
    assert np.abs(found.sum(1) - 1).max() < 1e-4
    model = network(3, "float32", "mse", [odt.Softmax()])
    found = np.array(labels.probabilities(model, x)) / 65536
    assert np.abs(found - np.array(model.predict(x)).reshape(-1, 3)).max() < 2e-5


def test_who_asks_keeps_to_the_budget_and_to_the_share():
    model, x = trained()
    x = np.tile(x, (5, 1))
    scores = labels.uncertainty(model, x)
    asker = labels.Asker(model, budget=200, share=0.2, window=20)
    asked = [i for i in range(len(x)) if asker.wants(x[i])]
    assert 0.1 * len(x) < len(asked) < 0.3 * len(x) and asker.asked == len(asked) and asker.seen == len(x)
    for i in asked:  # none is asked about whose score is below the fifth of those before it
        assert sum([score >= scores[i] for score in scores[max(i - 20, 0) : i]]) < 0.2 * 20
    asker = labels.Asker(model, budget=3, share=0.2, window=20)
    first = [i for i in range(len(x)) if asker.wants(x[i])]
    assert first == asked[:3]
    asker.unanswered()
    assert sum([asker.wants(x[i]) for i in range(len(x))]) == 1
    with pytest.raises(ValueError, match="nothing was asked"):
        labels.Asker(model, 1).unanswered()


def world(rules, classes, count, seed):
    """Rules that are independently right with these probabilities, each abstaining on a third; and the truth."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, count)
    votes = []
    for accuracy in rules:
        wrong = (y + rng.integers(1, classes, count)) % classes
        vote = np.where(rng.random(count) < accuracy, y, wrong)
        votes.append(np.where(rng.random(count) < 1 / 3, -1, vote))
    votes = np.array(votes)
    functions = [lambda i, row=row: None if row[i] < 0 else int(row[i]) for row in votes]
    return functions, votes.T, y


def em(votes, classes, rounds=50):
    """One-coin Dawid and Skene, in float64: (accuracies, posterior). Begins at 0.7 for all, as odt does."""
    accuracy = np.full(votes.shape[1], 0.7)
    for _ in range(rounds + 1):
        posterior = np.zeros((len(votes), classes))
        for rule, a in enumerate(accuracy):
            for c in range(classes):
                weight = max(np.log(a) - np.log((1 - a) / (classes - 1)), 0)
                posterior[:, c] += weight * (votes[:, rule] == c)
        posterior = softmax(posterior)
        last = accuracy
        accuracy = np.array([posterior[v >= 0][np.arange((v >= 0).sum()), v[v >= 0]].mean() for v in votes.T])
        accuracy = np.clip(accuracy, 1 / classes, 0.999)
    return last, posterior


@pytest.mark.parametrize(
    "classes,accuracies", [(2, (0.9, 0.75, 0.7, 0.6)), (4, (0.95, 0.6, 0.5, 0.5, 0.4)), (10, (0.8, 0.5, 0.3))]
)
def test_votes_find_how_often_each_rule_is_right(classes, accuracies):
    rules, votes, y = world(accuracies, classes, 1500, 7)
    vote = labels.Votes(rules, classes)
    assert (np.array(vote.votes(range(1500))).reshape(1500, -1) == votes).all()
    majority = np.array(vote.labels(range(1500)))
    counts = (votes[:, :, None] == np.arange(classes)).sum(1)
    best = counts.max(1)
    wanted = np.where(((counts == best[:, None]).sum(1) > 1) | (best == 0), -1, counts.argmax(1))
    assert (majority == wanted).all()
    vote.fit(range(1500))
    wanted, posterior = em(votes, classes)
    assert np.abs(np.array(vote.accuracies) / 65536 - wanted).max() < 0.005
    found = np.array(vote.labels(range(1500)))
    clear = np.sort(posterior, 1)
    clear = clear[:, -1] - clear[:, -2] > 0.02
    assert clear.mean() > 0.8 and (found[clear] == posterior.argmax(1)[clear]).all()
    assert (found == y).sum() > (majority == y).sum()
    sure = np.array(vote.labels(range(1500), 0.9))
    assert (sure[posterior.max(1) > 0.92] >= 0).all() and (sure[posterior.max(1) < 0.88] < 0).all()


def test_pseudo_labels_are_what_the_model_is_sure_of_and_a_class_gets_no_more_than_asked_for():
    model, x = trained()
    p = np.array(labels.probabilities(model, x))
    index, label = labels.pseudo(model, x, 0.9)
    wanted = np.flatnonzero(p.max(1) >= 0.9 * 65536)
    assert list(index) == list(wanted) and list(label) == list(p.argmax(1)[wanted]) and 5 < len(index) < 55
    index, label = labels.pseudo(model, x, 0.9, each=2)
    for c in set(label):
        kept = [i for i, found in zip(index, label) if found == c]
        most = sorted(p.max(1)[wanted][p.argmax(1)[wanted] == c], reverse=True)[:2]
        assert sorted(p.max(1)[kept], reverse=True) == most
    assert labels.pseudo(model, x, 0)[0].tolist() == list(range(60)) and len(labels.pseudo(model, x, 1)[0]) < 60


def test_nothing_of_the_model_changes():
    model, x = trained()
    digest = model.digest()
    labels.query(model, x, 3, "coreset"), labels.pseudo(model, x), labels.Asker(model, 1).wants(x[0])
    assert model.digest() == digest


def test_bad_input_is_named():
    model, x = trained()
    for call, words in (
        (lambda: labels.query(model, x, 0), "query: count is an int above 0, got 0"),
        (lambda: labels.query(model, x, 2, "random"), "by: one of margin, .*, got 'random'"),
        (lambda: labels.Asker(model, 0), "Asker: budget is an int above 0"),
        (lambda: labels.Asker(model, 1, share=0), "share 0 of a window of 50 is less than one sample"),
        (lambda: labels.Asker(model, 1, share=1.5), "Asker: share is in 0..1, got 1.5"),
        (lambda: labels.Asker(model, 1).wants(x[:2]), "one sample is expected, got 2"),
        (lambda: labels.pseudo(model, x, 2), "pseudo: least is in 0..1, got 2"),
        (lambda: labels.pseudo(model, x, each=0), "pseudo: each is an int above 0 or None, got 0"),
        (lambda: labels.Votes([], 3), "at least one rule"),
        (lambda: labels.Votes([len], 1), "classes is an int in 2..127, got 1"),
        (lambda: labels.Votes([lambda s: 3], 3).labels([0]), "of sample 0: a class of 0..2 or None, got 3"),
        (lambda: labels.Votes([lambda s: 1, lambda s: None], 3).fit([0, 1]), "abstains on all 2 samples"),
        (lambda: labels.Votes([lambda s: 1], 3).fit([]), "no samples"),
        (lambda: labels.Votes([lambda s: 1], 3).labels([0], -1), "labels: least is in 0..1, got -1"),
        (lambda: labels.query(network(3, loss="mse"), x, 1), "classes"),
        (lambda: labels.query(network(3, loss="binary_crossentropy"), x, 1), "3 outputs of yes or no"),
    ):
        with pytest.raises(ValueError, match=words):
            call()


def test_a_rule_that_raises_leaves_what_was_found():
    vote = labels.Votes([lambda s: s, lambda s: 1], 3)
    vote.fit([0, 1, 1, 2])
    before = list(vote.accuracies)
    with pytest.raises(ValueError):
        vote.fit([0, 1, 7])
    assert vote.accuracies == before


def test_asking_about_the_least_certain_beats_chance_on_digits():
    """In 8 questions of 15: by the mean over eight seeds, which spread by 3."""
    data = (ROOT / "examples/digits/digits.bin").read_bytes()
    x, y = np.frombuffer(data[: 1797 * 64], "uint8").reshape(-1, 64), np.frombuffer(data[1797 * 64 :], "uint8")

    def accuracy(by, seed):
        rest = list(np.random.default_rng(seed).permutation(1200))
        have, rest = rest[:20], rest[20:]
        for _ in range(8):
            model = odt.Sequential(
                [odt.Input((64,), dtype="uint8", scale=1 / 16), odt.Dense(32, "relu"), odt.Dense(10)]
            )
            model.compile(odt.Adam(0.01), seed=seed)
            model.fit(x[have], y[have], epochs=30, verbose=0)
            chosen = range(15) if by == "chance" else labels.query(model, x[rest], 15, by)
            have, rest = have + [rest[i] for i in chosen], [v for i, v in enumerate(rest) if i not in set(chosen)]
        return 100 * model.evaluate(x[1200:], y[1200:])[1]

    difference = [accuracy("margin", seed) - accuracy("chance", seed) for seed in range(8)]
    assert np.mean(difference) > 1, difference


@pytest.mark.parametrize("classes", [2, 5])
def test_probabilities_of_an_online_model_are_its_outputs_limited_and_over_their_sum(classes):
    rng = np.random.default_rng(classes)
    model = OSELM(3, classes=classes, hidden=8, seed=1)
    assert set(labels.probabilities(model, [0.5, 0, -0.5])[0]) == {65536 // classes}  # nothing learned: all alike
    for x in rng.normal(size=(80, 3)).astype("float32"):
        model.learn_one(x, int(abs(x[0]) * 9) % classes)
    best = []
    for x in rng.normal(size=(40, 3)).astype("float32") * 2:
        out = array("f", bytes(4 * classes))
        wanted = np.clip(np.array(model.predict_one(x, out), "float64"), 0, 1)
        wanted /= wanted.sum()
        (found,) = labels.probabilities(model, x)
        assert np.abs(np.array(found) / 65536 - wanted).max() < 1e-4
        order = np.sort(wanted)
        assert abs(labels.uncertainty(model, x)[0] / 65536 - (1 - (order[-1] - order[-2]))) < 2e-4
        best.append(order[-1])
    assert np.ptp(best) > 0.2
    asker = labels.Asker(model, budget=5, share=0.2, window=10)
    assert sum([asker.wants(x) for x in rng.normal(size=(100, 3)).astype("float32")]) == 5


def test_an_online_model_of_numbers_has_no_probabilities():
    with pytest.raises(ValueError, match="classes are expected"):
        labels.uncertainty(OSELM(3), [0, 0, 0])
    with pytest.raises(ValueError, match="3 numbers are expected, got 2"):
        labels.uncertainty(OSELM(3, classes=2), [0, 0])


def test_a_model_that_finds_all_samples_alike_is_told_some_by_lot():
    x = np.zeros((1, 4), "float32")
    model = odt.Sequential([odt.Input((4,)), odt.Dense(3)])
    model.compile(odt.Adam(0.01), dtype="float32", batch_size=1)
    asker = labels.Asker(model, budget=1000, share=0.2, window=20)
    asked = [asker.wants(x[0]) for _ in range(500)]
    assert 70 <= sum(asked) <= 130
    assert any(asked[:40])
