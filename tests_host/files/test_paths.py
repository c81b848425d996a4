"""What takes a file's name takes a pathlib.Path; what writes a file leaves the old one or the new one."""

import importlib
import inspect
import json
import os
import pkgutil
from array import array
from pathlib import Path

import numpy as np
import pytest

import odt
from odt import callbacks
from odt.data import readers
from odt.files import frozen
from odt.host import chart, convert, episodes, files, generate, info, monitor, search
from odt.host.boards import install
from odt.host.monitor import report as monitor_report
from odt.host.search import command as searching
from odt.host.search import networks
from odt.inspect import tensors as looking
from odt.sensors import Recorder, Window

X = np.random.default_rng(1).normal(size=(12, 5)).astype("float32")
Y = np.random.default_rng(2).integers(0, 3, 12).astype("int32")


def network():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4, "relu", trainable=False), odt.Dense(3)])
    model.compile(odt.SGD(0.1), batch_size=4, seed=1)
    return model


def npy(folder, kind):
    np.save(folder / "x.npy", X)
    np.save(folder / "y.npy", Y)
    return readers.NpyReader(kind(folder / "x.npy"), kind(folder / "y.npy"), 4)


def save(folder, kind):
    model = network()
    model.fit(X, Y, verbose=0)
    model.save(kind(folder / "m"))
    return model


def load(folder, kind):
    digest = save(folder, kind).digest()
    model = network()
    model.load(kind(folder / "m"))
    assert model.digest() == digest
    return digest


def exported(folder, kind):
    """Written, and opened: the name goes to load_model() too."""
    network().export(kind(folder / "m.odt"))
    return odt.load_model(kind(folder / "m.odt"))


def recorded(folder, kind):
    made = Recorder(kind(folder / "r.npy"), Window(3))
    made.add(array("h", [1, 2, 3]), "one")
    return made.reader(1)


def early_stopping(folder, kind):
    model = network()
    stopping = callbacks.EarlyStopping("loss", restore_best_weights=True, path=kind(folder / "best"))
    model.fit(X, Y, epochs=3, verbose=0, callbacks=[stopping])
    return model.digest()


def model_checkpoint(folder, kind):
    network().fit(X, Y, epochs=2, verbose=0, callbacks=[callbacks.ModelCheckpoint(kind(folder / "m{epoch}"))])


def write_module(folder, kind):
    frozen.write_module(kind(folder / "backbone.py"), network())


def trace(folder, kind):
    model = network()
    with looking.Trace(model, looking.names(model)[:1], folder=kind(folder)):
        model.fit(X, Y, verbose=0)


def column(folder, kind):
    (folder / "raw").write_bytes(X.tobytes())
    return readers.RawReader(readers.Column(kind(folder / "raw"), "float32", 5), Y, 4)


def csv(folder, kind):
    (folder / "csv").write_text("".join("%r,%d\n" % (float(x[0]), y) for x, y in zip(X, Y)))
    return readers.CsvReader(kind(folder / "csv"), 4)


def script(folder):
    path = folder / "train.py"
    path.write_text(
        "import odt\nmodel = odt.Sequential([odt.Input((5,)), odt.Dense(4, 'relu', trainable=False), odt.Dense(3)])\n"
        "model.compile(odt.SGD(0.1), batch_size=4, seed=1)\n"
    )
    return path


def describe(folder, kind):
    save(folder, kind)
    return list(info.describe(kind(folder / "m"), kind(script(folder))))


def page(folder, kind):
    chart.chart(chart.compiled_by(kind(script(folder))), kind(folder / "plan.html"))


def picture(folder, kind):
    chart.chart(network(), kind(folder / "plan.png"))


def report(folder, kind):
    run = monitor.Run("train.py", "host")
    run.feed("epoch 1/2  loss 0.5000  acc 0.5000  1.0 ms/step\n")
    run.begun = 0
    assert len(monitor_report.write(run, kind(folder / "report"))) == 2


def policy(folder, kind):
    search.write({"ratios": {"dense": 1}, "biases": 0}, kind(folder / "policy.json"))
    search.write({"ratios": {"dense": 1}, "biases": 0}, kind(folder / "policy.py"))


