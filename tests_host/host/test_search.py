"""The search for what to train: contributions that rank layers rightly, and policies that fit their bytes."""

import json
import runpy

import digits_data
import matplotlib.image
import numpy as np
import pytest

import odt
from odt.adapt import update
from odt.files import frozen
from odt.host.search import Search, write

pytestmark = pytest.mark.slow

X = digits_data.X.reshape(-1, 64)
Y = digits_data.Y
TRAIN, TEST = (X[:320], Y[:320]), (X[1000:1400], Y[1000:1400])


def network():
    """Two layers side by side."""
    x = odt.Input((64,), dtype="uint8", scale=1 / 16)
    y = odt.Add()([odt.Dense(12, "relu", name="useful")(x), odt.Dense(12, "relu", name="useless")(x)])
    return odt.Model(x, odt.Dense(10, name="last")(y))


def weights():
    """As they are drawn, but the second layer never comes above its ReLU: no gradient passes."""
    model = network()
    model.compile(dtype="float32", seed=3)
    values = model.get_weights()
    values[3] = np.full(12, -100, "float32")
    return values


def search(**options):
    options = dict({"dtype": "float32", "epochs": 4, "ratios": (0.5, 1.0), "progress": False}, **options)
    return Search(network, weights(), TRAIN, TEST, lambda: odt.SGD(0.05, 0.9), **options)


def test_a_layer_whose_training_helps_ranks_above_one_whose_training_cannot():
    gains = search().contributions()["weights"]
    assert set(gains) == {"useful", "useless"}
    assert gains["useless"] == {0.5: 0, 1.0: 0}
    assert gains["useful"][1.0] > 0.05 and gains["useful"][0.5] > 0


def test_the_best_policy_fits_its_limit_and_compiles_to_the_bytes_that_were_said():
    found = search(dtype="int8")
    everything = found.bytes({"ratios": {"useful": 1, "useless": 1, "last": 1}, "biases": 3})
    least = found.bytes({"ratios": {"last": 1}, "biases": 0})
    limit = (everything + least) // 2
    policy = found.best(limit, trials=25, finalists=2)
    model = network()
    update.sparse(model, **policy)
    model.compile(odt.SGD(0.05, 0.9))
    model.compile(odt.SGD(0.05, 0.9), frozen=frozen.pack(model))
    assert len(model.session.arena) + len(model.session.state) == found.bytes(policy) <= limit
    assert found.accuracy(policy) >= found.accuracy({"ratios": {"last": 1.0}, "biases": 0})


def test_no_other_trial_within_the_limit_beats_one_of_the_front():
    found = search()
    found.run(25)
    trials, front = found.trials(), found.front()
    assert len(trials) == 25 and front
    for size, gain, _ in front:
        assert not any(a <= size and b >= gain and (a < size or b > gain) for a, b, _ in trials)
    limit = sorted(size for size, _, _ in trials)[10]
    assert all(size <= limit for size, _, _ in found.front(limit))


def test_machines_with_one_storage_share_the_analysis_and_the_trials(tmp_path, monkeypatch):
    storage = "sqlite:///%s" % (tmp_path / "search.db")
    first = search(storage=storage)
    first.run(10)
    monkeypatch.setattr(Search, "accuracy", None)  # the second trains nothing
    second = search(storage=storage, seed=1)
    assert second.contributions() == first.contributions()
    second.run(5)
    assert len(first.trials()) == 15


@pytest.mark.parametrize("suffix", (".json", ".py"))
def test_a_board_loads_the_policy_that_was_written(suffix, tmp_path):
    policy = {"ratios": {"useful": 0.5, "last": 1.0}, "biases": 2}
    path = tmp_path / ("policy" + suffix)
    write(policy, path)
    loaded = json.loads(path.read_text()) if suffix == ".json" else runpy.run_path(str(path))["POLICY"]
    model = network()
    update.sparse(model, **loaded)
    rows = {node.layer.name: node.layer.update_rows for node in model.nodes if node.layer.kernel_shape}
    assert rows == {"useful": ((0, 6),), "useless": (), "last": None}


def test_the_picture_is_drawn(tmp_path):
    found = search()
    found.run(10)
    found.picture(tmp_path / "pareto.png")
    assert matplotlib.image.imread(tmp_path / "pareto.png").std() > 0.05


def test_what_cannot_be_is_refused(tmp_path):
    found = search()
    with pytest.raises(
        ValueError, match="limit 10: the last layer alone takes %d bytes" % found.bytes(found._policy({}, 0))
    ):
        found.best(10)
    with pytest.raises(ValueError, match="ends with .json or .py"):
        write({}, tmp_path / "policy.txt")
