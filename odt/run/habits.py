"""What Keras's fit takes and odt's compile decides, or has another word for: loaded when it is asked for."""

from ..fixed import is_int, own
from .session import ready


def asked(model, x, y, held, split, class_weight, batch_size):
    """(x, y, validation_data) for the arguments of fit that few use."""
    session = ready(model)
    session.alone("fit")
    if class_weight is not None:
        raise ValueError(
            "class_weight belongs to the loss: compile(loss=odt.SparseCategoricalCrossentropy(class_weight=..))"
        )
    if split:
        if held is not None:
            raise ValueError("validation_split and validation_data: one of them is expected")
        x, y, held = _split(session, x, y, own(split))
    if batch_size is not None and own(batch_size) != session.batch_size:
        rebatch(model, own(batch_size))
    return x, y, held


def ignored(batch_size, verbose):
    """Check what evaluate and predict take from Keras and have no use for: rows are computed as they come, nothing is printed."""
    batch_size, verbose = own(batch_size), own(verbose)
    if batch_size is not None:
        batch(batch_size, 1)
    if verbose not in (0, 1, 2, "auto"):
        raise ValueError('verbose is 0, 1, 2 or "auto", got %r' % (verbose,))


def batch(value, least):
    """TypeError, ValueError unless the value is a batch size of at least so many."""
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


def rebatch(model, batch_size):
    """Plan the model for another batch size; its state, and what it has learnt, goes on."""
    from .build import build

    old, options = model.session, getattr(model, "options", None)
    if options is None:
        raise ValueError("batch_size is %d, as the model's file says, got %r" % (old.batch_size, batch_size))
    batch(batch_size, options[4] or 1)
    options = options[:3] + (batch_size,) + options[4:]
    new = build(model.nodes, *options)
    if len(new.state) != len(old.state):
        raise ValueError(
            "batch_size: give it to compile(batch_size=%d), the state of this model depends on it" % batch_size
        )
    new.state[:] = old.state
    new.calibrated, new.epoch, new.underway, new.seed = old.calibrated, old.epoch, old.underway, old.seed
    new.told, new.fresh = old.told, old.fresh
    model.session, model.options = new, options
