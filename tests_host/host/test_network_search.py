"""The search over networks: figures that are the board's, a front that nothing beats, limits, trials that are kept,
data that is bad.
"""

import numpy as np
import optuna
import pytest
from digits_data import X, Y

import odt
from odt.host import commands
from odt.host.boards.board import BoardError
from odt.host.search import command as searching
from odt.host.search import networks
from odt.host.search.family import Family, cut_channels
from odt.host.search.networks import FIGURES, NetworkSearch

SHUFFLED = np.random.default_rng(0).permutation(1000)
IMAGES = X.reshape(-1, 8, 8, 1)
TRAIN = IMAGES[SHUFFLED[:320]], Y[SHUFFLED[:320]].astype("int32")
TEST = IMAGES[SHUFFLED[320:520]], Y[SHUFFLED[320:520]].astype("int32")


def small(trial):
    """A function of one's own, of networks that train fast."""
    width = trial.suggest_categorical("width", (4, 8, 16, 32))
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Flatten(), odt.Dense(width, "relu"), odt.Dense(10)
    ])  # fmt: skip
    batch = trial.suggest_categorical("batch", (4, 8, 16))
    model.compile(odt.Adam(trial.suggest_categorical("rate", (0.001, 0.01, 0.03))), batch_size=batch, seed=1)
    return model


def search(network=small, **options):
    return NetworkSearch(network, TRAIN, TEST, **dict({"epochs": 3, "progress": False}, **options))


@pytest.fixture(scope="module")
def found():
    made = search()
    made.run(trials=20)
    return made


@pytest.mark.parametrize("number", range(3))
def test_the_bytes_of_a_point_are_those_that_compile_and_the_file_reserve(found, number, tmp_path):
    point = found.front()[number]
    model = found.write(point, tmp_path / "best.odt")
    opened = odt.load_model(str(tmp_path / "best.odt"))
    for session in (model.session, opened.session):
        assert len(session.arena) + len(session.state) == point.figures["ram"]
    assert (tmp_path / "best.odt").stat().st_size == point.figures["flash"]
    assert opened.digest() == point.digest
    assert opened.evaluate(*TEST)[1] == point.figures["accuracy"]
    alone = small(optuna.trial.FixedTrial(point.params))
    alone.compile(None, batch_size=1)
    assert len(alone.session.arena) + len(alone.session.state) == point.figures["predict_ram"]


def test_no_point_is_better_in_everything_than_one_of_the_front(found):
    points, front = found.points(), found.front()
    assert 1 < len(front) <= len(points) > 10
    for point in front:
        for other in points:
            signs = [
                (-1 if name == "accuracy" else 1) * (other.figures[name] - point.figures[name]) for name in FIGURES
            ]
            assert not (max(signs) <= 0 and min(signs) < 0)
    best = found.best(0.02)
    assert best.figures["accuracy"] >= max(point.figures["accuracy"] for point in points) - 0.02


def test_a_search_goes_on_where_its_storage_stands_and_trains_nothing_twice(tmp_path, monkeypatch):
    first = search(storage=tmp_path / "trials")
    first.run(trials=8)
    known = {str(point.params): point.digest for point in first.points()}
    trained = []

    def fit(model, trial, train, epochs):
        trained.append(str(trial.params))
        model.fit(*train, epochs=epochs, verbose=0)

    second = search(storage=tmp_path / "trials", seed=1, fit=fit)
    assert [point.digest for point in second.points()] == [point.digest for point in first.points()]
    second.run(trials=12)
    assert len(second.study.trials) == 20
    assert not set(trained) & set(known) and len(set(trained)) == len(trained)
    with pytest.raises(ValueError, match="holds trials of another search, .*'epochs': 3.*'epochs': 5"):
        search(storage=tmp_path / "trials", epochs=5)
    with pytest.raises(ValueError, match="holds trials of another search, .*'data'"):
        NetworkSearch(small, TEST, TEST, epochs=3, progress=False, storage=tmp_path / "trials")
    with pytest.raises(RuntimeError, match="data, network or odt are others than then"):
        search(storage=tmp_path / "trials", fit=lambda model, *_: None).model(first.best())


def test_two_processes_share_one_search(tmp_path):
    made = search(storage=tmp_path / "trials")
    made.run(trials=10, workers=2)
    assert len(made.study.trials) == 10 and made.front()
    twin = search(storage=tmp_path / "trials")
    assert twin.model(twin.best()).digest() == made.best().digest


