"""What odt uses of Python: the modules and their names, the builtins. For interpreters that have less of it.

python3 -m odt.host.language        prints the table of docs/howto/circuitpython.md
"""

import ast
import builtins

from .files import PACKAGE, board_modules

# Used only where it is there, or by modules that say what they need.
OPTIONAL = {
    "_odt": "the kernels", "_odt_knn.knn": "the same of odt.online.KNN", "_odt_online.rls": "the same of odt.online",
    "_odt_viper.FASTER": "loops of the Python executor",
    "asyncio": "fit_async",
    "binascii.crc32": "else in Python",
    "gc.mem_free": "on boards", "gc.threshold": "on boards",
    "micropython.const": "else a function",
    "numpy": "float32 without kernels, on a PC",
    "operator.mul": "else a function",
    "os.fsync": "a Recorder's file on a PC", "os.replace": "checkpoints on a PC",
    "time.monotonic": "where time.ticks_ms is missing", "time.ticks_diff": "progress", "time.ticks_ms": "progress",
    "time.perf_counter_ns": "odt.inspect.timing on a PC", "time.ticks_us": "odt.inspect.timing",
    "time.monotonic_ns": "where time.ticks_us is missing",
    "hashlib.sha256": "secret updates of a fleet", "os.urandom": "secret updates of a fleet",
    "ulab.numpy": "float32 in its vectors",
    "uctypes.addressof": "where memoryview has no cast", "uctypes.bytearray_at": "where memoryview has no cast",
}  # fmt: skip


def used():
    """(sorted "module.name"s of other packages, sorted names of builtins) in all of odt but odt/host."""
    names, functions = set(), set()
    for file in board_modules():
        found = _Names()
        found.visit(ast.parse((PACKAGE / file).read_text()))
        names |= found.names | {
            module for module in found.modules.values() if not any(n.startswith(module + ".") for n in found.names)
        }
        functions |= found.functions - found.variables
    return sorted(names), sorted(functions)


class _Names(ast.NodeVisitor):
    def __init__(self):
        self.modules = {}  # local name: module
        self.names = set()
        self.functions = set()
        self.variables = set()  # some are called as a builtin is

    def visit_Import(self, node):
        for alias in node.names:
            self.modules[alias.asname or alias.name] = alias.name

    def visit_If(self, node):
        if ast.unparse(node.test) != "1 - 1":  # for type checkers alone
            self.generic_visit(node)

    def visit_ImportFrom(self, node):
        if not node.level:
            self.names |= {"%s.%s" % (node.module, alias.name) for alias in node.names}

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.modules:
            self.names.add("%s.%s" % (self.modules[node.value.id], node.attr))
        self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "hasattr" and isinstance(node.args[0], ast.Name):
            if node.args[0].id in self.modules:
                self.names.add("%s.%s" % (self.modules[node.args[0].id], node.args[1].value))
        self.generic_visit(node)

    def visit_arg(self, node):
        self.variables.add(node.arg)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.variables.add(node.id)
        elif hasattr(builtins, node.id) and not node.id.startswith("__"):
            self.functions.add(node.id)


def check():
    """A script that prints what an interpreter lacks of it, a line each: nothing where odt has all that it needs."""
    names, functions = used()
    needed = [name for name in names if name not in OPTIONAL and name.partition(".")[0] not in OPTIONAL]
    return (
        "for name in %r:\n"
        "    module, _, part = name.partition('.')\n"
        "    try:\n"
        "        found = __import__(module)\n"
        "        if part and not hasattr(found, part):\n"
        "            print(name)\n"
        "    except ImportError:\n"
        "        print(name)\n"
        "for name in %r:\n"
        "    try:\n"
        "        eval(name)\n"
        "    except NameError:\n"
        "        print(name)\n" % (needed, functions)
    )


def table():
    names, functions = used()
    modules = {}
    for name in names:
        if name not in OPTIONAL and name.partition(".")[0] not in OPTIONAL:
            module, _, part = name.partition(".")
            modules.setdefault(module, []).append(part)
    lines = ["| | |", "|---|---|", "| builtins | %s |" % ", ".join("`%s`" % name for name in functions)]
    lines += [
        "| `%s` | %s |" % (module, ", ".join("`%s`" % part for part in parts))
        for module, parts in sorted(modules.items())
    ]
    found = ["`%s` (%s)" % (name, why) for name, why in sorted(OPTIONAL.items())]
    return "\n".join(lines + ["| only where it is there | %s |" % ", ".join(found)]) + "\n"


if __name__ == "__main__":
    print(table(), end="")
