"""A machine whose normal operation changes, and whose bearing then wears: what bench/examples/stories.py measures of
examples/vibration, and its files.

A stream is 300 windows as learned from, 400 after a change, and 300 in which a fault grows from nothing to a severe
one, by the model of examples/vibration/make_data.py; the change: noise 1.6 times as loud, the shaft at 0.8 of its
speed, or none. Every model learns 320 windows before, and 64 say what scores of healthy ones are. watching.Watch raises
the alarms (Page-Hinkley's test of the scores, in deviations). One before the fault is answered: healthy. Then, by
policy,
  frozen      nothing changes; the test begins anew
  threshold   32 windows say anew what scores are
  learns on   64 windows are learned, too, then 32 say so; trained networks train 8 epochs on the 64, from their weights
              on
  anew        a new model learns 64 windows, then 32 say so
  forgetting  every window is learned as it comes (forgetting 0.99), 32 say so after an alarm
Models: the autoencoder of train.py; one of dense layers, 20-8-20, on energies in bands; OS-ELM autoencoders on the same
bands (8 hidden) and on the samples (32 hidden); and two numbers, a window's loudness and its kurtosis. false: alarms in
1,000 windows before the change; between: alarms from the change to the fault; found: of the seeds; delay: windows from
the fault's first to its alarm, 300 where there is none. Ten seeds, of data and of models, mean +- standard error.
"""

import math
import os
import runpy
import sys
from array import array
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

VIBRATION = ROOT / "examples" / "vibration"
sys.path.insert(0, str(VIBRATION))

import counting  # noqa: E402
import numpy as np  # noqa: E402
import story_parts  # noqa: E402
from make_data import SEVERE, window  # noqa: E402
from watching import BANDS, LEARNED, WINDOW, Bands, Watch  # noqa: E402

import odt  # noqa: E402
from odt.online import Autoencoder  # noqa: E402

SEEDS, EPOCHS = 10, 8
BEFORE, BETWEEN, GROWING = 300, 400, 300
CHANGES = {"louder noise": {"noise": 8}, "slower shaft": {"speed": 0.8}, "no change": {}}


def files():
    """bearing.bin and change.bin."""
    os.chdir(VIBRATION)
    runpy.run_path("make_data.py", run_name="__main__")


# --- models, as watching.Watch takes them -------------------------------------------------------------


