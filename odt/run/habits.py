"""Rarely used arguments from Keras, some of which odt's compile() decides; imported when one is given."""

from ..base.fixed import is_int, own
from ..base.regions import REGION_SHIFT
from .session import ready


def asked(model, x, y, held, split, batch_size):
    """(x, y, validation_data) after fit's ``validation_split`` and ``batch_size``."""
    session = ready(model)
    session.alone("fit")
    if split:
        if held is not None:
            raise ValueError("validation_split and validation_data: one of them is expected")
        x, y, held = _split(session, x, y, own(split))
    if batch_size is not None and own(batch_size) != session.batch_size:
        rebatch(model, own(batch_size))
    return x, y, held


_REFUSED = {  # of fit
    "shrunk": "%sx, y: %d and %d elements are left of %d and %d: data may not shrink",
    "batches": "%sx: without y an iterable of batches (x, y) is expected, got %r",
    "none": "%sx: no batch came",
    "pair": "%sx: a batch is a pair (x, y), got %r",
    "large": "%sx: a batch of %d samples does not fit batch_size %d",
    "short": "%sx: ended after %d batches of an epoch",
    "steps": "steps_per_epoch belongs to an iterable of batches, x is an array",
    "held": "validation_data is a pair (x, y) or an iterable of batches, got %r",
    "once": "x: a generator cannot restart: give steps_per_epoch for %d epochs",
    "resume": "x: %d samples, the epoch to resume stands at sample %d",
    "callback": "callbacks: item %d has none of %s: %r",
}


def refuse(reason, what):
    """Raise TypeError or ValueError with the text of ``reason``, filled in with ``what``."""
    error = TypeError if reason in ("batches", "pair", "held", "callback") else ValueError
    raise error(_REFUSED[reason] % what)


def refuse_options(epochs, first, steps, callbacks):
    """ValueError, TypeError for what fit was given."""
    for name, value, least in (("epochs", epochs, 1), ("initial_epoch", first, 0)):
        if not is_int(value) or value < least:
            raise ValueError("%s is an int above %d, got %r" % (name, least - 1, value))
    if first > epochs:
        raise ValueError("initial_epoch is in 0..epochs = %d, got %d" % (epochs, first))
    if not is_int(steps) or steps < 1:
        raise ValueError("steps_per_epoch is an int above 0, got %r" % (steps,))
    raise TypeError("callbacks is a list of objects, got %r" % (type(callbacks),))


def ignored(batch_size, verbose):
    """Check the arguments of evaluate and predict that are there for Keras's callers and change nothing: the batch
    size is compile's, nothing is printed.
    """
    batch_size, verbose = own(batch_size), own(verbose)
    if batch_size is not None:
        batch(batch_size, 1)
    if verbose not in (0, 1, 2, "auto"):
        raise ValueError('verbose is 0, 1, 2 or "auto", got %r' % (verbose,))


def batch(value, least):
    """TypeError, ValueError unless the value is a batch size, an int in ``least`` .. 65535."""
    if not is_int(value):
        raise TypeError("batch_size is an int, got %r" % (value,))
    if not least <= value <= 65535:
        raise ValueError("batch_size is in %d..65535, got %d" % (least, value))


def _split(session, x, y, split):
    """The last part of the samples, as Keras takes it, for validation."""
    if y is None and not isinstance(x, (list, tuple)):
        raise ValueError("validation_split belongs to arrays; for an iterable of batches give validation_data")
    if isinstance(split, bool) or not isinstance(split, (int, float)) or not 0 <= split < 1:
        raise ValueError("validation_split is in 0..1, below 1, got %r" % (split,))
    count = session.look_at(x, y, "")[2]
    first = int(count * (1 - split))
    if not 0 < first < count:
        raise ValueError(
            "validation_split: %r of %d samples leaves none to train, or none to validate" % (split, count)
        )
    x, y = _slices(x, count), _slices(y, count)
    return x(0, first), y(0, first), (x(first, count), y(first, count))


def _slices(data, count):
    """A function that gives samples of the data, in no memory of their own where that can be."""
    size = len(data) // count
    if isinstance(data, (bytes, bytearray)):  # of an array('B') a memoryview would be taken for raw bytes
        data = memoryview(data)
    return lambda first, last: data[size * first : size * last]


def add(model, layer):
    """Put a layer on a Sequential."""
    _not_yet(model, "add")
    model.stack(model.ends, (layer,))


def pop(model):
    """Take the last layer from a Sequential."""
    _not_yet(model, "pop")
    ends = model.ends
    if len(ends) < 2:
        raise ValueError("pop: no layer is left")
    layer = model.nodes[model.nodes.index(ends[-2]) + 1].layer  # an activation's may follow it
    model.stack(ends[:-1], ())
    return layer


def _not_yet(model, name):
    if model.session is not None:
        raise ValueError("%s: the model is compiled: %s layers before compile()" % (name, name))


def trains(model, value=None):
    """Whether a layer with weights trains; of all of them, where a ``value`` is given."""
    layers = [node.layer for node in model.nodes if node.layer.weight_shapes() and not node.layer.view]
    for layer in layers if value is not None else ():
        layer.trainable = bool(value)
    return any([layer.trainable for layer in layers])


