"""Whatever keeps a state: how one is made, what changes it, and how what it knows is compared. test_savers.py goes
through this table.

A row is a Saver. What saves, loads, learns or forgets, and has no row, fails test_savers.py.
"""

import struct
from array import array

import odt
from odt.continual import Latents, Prototypes, Replay, Reservoir, teach
from odt.data import Normalizer
from odt.online import (
    ADWIN,
    DDM,
    KNN,
    KSWIN,
    NCM,
    OSELM,
    RCE,
    Autoencoder,
    CentroidDrift,
    EchoState,
    KMeans,
    PageHinkley,
)
from odt.recurrent import Steps
from odt.sensors import Above, Count, Events, MiniRocket, Recorder, Rules, Sequence, Window

X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [0.5, -1.0], [-0.25, 0.0], [1.0, 1.0]]
Y = [0, 2, 1, 0, 1, 2]


class Saver:
    """``make(path)``: one that has learned something, its file at ``path`` if it has one; the same whenever it is
    called.

    ``changes``: {name: call(it)}. ``known(it)``: what it knows and says. ``parts``: states between that a change may
    stop at, of a change in several samples. ``save``, ``load``: (it, path). ``other``: makes one that refuses such a
    file. ``file``: whether ``path`` holds what RAM knows at all times: ``known`` of one that is made of the file is
    compared. ``touch``: changes what is to be loaded. ``step``: opcodes from one exception to the next, where there are
    too many.
    """

    def __init__(
        self, make, changes, known, parts=None, save=None, load=None, other=None, file=None, touch=None, step=1
    ):
        self.make, self.changes, self.known, self.parts = make, changes, known, parts
        self.save, self.load, self.other, self.file = save, load, other, file
        self.touch, self.step = touch or next(iter(changes.values())), step


# Models


def network(dtype="int8", seed=1, layers=None, optimizer=None, units=3):
    model = odt.Sequential(layers or [odt.Input((2,)), odt.Dense(units, "relu"), odt.Dense(3)])
    model.compile(optimizer or odt.Adam(0.05), dtype=dtype, batch_size=4, seed=seed)
    return model


def trained(dtype="int8", **options):
    model = network(dtype, **options)
    model.fit(X, Y, verbose=0)
    return model


def of_model(model):
    session = model.session
    history = {name: list(values) for name, values in model.history.history.items()} if model.history else None
    state = bytes(session.state), session.calibrated, session.epoch, session.underway, session.seed, session.fresh
    assert not session.busy and session.fit is None and session.parts == session.whole_parts
    return state, history


def whole_model(model):
    """And what it predicts."""
    return of_model(model)[0], bytes(model.predict(X))


def model_row(make, changes, known=whole_model, **options):
    def made(path):
        model = make()
        model.session.whole_parts = model.session.parts
        return model

    return Saver(made, changes, known, **options)


DTYPES = ("int8", "float32")
OTHER = {dtype: trained(dtype, seed=5) for dtype in DTYPES}
WEIGHTS = {dtype: OTHER[dtype].get_weights() for dtype in DTYPES}
FILES = {}


def file_of(dtype, tmp_path):
    """Files of another model: a checkpoint and a model file."""
    for name in ("save", "export"):
        FILES[dtype, name] = str(tmp_path / (dtype + name))
        getattr(OTHER[dtype], name)(FILES[dtype, name])


def _other_dtype(dtype):
    return lambda: trained(DTYPES[dtype == DTYPES[0]])


def _norm(model):
    return [layer for layer in model.layers if layer.kind == "normalization"][0]


def _normalized():
    model = network(layers=[odt.Input((2,)), odt.Normalization(), odt.Dense(3)])
    _norm(model).adapt(X)
    model.fit(X, Y, verbose=0)
    return model


def _of_normalized(model):
    return whole_model(model), _norm(model).sums


FRONT = network(layers=[odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(2)])
FRONT.fit(X, [y % 2 for y in Y], verbose=0)
FRONT = teach.front(FRONT)
LATENTS = Latents(FRONT)


def of_state(it):
    return bytes(it.state)


def _learned(it, rows):
    for row in rows:
        it.learn_one(*row)
    return it


def online(make, rows, changes, predict=None, step=1):
    """A model of odt.online, that has learned ``rows``."""

    def known(it):
        return of_state(it), predict and predict(it)

    def other():
        return KNN(7, budget=3) if not isinstance(make(), KNN) else NCM(7, classes=2)

    return Saver(
        lambda path: _learned(make(), rows), dict(changes, load=None), known,
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path), other=other, step=step,
    )  # fmt: skip


ROWS = [(x, y) for x, y in zip(X, Y)]


def learn(it):
    it.learn_one([0.75, -0.5], 1)


def _classifier(make, *more):
    changes = {"learn_one": learn}
    changes.update(more)
    return online(make, ROWS, changes, lambda it: [it.predict_one(x) for x in X])


