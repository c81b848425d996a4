"""What TFLite nodes of constants alone give: sizes, mostly.

Each result's size is known before it is made, and all have a budget.
"""

import numpy as np

from .graph import BUDGET, MOST, parsing, product, refuse, whole_numbers

_ENDS = {0: None, 1: (0, None), 2: (-1, 1), 3: (0, 6)}  # by tflite.ActivationFunctionType: the limits


def _one(constant, origin):
    numbers = whole_numbers(constant, origin)
    if len(numbers) != 1:
        raise ValueError("%s: one whole number is expected, got %d" % (origin, len(numbers)))
    return numbers[0]


def _strided(x, options, cuts, origin):
    begin, end, step = (whole_numbers(each, origin) for each in cuts)
    if not len(begin) == len(end) == len(step) <= x.ndim:
        raise ValueError("%s: cuts %s, %s, %s of a constant of shape %s" % (origin, begin, end, step, x.shape))
    if options["EllipsisMask"] or options["NewAxisMask"] or options["Offset"] or 0 in step:
        refuse(origin, "cuts a constant with %s" % options, "begin, end and strides")
    cut = []
    for axis, (first, last, each) in enumerate(zip(begin, end, step)):
        if options["ShrinkAxisMask"] >> axis & 1:
            cut.append(0 if options["BeginMask"] >> axis & 1 else first)
        else:
            bits = options["BeginMask"] >> axis & 1, options["EndMask"] >> axis & 1
            cut.append(slice(None if bits[0] else first, None if bits[1] else last, each))
    return x[tuple(cut)]


def _arithmetic(name, first, second):
    whole = first.dtype.kind in "iu"
    divide = (lambda a, b: np.trunc(a / b).astype(a.dtype)) if whole else np.divide
    return {
        "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": divide, "FLOOR_DIV": np.floor_divide,
        "FLOOR_MOD": np.mod,
        "MAXIMUM": np.maximum, "MINIMUM": np.minimum, "POW": np.power,
    }[name](first, second)  # fmt: skip


_ARITHMETIC = ("ADD", "SUB", "MUL", "DIV", "FLOOR_DIV", "FLOOR_MOD", "MAXIMUM", "MINIMUM", "POW")
_REDUCE = {"REDUCE_PROD": np.prod, "SUM": np.sum, "REDUCE_MAX": np.max, "MEAN": np.mean}
FOLDED = {
    *_ARITHMETIC, *_REDUCE, "ABS", "BROADCAST_TO", "CAST", "CONCATENATION", "DEQUANTIZE", "EXPAND_DIMS", "FILL",
    "GATHER", "NEG", "PACK",
    "RANGE", "RESHAPE", "SHAPE", "SLICE", "SPLIT", "SQUARE", "SQUEEZE", "STRIDED_SLICE", "TILE", "TRANSPOSE", "UNPACK",
}  # fmt: skip


def _count(name, inputs, origin):
    """How many numbers the result has, at most."""
    given = [each for each in inputs if each is not None]
    if name in _ARITHMETIC:
        with parsing(origin):
            return product(np.broadcast_shapes(*(each.shape for each in given)))
    if name == "FILL":
        return product(whole_numbers(inputs[0], origin))
    if name == "BROADCAST_TO":
        return product(whole_numbers(inputs[1], origin))
    if name == "TILE":
        return inputs[0].size * product(whole_numbers(inputs[1], origin))
    if name == "GATHER":
        return inputs[0].size * max(inputs[1].size, 1)
    if name == "RANGE":
        start, limit, step = (_one(each, origin) for each in inputs)
        if not step:
            raise ValueError("%s: a range in steps of 0" % origin)
        return len(range(start, limit, step))
    return sum(product([max(n, 1) for n in each.shape]) for each in given)


_ALONE = {
    "ABS",
    "CAST",
    "CONCATENATION",
    "DEQUANTIZE",
    "NEG",
    "PACK",
    "RESHAPE",
    "SHAPE",
    "SQUARE",
    "SQUEEZE",
    "UNPACK",
}
_LEAST = {**dict.fromkeys(_ALONE, 1), "RANGE": 3, "SLICE": 3, "STRIDED_SLICE": 4}  # inputs, where they are not two