@pytest.mark.parametrize("damage", (b"", b"\0" * 100, b"{}\n", b"no trials\n" * 9))
def test_a_damaged_storage_is_named_or_begun(damage, tmp_path):
    (tmp_path / "trials").write_bytes(damage)
    if not damage:
        search(storage=tmp_path / "trials")
        return
    with pytest.raises(ValueError, match="storage: .*trials is not one of a search's"):
        search(storage=tmp_path / "trials")


def test_what_is_beyond_a_limit_is_not_trained_and_the_limits_are_named_when_nothing_fits():
    trained = []

    def fit(model, trial, train, epochs):
        trained.append(len(model.session.arena) + len(model.session.state))
        model.fit(*train, epochs=epochs, verbose=0)

    made = search(limits={"ram": 12000}, fit=fit, epochs=1)
    made.run(trials=15)
    assert max(trained) <= 12000 and len(trained) < 15
    assert all(point.figures["ram"] <= 12000 for point in made.points())
    wider = search(limits={"ram": 20000}, storage=made.storage, fit=fit, epochs=1)
    wider.run(trials=25)
    assert 12000 < max(trained) <= 20000
    with pytest.raises(ValueError, match=r"none of 4 networks is within the limits: ram 100 \(the least that came: \d"):
        search(limits={"ram": 100}).run(trials=4)
    with pytest.raises(ValueError, match="best: nothing was trained"):
        search(limits={"ram": 100}).best()


def test_training_ends_early_where_others_are_ahead_and_a_point_is_trained_to_its_end():
    trained = []

    def fit(model, trial, train, epochs, callbacks=()):
        trained.append(len(model.fit(*train, epochs=epochs, verbose=0, callbacks=list(callbacks)).history["loss"]))

    made = search(fit=fit, epochs=9, objectives=("accuracy",))
    made.run(trials=20)
    ended = [
        trial.user_attrs.get("ended", 9)
        for trial in made.study.trials
        if trial.values and "after 1" in trial.user_attrs
    ]
    assert trained == ended and {1, 9} <= set(ended) <= {1, 3, 9}
    assert sum(trained) < 0.7 * 9 * len(trained)
    rungs = [trial.user_attrs["after 1"][0] for trial in made.study.trials if "after 1" in trial.user_attrs]
    best = made.best()
    assert made.study.trials[best.number].user_attrs["after 1"][0] >= np.median(rungs)
    assert made.model(best).evaluate(*TEST)[1] == best.figures["accuracy"] and trained[-1] == 9


def test_none_is_ended_by_one_that_costs_more():
    """With RAM as an objective the cheapest network goes on, however bad it is."""
    made = search(epochs=9, objectives=("accuracy", "ram"))
    made.run(trials=25)
    trials = [trial for trial in made.study.trials if trial.values]
    least = min(trial.values[1] for trial in trials)
    cheapest = [trial.user_attrs for trial in trials if trial.values[1] == least]
    assert any("digest" in known for known in cheapest)
    for trial in trials:
        rung = "after %d" % trial.user_attrs.get("ended", 0)
        if rung in trial.user_attrs:  # not one with the choices of one before
            accuracy, costs = trial.user_attrs[rung]
            assert sum(
                other.user_attrs[rung][0] > accuracy and other.user_attrs[rung][1][0] <= costs[0]
                for other in trials
                if rung in other.user_attrs
            ) >= 2  # fmt: skip


def test_shapes_that_people_write_come_first_and_those_beyond_a_limit_are_not_trained():
    family = Family(TRAIN, 1 / 16, ("int8",))
    made = search(family, limits={"ram": 12000}, epochs=1)
    made.run(trials=len(family.starts()))
    assert [trial.params for trial in made.study.trials] == family.starts()
    assert made.points() and all(point.figures["ram"] <= 12000 for point in made.points())


def test_the_best_is_the_one_that_other_seeds_confirm():
    made = search(Family(TRAIN, 1 / 16, ("int8",)), limits={"ram": 30000}, epochs=2)
    made.run(trials=25)
    made.confirm(5, points=3, seeds=2)
    digests = [point.digest for point in made.points() if point.number in made.means]
    assert len(set(digests)) == len(digests) == 3
    best = made.best()
    assert made.means[best.number] == max(made.means.values())
    seeds = [made.point(best.number).figures["accuracy"]]
    for seed in (1, 2):
        family = Family(TRAIN, 1 / 16, ("int8",), seed=seed)
        trial = optuna.trial.FixedTrial(best.params)
        model = family(trial)
        family.fit(model, trial, TRAIN, 2)
        seeds.append(model.evaluate(*TEST)[1])
    assert made.means[best.number] == pytest.approx(sum(seeds) / 3)