class Trained:
    """An autoencoder trained by backpropagation: it keeps windows, and trains when all are there."""

    def __init__(self, dtype, seed):
        self.dtype, self.seed = dtype, seed
        self.model, self.kept = None, []

    def layers(self):
        """As train.py has them."""
        return [
            odt.Input((WINDOW, 1), dtype="int8", scale=1 / 32),
            odt.Conv1D(8, 9, strides=4, padding="same", activation="relu"),
            odt.Conv1D(4, 5, strides=2, padding="same"),
            odt.Conv1DTranspose(8, 6, strides=2, padding="same", activation="relu"),
            odt.Conv1DTranspose(1, 8, strides=4, padding="same"),
        ]

    def sample(self, window):
        return array("b", window)

    def learn(self, window):
        self.kept.append(self.sample(window))

    def learned(self):
        weights, rate = self.model and self.model.get_weights(), 0.005 if self.model else 0.01
        x = self.kept[0][:0]
        for each in self.kept:
            x += each
        steps = EPOCHS * -(-len(self.kept) // 4)
        self.model, self.kept = odt.Sequential(self.layers()), []
        optimizer = odt.Adam(odt.CosineDecay(rate, steps))
        self.model.compile(optimizer, "mse", self.dtype, batch_size=4, micro_batch=1, seed=self.seed)
        if weights:
            self.model.set_weights(weights)
        self.model.fit(x, x, epochs=EPOCHS, verbose=0)

    def score(self, window):
        x = self.sample(window)
        return self.model.evaluate(x, x)[0]


class TrainedBands(Trained):
    """The same of energies in bands."""

    def __init__(self, dtype, seed):
        super().__init__(dtype, seed)
        self.bands = Bands()

    def center(self, windows):
        self.bands.center(windows)

    def layers(self):
        x = odt.Input((BANDS,), dtype="int16", scale=1 / 256, limit=8)
        return [x, odt.Dense(8, activation="tanh"), odt.Dense(BANDS)]

    def sample(self, window):
        return array("h", [int(256 * value) for value in self.bands.see(window)])


class Forgetting(Bands):
    """It learns each window that it has scored."""

    def score(self, window):
        score = super().score(window)
        self.model.learn_one(self.x)
        return score


class Samples:
    """An OS-ELM autoencoder of the samples themselves."""

    def __init__(self, seed):
        self.model = Autoencoder(WINDOW, 32, seed=seed)

    def see(self, window):
        return array("f", [value / 32 for value in window])

    def learn(self, window):
        self.model.learn_one(self.see(window))

    def learned(self):
        pass

    def score(self, window):
        return self.model.score_one(self.see(window))


class Number:
    """A number of a window, nothing learned."""

    def __init__(self, of):
        self.of = of

    def learn(self, window):
        pass

    learned = property(lambda self: lambda: None)

    def score(self, window):
        return float(self.of(np.array(window, float)))


def loudness(x):
    return math.log((x**2).mean())


def kurtosis(x):
    return ((x - x.mean()) ** 4).mean() / x.var() ** 2


LEARNS = "frozen", "threshold", "learns on"
WAYS = {  # name: (of a seed, a model; its policies)
    "trained, int8": (lambda seed: Trained("int8", seed), LEARNS),
    "trained, float32": (lambda seed: Trained("float32", seed), LEARNS),
    "trained on bands, int8": (lambda seed: TrainedBands("int8", seed), LEARNS),
    "trained on bands, float32": (lambda seed: TrainedBands("float32", seed), LEARNS),
    "OS-ELM on bands": (lambda seed: Bands(8, seed=seed), (*LEARNS, "anew")),
    "OS-ELM on bands, 0.99": (lambda seed: Forgetting(8, 0.99, seed), ("forgetting",)),
    "OS-ELM on samples": (Samples, LEARNS),
    "loudness": (lambda seed: Number(loudness), ("threshold",)),
    "kurtosis": (lambda seed: Number(kurtosis), ("threshold",)),
}


# --- the stream -------------------------------------------------------------------------------------


def stream(seed, change):
    """(windows to learn from, those for the scores, those to watch)."""
    rng = np.random.default_rng(1000 + seed)
    faults = [0] * (BEFORE + BETWEEN) + [SEVERE * (i + 1) / GROWING for i in range(GROWING)]
    found = [array("h", window(rng, 0).astype("int16").tolist()) for _ in range(384)]
    for i, fault in enumerate(faults):
        found.append(array("h", window(rng, fault, **(change if i >= BEFORE else {})).astype("int16").tolist()))
    return found[:320], found[320:384], found[384:]


def lived(make, policy, seed, windows):
    """(alarms before the change, from there to the fault, whether it was found, the delay)."""
    first, second, watched = windows
    model = make(seed)
    if hasattr(model, "center"):
        model.center(first[:64])
    watch = Watch(model)
    watch.healthy(len(first), len(second))
    for each in first + second:
        watch.see(each)
    alarms = [0, 0]
    for number, each in enumerate(watched):
        if not watch.see(each)[1]:
            continue
        if number >= BEFORE + BETWEEN:
            return (*alarms, 1, number - BEFORE - BETWEEN + 1)
        alarms[number >= BEFORE] += 1
        if policy == "anew":
            watch.model = make(seed)
            watch.model.usual = model.usual
        if policy != "frozen":
            watch.healthy(LEARNED if policy in ("learns on", "anew") else 0)
    return (*alarms, 0, GROWING)


def measured():
    found = {}
    for change, options in CHANGES.items():
        streams = [stream(seed, options) for seed in range(SEEDS)]
        print("%-38s%8s%16s%9s%16s" % (change, "false", "between", "found", "delay"))
        for name, (make, policies) in WAYS.items():
            for policy in policies if options else policies[:1]:  # there is no alarm before the fault's
                rows = np.array([lived(make, policy, seed, streams[seed]) for seed in range(SEEDS)], float)
                found[change, name, policy] = rows
                cells = 1000 / BEFORE * rows[:, 0].mean(), story_parts.cell(rows[:, 1]), rows[:, 2].sum()
                print("  %-26s%-10s%8.1f%16s%9d%16s" % (name, policy, *cells, story_parts.cell(rows[:, 3])), flush=True)
        print()
    return found


# --- what it takes ----------------------------------------------------------------------------------

TRAINED = """
import gc, odt
from array import array
model = odt.Sequential([%s])
model.compile(odt.Adam(0.01), "mse", dtype="%s", batch_size=4, micro_batch=1, seed=0)
x = array("%s", [(37 * i) %% 101 - 50 for i in range(%d)])
one = x[:%d]
for _ in range(2):
    model.train_step(x, x)
    model.evaluate(one, one)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.evaluate(one, one)
end()
begin()
model.train_step(x, x)
end()
"""
RAW = """odt.Input((256, 1), dtype="int8", scale=1 / 32),
    odt.Conv1D(8, 9, strides=4, padding="same", activation="relu"), odt.Conv1D(4, 5, strides=2, padding="same"),
    odt.Conv1DTranspose(8, 6, strides=2, padding="same", activation="relu"),
    odt.Conv1DTranspose(1, 8, strides=4, padding="same")"""
DENSE = 'odt.Input((20,), dtype="int16", scale=1 / 256, limit=8), odt.Dense(8, activation="tanh"), odt.Dense(20)'
ONLINE = """
import gc
window = array("h", [(37 * i) %% 101 - 50 for i in range(256)])
model = %s
for _ in range(4):
    model.learn(window)
    model.score(window)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.score(window)
end()
begin()
model.learn(window)
end()
"""
SAMPLES = """
class Samples:
    def __init__(self):
        self.model, self.x = Autoencoder(256, 32), array("f", bytes(1024))
    def see(self, window):
        for i in range(256):
            self.x[i] = window[i] / 32
        return self.x
    def learn(self, window):
        self.model.learn_one(self.see(window))
    def score(self, window):
        return self.model.score_one(self.see(window))
"""
REST = """
import gc
from odt.sensors import Above, Rules
from odt.sensors import log
model = Bands()
window = array("h", [(37 * i) % 101 - 50 for i in range(256)])
watch = Watch(model)
watch.healthy(4, 4)
for _ in range(12):
    watch.see(window)
rules = Rules()
rules.add("odd", Above("score", 1e5), log)
rules.value("score", 0.5, 0)
log("score", 0.0253, 0.5)
gc.collect()
print("heap free", gc.mem_free())
begin()
end()
begin()
model.see(window)
end()
begin()
watch.detector.update(0.5)
end()
begin()
rules.value("score", 0.5, 40)
end()
begin()
log("score", 0.0253, 0.5)
end()
begin()
log("alarm")
end()
"""


def ram(name):
    """Bytes that a model takes: arena, state and program, or state, tables and scratch."""
    model = WAYS[name][0](0)
    if isinstance(model, Trained):
        if isinstance(model, TrainedBands):
            model.center([array("h", [(37 * i) % 101 - 50 for i in range(WINDOW)])])
        for _ in range(4):
            model.learn(array("h", [(37 * i) % 101 - 50 for i in range(WINDOW)]))
        model.learned()
        plan = model.model.session.plan
        own = plan.arena + plan.state + len(bytes(plan.code))
        return own + (model.bands.mel.nbytes if isinstance(model, TrainedBands) else 0)
    of = model.model
    scratch = 4 * (2 * of.outputs + 1 + of.hidden + max(of.hidden, of.inputs + 1) + of.inputs + of.outputs)
    return len(of.state) + scratch + (model.mel.nbytes if isinstance(model, Bands) else 0)


def costs(names):
    """A model's parts on a board: cycles or instructions, bytes."""
    example = (VIBRATION / "watching.py").read_text()
    scripts = {
        "trained, int8": TRAINED % (RAW, "int8", "b", 1024, 256),
        "trained, float32": TRAINED % (RAW, "float32", "b", 1024, 256),
        "trained on bands, int8": TRAINED % (DENSE, "int8", "h", 80, 20),
        "trained on bands, float32": TRAINED % (DENSE, "float32", "h", 80, 20),
        "OS-ELM on bands": example + ONLINE % "Bands()",
        "OS-ELM on samples": example + SAMPLES + ONLINE % "Samples()",
    }
    print(
        "a score, its features with it but of trained on bands; a window learned, or a step of four; RAM that a model "
        "takes, and of"
    )
    print("%d windows that are kept to train on; all of an alarm's learning: 64 windows, once or in 8 epochs" % LEARNED)
    heads = "", "", "", "score", "learn", "after an alarm", "RAM", "kept", "heap free"
    print("%-28s%-10s%14s%12s%12s%16s%10s%10s%11s" % heads)
    for title, script in scripts.items():
        steps = EPOCHS * LEARNED // 4 if "trained" in title else LEARNED
        kept = 0 if "OS-ELM" in title else LEARNED * (2 * BANDS if "bands" in title else WINDOW)
        for name in names:
            score, learn, heap = story_parts.counted(name, script, [])
            cells = title, name, counting.UNITS[name], score, learn, steps * learn, ram(title), kept, heap
            print("%-28s%-10s%14s%12d%12d%16d%10d%10d%11d" % cells, flush=True)
    print()
    print(
        "%-28s%-10s%14s%12s%12s%12s%12s%12s" % ("", "", "", "bands", "PageHinkley", "rules", "log, score", "log, alarm")
    )
    for name in names:
        found = story_parts.counted(name, example + REST, [])[:-1]
        print(
            "%-28s%-10s%14s%12d%12d%12d%12d%12d" % ("and of each window", name, counting.UNITS[name], *found),
            flush=True,
        )
    print()


def picture(found):
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "odt"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(8, 3.2), sharex=True, sharey=True)
    rows = [(name, policy) for name, (_, policies) in WAYS.items() for policy in policies if "float32" not in name]
    colours = {
        "frozen": "0.75",
        "threshold": "tab:blue",
        "learns on": "tab:orange",
        "anew": "tab:green",
        "forgetting": "tab:red",
    }
    for axis, change in zip(axes, ("louder noise", "slower shaft")):
        for number, (name, policy) in enumerate(rows):
            delays = found[change, name, policy][:, 3]
            error = delays.std() / (len(delays) - 1) ** 0.5
            axis.barh(-number, delays.mean(), 0.8, xerr=error, color=colours[policy], error_kw={"linewidth": 0.8})
            between = found[change, name, policy][:, 1].mean()
            axis.text(4, -number, "%.1f alarms before" % between, va="center", fontsize=5)
        axis.set_title(change, fontsize=8)
        axis.set_xlabel("windows until the fault is found", fontsize=7)
        axis.tick_params(labelsize=6)
    axes[0].set_yticks([-number for number in range(len(rows))], ["%s, %s" % row for row in rows])
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "pictures" / "vibration.svg", metadata={"Date": None})
