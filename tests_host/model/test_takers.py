# ruff: noqa: B008
"""All that takes samples is in one table, and refuses arrays of other axes than its own: what comes new without a line
there fails here.
"""

import ast
import asyncio
import gc
import re
from array import array

import house
import numpy as np
import pytest

import odt
from odt import metrics
from odt.adapt import fisher
from odt.adapt import tinytrain as adapt
from odt.continual import Latents, Prototypes, Replay, Reservoir, adabn, labels, teach, tent
from odt.data import Companding, Normalizer, Whitening
from odt.files import frozen
from odt.host import heads
from odt.host.convert import load
from odt.host.four_bits import pack_four
from odt.inspect import timing as profile
from odt.noise import evaluate as noise_evaluate
from odt.online import KNN, NCM, OSELM, RCE, Autoencoder, CentroidDrift, EchoState, KMeans
from odt.recurrent import Steps
from odt.sensors import (
    MFCC,
    Events,
    Filter,
    Frames,
    LogMel,
    MicroFrontend,
    MiniRocket,
    Motion,
    Recorder,
    Stream,
    Window,
)

X = np.random.default_rng(0).normal(size=(6, 4, 3)).astype("f")
Y = [0, 1, 0, 1, 0, 1]


def network(layers=(), dtype="float32"):
    model = odt.Sequential([odt.Input((4, 3)), *layers, odt.Flatten(name="flat"), odt.Dense(2)])
    model.compile(odt.SGD(0.01), dtype=dtype, batch_size=6, seed=1)
    model.fit(X.ravel(), Y, verbose=0)
    return model


def normed(loss="sparse_categorical_crossentropy"):
    model = network([odt.Dense(3), odt.BatchNorm()])
    if loss != "sparse_categorical_crossentropy":
        model.compile(odt.SGD(0.01), loss, dtype="float32", batch_size=6)
    return model


def partly_frozen():
    front, head = odt.Dense(8, name="front"), odt.Dense(2)
    front.trainable = False
    model = odt.Sequential([odt.Input((4, 3)), front, odt.Flatten(), head])
    model.compile(odt.SGD(0.01), dtype="int8", batch_size=6, seed=1)
    model.fit(X.ravel(), Y, verbose=0)
    return model


def recurrent():
    model = odt.Sequential([odt.Input((4, 3)), odt.GRU(2)])
    model.compile(odt.SGD(0.01), "mse", dtype="int8", batch_size=6, seed=1)
    model.calibrate(X.ravel())
    return model


def attentive():
    return network([odt.MultiHeadAttention(3)])


def latents():
    return Latents(teach.front(network(), "flat"), X.ravel())


def teacher():
    return teach.Teacher(teach.front(network(), "flat"), 2, 400, steps=1)


def imported():
    torch = pytest.importorskip("torch")
    gc.freeze()  # what was imported: compile() collects
    net = torch.nn.Sequential(torch.nn.Conv1d(3, 2, 1), torch.nn.Flatten(), torch.nn.Linear(8, 2))
    return load(net.eval(), shape=(3, 4), calibrate=X.transpose(0, 2, 1).copy()).imported


def recorder():
    return Recorder(str(house.ROOT / "build" / "takers.npy"), Window(4, 3, typecode="f"), classes=2)


def later(call):
    return lambda x: asyncio.run(call(x))


def stream():
    return Stream(Window(4, 3, typecode="f"), network(), Events(2))