def _centroids():
    it = CentroidDrift(2, classes=3, window=4, threshold=0.1)
    _learned(it, ROWS)
    for x, y in ROWS[:3]:
        it.update(x, y)
    return it


def _echo():
    return EchoState(2, 1, units=3, seed=3)


def _detector(make, values, step=1):
    def made(path):
        it = make()
        for value in values:
            it.update(value)
        return it

    return Saver(
        made, {"update": lambda it: it.update(1), "reset": lambda it: it.reset(), "load": None}, of_state,
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path), other=lambda: NCM(2, classes=2),
        step=step,
    )  # fmt: skip


def _rules(path=None):
    rules = Rules(["a", "b"])
    rules.add("two", Count("a", 2, 100))
    rules.add("both", Sequence(["a", "b"], 100), cooldown=5)
    rules.add("high", Above("x", 2, hold=10))
    for name, now in (("a", 10), ("b", 20), ("a", 30)):
        rules.event(name, now)
    rules.value("x", 3, 31)
    return rules


def _of_rules(rules):
    return of_state(rules), list(rules.names), len(rules.rules), list(rules._signals), len(rules.cells)


def _replay():
    model = trained()
    return Replay(model, budget=90)


def _replayed(path):
    it = _replay()
    it.add(X, Y)
    return it


def _parts(it, rows):
    """What it knows after each of the rows."""
    found = [of_state(it)]
    for x, y in rows:
        it.add([x], [y])
        found.append(of_state(it))
    return found


def _reservoir(path):
    it = Reservoir(3, 2, seed=4)
    for x, y in ROWS[:5]:
        it.add(x, y)
    return it


def _of_reservoir(it):
    return it.seen, bytes(it.x), bytes(it.y)


def _teacher(path, place=True):
    it = teach.Teacher(FRONT, classes=3, budget=40, steps=6, place=path if place else None)
    it.learn(X[0], "a")
    it.learn(X[1], "b")
    it.fit()
    return it


def _of_teacher(it):
    return bytes(it.state), list(it.labels)


def _taught(it):
    return _of_teacher(it), it.digest(), [it.predict(x) for x in X]


def _reopened(path):
    it = teach.Teacher(FRONT, classes=3, budget=40, steps=6, place=path)
    it.load(path)
    return it


def _from_file(path):
    return _of_teacher(_reopened(path))


def recorder(path):
    return Recorder(path, Window(2, 1), rate=50, budget=192 + 8 * 24, classes=3)


def _recorded(path):
    import os

    if os.path.exists(path):
        os.remove(path)
    it = recorder(path)
    for k in range(4):
        it.add(array("h", [k, k + 1]), "ab"[k % 2])
    it.close()
    return it


def _of_recorder(it):
    return list(it.labels), [it.count(label) for label in it.labels], [(list(x), label) for x, label in it]


class Played:
    """A sensor."""

    ended, channels, typecode = False, 1, "h"

    def __init__(self):
        self.at = 90

    def readinto(self, buffer):
        self.at += 1
        struct.pack_into("<h", buffer, 0, self.at)
        return 2


WINDOWS = [array("h", [30 * k + j for j in range(9)]) for k in range(4)]


BIASES = MiniRocket(9, 1, 84).fit(WINDOWS[1]).biases  # what finds them changes nothing


def _rocket(path):
    return MiniRocket(9, 1, 84).fit(WINDOWS[0])


def _of_rocket(it):
    return it.biases, bytes(it(WINDOWS[2]))


def _events(path):
    it = Events(3, mean=2, threshold=0.5)
    for row in ([0.1, 0.8, 0.1], [0.2, 0.7, 0.1]):
        it.update(row)
    return it


def _of_events(it):
    if not len(it._sums):  # update() begins anew
        return [0] * 3, [0] * 6, 0, 0, None
    return list(it._sums), list(it._ring), it._at, it._hold, it.label


def _normalizer(path):
    it = Normalizer(2)
    it.update([0, 1, 2, 5, 1, 1])
    return it


def _steps(path):
    model = odt.Sequential([odt.Input((3, 2)), odt.GRU(2)])
    model.compile(odt.SGD(0.01), "mse", batch_size=2, seed=1)
    model.calibrate([X[:3], X[3:]])
    it = Steps(model)
    it.predict(X[1])
    return it