def write(folder, kind):
    files.write_file(kind(folder / "a"), (b"1", b"2"))
    files.write_text(kind(folder / "b"), "\N{GREEK SMALL LETTER ALPHA}")


def header(folder, kind):
    (folder / "a.mpy").write_bytes(b"M\x06\x03\x1f")
    return install.header(kind(folder / "a.mpy"))


def onnx_file(folder, kind):
    model = network()
    model.calibrate(X, Y)
    convert.save_onnx(model, kind(folder / "m.onnx"))


def backbone(folder, kind):
    import torch

    torch.manual_seed(1)
    net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU())
    return episodes.backbone(net, X, kind(folder / "front.odt"))


def searched(folder, kind):
    """The storage, the data and the model file of a search."""
    np.savez(folder / "data.npz", x=np.eye(20, 8, dtype="float32"), y=np.arange(20) % 2)
    train, test, _ = searching.pairs(kind(folder / "data.npz"))

    def small(trial):
        model = odt.Sequential([odt.Input((8,)), odt.Dense(trial.suggest_int("width", 2, 4), "relu"), odt.Dense(2)])
        model.compile("sgd")
        return model

    found = networks.NetworkSearch(small, train, test, epochs=1, storage=kind(folder / "trials"), progress=False)
    found.run(trials=2)
    model = found.write(found.points()[0], kind(folder / "best.odt"))
    (folder / "trials").unlink()  # it has times
    (folder / "data.npz").unlink()
    return model