INT = (X * 1000).astype("int16")
ROW = np.arange(6, dtype="f")
# name: (what makes it, right data, data of other axes of as many numbers, or why there are none)
TAKERS = {
    "odt.run.network:Network." + name: (lambda name=name: lambda x, f=getattr(network(), name): f(x, Y), X)
    for name in ("fit", "evaluate", "train_step")
}
TAKERS.update({
    "odt.run.network:Network." + name: (lambda name=name: getattr(network(), name), X)
    for name in ("predict", "predict_proba", "predict_classes", "calibrate", "__call__")
})  # fmt: skip
TAKERS.update({
    "odt.run.network:Network.fit_async": (lambda: later(lambda x, m=network(): m.fit_async(x, Y, verbose=0)), X),
    "odt.files.frozen:pack": (lambda: lambda x, m=partly_frozen(): frozen.pack(m, 4, x), X),
    "odt.host.four_bits:pack_four": (lambda: lambda x, m=partly_frozen(): pack_four(m, 4, x), X),
    "odt.continual.adabn:update_bn": (lambda: lambda x, m=normed(): adabn.update_bn(m, x), X),
    "odt.continual.tent:adapt": (lambda: lambda x, m=normed(tent.Entropy()): tent.adapt(m, x, 1), X),
    "odt.adapt.tinytrain:task_adaptive": (lambda: lambda x, m=network(): adapt.task_adaptive(m, x, Y), X),
    "odt.noise.measure:evaluate": (lambda: lambda x, m=network(): noise_evaluate(m, x, Y), X),
    "odt.adapt.fisher:fisher": (lambda: lambda x, m=network(): fisher.fisher(m, x, Y), X),
    "odt.adapt.fisher:measure": (lambda: lambda x, m=network(): fisher.measure(m, x, Y), X),
    "odt.run.classes:classes": (lambda: lambda x, m=network(): m.predict_classes(x), X),
    "odt.run.classes:probabilities": (lambda: lambda x, m=network(): m.predict_proba(x), X),
    "odt.run.posteriors:probabilities": (lambda: lambda x, m=network(): labels.uncertainty(m, x), X),
    "odt.continual.labels:uncertainty": (lambda: lambda x, m=network(): labels.uncertainty(m, x), X),
    "odt.continual.labels:query": (lambda: lambda x, m=network(): labels.query(m, x, 2), X),
    "odt.continual.labels:pseudo": (lambda: lambda x, m=network(): labels.pseudo(m, x), X),
    "odt.continual.labels:Asker.wants": (lambda: labels.Asker(network(), 5, 0.5, 4).wants, X[:1]),
    "odt.recurrent.steps:Steps.predict": (lambda: Steps(recurrent()).predict, X[0]),
    "odt.metrics:confusion_matrix": (lambda: lambda x, m=network(): metrics.confusion_matrix(m, x, Y), X),
    "odt.metrics:report": (lambda: lambda x, m=network(): metrics.report(m, x, Y), X),
    "odt.inspect.timing:profile": (lambda: lambda x, m=network(): profile.profile(m, x, Y), X),
    "odt.continual.latents:Latents.__call__": (latents, X),
    "odt.continual.teach:front": (lambda: lambda x, m=network(dtype="int8"): teach.front(m, "flat",
    x) and m.calibrate(x), X),
    "odt.continual.teach:Teacher.learn": (lambda: lambda x, t=teacher(): t.learn(x, "a"), X[:1]),
    "odt.continual.teach:Teacher.predict": (lambda: teacher().predict, X[:1]),
    "odt.continual.teach:Teacher.similarity": (lambda: teacher().similarity, X[:1]),
    "odt.continual.prototypes:Prototypes.partial_fit": (lambda: lambda x,
    p=Prototypes(latents(), 2): p.partial_fit(x, Y), X),
    "odt.continual.prototypes:Prototypes.nearest_one": (lambda: Prototypes(latents(), 2).nearest_one, X[:1]),
    "odt.continual.prototypes:Prototypes.predict_one": (lambda: Prototypes(latents(), 2).predict_one, X[:1]),
    "odt.continual.replay:Replay.add": (lambda: lambda x, r=Replay(network(), 1000): r.add(x, Y), X),
    "odt.continual.replay:Replay.mixed": (lambda: lambda x, r=Replay(network(), 1000): r.mixed(x, Y), X),
    "odt.sensors.record:Recorder.add": (lambda: lambda x, r=recorder(): r.add(x, "a"), X[0]),
    "odt.continual.reservoir:Reservoir.add": (lambda: lambda x, r=Reservoir(4, 6): r.add(x, 0), ROW, ROW.reshape(2, 3)),
    "odt.sensors.stream.window:Window.push": (lambda: Window(4, 3, typecode="f").push, X[0]),
    "odt.sensors.stream.window:Window.put": (lambda: Window(4, 3, typecode="f").put, X[0].ravel(), X[0].T.copy()),
    "odt.sensors.stream.window:Window.flat": (lambda: Window(4, 3, typecode="f").flat, X[0]),
    "odt.sensors.stream.live:Stream.feed": (lambda: stream().feed, X[0]),
    "odt.sensors.stream.live:Stream.see": (lambda: stream().see, X[:1]),
    "odt.sensors.stream.live:Stream.posteriors": (lambda: stream().posteriors, X[:1]),
    "odt.sensors.features:Feature.__call__": (lambda: Motion(window=4, bands=()), INT[0]),
    "odt.sensors.features.frames:Frames.__call__": (lambda: Frames(Motion(window=2, bands=()), 1, 3), INT[0]),
    "odt.sensors.features.filter:Filter.__call__": (lambda: Filter([(1.0, 0.0, 0.0, 1.0, 0.0, 0.0)], 3), INT[0]),
    "odt.sensors.features.rocket:MiniRocket.fit": (lambda: MiniRocket(12, 3, 84).fit, INT.reshape(2, 12, 3)),
    "odt.sensors.features.rocket:MiniRocket.__call__": (lambda: MiniRocket(12, 3, 84).fit(INT.ravel()),
    INT[:3].reshape(12, 3)),
    "odt.sensors.features:Feature.layers": (lambda: LogMel(8000, channels=12).layers, INT.reshape(6, 12),
    INT.reshape(12, 6)),
    "odt.sensors.features.frames:Frames.layers": (lambda: Frames(LogMel(8000, channels=3), 9, 4).layers, INT),
    "odt.data.features:Companding.adapt": (lambda: Companding(3).adapt, X),
    "odt.data.features:Companding.transform": (lambda: Companding(3, [0.0] * 3, [1.0] * 3).transform, X),
    "odt.data.features:Whitening.adapt": (lambda: Whitening(3).adapt, X),
    "odt.data.features:Whitening.transform": (lambda: Whitening(3, [0.0] * 3, [1.0] * 9).transform, X),
    "odt.data.readers:Normalizer.update": (lambda: Normalizer(3).update, X[0]),
    "odt.data.readers:Normalizer.apply": (lambda: Normalizer(3).apply, X[0].copy()),
    "odt.layers.normalization:Normalization.adapt": (lambda: normalization().adapt, X),
    "odt.host.heads:importance": (lambda: lambda x, m=attentive(): heads.importance(m, x, Y), X),
    "odt.host.heads:prune_heads": (lambda: lambda x, m=attentive(): heads.prune_heads(m, 1, x, Y), X),
    "odt.host.convert:Imported.samples": (lambda: imported().samples, X.transpose(0, 2, 1), X),
})  # fmt: skip
ONLINE = {
    "oselm:OSELM": (
        lambda: OSELM(6, classes=2),
        ("learn_one", "predict_one", "predict_proba_one", "score_one", "partial_fit"),
    ),
    "oselm:Autoencoder": (lambda: Autoencoder(6), ("learn_one", "score_one", "partial_fit")),
    "echo:EchoState": (lambda: EchoState(6, classes=2), ("learn_one", "step_one", "predict_one")),
    "neighbours:NCM": (lambda: NCM(6, 2), ("learn_one", "predict_one")),
    "neighbours:KMeans": (lambda: KMeans(6, 2), ("learn_one",)),
    "neighbours:KNN": (lambda: KNN(6), ("learn_one", "predict_one")),
    "neighbours:RCE": (lambda: RCE(6), ("learn_one", "predict_one", "classify_one")),
    "centroid:CentroidDrift": (lambda: taught(CentroidDrift(6)), ("update",)),
}


