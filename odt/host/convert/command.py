"""python -m odt import: a file of another framework becomes a model file."""

import zipfile
from pathlib import Path

import numpy as np

from ... import optimizers
from ..boards.board import BoardError
from ..text import say
from . import load


def command(options):
    """Read, convert, write the model file and say what it is; returns 0.

    BoardError with the reason why not: nothing is written then.
    """
    try:
        data = None if options.calibrate is None else samples_of(options.calibrate)
        pixels = {"dtype": "uint8", "scale": options.uint8} if options.uint8 else None
        pixels = {"dtype": options.input} if options.input else pixels
        model = load(
            options.model, calibrate=data, dtype=options.dtype, batch_norm=options.batch_norm, input=pixels,
            train=options.train if options.train in ("all", "last", "bias", "none") else options.train.split(","),
            optimizer=optimizers.OPTIMIZERS[options.optimizer](options.rate), batch_size=options.batch_size,
            seed=options.seed,
        )  # fmt: skip
        if options.input and model.imported.dtype is None:
            raise ValueError(
                "--input: the network does not take bytes in steps of its own; --uint8 says what they mean"
            )
        model.export(options.output, options.labels.split(",") if options.labels else None)
    except ImportError as error:
        raise BoardError("%s: pip install '.[import]'" % error) from None
    except (OSError, ValueError, TypeError, MemoryError) as error:
        raise BoardError("%s: %s" % (options.model, error)) from None
    except KeyError as error:
        raise BoardError("%s: %s" % (options.model, error.args[0])) from None
    for line in describe(model, data, options.dtype):
        say(line)
    say("%s, %d bytes: ready for odt.load_model; python3 -m odt info %s shows it" % (
        options.output, Path(options.output).stat().st_size, options.output,
    ))  # fmt: skip
    return 0


def samples_of(path):
    """The array "x" of an .npz, or its only one, or that of an .npy. No pickle is read."""
    try:
        with open(path, "rb") as file:
            if file.read(2) not in (b"\x93N", b"PK"):
                raise ValueError("an .npy or .npz file is expected, as numpy.save(path, x) writes it")
            file.seek(0)
            held = np.load(file, allow_pickle=False)
            if isinstance(held, np.ndarray):
                return held
            names = held.files
            if "x" not in names and len(names) != 1:
                raise ValueError("the arrays are %s; one is called x" % (", ".join(names) or "none"))
            return held["x" if "x" in names else names[0]]
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, MemoryError, NotImplementedError) as error:
        text = "an array of numbers is expected, not of objects" if "allow_pickle" in str(error) else error
        raise ValueError("--calibrate %s: %s" % (path, text)) from None


def describe(model, data, dtype=None):
    """The lines that say what came of it; ``dtype``: what was asked for."""
    session, graph = model.session, model.imported.graph
    count = sum(int(np.prod(shape)) for layer in model.layers for _, shape in layer.weight_shapes())
    yield "%d layers, %d parameters; samples %s in the source, %s in odt" % (
        len(model.layers) - 1, count, graph.source_shape, graph.nodes[0].shape,
    )  # fmt: skip
    why = "" if data is None else ", ranges of %d samples" % len(data)
    if dtype is None and data is None:
        why = ", as there is no --calibrate with samples, of which int8 takes its ranges"
    yield "%s%s; arena %d and state %d bytes, program %d" % (
        session.dtype, why, len(session.arena), len(session.state), len(session.plan.code),
    )  # fmt: skip
    if any(layer.steps for layer in model.layers):
        left = "; ".join("%s: %s" % pair for pair in model.imported.left.items())
        yield "the source's own int8 steps up to what trains" + (", but for " + left if left else "")
