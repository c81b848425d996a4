"""The modules of odt, except those of odt.host, as they run, and what they import."""

import ast

from checkout import ROOT

FILES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).replace(".__init__", ""): file
    for file in sorted((ROOT / "odt").rglob("*.py"))
    if "host" not in file.parts
}


class RunTime(ast.NodeTransformer):
    """Without what is for type checkers alone: the blocks "if 1 - 1:" and annotations."""

    def visit_If(self, node):
        return None if ast.unparse(node.test) == "1 - 1" else self.generic_visit(node)

    def visit_AnnAssign(self, node):
        return node.value and ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef


def at_run_time(text):
    """The tree of a module as MicroPython runs it."""
    return RunTime().visit(ast.parse(text))


TREES = {name: at_run_time(file.read_text()) for name, file in FILES.items()}


def imports(name):
    """The modules of odt that a module imports, at once or later."""
    package = name.split(".") if FILES[name].name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "__import__":
            target = getattr(node.args[0], "value", None)
            if target in FILES:
                yield target
        if not isinstance(node, ast.ImportFrom):
            continue
        base = package[: len(package) - node.level + 1] if node.level else []
        base = ".".join(base + [node.module] * bool(node.module))
        for alias in node.names:
            if base + "." + alias.name in FILES:
                yield base + "." + alias.name
            elif base in FILES:
                yield base
            elif base.startswith("odt"):
                yield base + "." + alias.name


def circle(package="odt"):
    """The modules of a package that import each other, at once or later, in a circle, or lead to one; [] if there is
    none.
    """
    left = {name: set(imports(name)) - {name} for name in FILES if (name + ".").startswith(package + ".")}
    for name in left:  # a package is imported with what is in it
        left[name] = {target for target in left[name] if not name.startswith(target + ".")}
    while left:
        leaves = {name for name, targets in left.items() if not targets & set(left)}
        if not leaves:
            break
        left = {name: targets for name, targets in left.items() if name not in leaves}
    return sorted(left)
