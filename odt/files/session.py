"""Makes the session of a model file. open.py unloads it afterwards."""

from ..base import executor
from ..base.executor import collect
from ..base.fixed import elements, is_int, within
from ..plan.program import Program
from ..run.session import Session
from ..run.start import Untrained, begin, check_place, control_block, reserve, stand
from .opened import Loss, Optimizer, Plan, Shape
from .reader import FROZEN, HEAD, LAYERS, PROGRAM, STATE, ModelFile, wrong

_RATES = {  # what a schedule is made with before it becomes the file's, and which of its values counts steps
    "Constant": ("base.rate", (0,), None), "StepDecay": ("optimizers.schedules", (0, 1), 1),
    "CosineDecay": ("optimizers.schedules", (0, 1), 1),
    "ExponentialDecay": ("optimizers.rates", (0, 1, 0.5), None), "WarmUp": ("optimizers.rates", (0, 1), 0),
}  # fmt: skip


def opened(source):
    """(kind, session, labels, (name, parameters) of features or None) of a file; errors as of load_model()."""
    file = ModelFile(source)
    try:
        return _open(file)
    except MemoryError as error:
        if not file.copies or str(error).startswith("training"):  # which says itself what it needs
            raise
        raise MemoryError(
            "%s: %s; %d bytes of program and %d of frozen weights go to RAM; on a ROMFS they stay in flash"
            % (file.name, error, file.sizes[PROGRAM], file.sizes[FROZEN])
        )
    finally:
        file.close()


def _open(file):
    engine = executor.engine
    kept = None
    try:
        head = file.parsed(HEAD)
        code = file.section(PROGRAM)
        try:
            loaded = engine.load(code)
        except (TypeError, ValueError):  # it can be written to, or lies at no multiple of 4: to RAM
            file.copies = True
            code = bytes(code)
            loaded = engine.load(code)
        program = Program(code)
        _same(program.state, file.sizes[STATE], "state")
        _same(program.constants, file.sizes[FROZEN], "frozen weights")
        layers = file.section(LAYERS)
        if file.file is not None:
            layers = file.name, engine.crc32(layers)
        session, plan = _session(head, layers, code, program)
        kind, labels, features = head["kind"], head["labels"], head.get("features")
        if features is not None and not (isinstance(features[0], str) and isinstance(features[1], dict)):
            raise ValueError("features %r" % (features,))
        del head, program
    except Exception as error:
        raise wrong(file.name, error)
    collect()
    arena, state = reserve(plan, False) or reserve(plan)
    if plan.constants:
        kept = file.section(FROZEN)
    file.into(STATE, state)
    control = control_block(session.input.scale, session.input.zero_point)
    if kept is not None:
        try:
            check_place(engine, loaded, arena, state, control, kept)
        except ValueError:  # it lies at no multiple of 4: to RAM
            file.copies = True
            kept = bytes(kept)
    if plan.rows and plan.rows[0][0] == session.input.name:  # the sample, too
        from ..base.ordered import Ordered

        engine = Ordered(engine)
    begin(session, plan, engine, loaded, arena, state, control, kept)
    return kind, session, labels, features


class Parts:
    """What parts_of() gives."""


def parts_of(source):
    """What load_weights() takes of a model file: as of a session, dtype, plan, state, frozen, calibrated; and the
    file's name.
    """
    file = ModelFile(source)
    try:
        head = file.parsed(HEAD)
        parts = Parts()
        parts.dtype, parts.calibrated = _dtype(head), within("ranges", head["ranges"], 3)
        parts.plan = Plan(None, file.section(LAYERS), parts.dtype)
        parts.plan.name = file.name
        parts.plan.state, parts.plan.constants = file.sizes[STATE], file.sizes[FROZEN]
        parts.state, parts.frozen = file.section(STATE), file.section(FROZEN)
        return parts, file.name
    except Exception as error:
        raise wrong(file.name, error)
    finally:
        file.close()


def _same(found, expected, what):
    if found != expected:
        raise ValueError("%d bytes of %s, the program has %d" % (expected, what, found))


def _dtype(head):
    if head["dtype"] not in ("int8", "float32"):
        raise ValueError("dtype %r" % (head["dtype"],))
    return head["dtype"]


