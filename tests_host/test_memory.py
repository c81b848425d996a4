"""The planner: what lies where in the arena, and that no value is lost before it is read.

The oracle is a replay: a shadow memory remembers which instruction wrote each byte last, and every read
must find the bytes of the value that it means, as known from the buffers before they had addresses.
"""

import os
from unittest import mock

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import odt
from odt import drawing, opcodes
from odt.losses import LOSSES
from odt.optimizers import SGD, Adam
from odt.plan import compiler, memory, values
from odt.plan.values import Buffer
from odt.plan.listing import disassemble
from odt.plan.program import Program

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = (1 << opcodes.REGION_SHIFT) - 1
QUICK = settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


# Schedules of instructions that do not exist


class FakeOpcode:
    def __init__(self, operands):
        self.operands = operands


class FakeInstruction:
    """``operands``: (Buffer, access, name of the operand whose memory it may take)."""

    def __init__(self, operands):
        names = ["operand%d" % index for index in range(len(operands))]
        declared = [(name, access, "i8", (), shares) for name, (_, access, shares) in zip(names, operands)]
        self.opcode = FakeOpcode(declared)
        self.operands = [buffer for buffer, _, _ in operands]


@st.composite
def schedules(draw):
    """Instructions that write a new buffer each, from buffers written before; some in place."""
    sizes = st.sampled_from((1, 3, 4, 8, 8, 8, 20, 33))
    peaks = Buffer("peaks", 4 * draw(st.integers(1, 4)), "scratch")
    parts = [peaks.part("peak", at, 4) for at in range(0, peaks.size, 4)]
    instructions = [FakeInstruction([(peaks, "=", None)])]
    written = []
    for number in range(draw(st.integers(1, 20))):
        output = Buffer("b%d" % number, draw(sizes), "activations")
        operands = [(output, "=", None)]
        if draw(st.booleans()):
            operands.append((draw(st.sampled_from(parts)), "+", None))
        for source in draw(st.lists(st.sampled_from(written), max_size=3)) if written else ():
            operands.append((source, draw(st.sampled_from(":::+")), None))
        readers = [k for k in range(1, len(operands)) if operands[k][1] == ":"]
        if readers and draw(st.booleans()):
            operands[0] = (output, "=", "operand%d" % draw(st.sampled_from(readers)))
        updated = [buffer for buffer, access, _ in operands if access == "+"]
        if any([o[0] for o in operands].count(buffer) > 1 for buffer in updated):
            continue  # no instruction updates what it also reads by another name
        instructions.append(FakeInstruction(operands))
        written.append(output)
    return instructions, peaks, parts


class Shadow:
    """Which value lies in each byte. Values are known by their buffer, before placement."""

    def __init__(self, size, peaks):
        self.bytes = [None] * size
        self.version = {}
        self.peaks = peaks

    def replay(self, index, instruction, places):
        """``places``: (offset, size) of each operand, None for those outside of the arena."""
        extents = []
        for k, (_, access, _, _, shares) in enumerate(instruction.opcode.operands):
            if places[k] is not None:
                extents.append((k, access, shares, instruction.operands[k]) + places[k])
        for k, access, _, buffer, at, size in extents:
            if access != "=":
                key = self.key(buffer)
                expected = [(key, self.written(key, byte), byte) for byte in self.span(buffer, size)]
                assert self.bytes[at : at + size] == expected, (index, k, buffer.name)
        for k, access, shares, buffer, at, size in extents:
            if access == ":":
                continue
            for k2, _, _, _, at2, size2 in extents:
                apart = at + size <= at2 or at2 + size2 <= at
                name = instruction.opcode.operands[k2][0]
                alias = shares is not None and (name == shares or self.same(instruction, k2, shares))
                assert k == k2 or apart or (alias and (at, size) == (at2, size2)), (index, k, k2)
        for _, access, _, buffer, at, size in extents:
            if access != ":":
                key = self.key(buffer)
                for offset, byte in enumerate(self.span(buffer, size)):
                    self.version[key, byte] = index
                    self.bytes[at + offset] = (key, index, byte)

    def same(self, instruction, k, shares):
        """Whether operand k is the shared one once more (``add`` of a value to itself)."""
        names = [operand[0] for operand in instruction.opcode.operands]
        return instruction.operands[k] is instruction.operands[names.index(shares)]

    def written(self, key, byte):
        return self.version[key, byte]

    def key(self, buffer):
        part = buffer is not self.peaks and values.home(buffer)[0] is self.peaks
        return id(self.peaks) if part else id(buffer)

    def span(self, buffer, size):
        shift = buffer.shift if self.key(buffer) == id(self.peaks) else 0
        return range(shift, shift + size)


