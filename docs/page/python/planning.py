"""Plans a network as the page's controls have it.

plan() writes the Python that makes, adapts and compiles a network, runs it, and reads the figures of the session: what
the page shows as code is what made its figures.
"""

import gc
import json
from array import array

import odt
from odt.model import Model

model = None  # the one that was planned last


def build(source):
    """The model that a script assigns to `model`."""
    scope = {"__name__": "script", "odt": odt}
    exec(source, scope)
    found = scope.get("model")
    if not isinstance(found, Model):
        raise ValueError("the script assigns no odt.Sequential or odt.Model to the name model")
    return found


def layers(made):
    """What the page shows of each layer: its name, kind, shape, and what of it may train."""
    rows = []
    for node in made.nodes:
        layer = node.layer
        weights = bool(layer.weight_shapes()) and not layer.view
        channels = layer.kernel_shape[0] if weights and layer.kernel_shape else 0
        images = len(node.shape) in (2, 3) and len(node.inputs) == 1 and len(node.inputs[0].shape) == len(node.shape)
        rows.append({
            "name": layer.name, "kind": type(layer).__name__, "shape": list(node.shape), "weights": weights,
            "channels": channels, "bias": bool(channels and layer.use_bias), "lite": bool(channels and images),
            "trains": bool(weights and layer.trainable),
        })  # fmt: skip
    return rows


def policy(rows, choices):
    """Lines of Python that let layers train as ``choices`` has it, {name: "1", "0.5", "bias", "frozen" or "lite"}."""
    lines, lite = [], [row["name"] for row in rows if choices.get(row["name"]) == "lite"]
    if lite:
        lines.append("from odt.adapt.lite import lite_residual\n")
        lines.append("model = lite_residual(model, %s)" % json.dumps(lite))
    chosen = [row for row in rows if row["weights"] and (row["name"] in choices or lite)]
    if chosen:
        lines.append("layers = {layer.name: layer for layer in model.layers}")
    for row in chosen:
        place = "layers[%s]" % json.dumps(row["name"])
        choice = choices.get(row["name"], "1" if row["trains"] else "frozen")
        count = row["channels"]
        if choice in ("frozen", "lite"):
            lines.append("%s.trainable = False" % place)
            continue
        if lite or not row["trains"]:
            lines.append("%s.trainable = True" % place)
        if choice == "bias":
            lines.append("%s.update_rows = ()  # its bias alone" % place)
        elif choice != "1" and count:
            part = max(1, int(float(choice) * count))
            if part < count:
                lines.append("%s.update_rows = ((0, %d),)  # of %d channels, and its bias" % (place, part, count))
        elif lite:
            lines.append("%s.update_rows, %s.update_bias = None, True" % (place, place))
    return "\n".join(lines)


_OPTIMIZERS = {
    "adam": "odt.Adam(%s)",
    "adamw": "odt.AdamW(%s)",
    "sgd": "odt.SGD(%s)",
    "momentum": "odt.SGD(%s, momentum=0.9)",
}


def compiling(options):
    """The call that compiles ``model`` as the page's controls have it."""
    optimizer = _OPTIMIZERS[options.get("optimizer", "adam")] % float(options.get("learning_rate", 0.004))
    words = [optimizer]
    if options.get("loss", "sparse_categorical_crossentropy") != "sparse_categorical_crossentropy":
        words.append(json.dumps(options["loss"]))
    words.append("dtype=%s" % json.dumps(options.get("dtype", "int8")))
    words.append("batch_size=%d" % options.get("batch_size", 16))
    words.append("seed=%d" % options.get("seed", 0))
    if options.get("micro_batch"):
        words.append("micro_batch=%d" % options["micro_batch"])
    if options.get("checkpoint"):
        words.append('checkpoint="sqrt"')
    if options.get("memory_budget"):
        words.append("memory_budget=%d" % options["memory_budget"])
    call = "model.compile(%s)" % ", ".join(words)
    if options.get("flash"):
        call += "  # once, for its weights\nfrozen = odt.files.frozen.pack(model)\n%s, frozen=frozen)" % call[:-1]
    return call


def script(source, rows, choices, options):
    """The Python that makes, adapts and compiles the network of these layers()."""
    head = "" if "import odt\n" in source else "import odt\n\n"
    parts = [head + source.strip(), policy(rows, choices), compiling(options)]
    return "\n\n".join([part for part in parts if part]) + "\n"


def plan(source, choices, options):
    """Figures of a network that is adapted and compiled so, to the byte those of ``summary()``."""
    global model
    rows = layers(build(source))
    for name in choices:
        if name not in [row["name"] for row in rows]:
            raise ValueError("no layer is called %r" % name)
    text = script(source, rows, choices, options)
    model = None
    gc.collect()
    model = build(text)
    return dict(figures(model), layers=rows, script=text)