def fold(name, inputs, options, tensor, outputs, budget, origin):
    """(what a node gives, a list where it has several outputs; how many numbers that are).

    ``tensor``: the first of them.
    """
    least = _LEAST.get(name, 2)
    if len(inputs) < least or any(each is None for each in inputs[:least]):
        raise ValueError("%s: has %d inputs, expected %d" % (origin, len(inputs), least))
    if tensor.kind == "V":
        refuse(origin, "gives constants of type %d" % tensor.type, "float32 or int32")
    count = _count(name, inputs, origin)
    if count > MOST or count > budget:
        refuse(origin, "makes %d numbers of constants, above %d or %d in all" % (count, MOST, BUDGET))
    if any(each is not None and each.dtype.kind not in "iuf" for each in inputs):
        refuse(origin, "computes with constants that are no numbers", "a network whose constants are folded")
    with parsing(origin, errors=(ValueError, IndexError)), np.errstate(all="ignore"):  # of NumPy
        found = _found(name, inputs, options, tensor, outputs, origin)
    return found, count


def _found(name, inputs, options, tensor, outputs, origin):
    x = inputs[0]
    if name in _ARITHMETIC:
        made = _arithmetic(name, x, inputs[1])
        end = options.get("FusedActivationFunction", 0)
        if end not in _ENDS:
            refuse(origin, "ends with activation %d" % end, "RELU, RELU6 or none")
        return made if _ENDS[end] is None else np.clip(made, *_ENDS[end])
    if name in _REDUCE:
        axes = tuple(whole_numbers(inputs[1], origin))
        return np.asarray(_REDUCE[name](x, axes, keepdims=options["KeepDims"])).astype(x.dtype)
    if name == "RESHAPE":
        return x.reshape(
            whole_numbers(inputs[1], origin)
            if len(inputs) > 1 and inputs[1] is not None
            else options["NewShape"] or tensor.shape
        )
    if name == "CONCATENATION":
        return np.concatenate(inputs, options["Axis"])
    if name == "PACK":
        return np.stack(inputs, options["Axis"])
    if name == "UNPACK":
        return [each.squeeze(options["Axis"]) for each in np.split(x, outputs, options["Axis"])]
    if name == "SPLIT":
        return np.split(inputs[1], outputs, _one(x, origin))
    if name == "STRIDED_SLICE":
        return _strided(x, options, inputs[1:4], origin)
    if name == "SLICE":
        begin, sizes = (whole_numbers(each, origin) for each in inputs[1:3])
        if len(begin) != x.ndim or len(sizes) != x.ndim or any(n < 0 for n in begin):
            raise ValueError("takes %s from %s on of a constant of shape %s" % (sizes, begin, x.shape))
        return x[tuple(slice(at, None if n == -1 else at + n) for at, n in zip(begin, sizes))]
    if name == "GATHER":
        if options["BatchDims"]:
            refuse(origin, "has batch_dims=%d" % options["BatchDims"], "batch_dims=0")
        return np.take(x, inputs[1], axis=options["Axis"])
    return {
        "ABS": lambda: np.abs(x),
        "BROADCAST_TO": lambda: np.broadcast_to(x, whole_numbers(inputs[1], origin)),
        "CAST": lambda: x.astype(tensor.kind),
        "DEQUANTIZE": lambda: x,
        "EXPAND_DIMS": lambda: np.expand_dims(x, _one(inputs[1], origin)),
        "FILL": lambda: np.full(whole_numbers(x, origin), inputs[1].ravel()[0]),
        "NEG": lambda: -x,
        "RANGE": lambda: np.arange(*(_one(each, origin) for each in inputs)),
        "SHAPE": lambda: np.array(x.shape),
        "SQUARE": lambda: x * x,
        "SQUEEZE": lambda: np.squeeze(x, tuple(options["SqueezeDims"]) or None),
        "TILE": lambda: np.tile(x, whole_numbers(inputs[1], origin)),
        "TRANSPOSE": lambda: np.transpose(x, whole_numbers(inputs[1], origin)),
    }[name]()
