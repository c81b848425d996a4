"""python -m odt search: networks are tried for labelled samples, and the best becomes a model file."""

import os
import runpy

import numpy as np

from ..boards.board import BoardError
from ..cost import MACHINES
from ..text import say
from .family import Family
from .networks import NetworkSearch

_SHOWN = 30  # points of the front
LIMITS = ("ram", "predict_ram", "flash", "cycles")


def command(options):
    """Search, draw, tell and write; returns 0. BoardError with the reason why not: the model file is then as it was."""
    try:
        for name in ("epochs", "workers"):
            if getattr(options, name) is not None and getattr(options, name) < 1:
                raise ValueError("--%s: a number above 0 is expected, got %s" % (name, getattr(options, name)))
        train, test, adapt = pairs(options.data, options.seed)
        within = limits(options)
        objectives = _objectives(options, within)
        search = NetworkSearch(
            _network(options, train, adapt, "cycles" in {*objectives, *within}), train, test, objectives=objectives,
            limits=within, epochs=options.epochs, sampler=options.sampler, seed=options.seed,
            storage=options.study, machine="rp2040",
        )  # fmt: skip
        minutes = 10 if options.minutes is None and options.trials is None else options.minutes
        if minutes is not None:
            minutes *= 0.97  # what is left writes the model
        if options.trials != 0:
            again = None if minutes is None or options.take is not None else 0.2 * minutes
            search.run(minutes and minutes - (again or 0), options.trials, options.workers or os.cpu_count() or 1)
            if again:
                search.confirm(again)
        point = search.best() if options.take is None else search.point(options.take)
        lines = list(search.table())
        for line in lines[: 1 + _SHOWN]:
            say(line)
        if len(lines) > 1 + _SHOWN:
            say("and %d more, of less accuracy" % (len(lines) - 1 - _SHOWN))
        if options.picture:
            search.picture(options.picture)
        model = search.write(point, options.output, options.labels.split(",") if options.labels else None)
    except (OSError, ValueError, TypeError, MemoryError, RuntimeError) as error:
        raise BoardError("%s: %s" % (options.data, error)) from None
    for line in describe(point, model, "rp2040"):
        say(line)
    say(
        "%s: ready for odt.load_model; python3 -m odt deploy %s brings it to a board" % (options.output, options.output)
    )
    return 0


def describe(point, model, board="rp2040"):
    """The lines that say what was chosen."""
    figures, session = point.figures, model.session
    yield "trial %d: %.2f %% of the test samples, %s" % (point.number, 100 * figures["accuracy"], session.dtype)
    yield "training takes %d bytes of RAM (arena %d, state %d), program %d; prediction alone %d" % (
        figures["ram"], len(session.arena), len(session.state), len(session.plan.code), figures["predict_ram"],
    )  # fmt: skip
    if "cycles" in figures:
        yield "a step of %d samples: %d %s, estimated" % (session.batch_size, figures["cycles"], MACHINES[board][2])


def limits(options):
    """{figure: most} of what was asked for; ValueError for what is not above 0."""
    found = {}
    for name in LIMITS:
        most = getattr(options, name)
        if most is not None:
            if not most >= 1:
                raise ValueError("--%s: a number above 0 is expected, got %s" % (name.replace("_", "-"), most))
            found[name] = int(most)
    return found


def pairs(path, seed=0):
    """((x, y) to train, (x, y) to test, (x, y) to adapt to or None) of an .npz file: no pickle is read.

    Its arrays: x, y; x_test, y_test, else every fifth of a shuffle of the others; x_adapt, y_adapt if there are.
    """
    with open(path, "rb") as opened:
        try:
            file = np.load(opened, allow_pickle=False)
            if isinstance(file, np.ndarray):
                raise ValueError("it is one array")
            held = {name: file[name] for name in file.files}
        except Exception as error:  # whatever a damaged file makes of zipfile, zlib and NumPy
            raise ValueError("an .npz of x and y is expected: %s" % error) from None
    found = []
    for ending in ("", "_test", "_adapt"):
        names = "x" + ending, "y" + ending
        if not ending or names[0] in held or names[1] in held:
            for name in names:
                if name not in held:
                    raise ValueError("there is no array %s, but %s" % (name, ", ".join(sorted(held)) or "none"))
            found.append(_pair(names, *[held[name] for name in names]))
        else:
            found.append(None)
    train, test, adapt = found
    for name, pair in (("x_test", test), ("x_adapt", adapt)):
        if pair is not None:
            if pair[0].shape[1:] != train[0].shape[1:] or pair[0].dtype != train[0].dtype:
                raise ValueError("%s: %s of %s is expected as of x, got %s of %s" % (
                    name, train[0].dtype, train[0].shape[1:], pair[0].dtype, pair[0].shape[1:]))  # fmt: skip
            if pair[1].max() > train[1].max():
                raise ValueError("%s has a class %d that y has not" % (name.replace("x", "y", 1), pair[1].max()))
    if test is None:
        if len(train[0]) < 10:
            raise ValueError("x: ten samples at least are expected, got %d" % len(train[0]))
        order = np.random.default_rng(seed).permutation(len(train[0]))
        part = len(order) // 5
        x, y = train
        train, test = (x[order[part:]], y[order[part:]]), (x[order[:part]], y[order[:part]])
    return train, test, adapt


def _pair(names, x, y):
    """Samples of float32, uint8 or int8, labels of int32."""
    if x.dtype in ("float64", "float16"):
        x = x.astype("float32")
    if x.dtype not in ("float32", "uint8", "int8"):
        raise ValueError("%s: float32, uint8 or int8 is expected, got %s" % (names[0], x.dtype))
    if not 2 <= x.ndim <= 4 or not x.size:
        raise ValueError("%s: samples of one to three axes are expected, got the shape %s" % (names[0], x.shape))
    if not np.isfinite(x).all():
        raise ValueError("%s: not all numbers are finite" % names[0])
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.dtype.kind not in "iu" or y.shape != x.shape[:1]:
        raise ValueError(
            "%s: %d integer labels are expected, got %s of shape %s" % (names[1], len(x), y.dtype, y.shape)
        )
    if y.min() < 0 or y.max() > 32767:
        raise ValueError("%s: labels are from 0 to 32767, got %d to %d" % (names[1], y.min(), y.max()))
    return np.ascontiguousarray(x), y.astype("int32")


def _objectives(options, within):
    """What was named; else accuracy within the limits, or accuracy against RAM where there are none."""
    if options.objectives:
        return options.objectives.split(",")
    return ["accuracy"] if within else ["accuracy", "ram"]


def _network(options, train, adapt, cycles):
    """What makes networks: the function of a script, or the family."""
    if options.network:
        scope = runpy.run_path(options.network)
        if not callable(scope.get("network")):
            raise ValueError("%s: a function network(trial) is expected" % options.network)
        return scope["network"]
    dtypes = ("int8", "float32") if options.dtype == "both" else (options.dtype,)
    return Family(train, options.scale, dtypes, adapt, options.seed, False if cycles else None)