def test_features_of_other_sizes_get_a_normalization():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 3)).astype("float32")
    trial = optuna.trial.FixedTrial(Family((x, np.arange(60) % 2)).starts()[0])
    for given, expected in ((x, False), (x * [1, 1, 50], True), (x + [0, 0, 90], True), (x / 1000, False)):
        layers = Family((given.astype("float32"), np.arange(60) % 2)).layers(trial)
        assert any(isinstance(layer, odt.Normalization) for layer in layers) == expected
    wide = (x * [1, 1, 50]).astype("float32"), np.arange(60) % 2
    assert not any(isinstance(layer, odt.Normalization) for layer in Family(wide, normalize=False).layers(trial))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("sampler", ("tpe", "nsga2"))
def test_both_samplers_search_within_limits(sampler):
    made = search(
        Family(TRAIN, 1 / 16), sampler=sampler, limits={"ram": 20000}, epochs=1, objectives=("accuracy", "ram")
    )
    made.run(trials=12)
    assert made.front() and all(point.figures["ram"] <= 20000 for point in made.points())


def test_networks_that_cannot_be_compiled_are_passed_over_and_told_if_all_are():
    def odd(trial):
        size = trial.suggest_categorical("size", (3, 5, 9))
        model = odt.Sequential([odt.Input((8, 8, 1), dtype="uint8"), odt.Conv2D(2, size), odt.Flatten(), odt.Dense(10)])
        model.compile("sgd")
        return model

    made = search(odd, epochs=1)
    made.run(trials=12)
    assert {point.params["size"] for point in made.points()} == {3, 5}

    def wrong(trial):
        raise ValueError("no such layer")

    with pytest.raises(ValueError, match="none of 3 networks could be tried: no such layer"):
        search(wrong).run(trials=3)


def test_arguments_that_cannot_be_are_refused():
    for options, words in (
        ({"objectives": ("ram",)}, "objectives: accuracy, and others"),
        ({"objectives": ("accuracy", "speed")}, "objectives: one of accuracy, ram, .* got 'speed'"),
        ({"limits": {"heap": 5}}, "limits: one of .* got 'heap'"),
        ({"sampler": "random"}, "sampler: .* got 'random'"),
        ({"machine": "z80"}, "machine: one of rp2040, cortex-m4f, rv32 is expected, got 'z80'"),
    ):
        with pytest.raises(ValueError, match=words):
            search(**options)
    with pytest.raises(ValueError, match="minutes or trials"):
        search().run()
    with pytest.raises(ValueError, match="no trial 99 was trained"):
        search().point(99)


@pytest.mark.parametrize("kind", ("conv", "separable", "dense"))
@pytest.mark.parametrize("shape", ((8, 8, 1), (16, 3), (20,)))
def test_every_choice_of_the_family_trains(kind, shape):
    rng = np.random.default_rng(1)
    train = rng.normal(size=(24, *shape)).astype("float32"), np.arange(24) % 3
    family = Family(train, adapt=train)
    for number in range(6):
        study = optuna.create_study(sampler=optuna.samplers.RandomSampler(number))
        study.enqueue_trial({"kind": kind})
        trial = study.ask()
        model = family(trial)
        before = model.digest()
        family.fit(model, trial, train, 2)
        assert model.digest() != before and model.evaluate(*train)[1] is not None