def taught(model):
    model.learn_one(ROW, 0)
    return model


def normalization():
    layer = odt.Normalization()
    odt.Sequential([odt.Input((4, 3)), layer, odt.Dense(2)]).compile(None, "mse", dtype="float32")
    return layer


def one(kind, name):
    """Call with a label where it takes one; of several samples as a list."""
    model = kind()
    call = getattr(model, name)
    labelled = name in ("learn_one", "score_one", "partial_fit") and not isinstance(model, (Autoencoder, KMeans))
    if name == "partial_fit":
        return lambda x: call([x], [0]) if labelled else call([x])
    return (lambda x: call(x, 0)) if labelled else call


for place, (kind, names) in ONLINE.items():
    for name in names:
        TAKERS["odt.online.%s.%s" % (place, name)] = (
            lambda kind=kind, name=name: one(kind, name),
            ROW,
            ROW.reshape(2, 3),
        )
NO_ARRAYS = {
    "a number": ("odt.base.fixed:float_to_bits", "odt.base.primitives:order", "odt.online.drift:Detector.update",
    "odt.sensors.rules:Condition.value", "odt.sensors.rules:Above.value",
                 "odt.sensors.rules:Rules.value", "odt.base.units:fixed_point"),
    "samples as the user's rules take them": ("odt.continual.labels:Votes.votes", "odt.continual.labels:Votes.fit",
    "odt.continual.labels:Votes.labels"),
    "what was checked, or what checks": ("odt.sensors.features.refused:refuse", "odt.sensors.features.refused:windows",
    "odt.sensors.features.begin:layers"),
    "samples of any shape": ("odt.host.convert:Imported.bytes",),
    "samples that a model gets as they are": tuple(
        "odt.data.targets:ScaledTargets." + name for name in ("fit", "train_step", "evaluate", "predict")
    )
    + ("odt.continual.guards:said",),
    "how many samples each node of a fleet has": ("odt.host.fleet.rounds:Fleet.apply",)
    + tuple("odt.host.fleet.sums:" + name for name in ("krum", "masked", "mean", "median", "trimmed"))
    + ("odt.host.fleet.sums:Robust.__call__",),
    "a sample's bytes, for the planner": ("odt.host.rows.place:place", "odt.host.rows.stage:Stage.live_bytes"),
    "samples as a network of PyTorch takes them": ("odt.host.episodes:train", "odt.host.prune:prune"),
    "places of an imported tensor's numbers": tuple(
        "odt.host.convert.sequences.attention:" + name for name in ("dense", "masked", "scaled", "softmax")
    ),
    "a window as the recorder shows it": ("odt.host.boards.record:picture",),
}  # fmt: skip
_INNER = ("odt.run.", "odt.plan.", "odt.reference.", "odt.host.cost", "odt.host.chart", "odt.host.release.odt_kernels")
_FACES = ("odt.run.network", "odt.run.classes", "odt.run.posteriors")


