"""docs/explanation/architecture.md: rooms, what each may import, no circle, no borrowed privates, and the way of a
batch.
"""

import ast
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from house import FILES, ROOT, TREES, circle, imports

import odt

TEXT = (ROOT / "docs" / "explanation" / "architecture.md").read_text()


def room(name):
    """The folder of a module in odt/; "*.py" of those in its root."""
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and (ROOT / "odt" / parts[1]).is_dir() else "*.py"


def test_rooms_import_what_the_document_says():
    """At their top, within functions, and by __import__ with a name that stands there."""
    rows = re.findall(r"^\| odt/([\w*.]+)/? \|[^|]*\|([^|]*)\|$", TEXT, re.M)
    allowed = {name: {word.strip() for word in words.split(",")} for name, words in rows}
    assert allowed.pop("host") == {"all"}
    used = {room(name): set() for name in FILES}
    for name in FILES:
        for target in imports(name):
            if room(target) != room(name):
                used[room(name)].add(target.split(".")[1])
    assert used == allowed


def test_the_root_of_the_package_holds_what_a_person_types():
    python = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed", "__pycache__"}
    entries = {path.name.partition(".")[0] for path in (ROOT / "odt").iterdir() if path.name not in python}
    assert len(entries) <= 25, sorted(entries)


# Folders with more than 20 files. The figures may only shrink.
FULL = {"odt/plan": 32, "odt/run": 28, "odt/reference": 63}


def test_folders_are_not_full():
    for folder in {file.parent for file in (ROOT / "odt").rglob("*.py")}:
        name = folder.relative_to(ROOT).as_posix()
        assert len(list(folder.glob("*.py"))) <= FULL.get(name, 20), name


