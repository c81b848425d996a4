"""Model files whose CRCs are right and whose contents are not, and everything that reads one: for tests and for the
fuzzer (fuzz/loaders.py).
"""

import contextlib
import io
import json
import struct
import zlib
from pathlib import Path

from odt import load_model
from odt.base.opcodes import VERSION
from odt.host import info
from odt.host.boards import deploy

NAME = "damaged.odt"
ATOMS = (
    0, -1, 1, 2, 3, 4, 7, 255, 65536, 2**31, -(2**40), 10**30, 1.5, float("inf"), float("nan"), None, True, "int8",
    "float32", "",
    "x" * 50, "Constant", "\x1b[2J", "\ud800", [], {}, [[]], [1, 2, 3], {"a": 1},
)  # fmt: skip
TEXTS = (b"", b"[]", b"null", b"{}", b"7", b"\xff\xfe", b'{"a":', b'{"a": 1e999}', b"[" * 5000, b'"\\ud800"')


def sections(data):
    """The five sections of a model file, as docs/reference/model_file.md has them."""
    sizes = struct.unpack("<5I", data[12:32])
    parts, at = [], 64
    for size in sizes:
        parts.append(data[at : at + size])
        at += (size + 3) & ~3
    return parts


def written(parts, version=VERSION, form=1):
    """A file of these sections, with its CRCs."""
    body = b"".join([part + bytes(-len(part) % 4) for part in parts])
    head = (
        b"ODTN" + struct.pack("<7I", form, version, *map(len, parts)) + bytes(24) + struct.pack("<I", zlib.crc32(body))
    )
    return head + struct.pack("<I", zlib.crc32(head)) + body


def mutated(value, draw):
    """The value with something in it replaced, removed, doubled, exchanged, or a little more or less."""
    if isinstance(value, dict) and value and draw.random() < 0.93:
        key = draw.choice(sorted(value))
        if draw.random() < 0.07:
            return {name: part for name, part in value.items() if name != key}
        return {**value, key: mutated(value[key], draw)}
    if isinstance(value, list) and value and draw.random() < 0.85:
        at, how = draw.randrange(len(value)), draw.random()
        if how < 0.06:
            return value[:at] + value[at + 1 :]
        if how < 0.12:
            return [*value[:at], value[at], *value[at:]]
        if how < 0.2:
            other = draw.randrange(len(value))
            value = list(value)
            value[at], value[other] = value[other], value[at]
            return value
        return [*value[:at], mutated(value[at], draw), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and draw.random() < 0.5:
        return value + draw.choice((-4, -1, 1, 4, 8, 1000))
    return draw.choice(ATOMS)


def damaged(data, draw):
    """The file with one to three mutations in one of its sections."""
    parts = list(sections(data))
    which = draw.choice((0, 0, 0, 1, 1, 1, 1, 2, 3, 4))
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        if which < 2:
            try:
                parts[which] = json.dumps(mutated(json.loads(parts[which]), draw)).encode()
            except (ValueError, RecursionError):
                pass  # another mutation's
            if draw.random() < 0.03:
                parts[which] = draw.choice(TEXTS)
        elif parts[which]:
            part, how = bytearray(parts[which]), draw.random()
            for _ in range(draw.choice((1, 1, 4, 20))):
                part[draw.randrange(len(part))] = draw.choice((0, 1, 128, 255, draw.randrange(256)))
            if how < 0.1:
                part = part[: draw.randrange(len(part))]
            elif how < 0.2:
                part += bytes(draw.choice((1, 4, 64)))
            parts[which] = bytes(part)
    return written(parts)


def readers(path, targets):
    """(name, call) of what reads a model file, each to be called in this order; what opens one leaves the model in
    ``opened``.

    ``targets``: compiled models of the layers that the file had.
    """
    opened = []
    for number, target in enumerate(targets):
        yield "load_weights %d" % number, lambda target=target: target.load_weights(path)
        yield "load_weights of bytes %d" % number, lambda target=target: target.load_weights(Path(path).read_bytes())
    yield "info", lambda: list(info.describe(path))
    yield "deploy", lambda: deploy.read(path)
    yield "load_model of bytes", lambda: load_model(Path(path).read_bytes())
    yield "load_model", lambda: opened.append(load_model(path))
    if not opened:
        return
    model = opened[0]
    for call in (model.summary, model.get_weights, model.draw, model.disassemble, lambda: model.features):
        yield getattr(call, "__name__", "features"), call
    yield "export", lambda: model.export(path + ".again")
    yield "load_weights of what opened", lambda: [target.load_weights(model) for target in targets]


def uses(model, x, y):
    """(name, call) of what a model does that has opened: their errors are of what they are given, or of what it
    computes.
    """
    yield "set_weights", lambda: model.set_weights(model.get_weights())
    for name in ("predict", "predict_classes", "predict_proba", "calibrate"):
        yield name, lambda name=name: getattr(model, name)(x[:3])
    yield "train_step", lambda: model.train_step(x[:3], y[:3])
    yield "evaluate", lambda: model.evaluate(x[:9], y[:9])
    epoch = min(model.epoch, 1 << 20)
    yield "fit", lambda: model.fit(x, y, epochs=epoch + 1, initial_epoch=epoch, verbose=0)
    yield "digest", model.digest


def tried(data, path, targets, x, y):
    """Run all readers on a file of this content.

    AssertionError for an error that does not name the file, or is none of a damaged file's; returns whether it opened.
    """
    Path(path).write_bytes(data)
    opened = []
    for name, call in readers(path, targets):
        before = [target.digest() for target in targets]
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                call()
        except MemoryError:
            continue
        except ValueError as error:
            expected = {"load_weights of what opened": "layer", "load_model of bytes": "the model file"}.get(
                name, Path(path).name
            )
            expected = "the model file" if name.startswith("load_weights of bytes") else expected
            assert expected in str(error), "%s: %r does not name the file" % (name, error)
            assert [target.digest() for target in targets] == before, name
        except Exception as error:
            raise AssertionError("%s: %r" % (name, error)) from error
        else:
            if name == "load_model":
                opened.append(load_model(path))
    for name, call in uses(opened[0], x, y) if opened else ():
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                call()
        except (ValueError, TypeError, ArithmeticError, RuntimeError, MemoryError):
            pass
        except Exception as error:
            raise AssertionError("%s: %r" % (name, error)) from error
    return bool(opened)
