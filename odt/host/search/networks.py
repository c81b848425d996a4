"""Which network to train on a board: a search over networks for accuracy against RAM, flash and cycles, by Optuna.

    search = NetworkSearch(Family(train), train, test, limits={"ram": 60000, "cycles": 5e6})
    search.run(minutes=10, workers=2)
    search.confirm(minutes=1)
    print("\\n".join(search.table()))
    search.picture("pareto.png")
    search.write(search.best(), "best.odt")            # odt.load_model() opens it, there and here

A trial compiles a network, which gives its RAM to the byte, its flash and its estimated cycles (odt/host/cost). A
network beyond a limit is not trained. The others are trained, for the accuracy. No board is needed. Needs `pip install
'.[search]'`.
"""

import contextlib
import copy
import inspect
import itertools
import math
import multiprocessing
import os
import shutil
import tempfile
import time
import warnings
import weakref
import zlib

import numpy as np
import optuna
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from tqdm.auto import tqdm

from ...plan.compiler import compile_graph
from .. import cost
from ..files import replacing
from ..text import literal
from .halving import Rungs

# A figure: whether more of it is better; what a table calls it.
FIGURES = {
    "accuracy": (True, "accuracy"), "ram": (False, "RAM to train"), "predict_ram": (False, "to predict"),
    "flash": (False, "file"),
    "cycles": (False, "cycles a step"),
}  # fmt: skip
_DONE = optuna.trial.TrialState.COMPLETE


class Point:
    """A trained trial: ``number``, ``params``, ``figures`` by name, the model's ``digest``."""

    def __init__(self, trial):
        self.number, self.params = trial.number, trial.params
        self.figures, self.digest = trial.user_attrs["figures"], trial.user_attrs["digest"]

    def beats(self, figures, names=tuple(FIGURES)):
        """Whether none of these figures is worse than those, and one is better."""
        signs = [(-1 if FIGURES[name][0] else 1) * (self.figures[name] - figures[name]) for name in names]
        return max(signs) <= 0 > min(signs)


