"""Types for editors: the stubs say what the code says, name by name and argument by argument."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import odt

PACKAGE = Path(odt.__file__).parent
ENTRY_POINTS = PACKAGE.parent / "native" / "bindings"
FILES = {
    ".".join(file.relative_to(PACKAGE).with_suffix("").parts).replace(".__init__", ""): file
    for file in PACKAGE.rglob("*.pyi")
    if file != PACKAGE / "__init__.pyi"
}
STUBS = sorted(name for name, file in FILES.items() if re.search("^(def|class) ", file.read_text(), re.M))


def module(name):
    return importlib.import_module("odt." + name)


def parsed(path):
    return ast.parse(path.read_text()).body


def definitions(body):
    """Functions of a stub by name; of a class's too, as Class.name."""
    found = {}
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            found[node.name] = node
        elif isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef):
                    found[node.name + "." + inner.name] = inner
    return found


def arguments(node):
    """[(name, kind, default)] of a stub's function, as those of inspect."""
    a = node.args
    names = [(arg, "POSITIONAL_ONLY") for arg in a.posonlyargs] + [(arg, "POSITIONAL_OR_KEYWORD") for arg in a.args]
    first = len(names) - len(a.defaults)
    rows = []
    for index, (arg, kind) in enumerate(names):
        rows.append(
            (arg.arg, kind, ast.literal_eval(a.defaults[index - first]) if index >= first else None, index >= first)
        )
    if a.vararg:
        rows.append((a.vararg.arg, "VAR_POSITIONAL", None, False))
    if a.kwarg:
        rows.append((a.kwarg.arg, "VAR_KEYWORD", None, False))
    return rows


def real(function):
    rows = []
    for each in inspect.signature(function).parameters.values():
        given = each.default is not inspect.Parameter.empty
        rows.append((each.name, each.kind.name, each.default if given else None, given))
    return rows


def protocols(body):
    """Classes that exist for the type checker alone."""
    return {
        n.name for n in body if isinstance(n, ast.ClassDef) and any("Protocol" in ast.dump(base) for base in n.bases)
    }


@pytest.mark.parametrize("name", STUBS)
def test_functions_of_a_stub_have_the_codes_arguments_and_defaults(name):
    body = parsed(FILES[name])
    checked = 0
    for path, node in definitions(body).items():
        if path.split(".")[0] in protocols(body):
            continue
        found = module(name)
        for part in path.split("."):
            found = getattr(found, part)
        found = found.fget if isinstance(found, property) else found
        assert arguments(node) == real(found), path
        checked += 1
    assert checked or name in ("losses", "layers.norms")


@pytest.mark.parametrize("name", STUBS)
def test_classes_of_a_stub_have_the_codes_bases(name):
    body = parsed(FILES[name])
    for node in body:
        if not isinstance(node, ast.ClassDef) or node.name in protocols(body):
            continue
        found = getattr(module(name), node.name)
        for base in node.bases:
            assert base.id in [each.__name__ for each in found.__mro__], node.name


# Modules whose objects a model takes: of their methods users call none.
DESCRIBED = (
    "continual.dark", "continual.tent", "layers", "layers.activations", "layers.joins", "layers.norms", "layers.resizing",
    "losses", "optimizers", "optimizers.schedules",
)  # fmt: skip
# Modules whose public names a program calls, and which a type checker would find without types.
WHOLE = (
    *DESCRIBED, "adapt.tinytrain", "adapt.update", "callbacks", "continual.latents", "continual.prototypes",
    "continual.replay", "continual.reservoir", "continual.teach", "inspect.watch", "metrics", "model", "optimizers.rates",
)  # fmt: skip


@pytest.mark.parametrize("name", WHOLE)
def test_no_public_name_or_method_of_the_code_is_missing_in_its_stub(name):
    body = parsed(FILES[name])
    classes = {node.name: node for node in body if isinstance(node, ast.ClassDef)}
    stubbed = set(classes) | set(definitions(body))
    for public, value in vars(module(name)).items():
        ours = inspect.isclass(value) or inspect.isfunction(value)
        if not ours or value.__module__ != "odt." + name or public.startswith("_") or public == "InputLayer":
            continue
        assert public in stubbed, public
        if inspect.isclass(value) and "__init__" in vars(value):
            assert public + ".__init__" in stubbed, public
        if inspect.isclass(value) and name not in DESCRIBED:
            methods = [each for each in vars(value) if not each.startswith("_") and callable(getattr(value, each))]
            assert {public + "." + each for each in methods} <= stubbed


def test_package_stub_has_every_name_of_the_package():
    names = {}
    for node in parsed(PACKAGE / "__init__.pyi"):
        for alias in getattr(node, "names", []):
            assert alias.asname == alias.name  # or type checkers do not export it
            names[alias.name] = node.module
    for name, home in names.items():
        assert getattr(odt, name) is (module(name) if home is None else getattr(module(home), name))
    for name, home in odt.HOMES.items():
        if home not in ("modules", "inner"):
            assert names[name].lstrip(".") == home
        assert name in dir(odt)
    readme = (PACKAGE.parent / "README.md").read_text()
    assert set(re.findall(r"`odt\.([a-z]+)`", readme)) - {"host"} <= set(names)


def test_stub_of_the_kernels_has_every_entry_point_and_its_number_of_arguments():
    found = {}
    for name, node in definitions(parsed(ENTRY_POINTS / "_odt-stubs" / "__init__.pyi")).items():
        rows = arguments(node)
        assert all(kind == "POSITIONAL_ONLY" for _, kind, _, _ in rows)
        found[name] = (len([row for row in rows if not row[3]]), len(rows))
    text = (ENTRY_POINTS / "entry_points.h").read_text()
    table = {name: (int(a), int(b)) for name, a, b in re.findall(r"^    X\((\w+), (\d), (\d)\)", text, re.M)}
    assert found == table and len(table) > 5


@pytest.mark.parametrize("stub, table", [("LossName", odt.losses.LOSSES), ("ActivationName", odt.layers.FOLLOWING)])
def test_names_that_may_be_given_are_those_of_the_tables(stub, table):
    text = (PACKAGE / ("model.pyi" if stub == "LossName" else "layers/__init__.pyi")).read_text()
    names = re.findall(r'"(\w+)"', text.split("\n%s: TypeAlias" % stub)[1].split("]")[0])
    assert set(names) == set(table) | ({"relu", "relu6"} if stub == "ActivationName" else set())