def keep(old, new):
    """compile() again: the weights that the session before has learnt or was given, and ranges where the plan has the
    same.
    """
    if old.busy not in (False, "compile") or old.fresh and not old.steps():  # part old, part new; or as they were drawn
        return
    from .build import attach
    from .transfer import transfer

    try:
        transfer(new, old, "compile")
    except BaseException:
        attach(old)
        raise
    if new.seed not in (0, old.seed):
        print("compile keeps the weights: build the model again for new ones of seed %d" % new.seed)


def rebatch(model, batch_size):
    """Plan the model for another batch size; its state, and what it has learnt, goes on."""
    from .build import attach, compiled

    old = model.session
    options = old.options
    if options is None:
        raise ValueError("batch_size is %d, as the model's file says, got %r" % (old.batch_size, batch_size))
    optimizer, loss, dtype, _, micro, *others = options
    batch(batch_size, micro or 1)
    options = (optimizer, loss, dtype, batch_size, micro) + tuple(others)
    try:
        new = compiled(model.nodes, options, old)
        _as_planned(old, new)
        if len(new.state) != len(old.state):
            raise ValueError(
                "batch_size: give it to compile(batch_size=%d), the state of this model depends on it" % batch_size
            )
        new.state[:] = old.state
        _goes_on(old, new)
        model.session = new
    except BaseException:
        attach(model.session)
        raise


def _whole(change):
    """Call ``change``, which does the same however often it is begun, until it ends: what interrupts it is raised
    afterwards.
    """
    late = None
    for _ in range(9):
        try:
            change()
            break
        except BaseException as error:
            late = error
    if late:
        raise late


def weighed(model, class_weight, batch_size, arguments):
    """``fit`` of the model as compiled with these weights of classes: its state moves there, and back, whatever ends
    it.
    """
    held = Weighed(model, class_weight, batch_size)
    try:
        held.enter()
        found = model.fit(*arguments)
        held.leave()
    except BaseException:
        held.leave()
        raise
    return found


class Weighed:
    """With it the model is compiled with these weights of classes: its state moves there, and back at the end.

    ``batch_size``, where it is given, stays.
    """

    old = None  # the session to go back to

    def __init__(self, model, class_weight, batch_size):
        self.model, self.class_weight, self.batch_size = model, class_weight, batch_size

    def enter(self):
        from .build import build

        model = self.model
        old = ready(model)
        old.alone("fit")
        options, loss = old.options, old.loss
        if options is None:
            raise ValueError(
                "class_weight: a model from a file has its loss: compile it with the weights, export it again"
            )
        if not loss.labels:
            raise ValueError(
                "class_weight: the loss %s has no classes: write Dense(classes) and the loss "
                '"sparse_categorical_crossentropy", of integer labels' % loss.name
            )
        if not loss.name.endswith("crossentropy"):
            raise ValueError("class_weight: the loss %s has no weights of classes" % loss.name)
        if loss.class_weight is not None:
            raise ValueError("class_weight: the loss %s has weights of its own" % loss.name)
        loss = type(loss)(self.class_weight, loss.label_smoothing)
        if self.batch_size is not None and own(self.batch_size) != old.batch_size:
            rebatch(model, own(self.batch_size))
            old = model.session
            options = old.options
        self.old = old  # now build() attaches layers to another
        optimizer, _, *others = options
        new = build(model.nodes, optimizer, loss, *others)
        _as_planned(old, new)
        first, last = self.place = _table(new, len(old.state))
        new.state[:first] = old.state[:first]
        new.state[last:] = old.state[first:]
        _goes_on(old, new)
        model.session = new

    def leave(self):
        """Go back, as a whole; however often it is called."""
        if self.old:
            _whole(self._back)

    def _back(self):
        from .build import attach

        old, model = self.old, self.model
        if model.session is not old:
            new = model.session
            first, last = self.place
            old.state[:first] = new.state[:first]
            old.state[first:] = new.state[last:]
            _goes_on(new, old)
            if new.busy and new.busy is not True:
                old.busy = new.busy
        attach(old)
        model.session = old


def check_weights(class_weight, labels):
    """ValueError where each of these labels has a weight of 0."""
    given = class_weight if isinstance(class_weight, dict) else dict(enumerate(class_weight))
    if not any([given.get(label, 1) > 1e-9 for label in set(labels)]):
        raise ValueError("class_weight: all are 0 of the classes in y")


def _as_planned(old, new):
    """ValueError where layers train that did not at compile(), or the other way round."""
    if [row[5] for row in old.plan.table] != [row[5] for row in new.plan.table]:
        raise ValueError("trainable has changed since compile(): compile() again, which keeps the weights")


def _table(session, size):
    """Where the state of a session with weights of classes has their table, and it alone more than one of this size."""
    size = len(session.state) - size
    for _, code, addresses, _ in session.program.walk(*session.sections["train"]):
        if code.name[:13] == "weighted_xent":
            first = addresses[-1] & (1 << REGION_SHIFT) - 1
    return first, first + size


def _goes_on(old, new):
    """Where training stands, from a session to another that has its state."""
    new.calibrated, new.epoch, new.underway, new.seed = old.calibrated, old.epoch, old.underway, old.seed
    new.told, new.fresh = old.told, old.fresh