class NetworkSearch:
    """``network(trial)`` gives a compiled model, its choices by Optuna's ``trial.suggest_..``; ``train``, ``test``:
    pairs (x, y).

    ``fit(model, trial, train, epochs)`` trains it, in place of ``model.fit``; a ``network`` with a method ``fit`` has
    it with it. One that takes ``callbacks``, too, is ended early where other trials are ahead (halving.py). The choices
    of ``network.starts()``, if it has that method, are tried first. ``objectives``: some of "accuracy", "ram" (arena
    and state of training), "predict_ram" (the same, compiled for prediction of one sample), "flash" (the model file),
    "cycles" (of a step on ``machine``). ``limits``: the most of a figure, by name. ``sampler``: "tpe" or "nsga2".
    ``storage``: a file's name, or a database's address as Optuna takes it: trials are kept there; a later search of the
    same ``name``, data, objectives and epochs goes on with them. Several machines may share it, each with a ``seed`` of
    its own.
    """

    def __init__(
        self, network, train, test, fit=None, objectives=tuple(FIGURES), limits=None, epochs=8, sampler="tpe", seed=0,
        storage=None, name="networks", machine="rp2040", progress=True,
    ):  # fmt: skip
        for argument, names in (("objectives", objectives), ("limits", limits or {})):
            for each in names:
                if each not in FIGURES or argument == "limits" and each == "accuracy":
                    raise ValueError("%s: one of %s is expected, got %r" % (argument, ", ".join(FIGURES), each))
        if "accuracy" not in objectives or len(set(objectives)) != len(objectives):
            raise ValueError("objectives: accuracy, and others once each, got %s" % (objectives,))
        if sampler not in ("nsga2", "tpe"):
            raise ValueError('sampler: "nsga2" or "tpe" is expected, got %r' % (sampler,))
        if machine not in cost.MACHINES:
            raise ValueError("machine: one of %s is expected, got %r" % (", ".join(cost.MACHINES), machine))
        self.network, self.train, self.test = network, train, test
        self.fit = fit or getattr(network, "fit", _fit)
        self.halves = "callbacks" in inspect.signature(self.fit).parameters
        self.means = {}  # by a trial's number: its mean accuracy of several seeds, see confirm()
        self.objectives, self.limits, self.epochs = tuple(objectives), dict(limits or {}), epochs
        self.sampler, self.seed, self.name, self.machine, self.progress = sampler, seed, name, machine, progress
        optuna.logging.set_verbosity(optuna.logging.ERROR)  # run() reports a failure once
        if storage is None:
            memory = "/dev/shm"  # Optuna waits for the disk after each of a trial's choices
            folder = tempfile.mkdtemp(prefix="odt-search-", dir=memory if os.path.isdir(memory) else None)
            weakref.finalize(self, shutil.rmtree, folder, True)
            storage = os.path.join(folder, "trials")
        self.storage = os.fspath(storage)
        self.study = self._open(seed)
        kept = self.study.user_attrs.get("search")
        data = 0
        for each in (*train, *test):
            data = zlib.crc32(np.ascontiguousarray(each), data)
        asked = {"objectives": list(self.objectives), "epochs": epochs, "machine": machine, "data": "%08x" % data}
        if kept is None:
            self.study.set_user_attr("search", asked)
        elif kept != asked:
            raise ValueError("storage: %s holds trials of another search, %s; this is %s" % (self.storage, kept, asked))
        if not self.study.get_trials(deepcopy=False):
            for choices in getattr(network, "starts", tuple)():
                self.study.enqueue_trial(choices)

    def _open(self, seed):
        kind = {
            "nsga2": lambda: optuna.samplers.NSGAIISampler(population_size=40, seed=seed),
            "tpe": lambda: optuna.samplers.TPESampler(multivariate=True, group=True, seed=seed),
        }[self.sampler]
        directions = ["maximize" if FIGURES[each][0] else "minimize" for each in self.objectives]
        storage = self.storage
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)  # of group=
        try:
            if "://" not in storage:
                storage = optuna.storages.JournalStorage(
                    JournalFileBackend(storage, lock_obj=JournalFileOpenLock(storage))
                )
            return optuna.create_study(
                directions=directions, storage=storage, study_name=self.name, load_if_exists=True, sampler=kind()
            )
        except (OSError, ValueError, KeyError, UnicodeError) as error:
            raise ValueError("storage: %s is not one of a search's: %s" % (self.storage, error)) from None

    def run(self, minutes=None, trials=None, workers=1):
        """Try networks for that many minutes, or that many of them, in ``workers`` processes; Ctrl-C ends it, and what
        was found stays.

        ValueError, with figures, where no trial is within the limits, and where no trial could be compiled.
        """
        if minutes is None and trials is None:
            raise ValueError("run: minutes or trials, or both, are expected")
        if trials == 0:
            return
        before, end = len(self.study.trials), None if minutes is None else time.monotonic() + 60 * minutes
        if workers > 1 and "fork" not in multiprocessing.get_all_start_methods():
            workers = 1  # a network's function need not be one that another process could be given
        with contextlib.suppress(KeyboardInterrupt):
            if workers == 1:
                self._alone(end, trials)
            else:
                self._together(end, trials, workers, before)
        self._check(before)

    def _bar(self, trials):
        return tqdm(total=trials, desc="search", unit=" networks", disable=not self.progress)

    def _alone(self, end, trials):
        with self._bar(trials) as bar:
            self.study.optimize(
                self.trial, n_trials=trials, timeout=None if end is None else max(end - time.monotonic(), 0),
                callbacks=[lambda study, trial: self._tell(bar, trial)],
            )  # fmt: skip

    def _together(self, end, trials, workers, before):
        context = multiprocessing.get_context("fork")
        failed = context.Queue()
        shares = [None if trials is None else (trials + number) // workers for number in range(workers)]
        processes = [
            context.Process(target=self._work, args=(before + number, end, share, failed), daemon=True)
            for number, share in enumerate(shares)
        ]
        with self._bar(trials) as bar:
            try:
                for process in processes:
                    process.start()
                seen = before
                while any([process.is_alive() for process in processes]):
                    processes[0].join(0.5)
                    found = [
                        trial for trial in self.study.get_trials(deepcopy=False)[seen:] if trial.state.is_finished()
                    ]
                    for trial in found:
                        self._tell(bar, trial)
                    seen += len(found)
            finally:
                for process in processes:
                    process.terminate()
                    process.join()
        if not failed.empty():
            raise RuntimeError("a process of the search ended: %s" % failed.get())

    def _work(self, number, end, trials, failed):
        try:
            study = self._open(self.seed + 7919 * (number + 1))
            left = None if end is None else max(end - time.monotonic(), 0)
            study.optimize(self.trial, n_trials=trials, timeout=left)
        except KeyboardInterrupt:
            pass
        except BaseException as error:
            failed.put("%s: %s" % (type(error).__name__, error))

    def _tell(self, bar, trial):
        bar.update()
        if trial.state == _DONE and "digest" in trial.user_attrs:
            best = getattr(self, "_best", 0)
            self._best = max(best, trial.user_attrs["figures"]["accuracy"])
            bar.set_postfix_str("best accuracy %.1f %%" % (100 * self._best))

    def trial(self, trial):
        """Of Optuna: compile, measure, train; the objectives' values."""
        try:
            model = self.network(trial)
        except (ValueError, MemoryError) as error:
            trial.set_user_attr("refused", str(error))
            raise optuna.TrialPruned(str(error)) from None
        same = self._same(trial)
        if same is not None:
            for key, value in same.user_attrs.items():
                if key in ("figures", "digest", "ended"):
                    trial.set_user_attr(key, value)
            self._told(trial, same.user_attrs["figures"])
            return same.values
        figures = dict(self.figures(model), accuracy=0.0)
        if not self._is_beyond(figures):
            rungs = Rungs(self, trial, figures) if self.halves else None
            try:
                self._train(model, trial, rungs)
                ended = rungs is not None and rungs.ended
                accuracy = rungs.accuracy if ended else model.evaluate(*self.test)[1]
            except ArithmeticError as error:  # diverged
                trial.set_user_attr("refused", str(error))
                raise optuna.TrialPruned(str(error)) from None
            # What data decides of the cycles may be beyond a limit now.
            figures = dict(self.figures(model), accuracy=accuracy)
            if ended:
                trial.set_user_attr("ended", ended)
            elif not self._is_beyond(figures):
                trial.set_user_attr("digest", model.digest())
        trial.set_user_attr("figures", figures)
        self._told(trial, figures)
        return [figures[each] for each in self.objectives]

    def _train(self, model, trial, rungs, network=None):
        """Train as the trial says; without ``rungs`` to the end."""
        fit = self.fit if network is None else network.fit
        if rungs is None:
            fit(model, trial, self.train, self.epochs)
        else:
            fit(model, trial, self.train, self.epochs, callbacks=[rungs])

    def _same(self, trial):
        """A trial of before with these choices, which is not trained again;
        what other limits forbade is trained now.
        """
        for other in self.study.get_trials(deepcopy=False, states=(_DONE,)):
            known = other.user_attrs
            trained = "digest" in known or "ended" in known
            if other.params == trial.params and (trained or self._is_beyond(known["figures"])):
                return other
        return None

    def _is_beyond(self, figures):
        return any([figures[name] > most for name, most in self.limits.items()])

    def _told(self, trial, figures):
        """Tell the sampler how far each limit is."""
        for name, most in self.limits.items():
            trial.set_constraint(name, figures[name] / most - 1)

    def figures(self, model):
        """{name: figure} of a compiled model, but its accuracy."""
        session = model.session
        alone = compile_graph(model.nodes, session.loss, None, session.dtype, 1)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.odt")
            model.export(path)
            flash = os.path.getsize(path)
        count = session.batch_size
        found = {
            "ram": len(session.arena) + len(session.state), "predict_ram": alone.arena + alone.state, "flash": flash,
        }  # fmt: skip
        if "cycles" in self.objectives or "cycles" in self.limits:
            x, y = self.train
            try:
                found["cycles"] = cost.cycles(model, x[:count], y[:count], self.machine)
            except cost.Unknown as error:
                raise cost.Unknown("%s: leave cycles out of objectives and limits" % error) from None
        return found

    def _check(self, before):
        trials = self.study.get_trials(deepcopy=False)[before:]
        if self.points() or not trials:
            return
        done = [trial for trial in trials if trial.state == _DONE]
        if not done:
            reasons = [trial.user_attrs["refused"] for trial in trials if "refused" in trial.user_attrs]
            raise ValueError("none of %d networks could be tried: %s" % (len(trials), reasons[-1] if reasons else "?"))
        least = {name: min([trial.user_attrs["figures"][name] for trial in done]) for name in self.limits}
        raise ValueError("none of %d networks is within the limits: %s" % (len(done), ", ".join([
            "%s %s (the least that came: %s)" % (name, _number(most), _number(least[name]))
            for name, most in self.limits.items()
        ])))  # fmt: skip

    def points(self):
        """What was trained within the limits, as Points, of all machines."""
        found = [Point(trial) for trial in self.study.get_trials(states=(_DONE,)) if "digest" in trial.user_attrs]
        return [
            point for point in found if all([point.figures[name] <= most for name, most in self.limits.items()])
        ]  # fmt: skip

    def front(self):
        """The Points that no other beats in all objectives, the best accuracy first; of equal ones the first."""
        found = {}
        for point in self.points():
            found.setdefault(tuple([point.figures[each] for each in self.objectives]), point)
        points = list(found.values())
        kept = [point for point in points if not any([other.beats(point.figures, self.objectives) for other in points])]
        return sorted(kept, key=lambda point: (-point.figures["accuracy"], point.figures["ram"]))

    def confirm(self, minutes, points=4, seeds=2):
        """Train the most accurate Points again with other seeds, for that many minutes at most: best() then goes by
        their means.

        The best of many trials on few test samples is partly luck. Of a ``network`` with an attribute ``seed``, as
        Family has.
        """
        if not hasattr(self.network, "seed"):
            return
        end = time.monotonic() + 60 * minutes
        chosen = {}  # other parts of a batch, for one, make no other network
        for point in sorted(self.points(), key=lambda point: (-point.figures["accuracy"], point.figures["ram"])):
            chosen.setdefault(point.digest, point)
        chosen = list(chosen.values())[:points]
        found = {point.number: [point.figures["accuracy"]] for point in chosen}
        took = 0
        with contextlib.suppress(KeyboardInterrupt):
            for seed, point in itertools.product(range(seeds), chosen):
                began = time.monotonic()
                if began + took > end:
                    break
                network = copy.copy(self.network)
                network.seed = self.network.seed + 1 + seed
                found[point.number].append(self._accuracy(network, point))
                took = time.monotonic() - began
        least = min(map(len, found.values()), default=0)
        self.means = {number: sum(each[:least]) / least for number, each in found.items()} if least > 1 else {}

    def _accuracy(self, network, point):
        trial = optuna.trial.FixedTrial(point.params)
        model = network(trial)
        try:
            self._train(model, trial, None, network)
        except ArithmeticError:  # diverged
            return 0.0
        return model.evaluate(*self.test)[1]

    def best(self, within=None):
        """The Point to take: of those at most ``within`` less accurate than the best, the cheapest, by the product of
        its costs.

        ``within`` without a value is 0 if limits are given (any network within them will do), else 0.01.
        """
        front = self.front()
        if not front:
            raise ValueError("best: nothing was trained: run() first")
        if within is None:
            within = 0 if self.limits else 0.01
        accuracies = {point.number: point.figures["accuracy"] for point in front}
        if self.means:
            front = [point for point in self.points() if point.number in self.means]
            accuracies = self.means
        least = max([accuracies[point.number] for point in front]) - within
        costs = [each for each in self.objectives if each != "accuracy"] or ["ram"]
        return min(
            [point for point in front if accuracies[point.number] >= least],
            key=lambda point: sum([math.log(point.figures[each]) for each in costs]),
        )

    def point(self, number):
        """The Point of that trial; ValueError if none was trained."""
        for point in self.points():
            if point.number == number:
                return point
        raise ValueError("point: no trial %r was trained within the limits" % (number,))

    def model(self, point):
        """The Point's model, trained again: to the same bits, else RuntimeError."""
        trial = optuna.trial.FixedTrial(point.params)
        model = self.network(trial)
        self._train(model, trial, None)
        if model.digest() != point.digest:
            raise RuntimeError(
                "trial %d had the digest %08x, now it has %08x: data, network or odt are others than then"
                % (point.number, point.digest, model.digest())
            )
        return model

    def write(self, point, path, labels=None):
        """The Point's model as a model file, trained again; returns the model."""
        model = self.model(point)
        model.export(path, labels)
        return model

    def table(self, points=None):
        """Lines: a Point of the front each, what it costs and its choices."""
        names = [each for each in FIGURES if each in self.objectives or each in ("ram", "predict_ram", "flash")]
        yield "trial " + "".join(["%14s" % FIGURES[each][1] for each in names]) + "  choices"
        for point in self.front() if points is None else points:
            cells = ["%12.2f %%" % (100 * point.figures[each]) if each == "accuracy" else
                     "%14s" % format(point.figures[each], ",d") for each in names]  # fmt: skip
            choices = " ".join(["%s=%s" % (name, _number(value)) for name, value in point.params.items()])
            yield "%5d " % point.number + "".join(cells) + "  " + choices

    def picture(self, path, marks=()):
        """Draw accuracy against each other objective, the front in colour; a file of matplotlib's.

        ``marks``: (name, figures) of networks to compare with.
        """
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        costs = [each for each in FIGURES if each in (*self.objectives, *self.limits) and each != "accuracy"] or ["ram"]
        columns = min(2, len(costs))
        figure = Figure(figsize=(5 * columns, 3.6 * -(-len(costs) // 2)), layout="constrained")
        points, front = self.points(), self.front()
        for number, name in enumerate(costs):
            axes = figure.add_subplot(-(-len(costs) // columns), columns, number + 1)
            for label, these, style in (
                ("trials", points, {"color": "0.8"}), ("Pareto front", front, {"color": "#0072b2"})
            ):  # fmt: skip
                axes.plot(
                    [point.figures[name] for point in these], [100 * point.figures["accuracy"] for point in these],
                    ".", label=label, **style,
                )  # fmt: skip
            for label, figures in marks:
                axes.plot(
                    figures[name], 100 * figures["accuracy"], "*", markersize=11, color="#d55e00", label=literal(label)
                )
            if name in self.limits:
                axes.axvline(self.limits[name], color="red", linestyle=":", label="limit")
            axes.set(xlabel=FIGURES[name][1], ylabel="accuracy, %", xscale="log")
            if number == 0:
                axes.legend(fontsize=8)
        FigureCanvasAgg(figure)
        with replacing(path) as name:
            figure.savefig(name, dpi=120)


def _fit(model, trial, train, epochs, callbacks=()):
    model.fit(*train, epochs=epochs, verbose=0, callbacks=callbacks)


def _number(value):
    return format(value, ",d") if isinstance(value, int) and not isinstance(value, bool) else "%s" % value
