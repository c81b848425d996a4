"""Looking inside a step: any tensor by its name, the ranges of int8 tensors, time by layer.

    from odt.inspect import Ranges, Trace, names
    from odt.inspect import profile

    print(names(model))                               # what there is
    with Trace(model, ["conv2d", "dense gradient"], folder="trace") as trace:
        model.train_step(x, y)                        # or fit
    print(trace["conv2d"], trace.shape("conv2d"))     # and trace/conv2d.npy, one row per step
    with Ranges(model) as ranges:
        model.fit(x, y)
    ranges.report()                                   # and a warning where one is wrong
    profile(model, x, y)                              # one step

All of it runs steps in pieces (watch.py) and changes no bit of them. Nothing is kept for it in a model:
which instruction makes what is found by compiling the network once more, which takes the RAM of that.
"""

from array import array

from ..base.executor import collect
from ..base.fixed import bits_to_float, elements, get
from ..base.opcodes import PREFIXES
from ..base.regions import STATE
from ..plan.compiler import compile_graph
from ..plan.listing import updates
from ..plan.program import HEADER_WORDS
from ..plan.values import CONSTANT, GRADIENT, HEADER, SCALE, home
from ..run.progress import CLIPPED, clipped
from ..run.session import is_untrained, ready
from ..run.start import Tidy
from ..run.weights import read
from .watch import Watch

if 1 - 1:  # for type checkers alone
    from collections.abc import Sequence
    from os import PathLike
    from typing import Any

    from ..model import Model

_CODES = {"i8": "b", "i16": "h", "i32": "i", "f32": "f"}
_DESCR = {"b": "|i1", "h": "<i2", "i": "<i4", "f": "<f4"}
_SIZES = {"b": 1, "h": 2, "i": 4, "f": 4}
_MANY = 8  # times the peak that a range may be
_SHARE = 0.01  # of values at the end of a range