@pytest.mark.parametrize("kind", ("conv", "separable", "dense"))
@pytest.mark.parametrize("head", ("flatten", "average"))
def test_channels_that_are_0_can_be_cut_and_nothing_changes(kind, head):
    """Half of the channels of a float32 network have weights of 0:
    the narrow network of the others computes the same.
    """
    trial = optuna.trial.FixedTrial({
        "prune": 0.5, "kind": kind, "shrink": "pool", "kernel": 3, "filters": 4, "growth": 2.0, "blocks": 3,
        "head": head, "depth": 2, "width 0": 8,
        "width 1": 4, "batch": 4, "parts": 1, "rate": 0.001, "optimizer": "sgd", "recompute": False,
    })  # fmt: skip
    family = Family(TRAIN, 1 / 16, ("float32",), seed=5)
    wide, narrow = [odt.Sequential(family.layers(trial, whole)) for whole in (True, False)]
    for model in (wide, narrow):
        model.compile("sgd", dtype="float32", batch_size=4, seed=5)
    rng, values, last = np.random.default_rng(0), [], None
    shapes = [(shape, node.layer) for node in wide.nodes for _, shape in node.layer.weight_shapes()]
    for number, (value, (shape, layer)) in enumerate(zip(wide.get_weights(), shapes)):
        value = np.array(value).reshape(shape)
        if number < len(shapes) - 2:  # not of the classes
            if len(shape) > 1:
                last = last if isinstance(layer, odt.DepthwiseConv2D) else rng.permutation(shape[0])[: shape[0] // 2]
            else:
                value = rng.normal(0, 0.1, shape).astype("float32")
            value = 3 * value  # deep networks of first weights hardly tell samples apart
            value[last] = 0
        values.append(value)
    wide.set_weights(values)
    assert len(wide.session.state) > 1.5 * len(narrow.session.state)
    narrow.set_weights(cut_channels(wide, narrow))
    assert wide.predict(TEST[0]).std(0).min() > 1e-3
    assert np.allclose(wide.predict(TEST[0]), narrow.predict(TEST[0]), atol=1e-5)


# The command


def written(folder, **arrays):
    np.savez(folder / "data.npz", **arrays)
    return str(folder / "data.npz")


def centroids(train, test):
    """The accuracy of the nearest mean of a class: what a network has to beat."""
    x, y = train[0].reshape(len(train[0]), -1).astype("float64"), train[1]
    means = np.stack([x[y == label].mean(0) for label in range(10)])
    distances = ((test[0].reshape(len(test[0]), 1, -1) - means) ** 2).sum(2)
    return (distances.argmin(1) == test[1]).mean()


def test_the_command_finds_a_network_better_than_the_nearest_mean_and_writes_it(tmp_path, capsys):
    data = written(tmp_path, x=TRAIN[0], y=TRAIN[1], x_test=TEST[0], y_test=TEST[1])
    words = [
        "search",
        data,
        "-o",
        str(tmp_path / "best.odt"),
        "--trials",
        "24",
        "--workers",
        "1",
        "--ram",
        "30000",
        "--dtype",
        "int8",
    ]
    words += [
        "--study",
        str(tmp_path / "trials"),
        "--picture",
        str(tmp_path / "front.png"),
        "--scale",
        "0.0625",
        "--epochs",
        "6",
    ]
    assert commands.main(words) == 0
    model = odt.load_model(str(tmp_path / "best.odt"))
    assert len(model.session.arena) + len(model.session.state) <= 30000
    assert model.evaluate(*TEST)[1] > centroids(TRAIN, TEST)
    assert (tmp_path / "front.png").stat().st_size > 10000
    text = capsys.readouterr().out
    assert "%.2f %% of the test samples, int8" % (100 * model.evaluate(*TEST)[1]) in text
    number = int(text.splitlines()[1].split()[0])
    assert commands.main([*words[:4], *words[8:], "--trials", "1", "--take", str(number)]) == 0
    assert "\ntrial %d: " % number in capsys.readouterr().out


def test_a_script_gives_the_networks(tmp_path, capsys):
    script = tmp_path / "space.py"
    script.write_text("""import odt

def network(trial):
    width = trial.suggest_int("width", 4, 12)
    image = odt.Input((8, 8, 1), dtype="uint8")
    model = odt.Sequential([image, odt.Flatten(), odt.Dense(width, "relu"), odt.Dense(10)])
    model.compile("adam")
    return model
""")
    data = written(tmp_path, x=TRAIN[0], y=TRAIN[1])
    words = [
        "search",
        data,
        "-o",
        str(tmp_path / "best.odt"),
        "--network",
        str(script),
        "--trials",
        "3",
        "--workers",
        "1",
    ]
    assert commands.main([*words, "--epochs", "1"]) == 0
    assert "width=" in capsys.readouterr().out and odt.load_model(str(tmp_path / "best.odt")).batch_size == 16
    script.write_text("network = 5")
    assert commands.main(words) == 1
    assert "a function network(trial) is expected" in capsys.readouterr().out


FLOATS = np.zeros((20, 3), "float32")
LABELS = np.arange(20) % 2
BAD = {
    "no labels": (dict(x=FLOATS), "there is no array y, but x"),
    "labels of others": (dict(x=FLOATS, y=LABELS[:5]), r"y: 20 integer labels are expected, got int64 of shape \(5,\)"),
    "labels of floats": (dict(x=FLOATS, y=LABELS / 2), "y: 20 integer labels are expected, got float64"),
    "labels below 0": (dict(x=FLOATS, y=LABELS - 1), "y: labels are from 0 to 32767, got -1 to 0"),
    "one class": (dict(x=FLOATS, y=0 * LABELS), "y: two classes at least are expected"),
    "not a number": (dict(x=FLOATS + np.nan, y=LABELS), "x: not all numbers are finite"),
    "wide integers": (dict(x=FLOATS.astype("int64"), y=LABELS), "x: float32, uint8 or int8 is expected, got int64"),
    "no axes": (dict(x=FLOATS[:, 0], y=LABELS), r"x: samples of one to three axes are expected, got the shape \(20,\)"),
    "few": (dict(x=FLOATS[:5], y=LABELS[:5]), "ten samples at least are expected, got 5"),
    "no test labels": (dict(x=FLOATS, y=LABELS, x_test=FLOATS), "there is no array y_test"),
    "another shape": (dict(x=FLOATS, y=LABELS, x_test=FLOATS[:, :2], y_test=LABELS),
    r"x_test: float32 of \(3,\) is expected"),
    "another class": (dict(x=FLOATS, y=LABELS, x_test=FLOATS, y_test=LABELS + 1),
    "y_test has a class 2 that y has not"),
    "objects": (dict(x=np.array([None] * 20), y=LABELS), "Object arrays cannot be loaded"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_data_that_cannot_be_is_named_and_no_file_is_written(name, tmp_path, capsys):
    arrays, words = BAD[name]
    output = tmp_path / "best.odt"
    output.write_bytes(b"old")
    status = commands.main(
        ["search", written(tmp_path, **arrays), "-o", str(output), "--trials", "1", "--workers", "1"]
    )
    assert status == 1 and output.read_bytes() == b"old"
    with pytest.raises((ValueError, BoardError), match=words):
        raise ValueError(capsys.readouterr().out)


def test_damaged_files_are_named(tmp_path, capsys):
    data = written(tmp_path, x=FLOATS, y=LABELS)
    whole = open(data, "rb").read()
    for cut in (0, 1, 30, len(whole) // 2, len(whole) - 5):
        open(data, "wb").write(whole[:cut])
        with pytest.raises(ValueError):
            searching.pairs(data)
        assert commands.main(["search", data, "--trials", "1"]) == 1
        assert capsys.readouterr().out.startswith("odt: %s: " % data)
    rng = np.random.default_rng(0)
    for _ in range(60):
        damaged = bytearray(whole)
        for at in rng.integers(0, len(whole), 4):
            damaged[at] = rng.integers(256)
        open(data, "wb").write(damaged)
        try:
            train, test, adapt = searching.pairs(data)
        except ValueError:
            continue
        assert len(train[0]) + len(test[0]) == 20 and adapt is None
    assert commands.main(["search", str(tmp_path / "none.npz"), "--trials", "1"]) == 1
    assert "No such file" in capsys.readouterr().out


def test_a_limit_that_is_not_above_0_is_named(tmp_path, capsys):
    data = written(tmp_path, x=FLOATS, y=LABELS)
    for word, value in (("--ram", "0"), ("--predict-ram", "-5"), ("--cycles", "nan")):
        assert commands.main(["search", data, word, value, "--trials", "1"]) == 1
        assert "%s: a number above 0 is expected" % word in capsys.readouterr().out


def test_the_board_samples_are_adapted_to_by_a_policy():
    turned = np.ascontiguousarray(TRAIN[0][:, ::-1])
    adapt, test = (turned[:80], TRAIN[1][:80]), (turned[80:], TRAIN[1][80:])
    made = NetworkSearch(Family(TRAIN, 1 / 16, ("int8",), adapt), TRAIN, test, epochs=2, progress=False)
    made.run(trials=8)
    policies = {point.params["policy"] for point in made.points()}
    assert len(policies) > 1 and policies <= {"whole", "bias", "last"}
    point = made.points()[0]
    assert made.model(point).evaluate(*test)[1] == point.figures["accuracy"]


def test_the_table_and_the_picture_say_the_front(found, tmp_path):
    head, *rows = found.table()
    assert len(rows) == len(found.front()) and "accuracy" in head
    assert [int(row.split()[0]) for row in rows] == [point.number for point in found.front()]
    found.picture(tmp_path / "front.png", [("one", found.front()[0].figures)])
    assert (tmp_path / "front.png").stat().st_size > 10000


def test_every_figure_is_a_name_of_the_command_line():
    assert set(searching.LIMITS) | {"accuracy"} == set(networks.FIGURES)