@QUICK
@given(schedules())
def test_every_read_of_a_random_schedule_finds_the_value_written_for_it(drawn):
    instructions, peaks, _ = drawn
    memory.share(instructions)
    arena, _ = memory.place(instructions)
    shadow = Shadow(arena, peaks)
    for index, instruction in enumerate(instructions):
        places = []
        for buffer in instruction.operands:
            owner, shift = values.home(buffer)
            places.append((owner.offset + shift, buffer.size))
        shadow.replay(index, instruction, places)


@QUICK
@given(schedules())
def test_buffers_that_live_at_once_lie_apart_aligned_and_within_the_arena(drawn):
    instructions, _, _ = drawn
    memory.share(instructions)
    arena, _ = memory.place(instructions)
    lives = {}
    for index, instruction in enumerate(instructions):
        for operand in instruction.operands:
            lives.setdefault(values.home(operand)[0], []).append(index)
    assert all(buffer.offset % 4 == 0 for buffer in lives)
    assert max(buffer.offset + buffer.size for buffer in lives) <= arena
    needed = 0
    for index in range(len(instructions)):
        alive = sorted(
            (buffer.offset, buffer.offset + buffer.size)
            for buffer, used in lives.items()
            if used[0] <= index <= used[-1]
        )
        assert all(a[1] <= b[0] for a, b in zip(alive, alive[1:]))
        needed = max(needed, sum((end - start + 3) // 4 * 4 for start, end in alive))
    assert memory.lower_bound(instructions) == needed <= arena


def test_a_dead_input_gives_its_memory_to_the_output_and_a_living_one_does_not():
    for lives_on in (False, True):
        a, b, c = (Buffer(name, 64, "activations") for name in "abc")
        instructions = [
            FakeInstruction([(a, "=", None)]),
            FakeInstruction([(b, "=", "operand1"), (a, ":", None)]),
            FakeInstruction([(c, "=", None), (b, ":", None)] + [(a, ":", None)] * lives_on),
        ]
        memory.share(instructions)
        assert (values.home(b)[0] is a) == (not lives_on)
        assert memory.place(instructions)[0] == (192 if lives_on else 128)


def test_a_chain_of_outputs_in_place_takes_one_buffer():
    chain = [Buffer(str(number), 40, "activations") for number in range(9)]
    instructions = [FakeInstruction([(chain[0], "=", None)])]
    for source, output in zip(chain, chain[1:]):
        instructions.append(FakeInstruction([(output, "=", "operand1"), (source, ":", None)]))
    memory.share(instructions)
    assert memory.place(instructions)[0] == 40


def test_an_input_of_another_size_does_not_give_its_memory():
    a, b = Buffer("a", 64, "activations"), Buffer("b", 60, "activations")
    instructions = [
        FakeInstruction([(a, "=", None)]),
        FakeInstruction([(b, "=", "operand1"), (a, ":", None)]),
    ]
    memory.share(instructions)
    assert memory.place(instructions)[0] == 124


def test_buffers_outside_the_arena_get_no_place_in_it():
    state = Buffer("state", 1000, "weights", opcodes.STATE)
    output = Buffer("output", 8, "activations")
    instructions = [FakeInstruction([(output, "=", "operand1"), (state, ":", None)])]
    memory.share(instructions)
    assert memory.place(instructions)[0] == 8 and output.root is output


# Real networks


@st.composite
def networks(draw):
    """A random small network on (height, width, channels), with branches and frozen layers."""
    node = source = odt.Input((draw(st.integers(3, 7)), draw(st.integers(3, 7)), draw(st.integers(1, 3))))
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(("conv", "depthwise", "pool", "relu", "residual", "double")))
        frozen = {"trainable": draw(st.booleans())}
        activation = draw(st.sampled_from((None, "relu")))
        strides = draw(st.integers(1, 2))
        if kind == "conv":
            filters = draw(st.integers(1, 4))
            use_bias = draw(st.booleans())
            node = odt.Conv2D(filters, 3, strides, "same", activation, use_bias, **frozen)(node)
        elif kind == "depthwise":
            node = odt.DepthwiseConv2D(3, strides, "same", activation, **frozen)(node)
        elif kind == "pool":
            node = odt.MaxPool2D(2, padding="same")(node)
        elif kind == "relu":
            node = odt.ReLU()(node)
        elif kind == "residual":
            branch = odt.Conv2D(node.shape[-1], 3, padding="same", **frozen)(node)
            node = odt.Add(activation)([node, branch] if draw(st.booleans()) else [branch, node])
        else:
            node = odt.Add(activation)([node, node])
    node = draw(st.sampled_from((odt.GlobalAvgPool, odt.Flatten)))()(node)
    return odt.Model(source, odt.Dense(draw(st.integers(1, 3)))(node))


training = st.tuples(
    st.sampled_from(("int8", "float32")),
    st.sampled_from((lambda: SGD(0.1), lambda: SGD(0.1, 0.9), lambda: Adam(0.01))),
    st.sampled_from(("mse", "sparse_categorical_crossentropy")),
    st.integers(1, 5),
)


def planned(model, loss, optimizer, dtype, batch):
    """The Plan and the Schedule that it was made from."""
    made = []

    class Kept(compiler.Schedule):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    with mock.patch.object(compiler, "Schedule", Kept):
        plan = compiler.compile_graph(model.nodes, LOSSES[loss](), optimizer, dtype, batch)
    return plan, made[0]


@QUICK
@given(networks(), training)
def test_every_read_of_a_random_program_finds_the_value_written_for_it(model, how):
    dtype, optimizer, loss, batch = how
    plan, schedule = planned(model, loss, optimizer(), dtype, batch)
    program = Program(plan.code)
    shadow = Shadow(program.arena, schedule.buffers.peaks)
    walked = list(program.walk(12, len(program.words)))
    assert len(walked) == len(schedule.instructions)
    assert plan.lower_bound <= program.arena
    for index, (_, code, addresses, immediates) in enumerate(walked):
        sizes = dict(zip(code.immediates, immediates))
        places = []
        for k, buffer in enumerate(schedule.instructions[index].operands):
            region, offset = addresses[k] >> opcodes.REGION_SHIFT, addresses[k] & MASK
            assert values.home(buffer)[0].region == region
            if region != opcodes.ARENA:
                places.append(None)
                continue
            size = code.bytes(k, sizes)
            read = code.operands[k][1] == ":"
            assert size <= buffer.size if read else size == buffer.size, (code.name, buffer.name)
            assert offset % 4 == 0
            places.append((offset, size))
        shadow.replay(index, schedule.instructions[index], places)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_shared_arena_trains_to_the_same_bits_as_one_without_any_sharing(dtype, monkeypatch):
    def train():
        x = odt.Input((6, 5, 2))
        y = odt.Conv2D(4, 3, padding="same", activation="relu")(x)
        z = odt.Add("relu")([odt.DepthwiseConv2D(3, padding="same")(y), y])
        out = odt.Dense(3)(odt.Flatten()(odt.MaxPool2D(padding="same")(z)))
        model = odt.Model(x, out)
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=4, seed=3)
        random = np.random.default_rng(0)
        data = random.normal(size=(10, 60)).astype("float32"), random.integers(0, 3, 10, "uint8")
        model.fit(*data, epochs=2, verbose=0)
        return model.digest(), model.program.arena

    planned, arena = train()

    def spread(instructions):
        total = 0
        for buffer, _, _ in memory.lifetimes(instructions):
            buffer.offset = total
            total += (buffer.size + 3) // 4 * 4
        return total, total

    monkeypatch.setattr(compiler, "share", lambda instructions: None)
    monkeypatch.setattr(compiler, "place", spread)
    apart, large = train()
    assert planned == apart and arena < large / 2