def figured(path):
    """Figures of a model file, whose plan cannot be changed."""
    global model
    model = None
    gc.collect()
    model = odt.load_model(path)
    session = model.session
    found = figures(model)
    rows = [
        {"name": name, "kind": kind, "shape": list(shape), "weights": False, "channels": 0, "trains": False}
        for name, kind, shape, *_ in session.plan.table
    ]
    return dict(found, layers=rows, script="", dtype=model.dtype)


def figures(made):
    """Sizes in bytes, multiply-accumulates per sample, and the arena's buffers over a step."""
    from odt.inspect.drawing import lives

    found = made.session.plan
    boxes, marks = lives(made.program)
    return {
        "arena": found.arena, "lower_bound": found.lower_bound, "peaks": found.peaks, "totals": found.totals,
        "batch": made.batch_size, "state": found.state, "program": len(found.code), "flash": found.constants,
        "again": found.again,
        "table": [list(row[:2]) + [list(row[2])] + list(row[3:]) for row in found.table],
        "lives": boxes, "marks": marks,
    }  # fmt: skip


# Of an Input's dtype: array's type, bytes, the range of numbers.
LIMITS = {
    "uint8": ("B", 1, 0, 255), "int8": ("b", 1, -128, 127), "int16": ("h", 2, -32768, 32767),
    "uint16": ("H", 2, 0, 65535), "int32": ("i", 4, -(1 << 30), (1 << 30)),
}  # fmt: skip


def batch(session):
    """(x, y) of a batch: numbers that look normal, in the Input's units, and labels or targets; the same everywhere."""
    layer, seed, draws = session.input, 12345, []
    count = session.batch_size * session.row
    for _ in range(1024):
        total = 0
        for _ in range(4):  # a sum of four uniform numbers
            seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
            total += (seed >> 15) - 32768
        draws.append(total / 37837)  # of deviation 1
    if layer.dtype == "float32":
        x = array("f", [draws[(i * 7 + i // 1024) % 1024] for i in range(count)])
    else:
        code, _, low, high = LIMITS[layer.dtype]
        values = [max(low, min(high, int(value / layer.scale + layer.zero_point))) for value in draws]
        x = array(code, [values[(i * 7 + i // 1024) % 1024] for i in range(count)])
    if session.loss.labels:
        return x, array("i", [i % session.classes for i in range(session.batch_size)])
    return x, array("f", [(i % 5) / 4 for i in range(session.batch_size * session.width)])


STEPS = """
# one batch of noise, the same on every machine
from array import array

value = 1
x = array("%s", bytes(%d))
for i in range(len(x)):
    value = value * 75 %% 65537
    x[i] = %s
%s
for step in range(%d):
    print("epoch %%d/%d  loss %%.4f" %% (step + 1, model.train_step(x, y)))
print("digest %%08x" %% model.digest())
"""


def boarded(steps=5):
    """The planned network's script, a few steps on noise and the digest, for the page and a board."""
    from odt.run.session import is_untrained

    session = model.session
    if is_untrained(session):
        raise ValueError("the network that is planned does not train")
    layer, count = session.input, session.batch_size * session.row
    if layer.dtype == "float32":
        code, size, number = "f", 4, "value / 32768 - 1"
    else:
        code, size, low, high = LIMITS[layer.dtype]
        low = max(low, int(layer.zero_point - 1 / layer.scale))
        high = min(high, int(layer.zero_point + 1 / layer.scale), low + 16383)  # a small int on a board
        number = "%d + (value * %d >> 17)" % (low, high - low + 1)
    if session.loss.labels:
        y = "y = bytes([i %% %d for i in range(%d)])\n" % (session.classes, session.batch_size)
    else:
        width = session.batch_size * session.width
        y = 'y = array("f", [i %% 5 / 4 for i in range(%d)])\n' % width
    return {"steps": STEPS % (code, size * count, number, y, steps, steps)}


def times():
    """{machine: cycles or instructions of a step} of the network that was planned; None where that is not known."""
    from odt.host import cost
    from odt.run.session import is_untrained

    if is_untrained(model.session):
        return {}
    found = {}
    steps, parts = cost.instructions(model, *batch(model.session)), -(-model.batch_size // model.session.rows)
    for machine in cost.MACHINES:
        try:
            total = sum([cost.cost(name, sizes, machine) for name, sizes in steps])
            found[machine] = int(total + cost.python(model.dtype, parts, machine) + 0.5)
        except cost.Unknown:
            found[machine] = None
    return found