class Tensor:
    """Where a tensor lies, when it is whole, and what its numbers mean."""

    def __init__(self, name, code, shape):
        self.name = name
        self.code = code  # array's type code of what is stored
        self.shape = shape
        self.pieces = []  # (the word after the instruction that completes it, region, offset, bytes)
        self.summed = False  # over micro-batches: whole when the update begins
        self.scale = None  # (region, offset) of an int8 tensor's
        self.zero = self.lo = 0
        self.factor = 1
        self.follows = False  # whether the scale follows the peak
        self.exponents = None  # (offset, rows) of an optimizer's
        self.weights = None  # (layer, parameters, index in its weight_shapes)

    def stored(self, model):
        """What is stored now, an array of its type code."""
        result = None
        for _, region, offset, size in self.pieces:
            part = array(self.code, bytes(memoryview(model.session.regions[region])[offset : offset + size]))
            if result is None:
                result = part  # of one piece without another copy
            else:
                result.extend(part)
        return result

    def step(self, model):
        """What a stored 1 means."""
        region, offset = self.scale
        return bits_to_float(get(model.session.regions[region], offset)) * self.factor

    def real(self, model, stored):
        """The stored numbers as real ones, array('f')."""
        if self.weights:
            layer, weights, index = self.weights
            found = read(layer, model.session.state, model.session.frozen, weights, model.dtype == "int8")[index]
            return _rows(weights, found) if len(found) > len(stored) else found
        if self.exponents:
            offset, rows = self.exponents
            powers = array("b", bytes(memoryview(model.session.state)[offset : offset + rows]))
            columns = len(stored) // rows
            unit = self.factor
            return array("f", [value * unit * 2.0 ** powers[index // columns] for index, value in enumerate(stored)])
        if self.scale is None:
            return stored
        step = self.step(model)
        return array("f", [(value - self.zero) * step for value in stored])


class Map:
    """What the instructions of a model are for: ``tensors``, by name, and ``instructions``.

    ``instructions``: (first word, word after the last, Instruction, "forward", "backward" or "update"). RuntimeError
    when the network is not the one that was compiled.
    """

    def __init__(self, model: "Model") -> None:
        ready(model)
        noted = []
        optimizer = None if is_untrained(model.session) else model.session.optimizer
        with Tidy():
            plan = compile_graph(
                model.nodes, model.session.loss, optimizer, model.dtype, model.batch_size, model.session.micro,
                model.session.plan.segments, model.session.plan.flash, noted, model.session.plan.bits,
                model.session.plan.rows,
            )  # fmt: skip
        if plan.code != model.program.code:
            raise RuntimeError("the network, its loss or its optimizer has changed since compile()")
        self._by_rows = bool(model.session.plan.rows)  # an output is then made in parts
        self.instructions = []
        output = model.session.sections["predict"][1]
        last = model.session.update[0][0] if model.session.micro else None
        walk = model.program.walk(HEADER_WORDS, model.session.sections["train"][1])
        instructions = [i for i in plan.instructions if i.opcode.name not in PREFIXES]
        for (at, code, addresses, _), instruction in zip(walk, instructions):
            phase = "forward"
            if at >= output:
                phase = "update" if updates(code, addresses) or (last and at >= last) else "backward"
            self.instructions.append((at, at + code.words, instruction, phase))
        self.tensors = {}
        self._shapes = {node.layer.name: _shapes(node) for node in model.nodes}
        self._shapes["loss"] = [model.nodes[-1].shape]
        values = {}  # a buffer's last note says what it means
        for name, value in noted:
            values[value.buffer] = value
        for name, value in noted:
            if value.buffer in values:
                self._value(name, values.pop(value.buffer), plan, model, last)
        for node in model.nodes:
            self._value(
                node.layer.name, plan.values[node], plan, model, last, (model.session.rows,) + tuple(node.shape)
            )
        self._state(plan, model)
        self.buffers = plan.buffers  # of the state

    def _writes(self, buffer, whole=False):
        """(word after it, instruction, operand) of each instruction that writes the buffer; ``whole``: or a part."""
        owner, at = home(buffer)
        for _, end, instruction, _ in self.instructions:
            for operand, description in zip(instruction.operands, instruction.opcode.operands):
                if description[1] == ":":
                    continue
                other, shift = home(operand)
                if (
                    operand is buffer
                    or self._by_rows
                    and operand.root is buffer
                    or whole
                    and other is owner
                    and at <= shift < at + buffer.size
                ):
                    yield end, instruction, description
                    break

    def _value(self, name, value, plan, model, last, shape=None):
        buffer = value.buffer
        gradient = buffer.kind == GRADIENT
        summed = last is not None and gradient
        writes = list(self._writes(buffer, gradient))
        if not writes:
            return
        end, first, description = writes[0]
        for end, instruction, _ in writes:  # columns that are put beside one another; not what changes it later
            if instruction.opcode is first.opcode:
                done = end
        owner, shift = home(buffer)
        owner = owner.offset + shift
        code = _CODES[description[2]] if model.dtype == "int8" else "f"  # which what moves bytes does not tell
        piece = (last if summed else done, buffer.region, owner, value.count * _SIZES[code])
        known = self.tensors.get(name)
        if known and gradient and not summed:
            known.pieces.append(piece)  # a large gradient is made and spent in pieces
            return
        base, number = name, 2
        while name in self.tensors and not shape:
            name = "%s %d" % (base, number)
            number += 1
        tensor = Tensor(name, code, shape or self._shape(name, first, value, plan, model))
        tensor.pieces.append(piece)
        tensor.summed = summed
        tensor.zero, tensor.lo = value.zero, value.lo
        if value.scale is not None:
            owner, shift = home(value.scale)
            tensor.scale = value.scale.region, owner.offset + shift
            tensor.factor = bits_to_float(value.factor)
            tensor.follows = value.scale in plan.follow
        self.tensors[name] = tensor

    def _shape(self, name, instruction, value, plan, model):
        count = value.count
        if value.buffer.kind == GRADIENT:
            for layer, weights in plan.weights:
                for part, shape in layer.weight_shapes():
                    if name == layer.name + (" gradient" if part == "kernel" else " %s gradient" % part):
                        return shape
        shapes = self._shapes.get(getattr(instruction, "owner", None), [])
        for shape in reversed(shapes) if " dx" in name else shapes:
            if elements(shape) * model.session.rows == count:
                return (model.session.rows,) + tuple(shape)
        return (model.session.rows, count // model.session.rows)

    def _state(self, plan, model):
        """The tensors of the state: weights and what the optimizer keeps."""
        parameters = {}
        for layer, weights in model.session.plan.weights:
            for index, (part, shape) in enumerate(layer.weight_shapes()):
                parameters["%s %s" % (layer.name, part)] = (layer, weights, index), shape
        codes, ends, units = {}, {}, {}
        for _, end, instruction, _ in self.instructions:
            for operand, (place, access, dtype, _, _) in zip(instruction.operands, instruction.opcode.operands):
                owner, _ = home(operand)
                if place == "v" and "rc2" in instruction.opcode.immediates:
                    sizes = dict(zip(instruction.opcode.immediates, instruction.immediates))
                    units[owner] = sizes["rc2"] / (2 * sizes["c1"])  # of the first moment (docs/reference/numerics.md)
                if owner.region == STATE:
                    codes[owner] = dtype
                    if access != ":":
                        ends[owner] = end
        stop = self.instructions[-1][1]
        for buffer in plan.buffers:
            if buffer not in codes or buffer.role in (HEADER, CONSTANT):
                continue
            code = "f" if buffer.role == SCALE else _CODES[codes[buffer]]
            weights, shape = parameters.get(buffer.name, (None, (buffer.size // _SIZES[code],)))
            if (
                weights and hasattr(weights[1].kernel, "parts") and weights[2] == 0
            ):  # files/split.py: the rows that train
                shape = (weights[1].kernel.trained,) + tuple(shape[1:])
            tensor = self.tensors[buffer.name] = Tensor(buffer.name, code, shape)
            tensor.pieces.append((ends.get(buffer, stop), STATE, buffer.offset, buffer.size))
            tensor.weights = weights
            if buffer.exponents:
                tensor.exponents = buffer.exponents.offset, buffer.exponents.size
                tensor.factor = units.get(buffer, 1)


def _rows(weights, values):
    """Of a kernel's values those of the rows that train."""
    found, columns = array("f"), weights.columns
    for first, count, _ in weights.kernel.parts:
        found.extend(values[first * columns : (first + count) * columns])
    return found


def _shapes(node):
    return [node.shape] + [parent.shape for parent in node.inputs]


def _tensors(model):
    """Those of the Map, and the heap tidied of what that took: copies of tensors, of a board's RAM, are not to lie
    among it.
    """
    tensors = Map(model).tensors
    collect()
    return tensors


def names(model: "Model") -> "list[str]":
    """The names of the tensors of a training step: outputs, errors ("dx"), gradients, weights, optimizer state."""
    return sorted(_tensors(model))


class Trace(Watch):
    """Copies of tensors, each made when it is whole: ``with Trace(model, names) as trace``, then ``trace[name]``.

    A copy is array('f') of real numbers, int8 dequantized in its scale of that moment; with ``raw`` what is
    stored. ``folder``: each is also written to ``<folder>/<name>.npy``, spaces as "_", its first axis the
    steps (with micro_batch= each micro-batch's, of all but gradients and weights). Rows beyond a batch's
    samples are padding. Of int16 states "moment 2" is the root of the second moment.
    """

    def __init__(
        self,
        model: "Model",
        names: "str | Sequence[str]",
        raw: "bool" = False,
        folder: "str | PathLike[str] | None" = None,
    ) -> None:
        super().__init__(model)
        tensors = _tensors(model)
        for name in names:
            if name not in tensors:
                raise ValueError("no tensor %r, there are: %s" % (name, ", ".join(sorted(tensors))))
        self.tensors = {name: tensors[name] for name in names}
        self.raw = raw
        self.folder = folder
        self.files = {}
        self.values = {}

    def __getitem__(self, name: "str") -> "array[float]":
        return self.values[name]

    def shape(self, name: "str") -> "tuple[int, ...]":
        return self.tensors[name].shape

    def places(self, start, stop):
        places = {}
        for tensor in self.tensors.values():
            for index, piece in enumerate(tensor.pieces):
                if piece[0] == start if tensor.summed else start < piece[0] <= stop:
                    places.setdefault(piece[0], []).append(self._call(tensor, index))
        return places

    def _call(self, tensor, index):
        def copy():
            if not index:
                self.values.pop(tensor.name, None)  # first, as its room may be needed
            part = Tensor(tensor.name, tensor.code, None)
            part.pieces = tensor.pieces[index : index + 1]
            values = part.stored(self.model)
            if not self.raw:
                values = tensor.real(self.model, values)
            if index:
                self.values[tensor.name].extend(values)
            else:
                self.values[tensor.name] = values
            if self.folder and index == len(tensor.pieces) - 1:
                self._write(tensor, self.values[tensor.name])

        return copy

    def _write(self, tensor, values):
        if tensor.name not in self.files:
            file = open("%s/%s.npy" % (self.folder, tensor.name.replace(" ", "_").replace("/", "_")), "wb")
            self.files[tensor.name] = [file, 0, _DESCR[tensor.code if self.raw else "f"]]
            file.write(_header(0, (), "<f4"))
        entry = self.files[tensor.name]
        entry[0].write(bytes(values))
        entry[1] += 1

    def __exit__(self, *unused):
        super().__exit__()
        for name, (file, count, descr) in self.files.items():
            file.seek(0)
            file.write(_header(count, self.tensors[name].shape, descr))
            file.close()
        self.files = {}


def _header(count, shape, descr):
    """The 128 bytes of an .npy file's beginning (numpy.lib.format, version 1.0)."""
    shape = (count,) + tuple(shape)
    text = "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }" % (descr, ", ".join([str(n) for n in shape]))
    return b"\x93NUMPY\x01\x00\x76\x00" + (text + " " * (117 - len(text)) + "\n").encode()


class Ranges(Watch):
    """How the int8 tensors fill their ranges: ``with Ranges(model) as ranges``, then ``ranges.report()``.

    TypeError for a model that is not of int8. It counts in Python: some milliseconds a tensor on a board.
    """

    def __init__(self, model: "Model") -> None:
        super().__init__(model)
        if model.dtype != "int8":
            raise TypeError("Ranges: a model of dtype int8 is expected, got %s" % model.dtype)
        tensors = _tensors(model)
        found = [t for t in tensors.values() if t.scale and t.code == "b" and not t.weights]
        self.tensors = sorted(found, key=lambda tensor: (tensor.pieces[0][0], tensor.name))
        self.seen = {}  # name -> [range, peak of the last step, peak of all, values at an end, values]

    def places(self, start, stop):
        places = {}
        for tensor in self.tensors:
            if start < tensor.pieces[0][0] <= stop:
                places.setdefault(tensor.pieces[0][0], []).append(self._call(tensor))
        return places

    def _call(self, tensor):
        _, region, offset, size = tensor.pieces[0]

        def count():
            data = bytes(memoryview(self.model.session.regions[region])[offset : offset + size])
            stored = array("b", data)
            step, zero = tensor.step(self.model), tensor.zero
            peak = max(max(stored) - zero, zero - min(stored)) * step
            ends = data.count(b"\x7f")
            if zero > -127:  # else the lower end is 0
                ends += data.count(b"\x80") + (data.count(b"\x81") if tensor.lo == -127 else 0)
            _, _, most, before, values = self.seen.get(tensor.name, (0, 0, 0, 0, 0))
            reach = max(127 - zero, zero + 128 if zero > -127 else 0) * step
            self.seen[tensor.name] = reach, peak, max(most, peak), before + ends, values + size

        return count

    def rows(self) -> "list[tuple[Any, ...]]":
        """``[(name, range, peak of the last step, peak of all steps, share of values at an end)]``."""
        found = [(tensor.name,) + self.seen[tensor.name] for tensor in self.tensors if tensor.name in self.seen]
        return [row[:4] + (row[4] / row[5],) for row in found]

    def warnings(self) -> "list[str]":
        """What is wrong, in words."""
        layer = self.model.nodes[0].layer
        follows = {tensor.name: tensor.follows for tensor in self.tensors}
        lost = clipped(self.model.session)
        found = [CLIPPED % ((layer.name,) + lost)] if lost else []
        for name, reach, _, peak, share in self.rows():
            if name == layer.name:
                if not 0.125 <= peak <= 8:
                    whole = layer.dtype != "float32"
                    hint = "is Input's scale right?" if whole else "begin with odt.Normalization(), adapted to x"
                    found.append("%s: values up to %.3g, not about 1: %s" % (name, peak, hint))
                if share > _SHARE and not follows[name]:
                    found.append("%s: %.1f %% at an end of the range %.3g: do they fit?" % (name, 100 * share, reach))
                elif peak * _MANY <= reach and layer.dtype == "int8":
                    found.append("%s: up to %.3g of a range of %.3g: a smaller scale keeps more" % (name, peak, reach))
            elif follows[name]:
                if share > _SHARE:
                    found.append("%s: %.1f %% at an end of the range, which grows" % (name, 100 * share))
                elif peak * _MANY <= reach:
                    found.append("%s: up to %.3g of a range of %.3g: an outlier?" % (name, peak, reach))
        return found

    def report(self) -> None:
        """Print a line a tensor, within 80 columns, and the warnings."""
        width = max([len(row[0]) for row in self.rows()] + [6])
        print(_cut("tensor", width) + "      range  last peak       peak   used  at an end")
        for name, reach, last, peak, share in self.rows():
            print("%s %10.4g %10.4g %10.4g %5.0f%% %8.2f %%" % (
                _cut(name, width), reach, last, peak, 100 * peak / reach, 100 * share))  # fmt: skip
        for text in self.warnings():
            print("warning:", text)


def _cut(text, width):
    text = text[: min(width, 27)]
    return text + " " * (min(width, 27) - len(text))
