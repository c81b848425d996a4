"""Which statements of the readers of other frameworks the tests run: counted while they run, printed, and at least 95 %
of each file.

A statement of a function is followed by nothing but a note of its line: the modules are compiled with these notes in
them. Run all of tests_host/test_convert*.py, on any number of workers, and the figures follow; a selection prints
nothing.
"""

import ast
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder, SourceFileLoader
from pathlib import Path

from checkout import ROOT

FILES = ("pytorch", "onnxfile", "onnxfold", "kerasmodel", "kerasfile", "tflitefile", "tflitefold", "builder")
LEAST = 95  # % of the statements of a reader
SHARED = {"builder": 85}  # and of what they share
PACKAGE = "odt.host.convert."
SEEN = {name: set() for name in FILES}


def _noted(body, name):
    """The statements of a body, each after a note; the docstring stays first."""
    made = []
    for number, each in enumerate(body):
        constant = isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
        if not (constant or isinstance(each, (ast.Global, ast.Nonlocal))):
            note = ast.Expr(ast.Call(ast.Name("_note_line", ast.Load()), [ast.Constant(each.lineno)], []))
            made.append(ast.fix_missing_locations(ast.copy_location(note, each)))
        made.append(each)
    return made


class _Notes(ast.NodeTransformer):
    def __init__(self, name):
        self.name, self.inside = name, 0

    def generic_visit(self, node):
        function = isinstance(node, (ast.FunctionDef, ast.Lambda))
        self.inside += function
        super().generic_visit(node)
        if self.inside and not isinstance(node, ast.Lambda):
            for field in ("body", "orelse", "finalbody"):
                body = getattr(node, field, None)
                if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
                    setattr(node, field, _noted(body, self.name))
        self.inside -= function
        return node


class _Loader(SourceFileLoader):
    def get_code(self, fullname):
        return self.source_to_code(self.get_data(self.path), self.path)  # no cache: it has no notes

    def source_to_code(self, data, path, **options):
        tree = _Notes(self.name).visit(ast.parse(data, path))
        return compile(tree, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__dict__["_note_line"] = SEEN[self.name.removeprefix(PACKAGE)].add
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(self, fullname, path, target=None):
        if not fullname.startswith(PACKAGE) or fullname.removeprefix(PACKAGE) not in FILES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        spec.loader = _Loader(fullname, spec.origin)
        return spec


def statements(name):
    """The lines at which statements of the file's functions begin."""
    tree = ast.parse((ROOT / "odt" / "host" / "convert" / (name + ".py")).read_text())
    notes = ast.walk(_Notes(name).visit(tree))
    return {
        each.args[0].value
        for each in notes
        if isinstance(each, ast.Call) and getattr(each.func, "id", "") == "_note_line"
    }


def install():
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def of_all(config):
    """Whether all tests of the readers are among what runs."""
    if config.option.keyword or config.option.markexpr or config.option.collectonly:
        return False
    given = [Path(each).resolve() for each in config.args]
    return all(
        any(each == file or each in file.parents for each in given)
        for file in (ROOT / "tests_host").rglob("test_convert*.py")
    )


def report():
    """(lines to print, whether each file has enough)."""
    lines, enough = [], True
    for name in FILES:
        every = statements(name)
        missing = sorted(every - SEEN[name])
        share = 100 * (1 - len(missing) / len(every))
        enough = enough and share >= SHARED.get(name, LEAST)
        lines.append("odt/host/convert/%-14s %5.1f %% of %d statements%s" % (
            name + ".py", share, len(every), "; not run: lines " + ", ".join(map(str, missing)) if missing else "",
        ))  # fmt: skip
    return lines, enough