# Each with the functions that it tries.
TAKE = {
    save: "network.Network.save", load: "network.Network.load", exported: "network.Network.export export.export",
    early_stopping: "callbacks.EarlyStopping",
    model_checkpoint: "callbacks.ModelCheckpoint", write_module: "frozen.write_module", trace: "inspect.Trace",
    recorded: "record.Recorder", column: "readers.Column", csv: "readers.CsvReader", npy: "readers.NpyReader",
    describe: "host.info.describe",
    page: "host.chart.chart host.chart.compiled_by", picture: "host.chart.chart", report: "host.monitor.report.write",
    policy: "host.search.write",
    write: "host.files.write_file host.files.write_text host.files.replacing checkpoint.write_file",
    header: "host.boards.install.header",
    onnx_file: "host.convert.save_onnx", backbone: "host.episodes.backbone",
    searched: "host.search.networks.NetworkSearch.write host.search.command.pairs",
}  # fmt: skip
# Of a board's files, or of what make lays out; Search.picture is a matplotlib figure's as chart's, and takes a search.
OTHER = {
    "host.boards.board.Board.make_folder", "host.boards.board.Board.remove", "host.boards.board.Board.copy",
    "host.release.firmware.sizes", "host.frozen_module.write",
    "host.search.Search.picture", "host.search.networks.NetworkSearch.picture", "host.boards.process.Process",
    "host.boards.process.commands", "host.release.sizes.main", "host.monitor.Run", "host.boards.room.part",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("use", TAKE, ids=lambda use: use.__name__)
def test_a_path_is_as_good_as_its_name(use, tmp_path):
    found = []
    for kind in (str, Path):
        folder = tmp_path / kind.__name__
        folder.mkdir()
        result = use(folder, kind)
        if isinstance(result, (readers.RawReader, readers.CsvReader)):
            result = [(bytes(x), bytes(y)) for x, y in result]
        elif hasattr(result, "digest"):
            result = result.digest()
        elif isinstance(result, list):
            result = [str(line).replace(str(folder), "") for line in result]
        kept = {file.name: file.read_bytes() for file in folder.iterdir() if file.suffix not in (".png", ".html")}
        found.append((result, kept, sorted(file.name for file in folder.iterdir())))
    assert found[0] == found[1]


def test_all_that_takes_a_path_is_among_these():
    names = set()
    for package in (odt, odt.host, search, monitor):
        for module in pkgutil.iter_modules(package.__path__):
            if module.name in ("host", "__main__", "selftest", "trial", "odt_chooser", "odt_kernels"):  # a board's
                continue
            module = importlib.import_module(package.__name__ + "." + module.name)
            for name, value in vars(module).items():
                if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
                    continue
                functions = {name: value} if inspect.isfunction(value) else {}
                if inspect.isclass(value):
                    functions = {
                        name + "." + inner: function
                        for inner, function in vars(value).items()
                        if inspect.isfunction(function)
                    }
                for called, function in functions.items():
                    if {"path", "folder", "script"} & set(
                        inspect.signature(function).parameters
                    ) and "._" not in called.replace(".__init__", ""):
                        names.add((module.__name__ + "." + called).replace("odt.", "", 1).replace(".__init__", ""))
    assert names - OTHER <= set(" ".join(TAKE.values()).split()), names


@pytest.mark.parametrize("bad", (5, None, b"m", open, ["m"]))
def test_what_is_no_name_and_no_place_is_refused_by_name(bad, tmp_path):
    model = network()
    digest = model.digest()
    for name in ("save", "load"):
        with pytest.raises(TypeError, match=name + ": a file's name or a place of odt.slots is expected, got "):
            getattr(model, name)(bad)
    with open(tmp_path / "m", "w+b") as file:
        for name in ("save", "load"):
            with pytest.raises(TypeError, match=name + ": a file's name"):
                getattr(model, name)(file)
    assert model.digest() == digest


WRITERS = [write_module, page, policy, write, save, onnx_file]  # and picture and report, which take long


@pytest.mark.slow
@pytest.mark.parametrize("use", WRITERS, ids=lambda use: use.__name__)
def test_a_writer_that_is_cut_off_leaves_the_old_file_and_nothing_else(use, tmp_path, monkeypatch):
    """Each sync and each replace in turn fails, or is where Ctrl-C comes."""
    use(tmp_path, str)
    for file in tmp_path.iterdir():
        if file.name != "train.py":
            file.write_bytes(b"old")
    names = sorted(os.listdir(tmp_path))
    real = {"fsync": os.fsync, "replace": os.replace}
    cut = 0
    for error in (OSError(5, "I/O error"), KeyboardInterrupt()):
        for call in real:
            for at in range(1, 9):
                seen = []

                def failing(*arguments, call=call, at=at, error=error, seen=seen):
                    seen.append(call)
                    if len(seen) == at:
                        raise error
                    return real[call](*arguments)

                monkeypatch.setattr(os, call, failing)
                for file in tmp_path.iterdir():
                    if file.name != "train.py":
                        file.write_bytes(b"old")
                try:
                    use(tmp_path, str)
                except (OSError, KeyboardInterrupt):
                    cut += 1
                finally:
                    monkeypatch.setattr(os, call, real[call])
                assert sorted(os.listdir(tmp_path)) == names
                assert all(file.read_bytes() for file in tmp_path.iterdir())
                if at > len(seen):
                    break
    assert cut > 3


def test_no_other_writer_is_in_the_package():
    """But for what fills folders that make removes, what streams (Trace), what ends with its process, and what
    replacing() names.
    """
    allowed = {
        "inspect/tensors.py": 1,
        "host/boards/record.py": 1,
        "host/release/mip.py": 1,
        "host/release/index.py": 2,
        "host/boards/pack.py": 1,
        "host/release/odt_kernels.py": 1,
        "host/release/circuitpython.py": 1,
        "files/checkpoint.py": 1,
        "host/files.py": 2,
        "host/boards/pico.py": 2,
        "host/convert/kerasfile.py": 1,
    }
    allowed.update(
        {
            "host/chart.py": 2,
            "host/monitor/report.py": 2,
            "host/search/__init__.py": 1,
            "host/search/networks.py": 1,
            "inspect/timing.py": 1,
        }
    )  # profile's is a gradient's name
    root = Path(odt.__file__).parent
    for file in sorted(root.rglob("*.py")):
        text = file.read_text()
        count = sum(
            text.count(word) for word in (".write_text(", ".write_bytes(", '"wb")', '"w")', '"w", ', ".savefig(")
        )
        assert count <= allowed.get(str(file.relative_to(root)), 0), file


def test_the_generated_files_are_replaced(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("old")
    monkeypatch.setattr(generate, "ROOT", tmp_path)
    monkeypatch.setattr(generate, "generated", lambda: {"a": json.dumps([1])})
    before = (tmp_path / "a").stat().st_ino
    generate.main([])
    assert (tmp_path / "a").read_text() == "[1]" and (tmp_path / "a").stat().st_ino != before
