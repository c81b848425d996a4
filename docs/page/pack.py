"""odt's Python as one file for the page, without what only readers and type checkers need.

    python3 docs/page/pack.py build/page/odt.pack

Docstrings, annotations and blocks for type checkers are left out: half of the bytes. Examples' networks come from the
examples' own scripts. JSON of names and sizes, a newline, the files.
"""

import ast
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HERE = Path(__file__).resolve().parent
HOST = ("cost", "routes", "rows")  # what estimates costs, and plans within a budget
# Of the executor in Python: what looks at buffers, and functions whose kernels odt.wasm does not have.
REFERENCE = ("__init__", "buffers", "biquads", "frontend", "knn", "rls", "rocket")
EXAMPLES = ("gesture/motions.py", "keyword/words.py")  # what examples hear of their sensors
# The example's title, its script and, in a module of several networks, the function that makes it.
NETWORKS = (
    ("Digits, first steps", "digits/first.py", None),
    ("Digits", "digits/train.py", None),
    ("XOR", "xor/train.py", None),
    ("Time series", "series/train.py", None),
    ("Vibration, an autoencoder", "vibration/train.py", None),
    ("Personalised digits", "personalise/pretrain.py", None),
    ("Backbone for images", "backbones/nets.py", "image"),
    ("Backbone for keywords", "backbones/nets.py", "keyword"),
    ("Backbone for motion", "backbones/nets.py", "motion"),
)


class Lean(ast.NodeTransformer):
    """Without docstrings, annotations and the blocks `if 1 - 1:`; what MicroPython lacks, {**a, "b": 1} and (*a, b), as
    calls.
    """

    def visit_Tuple(self, node):
        self.generic_visit(node)
        if not any(isinstance(each, ast.Starred) for each in node.elts) or not isinstance(node.ctx, ast.Load):
            return node
        parts = [
            "list(%s)" % ast.unparse(each.value if isinstance(each, ast.Starred) else ast.List([each]))
            for each in node.elts
        ]
        kind = "tuple(%s)" if isinstance(node, ast.Tuple) else "(%s)"
        return ast.parse(kind % " + ".join(parts), mode="eval").body

    visit_List = visit_Tuple

    def visit_Dict(self, node):
        self.generic_visit(node)
        if None not in node.keys:
            return node
        parts = [
            "list((%s).items())" % ast.unparse(value if key is None else ast.Dict([key], [value]))
            for key, value in zip(node.keys, node.values)
        ]
        return ast.parse("dict(%s)" % " + ".join(parts), mode="eval").body

    def visit_If(self, node):
        return None if ast.unparse(node.test) == "1 - 1" else self.generic_visit(node)

    def visit_AnnAssign(self, node):
        self.generic_visit(node)
        return node.value and ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_arg(self, node):
        node.annotation = None
        return node

    def _body(self, node):
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self._body(node)

    visit_AsyncFunctionDef = visit_FunctionDef
    visit_ClassDef = visit_Module = _body


def lean(text):
    """A module's source without what it does not need to run."""
    return ast.unparse(ast.fix_missing_locations(Lean().visit(ast.parse(text)))) + "\n"


def modules():
    """{name in the pack: source} of odt and of the page's own modules."""
    found = {}
    for file in sorted((ROOT / "odt").rglob("*.py")):
        name = file.relative_to(ROOT).as_posix()
        parts = name.split("/")
        if parts[1] == "__main__.py" or parts[1] == "host" and parts[2] not in (*HOST, "__init__.py"):
            continue
        if parts[1] == "reference" and file.stem not in REFERENCE:
            continue
        found[name] = lean(file.read_text())
    found["odt/host/routes/__init__.py"] = ""  # it writes limits.py, which alone is imported
    found["odt/host/traits/__init__.py"] = traits()
    for file in [*sorted((HERE / "python").glob("*.py")), *[ROOT / "examples" / name for name in EXAMPLES]]:
        found[file.name] = lean(file.read_text())
    return found


def traits():
    """What odt.host.cost and rows ask of odt.host.traits, which reads comments, and the pack has none."""
    sys.path.insert(0, str(ROOT))
    from odt.host.traits import TRAITS

    rows = {name: (row.cost, row.rows) for name, row in TRAITS.items()}
    head = "class Traits:\n    def __init__(self, cost, rows):\n        self.cost, self.rows = cost, rows\n\n\n"
    return head + "TRAITS = {name: Traits(*row) for name, row in %r.items()}\n" % rows


def network(script, function):
    """(source of a network, the call that compiles it or None) of an example's script."""
    text = (ROOT / "examples" / script).read_text()
    tree = ast.parse(text)
    if function:
        (body,) = [node for node in tree.body if getattr(node, "name", "") == function]
        value = next(node.value for node in body.body if isinstance(node, ast.Return))
        helpers = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ImportFrom))]
        used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
        before = [ast.get_source_segment(text, node) for node in helpers if getattr(node, "name", "") in used]
        imports = [
            ast.get_source_segment(text, node) for node in helpers if before and isinstance(node, ast.ImportFrom)
        ]
        source = "model = " + _outdented(ast.get_source_segment(text, value))
        return "\n".join([*imports, *before, source]), None
    made = next(
        node for node in tree.body if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "model"
    )
    call = next(node.value for node in tree.body if isinstance(node, ast.Expr) and _compiles(node.value))
    return ast.get_source_segment(text, made), call


def _compiles(node):
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "model.compile"


def _outdented(text):
    return text.replace("\n    ", "\n")


def options(call):
    """What an example compiles with, in the words of the page's controls: constants alone, schedules are left out."""
    found = {"optimizer": "adam", "learning_rate": 0.004, "loss": "sparse_categorical_crossentropy", "batch_size": 16}
    if call is None:
        return found
    optimizer = call.args[0]
    found["optimizer"] = optimizer.func.attr.lower()
    if isinstance(optimizer.args[0], ast.Constant):
        found["learning_rate"] = optimizer.args[0].value
    found.update({each.arg: each.value.value for each in optimizer.keywords if isinstance(each.value, ast.Constant)})
    if len(call.args) > 1:
        found["loss"] = call.args[1].value
    found.update({each.arg: each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)})
    return found


def examples():
    """[{title, source, options}] of all examples' networks."""
    rows = []
    for title, script, function in NETWORKS:
        source, call = network(script, function)
        rows.append({"title": title, "script": script, "source": source, "options": options(call)})
    return rows


def main(path):
    files = {name: text.encode() for name, text in modules().items()}
    with open(path, "wb") as file:
        file.write(json.dumps({name: len(data) for name, data in files.items()}).encode() + b"\n")
        file.write(b"".join(files.values()))
    Path(path).with_name("examples.json").write_text(json.dumps(examples(), indent=1))


if __name__ == "__main__":
    main(sys.argv[1])
