"""Which layers to train within a number of bytes: contribution analysis, then evolutionary search (Lin et al., 2022,
SparseBP).

    search = Search(network, weights, train, test, lambda: odt.SGD(0.02, 0.9))
    policy = search.best(limit=40000)
    write(policy, "policy.json")
    search.picture("pareto.png")

    odt.adapt.update.sparse(model, **json.load(open("policy.json")))      # on the board

The contribution of an update is what it adds to the accuracy when it is made alone: biases of the last k layers
on top of the last layer, a part of one layer's weights on top of all biases. The search, by Optuna's NSGA-II, looks for
policies of large summed contribution and few bytes; the best that fit are then trained, and the best of these is taken.
Needs `pip install '.[search]'`.
"""

import json
from pathlib import Path

import optuna
from tqdm.auto import tqdm

from ...adapt.update import sparse
from ...files.frozen import HEADER
from ...losses import LOSSES
from ...plan.compiler import compile_graph
from ..files import replacing, write_text

RATIOS = (0.125, 0.25, 0.5, 1.0)


class Search:
    """``network()`` gives a new model, ``weights`` are its pretrained ones (``get_weights``), ``train`` and ``test``
    pairs (x, y).

    ``optimizer()`` gives a new optimizer; ``epochs`` of training are what an update is judged by, ``repeats`` times
    with other shuffles. ``flash``: frozen weights are in flash and count no bytes. ``ratios``: parts of a layer's
    weights to choose from. ``storage``, ``name``: Optuna's; machines that give the same ones, and each a ``seed`` of
    its own, share analysis and search.
    """

    def __init__(
        self, network, weights, train, test, optimizer, loss="sparse_categorical_crossentropy", dtype="int8",
        batch_size=16, epochs=2, repeats=1, seed=0, flash=True, ratios=RATIOS, storage=None, name="odt", progress=True,
    ):  # fmt: skip
        self.network, self.weights, self.train, self.test = network, weights, train, test
        self.optimizer, self.loss, self.dtype, self.batch_size = optimizer, loss, dtype, batch_size
        self.epochs, self.repeats, self.seed = epochs, repeats, seed
        self.flash, self.ratios, self.progress = flash, tuple(ratios), progress
        self.layers = [node.layer.name for node in network().nodes if node.layer.weight_shapes()]
        self.limit = None
        self.measured = {}  # policy as JSON -> accuracy
        self._sizes = {}
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study = optuna.create_study(
            directions=("maximize", "minimize"), storage=storage, study_name=name, load_if_exists=True,
            sampler=optuna.samplers.NSGAIISampler(population_size=32, seed=seed),
        )  # fmt: skip

    def bytes(self, policy):
        """The arena and the state that training by this policy takes."""
        key = json.dumps(policy, sort_keys=True)
        if key not in self._sizes:
            model = self.network()
            sparse(model, **policy)
            loss = LOSSES[self.loss]() if isinstance(self.loss, str) else self.loss
            flash = HEADER if self.flash else 0
            plan = compile_graph(model.nodes, loss, self.optimizer(), self.dtype, self.batch_size, flash=flash)
            self._sizes[key] = plan.arena + plan.state
        return self._sizes[key]

    def accuracy(self, policy):
        """The accuracy on ``test`` after training by this policy."""
        key = json.dumps(policy, sort_keys=True)
        if key not in self.measured:
            total = 0
            for repeat in range(self.repeats):
                model = self.network()
                sparse(model, **policy)
                model.compile(self.optimizer(), self.loss, self.dtype, self.batch_size, self.seed + repeat)
                model.set_weights(self.weights)
                model.fit(*self.train, epochs=self.epochs, verbose=0)
                total += model.evaluate(*self.test)[1]
            self.measured[key] = total / self.repeats
        return self.measured[key]

    def contributions(self):
        """``{"biases": [gain of the last 0, 1, .. layers], "weights": {layer: {ratio: gain}}}``, in accuracy.

        A bias's is on top of the last layer's training, a weight's on top of all biases'.
        """
        found = self.study.user_attrs.get("contributions")
        if found is None:
            found = self._analyse()
            self.study.set_user_attr("contributions", found)
        weights = {
            layer: {float(ratio): gain for ratio, gain in gains.items()} for layer, gains in found["weights"].items()
        }
        return {"biases": found["biases"], "weights": weights}

    def _analyse(self):
        count = len(self.layers)
        bar = self._bar(count + (count - 1) * len(self.ratios), "contributions")
        last = self.accuracy(self._policy({}, 0))
        biases = []
        for number in range(count + 1):
            biases.append(self.accuracy(self._policy({}, number)) - last)
            bar.update(number > 0)
        base = last + biases[-1]
        weights = {}
        for layer in self.layers[:-1]:
            weights[layer] = {}
            for ratio in self.ratios:
                weights[layer][ratio] = self.accuracy(self._policy({layer: ratio}, count)) - base
                bar.update()
        bar.close()
        return {"biases": biases, "weights": weights}

    def _policy(self, ratios, biases):
        """The last layer trains in any case."""
        return {"ratios": dict(ratios, **{self.layers[-1]: 1.0}), "biases": biases}

    def run(self, trials, limit=None):
        """Run more trials on this machine, of policies that take at most ``limit`` bytes;
        returns Optuna's study.
        """
        self.limit = limit
        gains = self.contributions()

        def objective(trial):
            biases = trial.suggest_int("biases", 0, len(self.layers))
            ratios = {}
            for layer in self.layers[:-1]:
                ratio = trial.suggest_categorical(layer, (0.0,) + self.ratios)
                if ratio:
                    ratios[layer] = ratio
            policy = self._policy(ratios, biases)
            trial.set_user_attr("policy", policy)
            gain = gains["biases"][biases] + sum([gains["weights"][layer][ratio] for layer, ratio in ratios.items()])
            size = self.bytes(policy)
            if limit:
                trial.set_constraint("limit", size - limit)
            return gain, size

        bar = self._bar(trials, "search")
        self.study.optimize(objective, n_trials=trials, callbacks=[lambda *_: bar.update()])
        bar.close()
        return self.study

    def _bar(self, total, name):
        return tqdm(total=total, desc=name, disable=not self.progress)

    def trials(self):
        """``[(bytes, summed contribution, policy)]`` of all trials, of all machines."""
        done = [trial for trial in self.study.trials if trial.state == optuna.trial.TrialState.COMPLETE]
        return [(int(trial.values[1]), trial.values[0], trial.user_attrs["policy"]) for trial in done]

    def front(self, limit=None):
        """Those that no other beats in both, by bytes; within ``limit``."""
        found = []
        for trial in sorted(self.trials(), key=lambda trial: (trial[0], -trial[1])):
            if (limit is None or trial[0] <= limit) and (not found or trial[1] > found[-1][1]):
                found.append(trial)
        return found

    def best(self, limit, trials=300, finalists=5):
        """The policy within ``limit`` bytes that trains best of the ``finalists`` of the largest summed contribution.

        ValueError when nothing fits: the last layer alone takes more.
        """
        last = self._policy({}, 0)
        if self.bytes(last) > limit:
            raise ValueError("limit %d: the last layer alone takes %d bytes" % (limit, self.bytes(last)))
        self.run(trials, limit)
        chosen = [policy for _, _, policy in self.front(limit)[-finalists:]] or [last]
        bar = self._bar(len(chosen), "finalists")
        for policy in chosen:
            self.accuracy(policy)
            bar.update()
        bar.close()
        return max(chosen, key=lambda policy: (self.accuracy(policy), -self.bytes(policy)))

    def picture(self, path):
        """Draw the trials, their front and what was trained: accuracy, in percent, against bytes; a file of
        matplotlib's.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        base = self.accuracy(self._policy({}, 0))
        figure = Figure(figsize=(8, 5), layout="constrained")
        axes = figure.add_subplot()
        trials, front = self.trials(), self.front()
        axes.plot(
            [t[0] for t in trials], [100 * (base + t[1]) for t in trials], ".", color="0.75", label="trials, predicted"
        )
        axes.step(
            [t[0] for t in front],
            [100 * (base + t[1]) for t in front],
            "k",
            where="post",
            label="Pareto front, predicted",
        )
        trained = [(self.bytes(json.loads(key)), 100 * value) for key, value in self.measured.items()]
        axes.plot(*zip(*trained), "o", color="#d55e00", markersize=4, label="trained")
        if self.limit:
            axes.axvline(self.limit, color="red", linestyle=":", label="limit")
        axes.set(xlabel="bytes of arena and state", ylabel="accuracy, %")
        axes.legend(fontsize=8)
        FigureCanvasAgg(figure)
        with replacing(path) as name:
            figure.savefig(name, dpi=150)


def write(policy, path):
    """The policy as .json, or as a .py module's POLICY: ``odt.adapt.update.sparse(model, **policy)`` takes it."""
    suffix = Path(path).suffix
    if suffix not in (".json", ".py"):
        raise ValueError("the policy's file ends with .json or .py, got %r" % str(path))
    text = json.dumps(policy, indent=1) + "\n"
    if suffix == ".py":
        text = (
            "# What odt.adapt.update.sparse(model, **POLICY) trains. Written by odt.host.search.\n\nPOLICY = %r\n"
            % (policy,)
        )
    write_text(path, text)