def _session(head, layers, code, program):
    """Session and plan of the head; whatever it holds, nothing outside of the regions is reached."""
    dtype, rows = _dtype(head), head["micro"] or head["batch"]
    within("batch", head["batch"] - 1, 65535)
    within("micro", rows - 1, head["batch"])
    name, shape, form, scale, zero = head["input"]
    if form not in ("float32", "int8", "uint8", "int16", "uint16", "int32"):
        raise ValueError("input of %r" % (form,))
    within("zero point", zero + (1 << 31), 1 << 32)
    within("seed", head["seed"], 1 << 30)
    names = [name, head["kind"], head["optimizer"], head["loss"][0]] + (head["labels"] or [])
    if not all([isinstance(each, str) for each in names]):
        raise ValueError("names %r" % (names,))
    shape = [within("shape", size - 1, 1 << 24) + 1 for size in shape]
    layer = Shape(name, shape, form, within("scale", scale, 0x7F800000), zero)
    shape, at, zero, where = head["output"]
    shape = tuple([within("shape", size - 1, 1 << 24) + 1 for size in shape])
    loss = Loss(*head["loss"])
    within("degree", loss.degree, 3)
    within("unit", head["loss"][6], 1 << 31)
    count = elements(shape)
    count = max(count, 2) if loss.labels or loss.binary else count
    if head["labels"] is not None and len(head["labels"]) != count:
        raise ValueError("%d labels of %d classes" % (len(head["labels"]), count))
    optimizer = Untrained()
    if head["rate"]:
        optimizer = Optimizer(head["optimizer"], _rate(head["rate"]))
    session = Session(layer, shape, optimizer, loss, dtype, head["batch"], head["micro"], head["seed"])
    plan = Plan(code, layers, dtype)
    plan.read(head, program)
    plan.output.count = elements(shape) * rows
    within("output", at, program.arena - plan.output.count * (1 if dtype == "int8" else 4) + 1)
    within("zero", zero + 256, 512)
    offsets = list(head["scales"]) + [where for where in head["x"] + [where] if where is not None]
    for offset in offsets:
        within("scale's place", offset, program.state - 3)
    if dtype == "int8" and (where is None or head["x"][0] is None):
        raise ValueError("no scale of the output")
    if head["bias"]:
        at, size = head["bias"]
        within("bias", size - 1, program.state)
        within("bias", at, program.state - size + 1)
        if size % 4 or size // 4 > elements(shape):
            raise ValueError("bias of %d bytes" % size)
    if plan.reading:
        mean, variance, channels, epsilon = plan.reading
        within("channels", channels - 1, session.row)
        if session.row % channels:
            raise ValueError("%d channels of %d numbers" % (channels, session.row))
        within("epsilon", epsilon, 0x7F800000)
        for offset in (mean, variance):
            within("statistics", offset, program.state - 4 * channels + 1)
    if plan.rows:
        from ..run.hints import keep_ranges

        keep_ranges(session)
        plan.rows = [(str(first), str(last), within("rows", rows, 65536)) for first, last, rows in plan.rows]
    underway = head["underway"] and tuple(head["underway"])
    if underway:
        samples, order, *sums = underway
        within("underway", samples, 1 << 32)
        within("underway", order, 1 << 32)
        if len(sums) != 3 or not all([is_int(word) and -(1 << 31) <= word < 1 << 31 for word in sums]):
            raise ValueError("underway: %r" % (underway,))
    calibrated, epoch = within("ranges", head["ranges"], 3), within("epoch", head["epoch"], 1 << 31)
    stand(session, head["fresh"] == 1, calibrated, epoch, underway)
    return session, plan


def _rate(row):
    """A schedule of ``saved`` values."""
    home, options, steps = _RATES[row[0]]
    module = __import__("odt." + home, None, None, ("*",))
    rate = getattr(module, row[0])(*options)
    known, values = rate.saved(), []
    if len(row) != 1 + len(known):
        raise ValueError("a rate of %d values" % (len(row) - 1))
    for at, own in enumerate(known):  # each is of the kind that such a schedule saves
        value = row[1 + at]
        if hasattr(own, "saved"):
            values.append(_rate(value))
        elif isinstance(own, list):
            values.append([within("rate", part, 1 << 30) for part in value])
        else:
            values.append(within("rate", value - (at == steps), 0x7F800000) + (at == steps))
    rate.restore(values)
    rate.bits(0)
    return rate