def digits_cnn(dtype, batch_size):
    model = odt.Sequential([
        odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
        odt.Conv2D(8, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Conv2D(16, 3, padding="same", activation="relu"),
        odt.MaxPool2D(),
        odt.Flatten(),
        odt.Dense(10),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), dtype=dtype, batch_size=batch_size)
    return model


@pytest.mark.parametrize("batch_size", (1, 8, 16, 32))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_the_digits_network_needs_no_more_than_5_percent_above_the_bound(dtype, batch_size):
    plan = digits_cnn(dtype, batch_size).session.plan
    assert plan.lower_bound <= plan.arena <= plan.lower_bound * 1.05


# Drawing and disassembly


def tiny():
    model = odt.Sequential([odt.Input((2,)), odt.Dense(3, activation="relu"), odt.Dense(2)])
    model.compile(odt.SGD(0.1), batch_size=2)
    return model


def test_disassembly_and_drawing_of_a_tiny_network_are_the_reviewed_ones():
    """tests_host/golden/tiny.txt was checked by hand: addresses, extents, lives. Check a change too."""
    model = tiny()
    with open(os.path.join(HERE, "golden", "tiny.txt")) as file:
        assert model.disassemble() + "\n\n" + model.draw(60, 32) + "\n" == file.read()


@pytest.mark.parametrize("width, rows", ((78, 24), (40, 10), (20, 3), (200, 100)))
def test_a_drawing_keeps_to_its_size(width, rows):
    lines = digits_cnn("int8", 8).draw(width, rows).split("\n")
    body = lines[2 : -drawing.LEGEND.count("\n") - 1]
    assert len(body) == rows
    instructions = int(lines[0].split()[0])
    assert {len(line) for line in body} == {min(width, body[0].rindex(" ") + 1 + instructions)}


def test_a_drawing_shows_what_lives_and_only_that():
    """At one cell a word and an instruction, a cell is free exactly where no buffer lives."""
    model = digits_cnn("int8", 1)
    program = model.program
    count = len(list(program.walk(12, len(program.words))))
    lines = model.draw(10000, program.arena // 4).split("\n")[2 : 2 + program.arena // 4]
    cells = [line.split(" ")[-1] for line in lines]
    _, schedule = planned(model, "sparse_categorical_crossentropy", Adam(), "int8", 1)
    expected = [["."] * count for _ in cells]
    letters = {"activations": "aA", "errors": "e", "gradients": "g", "scratch": "s"}
    for buffer, first, last in memory.lifetimes(schedule.instructions):
        if buffer.kind == "activations" and any(
            values.home(operand)[0] is buffer and operand.kind == "errors"
            for instruction in schedule.instructions
            for operand in instruction.operands
        ):
            continue  # in place: an activation and then an error
        for word in range(buffer.offset // 4, (buffer.offset + buffer.size + 3) // 4):
            for column in range(first, last + 1):
                expected[word][column] = letters[buffer.kind]
    assert any("A" in row for row in cells) and any("e" in row for row in cells)
    for row, wanted in zip(cells, expected):
        for letter, allowed in zip(row, wanted):
            assert letter in allowed or (allowed == "." and letter in "Ae.")


def test_a_program_that_reads_what_nobody_wrote_is_drawn_with_a_question_mark():
    model = tiny()
    words = Program(model.session.plan.code).words
    at = next(at for at, code, _, _ in model.program.walk(12, len(words)) if code.name == "gather_i8")
    del words[12:at]  # without clear, the peaks have no writer
    words[2] = len(words)
    for index in range(7, 12, 2):
        words[index] -= at - 12
    assert "?" in drawing.draw(Program(bytes(words)))
    assert disassemble(bytes(words)).count("\n") == model.disassemble().count("\n") - 1
