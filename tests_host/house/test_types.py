"""Types for editors and checkers: every public name has them, their names are found,
and boards pay nothing for them.
"""

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys

import pytest
from house import FILES, ROOT, at_run_time

import odt

PACKAGE = ROOT / "odt"
ENTRY_POINTS = ROOT / "native" / "bindings"
MPY_CROSS = ROOT / "build" / "mpy-cross" / "mpy-cross"
WHOLE_TREES = {name: ast.parse(file.read_text()) for name, file in FILES.items()}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def module(name):
    return importlib.import_module("odt." + name)


def is_block(node):
    """Whether it is for type checkers alone: MicroPython's compiler drops it, mypy and pyright read it."""
    return isinstance(node, ast.If) and ast.unparse(node.test) == "1 - 1"


def annotations(tree):
    """What stands behind a colon or an arrow in code that runs."""
    blocks = {id(inner) for node in ast.walk(tree) if is_block(node) for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in blocks:
            continue
        for found in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if found is not None:
                yield found


def has_types(tree):
    return any(annotations(tree)) or any(map(is_block, ast.walk(tree)))


def names_of(body):
    """The names that the top of a module has, those for type checkers too."""
    for node in body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        elif isinstance(node, (ast.If, ast.Try)):
            yield from names_of(node.body)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in getattr(node, "targets", None) or [node.target]:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def test_types_stand_in_the_code():
    """A lazy package alone has its names elsewhere, and the kernels."""
    assert list(PACKAGE.rglob("*.pyi")) == [PACKAGE / "__init__.pyi"]
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.parametrize("name", FILES)
def test_annotations_are_quoted_and_their_names_are_found(name):
    tree = WHOLE_TREES[name]
    known = set(names_of(tree.body)) | set(dir(builtins))
    for found in annotations(tree):
        assert isinstance(found, ast.Constant) and isinstance(found.value, (str, type(None))), ast.unparse(found)
        used = ast.walk(ast.parse(found.value or "None", mode="eval"))
        assert {node.id for node in used if isinstance(node, ast.Name)} <= known, found.value
    package = FILES[name].parent
    for node in ast.walk(tree):
        if not is_block(node):
            continue
        assert not [inner for inner in ast.walk(node) if isinstance(inner, ast.BitOr)]  # unquoted: not of Python 3.9
        for inner in node.body:
            if isinstance(inner, ast.ImportFrom) and inner.level:
                folder = package.parents[inner.level - 2] if inner.level > 1 else package
                home = ".".join([*folder.relative_to(ROOT).parts, *[inner.module] * bool(inner.module)])
                for alias in inner.names:
                    assert home + "." + alias.name in FILES or alias.name in names_of(WHOLE_TREES[home].body), home


# Modules whose objects a model takes: of their methods users call none.
DESCRIBED = (
    "continual.dark", "continual.tent", "layers", "layers.activations", "layers.joins", "layers.norms",
    "layers.resizing",
    "losses", "optimizers", "optimizers.schedules",
)  # fmt: skip
# Modules whose public names a program calls.
CALLED = (
    "adapt.lite", "adapt.lora", "adapt.tinytrain", "adapt.update", "callbacks", "continual.adabn", "continual.labels",
    "continual.latents",
    "continual.prototypes", "continual.replay", "continual.reservoir", "continual.teach", "inspect.watch", "metrics",
    "model",
    "online.centroid", "online.kswin", "optimizers.rates", "run.network", "sensors.features.filter",
    "sensors.features.frames",
    "sensors.features.frontend", "sensors.features.logmel", "sensors.features.motion", "sensors.features.rocket",
    "sensors.record",
    "sensors.rules", "sensors.stream.events", "sensors.stream.live", "sensors.stream.polled", "sensors.stream.sources",
    "sensors.stream.window",
)  # fmt: skip


def bare(function):
    """The arguments of a function that have no type, and whether it has none of what it returns."""
    a = function.args
    every = [*a.posonlyargs, *a.args, *a.kwonlyargs, *[each for each in (a.vararg, a.kwarg) if each]]
    return [each.arg for each in every if each.annotation is None and each.arg != "self"], function.returns is None


@pytest.mark.parametrize("name", [*DESCRIBED, *CALLED])
def test_public_functions_and_methods_have_types(name):
    checked = 0
    for node in WHOLE_TREES["odt." + name].body:
        if isinstance(node, FUNCTIONS) and not node.name.startswith("_"):
            assert bare(node) == ([], False), node.name
            checked += 1
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name != "InputLayer":
            for inner in node.body:
                shown = isinstance(inner, FUNCTIONS) and not inner.name.startswith("_") and name not in DESCRIBED
                if shown or isinstance(inner, FUNCTIONS) and inner.name == "__init__":
                    assert bare(inner)[0] == [], (node.name, inner.name)
                    checked += 1
    assert checked or name in ("layers.norms",)


@pytest.mark.skipif(not MPY_CROSS.exists(), reason="make build/mpy-cross")
@pytest.mark.parametrize("name", [name for name in FILES if has_types(WHOLE_TREES[name])])
def test_boards_pay_nothing_for_types(name, tmp_path):
    """mpy-cross makes the same bytes of a module without them. -O3: without numbers of lines."""
    compiled = []
    text = FILES[name].read_text()
    for tree in (ast.parse(text), at_run_time(text)):
        (tmp_path / "module.py").write_text(ast.unparse(tree))
        command = [MPY_CROSS, "-O3", "-s", "module.py", "-o", tmp_path / "module.mpy", tmp_path / "module.py"]
        subprocess.run(command, check=True, timeout=60)
        compiled.append((tmp_path / "module.mpy").read_bytes())
    assert compiled[0] == compiled[1]


# What mypy says about this: the lines that end with "refused", and no other.
CALLS = """
import numpy as np

import odt
from odt.continual import Replay, labels
from odt.online import KNN, OSELM, PageHinkley
from odt.sensors import LogMel, Recorder, Rules, Window

model = odt.Sequential([odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16), odt.Flatten()])
model.add(odt.Dense(10, activation="relu6"))
model.add(odt.Dense(units="ten"))  # refused
model.add(odt.Dense(10, activation="rilu"))  # refused
model.add(odt.Conv2D(8, (3, 3), padding="causal", strides=[1, 2]))
model.add(odt.layers.BatchNormalization(momentum=0.9))
model.add(odt.layers.BatchNormalisation())  # refused
odt.Input((8, 8, 1), dtype="float16")  # refused
x, y = np.zeros((4, 8, 8, 1), np.uint8), np.zeros(4, np.int32)
model.compile(optimizer=odt.SGD(0.1, momentum=0.9), loss="mse", frozen=np.zeros(8, np.uint8))
model.compile(optimizer="lion")  # refused
model.compile(odt.Adam(odt.WarmUp(0.1, 10)), odt.Huber(delta=2), "float32")
history = model.fit(x, y, epochs=2, validation_data=(x, y), callbacks=[odt.callbacks.EarlyStopping(patience=2)])
history.history["loss"][0] + 1.0
model.fit([[1.0, 2.0]], [1], validation_data=[(x, y)])
model.fit(x, y, epoch=2)  # refused
model.fit(3, y)  # refused
model.fitt(x, y)  # refused
model.predict(x.astype("float32"))[0]
loss, accuracy = model.evaluate(x, y)
loss.upper()  # refused
model.train_step(x[0], memoryview(bytes(4))) + 1.0
model.load_weights(np.zeros(8, np.uint8))
model.set_weights([np.zeros((10, 64), np.float32)])
model.batch_size.upper()  # refused
loaded = odt.load_model("model.odt")
loaded.export("other.odt", purpose="training")
loaded.export("other.odt", purpose="trainning")  # refused
odt.metrics.accuracy(odt.metrics.confusion_matrix(model, x, y)) + 1.0
odt.metrics.confusion_matrix(x, y)  # refused
odt.adapt.update.last(model, layers=2)
odt.adapt.fisher.fisher(model, x, y)["dense"][0] + 1.0
odt.adapt.updates  # refused
odt.executor.use("native")
odt.executor.use("gpu")  # refused
kept = Replay(model, budget=4096, front=None)
kept.x.nbytes
labels.query(model, x, 10, by="entropy")
labels.query(model, x, 10, by="entropie")  # refused
sample = np.zeros(4, np.float32)
OSELM(4, 2).learn_one(sample, np.zeros(2, np.float32))
OSELM(4, 2).learn_one([1, 2.0, 3, 4], 1.0)
OSELM(4, 2).learn_one(sample, "one")  # refused
KNN(4, metric="l1").learn_one(sample, y[0])
KNN(4, metric="cosine")  # refused
PageHinkley().update(sample[0])
Window(128, 3).push(np.zeros(6, np.int16))
Recorder("windows", Window(128), rate=100).add(b"", 3)  # refused
Rules(["a"]).event("a", now="soon")  # refused
LogMel(rate=16000).outputs.upper()  # refused
reader = odt.data.CsvReader("data.csv", 16, label="class", skip=[0, "time"], labels=["a", "b"])
model.fit(reader, epochs=2)
odt.data.CsvReader("data.csv", 16, delimiter=";")  # refused
odt.inspect.profile(model, x, y)[0]
odt.slots.Bytes(bytearray(4096))
model.save(odt.slots.Bytes(bytearray(4096)))
model.save(4096)  # refused
odt.get_num_threads().upper()  # refused
from odt.online import KMN  # refused
from odt.layers import Dens  # refused
from odt.files import slot  # refused
"""


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_mypy_takes_right_calls_and_refuses_wrong_ones(version, tmp_path):
    """For a program that runs on an older Python, too, where NumPy's arrays are no Buffer."""
    pytest.importorskip("mypy")
    (tmp_path / "calls.py").write_text(CALLS)
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "odt").symlink_to(PACKAGE)
    command = [sys.executable, "-m", "mypy", "--python-version", version, "--follow-imports=silent", "calls.py"]
    done = subprocess.run(
        [*command, "--cache-dir", tmp_path.parent / "mypy"], cwd=tmp_path, text=True, timeout=600,
        env={"MYPYPATH": str(tmp_path / "site"), "PATH": ""}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    found = {int(line) for line in re.findall(r"^calls\.py:(\d+): error", done.stdout, re.M)}
    wanted = {number for number, line in enumerate(CALLS.split("\n"), 1) if line.endswith("# refused")}
    assert found == wanted, done.stdout
    assert len(wanted) > 20


def test_package_stub_has_every_name_of_the_package():
    names = {}
    for node in ast.parse((PACKAGE / "__init__.pyi").read_text()).body:
        for alias in getattr(node, "names", []):
            assert alias.asname == alias.name  # or type checkers do not export it
            names[alias.name] = node.module
    for name, home in names.items():
        assert getattr(odt, name) is (module(name) if home is None else getattr(module(home), name))
    for name, home in odt.HOMES.items():
        if home not in ("modules", "capabilities", "inner"):
            assert names[name].lstrip(".") == home
        assert name in dir(odt)
    readme = (ROOT / "README.md").read_text()
    assert set(re.findall(r"`odt\.([a-z]+)`", readme)) - {"host"} <= set(names)


LAZY = [name for name in FILES if re.search(r"^(_get = )?lazy\.install\(", FILES[name].read_text(), re.M)]


@pytest.mark.parametrize("name", LAZY)
def test_a_lazy_package_has_the_names_that_it_loads(name):
    """In its block for type checkers, from the module that has them; and no other."""
    (block,) = [node for node in WHOLE_TREES[name].body if is_block(node)]
    names = {}
    for node in block.body:
        if node.level:
            for alias in node.names:
                assert alias.asname == alias.name  # or type checkers do not export it
                names[alias.name] = node.module
    homes = importlib.import_module(name)._HOMES
    assert names == homes
    for each in homes:
        assert getattr(importlib.import_module(name), each)


def test_stub_of_the_kernels_has_every_entry_point_and_its_number_of_arguments():
    found = {}
    for node in ast.parse((ENTRY_POINTS / "_odt-stubs" / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            assert not node.args.args and not node.args.kwonlyargs
            every = len(node.args.posonlyargs)
            found[node.name] = (every - len(node.args.defaults), every)
    text = (ENTRY_POINTS / "entry_points.h").read_text()
    table = {name: (int(a), int(b)) for name, a, b in re.findall(r"^    X\((\w+), (\d), (\d)\)", text, re.M)}
    assert found == table and len(table) > 5


@pytest.mark.parametrize("alias, table", [("LossName", odt.losses.LOSSES), ("ActivationName", odt.layers.FOLLOWING)])
def test_names_that_may_be_given_are_those_of_the_tables(alias, table):
    text = (PACKAGE / ("model.py" if alias == "LossName" else "layers/__init__.py")).read_text()
    names = re.findall(r'"(\w+)"', text.split("\n    %s: TypeAlias" % alias)[1].split("]")[0])
    assert set(names) == set(table) | ({"relu", "relu6"} if alias == "ActivationName" else set())


def test_help_shows_the_types():
    assert str(inspect.signature(odt.Dense)).startswith("(units: 'int', activation: 'ActivationName | None' = None")