def test_each_test_file_has_a_name_of_its_own():
    """pytest and the tests import them by it."""
    names = [file.name for folder in ("tests_host", "tests_device") for file in (ROOT / folder).rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


def test_no_file_of_tests_is_imported():
    """What several tests need lies in a module of its own, without tests."""
    files = [file for folder in ("tests_host", "tests_device", "bench") for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            assert not [name for name in names if name.startswith("test_")], (file, names)


def test_there_is_no_circle_of_imports():
    assert circle() == []


@pytest.mark.parametrize("name", FILES)
def test_no_module_reads_a_private_name_of_another(name):
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.ImportFrom):
            borrowed = [alias.name for alias in node.names if re.match(r"_[a-z]", alias.name) and alias.name != "_odt"]
            assert not borrowed, (node.lineno, borrowed)
        if isinstance(node, ast.Attribute) and re.match(r"_[a-z]", node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            assert own, (node.lineno, ast.unparse(node))


# Boards have neither of the first two; a float32 step's check of its loss is made in the third.
NOT_ITS_WAY = "odt/reference/", "odt/host/", "odt/run/start.py"


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_batch_enters_the_modules_that_the_document_lists(dtype):
    model = odt.Sequential([odt.Input((8, 8, 1)), odt.Conv2D(4, 3, activation="relu"), odt.Flatten(), odt.Dense(3)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8)
    x, y = np.random.default_rng(0).normal(size=(8, 8, 8, 1)).astype("float32"), np.zeros(8, "uint8")
    model.fit(x, y, verbose=0)
    entered = []

    def record(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and ROOT / "odt" in path.parents:
            name = path.relative_to(ROOT).as_posix()
            if name not in entered and not name.startswith(NOT_ITS_WAY):
                entered.append(name)

    sys.setprofile(record)
    try:
        model.fit(x, y, verbose=0)
    finally:
        sys.setprofile(None)
    way = TEXT[TEXT.index("## The way of a batch") : TEXT.index("## The way of a weight")]
    assert entered == re.findall(r"^\| (odt/\S+\.py) \|", way, re.M)
    assert len(entered) <= 8


def test_families_of_kernels_that_the_document_names_are_there():
    for family in re.findall(r"`?native/kernels/(\w+)/", TEXT):
        assert (ROOT / "native" / "kernels" / family).is_dir()


@pytest.mark.parametrize("name", sorted(FILES))
def test_no_module_asks_whether_a_type_of_the_interpreter_has_a_special_method(name):
    """MicroPython's hasattr() says no of a list's __len__, and of what else it does not look up by name."""
    calls = [node for node in ast.walk(TREES[name]) if isinstance(node, ast.Call) and len(node.args) > 1]
    asked = [
        node.args[1].value
        for node in calls
        if getattr(node.func, "id", "") in ("hasattr", "getattr") and isinstance(node.args[1], ast.Constant)
    ]
    assert {word for word in asked if word.startswith("__")} <= {"__fspath__", "__name__", "__module__"}


def asked_for(name):
    """Functions of a module that import from odt.reference, and whether each asks first which executor is in use: by
    itself, or by ``kernel()`` of odt.sensors.features.
    """
    asks = re.compile(
        r"executor\.backend == 'native'|kernel\(.*\)\n +if self\._kernel is None:\n +from \.\.\.reference"
    )
    for function in ast.walk(TREES[name]):
        if isinstance(function, ast.FunctionDef):
            source = ast.unparse(function)
            found = [node for node in ast.walk(function) if isinstance(node, ast.ImportFrom) and node.level]
            if any((node.module or "").split(".")[0] == "reference" for node in found):
                yield function.name, bool(asks.search(source))


def test_nothing_but_the_choice_of_a_kernel_needs_the_python_executor():
    """A firmware leaves odt/reference/ out: boards/firmware.mk."""
    outside = [name for name in FILES if not name.startswith(("odt.reference", "odt.base.executor"))]
    found = {(name, function): asks for name in outside for function, asks in asked_for(name)}
    assert len(found) >= 6 and all(found.values()), found
    importing = {name for name in outside if any(each.startswith("odt.reference") for each in imports(name))}
    assert importing == {name for name, _ in found}  # and none where it is imported itself


# Outside odt/run/ these attributes of a session are assigned. The list may only shrink.
ASSIGNED = {
    "odt/continual/adabn.py": {"tracks"},
    "odt/inspect/watch.py": {"parts", "others", "update", "whole", "known", "call"},
}


def is_session(node, names):
    """Whether an expression is a session: by its name, or because the function's variable was made from one."""
    if isinstance(node, ast.Name):
        return node.id in names
    return isinstance(node, ast.Attribute) and node.attr in ("session", "_session")


def made_from_sessions(tree):
    """Names of variables that hold sessions."""
    names = {"session"}
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        made = isinstance(value, ast.Call) and getattr(value.func, "id", "") in (
            "ready",
            "build",
            "compiled",
            "Session",
        )
        if isinstance(node, ast.Assign) and (made or is_session(value, ())):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def assigned(tree):
    """Attributes of sessions that a module assigns or deletes."""
    names = made_from_sessions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and is_session(node.value, names):
            yield node.attr


def test_only_the_room_of_the_session_assigns_its_attributes():
    found = {}
    for file in sorted((ROOT / "odt").rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        if not name.startswith("odt/run/") and set(assigned(ast.parse(file.read_text()))):
            found[name] = set(assigned(ast.parse(file.read_text())))
    assert found == ASSIGNED
    assert set(assigned(ast.parse("old = model.session\nold.busy = model.session.fit = ready(model).at = 1"))) == {
        "busy",
        "fit",
    }


def test_a_session_declares_its_attributes_in_one_place():
    (declared,) = [
        node
        for node in ast.parse((ROOT / "odt/run/session.py").read_text()).body
        if getattr(node, "name", "") == "Session"
    ]
    names = [node.target.id for node in declared.body if isinstance(node, ast.AnnAssign)]
    assert len(names) == len(set(names)) > 40
    methods = {node.name for node in declared.body if isinstance(node, ast.FunctionDef)}
    stored = {
        node.attr
        for node in ast.walk(declared)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and getattr(node.value, "id", "") == "self"
    }
    for file in (ROOT / "odt").rglob("*.py"):
        stored |= set(assigned(ast.parse(file.read_text())))
    assert stored - methods == set(names)