TABLE = {
    "KNN": _classifier(lambda: KNN(2, budget=4), ("forget", lambda it: it.forget(2))),
    "NCM": _classifier(lambda: NCM(2, classes=3)),
    "RCE": _classifier(lambda: RCE(2, budget=8, reach=1)),
    "KMeans": online(
        lambda: KMeans(2, 3), [row[:1] for row in ROWS], {"learn_one": lambda it: it.learn_one([0.75, -0.5])},
        lambda it: [it.predict_one(x) for x in X],
    ),
    "CentroidDrift": online(
        _centroids, (), {"learn_one": learn, "update": lambda it: it.update(X[3], 0)},
        lambda it: (it.distance, it.drift_detected)
    ),
    "OSELM": _classifier(lambda: OSELM(2, classes=3, hidden=3)),
    "Autoencoder": online(
        lambda: Autoencoder(2, hidden=2), [row[:1] for row in ROWS],
        {"learn_one": lambda it: it.learn_one([0.75, -0.5])},
        lambda it: it.score_one(X[0]),
    ),
    "EchoState": online(
        _echo, ROWS,
        {"learn_one": learn, "step_one": lambda it: it.step_one([0.75, -0.5]), "reset": lambda it: it.reset()},
        lambda it: (bytes(it.states()), it.predict_one(X[0])), step=3,
    ),
    "Prototypes": online(
        lambda: Prototypes(LATENTS, classes=3), ROWS, {"learn_one": learn, "forget": lambda it: it.forget(2)},
        lambda it: [it.predict_one(x) for x in X],
        step=5,
    ),
    "ADWIN": _detector(lambda: ADWIN(clock=1, grace_period=1), [0, 1] * 6, step=5),
    "DDM": _detector(lambda: DDM(2), [0, 1, 0]),
    "PageHinkley": _detector(lambda: PageHinkley(2), [0.5, 1, 0]),
    "KSWIN": _detector(lambda: KSWIN(window_size=8, stat_size=3), [0.5, 1, 0]),
    "Rules": Saver(
        _rules, touch=lambda it: it.event("a", 40), changes= {"add": lambda it: it.add("more%d" % len(it.names),
        Above("y%d" % len(it.names), 1)), "load": None}, known=_of_rules,
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path), other=lambda: Rules(["z"]),
    ),
    "Replay": Saver(
        _replayed, {"add": lambda it: it.add(X[:2], Y[:2]), "load": None}, of_state, lambda it: _parts(it, ROWS[:2]),
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path),
        other=lambda: Replay(trained(), budget=200), step=5,
    ),
    "Reservoir": Saver(_reservoir, {"add": lambda it: it.add(*ROWS[5])}, _of_reservoir),
    "Teacher": Saver(
        _teacher, {"learn": lambda it: it.learn(X[2], "c"), "learn more": lambda it: it.learn(X[2], "a"),
                   "forget": lambda it: it.forget(it.labels[0])},
        _of_teacher, file=_from_file, step=11,
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path),
        other=lambda: teach.Teacher(FRONT, classes=2, budget=40, steps=6),
    ),
    "Teacher without a place": Saver(
        lambda path: _teacher(path, False), {"learn": lambda it: it.learn(X[2], "c"), "load": None}, _taught, step=7,
        save=lambda it, path: it.save(path), load=lambda it, path: it.load(path),
    ),
    "Recorder": Saver(
        _recorded,
        {"add": lambda it: it.add(array("h", [40, 41]), "c"), "add more": lambda it: it.add(array("h", [40, 41]), "a"),
         "remove": lambda it: it.remove(0), "forget": lambda it: it.forget(it.labels[-1]),
         "close": lambda it: it.close()},
        _of_recorder, file=lambda path: _of_recorder(recorder(path)),
    ),
    "Recorder, capture": Saver(
        _recorded, {"capture": lambda it: it.capture("c", 1, Played())}, lambda it: _of_recorder(it)[:2],
        file=lambda path: _of_recorder(recorder(path))[:2],
    ),
    "MiniRocket": Saver(_rocket, {"fit": lambda it: it._keep(BIASES)}, _of_rocket, step=3),
    "Events": Saver(_events, {"update": lambda it: it.update([0.7, 0.2, 0.1]), "reset": lambda it: it.reset()},
    _of_events),
    "Normalizer": Saver(
        _normalizer, {"update": lambda it: it.update([3, 4, 0, 1])},
        lambda it: (it.count, bytes(it.mean), bytes(it.squares))
    ),
    "Steps": Saver(
        _steps,
        {"predict": lambda it: it.predict(X[2]), "restore": lambda it: it.restore(bytes(len(it.state))),
         "reset": lambda it: it.reset()},
        lambda it: bytes(it.state),
    ),
    "Normalization": model_row(_normalized, {"adapt": lambda model: _norm(model).adapt(X[:3])}, _of_normalized,
    step=15),
}  # fmt: skip

for _dtype in DTYPES:
    TABLE["Network, " + _dtype] = model_row(
        lambda dtype=_dtype: trained(dtype),
        {
            "load": None,
            "set_weights": lambda model: model.set_weights(WEIGHTS[model.dtype]),
            "load_weights": lambda model: model.load_weights(FILES[model.dtype, "export"]),
        },
        save=lambda model, path: OTHER[model.dtype].save(path),
        load=lambda model, path: model.load(path),
        other=_other_dtype(_dtype),
        touch=lambda model: model.fit(X[:4], Y[:4], verbose=0),
        step=25,
    )  # fmt: skip