def found():
    """Public functions and methods with an argument of samples, by name."""
    for path in sorted((house.ROOT / "odt").rglob("*.py")):
        module = ".".join(path.relative_to(house.ROOT).with_suffix("").parts).removesuffix(".__init__")
        if module.startswith(_INNER) and module not in _FACES:
            continue
        tree = ast.parse(path.read_text())
        for owner in [tree, *[node for node in tree.body if isinstance(node, ast.ClassDef) and node.name[0] != "_"]]:
            for node in owner.body:
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                    node.name[0] != "_" or node.name == "__call__"
                ):
                    if {"x", "samples", "sample", "windows"} & {
                        argument.arg for argument in node.args.args + node.args.kwonlyargs
                    }:
                        yield "%s:%s%s" % (module, owner.name + "." if owner is not tree else "", node.name)


def test_all_that_takes_samples_is_in_the_table():
    inherited = {"odt.online.echo:EchoState." + name for name in ("learn_one", "predict_one")}
    assert set(found()) == set(TAKERS).union(*NO_ARRAYS.values()) - inherited


@pytest.mark.parametrize("name", sorted(TAKERS))
def test_arrays_of_other_axes_are_refused_and_right_ones_are_taken(name):
    (house.ROOT / "build" / "takers.npy").unlink(missing_ok=True)
    make, right, *other = TAKERS[name]
    wrong = other[0] if other else np.ascontiguousarray(np.swapaxes(right, -1, -2))
    if not name.endswith(
        (":measure", "task_adaptive", "adabn:update_bn", "tent:adapt")
    ):  # that is said of its own model
        make()(right)
    call = make()
    with pytest.raises((ValueError, TypeError)) as error:
        call(wrong)
    assert re.search(r"shape|numbers|expected", str(error.value)), error.value


@pytest.mark.parametrize("make", (MFCC, MicroFrontend, LogMel))
def test_frames_of_sound_have_one_axis(make):
    sound = (np.random.default_rng(1).normal(size=480) * 3000).astype("int16")
    right = make()(sound)
    for shape in ((1, 480), (480, 1)):
        assert make()(sound.reshape(shape)) == right
    for shape in ((2, 240), (240, 2), (480, 2)):
        with pytest.raises(ValueError, match="samples: "):
            make()(np.resize(sound, shape))


def test_a_window_takes_rows_of_channels_as_it_takes_them_flat():
    for typecode in "bBhHiIf":
        x = np.arange(24).astype(typecode).reshape(8, 3)
        for data in (x, memoryview(x), x[:, None], np.asfortranarray(x)):
            window = Window(8, 3, typecode=typecode)
            assert window.push(data) == 8 and list(window.next()) == list(range(24))


def test_windows_of_any_ints_teach_minirocket_the_same():
    windows = (np.random.default_rng(2).normal(size=(5, 40, 2)) * 900).astype("int16")
    expected = MiniRocket(40, 2, 84).fit(array("h", windows.tobytes())).biases
    for data in (windows, windows.astype("int64"), windows.astype("int32"), windows.reshape(5, 80), list(windows),
        windows.tolist(), tuple(windows),
                 [array("h", w.tobytes()) for w in windows], windows.ravel().tolist(), np.repeat(windows, 2, 0)[::2],
                 windows.tobytes()):  # fmt: skip
        assert MiniRocket(40, 2, 84).fit(data).biases == expected
    for bad in (windows.astype("f"), windows / 1000, [windows[0] / 1000.0], "windows", None):
        with pytest.raises(TypeError, match=r"MiniRocket.fit: x"):
            MiniRocket(40, 2, 84).fit(bad)
    for bad in (
        windows.transpose(0, 2, 1),
        windows.transpose(0, 2, 1).tolist(),
        np.full((1, 40, 2), 40000),
        windows[:, :39],
        [],
    ):
        with pytest.raises(ValueError, match=r"MiniRocket.fit: x"):
            MiniRocket(40, 2, 84).fit(bad)
