"""Whatever a program and its data hold, the native executor refuses it or stays in its regions."""

import functools
import itertools
import os
import random
import struct
from array import array

import native_sources
import numpy as np
import pytest
from instructions import NAMES, assemble, draw, draw_name, has_size
from sanitized import run, spoil

from odt.base import opcodes
from odt.reference import program as reference

HERE = os.path.dirname(os.path.abspath(__file__))
pytestmark = pytest.mark.slow
SANITIZE = "-std=c99 -O1 -fwrapv -ffp-contract=off -fsanitize=address,undefined"
UNPLEASANT = (
    0,
    1,
    -1,
    2,
    127,
    128,
    255,
    256,
    65535,
    65536,
    1 << 25,
    1 << 26,
    (1 << 31) - 1,
    -1 << 31,
)


@pytest.fixture(
    scope="module",
    params=(
        ("", 2),
        ("-DODT_PANEL=1", 2),
        ("-DODT_PANEL=1 -DODT_RV32=1", 2),
        ("-DODT_X86_SMALL=1", 2),
        ("-DODT_X86_SMALL=1", 1),
    ),
    ids=("as here", "as on 32-bit cores", "as on RISC-V", "in small tiles", "in small tiles, with AVX2 alone"),
)
def harness(request, tmp_path_factory):
    """The path of native/ compiled with safety.c and the sanitizers."""
    path = str(tmp_path_factory.mktemp("safety") / "safety")
    options, level = request.param
    command = ["gcc", *SANITIZE.split(), *options.split(), "-fno-sanitize-recover=all"]
    native_sources.build(path, command, [os.path.join(HERE, "safety.c")])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ODT_X86_LEVEL", str(level))
        yield path


def mutate(rng, program):
    """The program with a few words changed, mostly to what is nearly right."""
    words = array("i", program)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(3, len(words))
        value = rng.choice(
            (words[at] + 1, words[at] - 1, words[at] * 2, words[at] ^ 1 << rng.randrange(31),
             rng.choice(UNPLEASANT), rng.randrange(-1 << 31, 1 << 31))
        )  # fmt: skip
        words[at] = max(-1 << 31, min((1 << 31) - 1, value))
    return words.tobytes()


def mutate_immediates(rng, case):
    """The program with its free immediates (zero points, limits, factors) anything at all."""
    words = array("i", case.program)
    op = opcodes.opcode(case.name)
    for i, name in enumerate(op.immediates):
        if not name.isupper() and rng.random() < 0.6:
            words[13 + len(op.operands) + i] = rng.choice((rng.choice(UNPLEASANT), rng.randrange(-1 << 31, 1 << 31)))
    return words.tobytes()


def test_valid_programs_run_on_any_contents(harness, tmp_path):
    rng = random.Random(1)
    cases = []
    for name in NAMES:
        for _ in range(40):
            case = draw(rng, name)
            cases.append((case.program, spoil(rng, case)))
            cases.append((mutate_immediates(rng, case), spoil(rng, case)))
        for prefix in opcodes.PREFIXES if has_size(name) else ():
            for _ in range(10):
                case = draw(rng, name, prefix)
                cases.append((case.program, spoil(rng, case)))
    assert run(harness, cases, tmp_path) == [len(cases), 0, 0]


def test_user_data_of_any_length_is_never_overrun(harness, tmp_path):
    rng = random.Random(2)
    cases = []
    for name in NAMES:
        if not any(operand[2] == "buf" for operand in opcodes.opcode(name).operands):
            continue
        for _ in range(300):
            case = draw(rng, name)
            regions = list(case.regions)
            control = array("i", regions[opcodes.CONTROL])
            for at in range(opcodes.POSITION, opcodes.Y_ZERO + 1):
                if rng.random() < 0.3:
                    control[at] = rng.choice((*UNPLEASANT, rng.randrange(-1 << 31, 1 << 31)))
            regions[opcodes.CONTROL] = control.tobytes()
            for region in (opcodes.X_DATA, opcodes.Y_DATA):
                if regions[region]:
                    regions[region] = regions[region][: rng.randrange(len(regions[region]) + 1)]
            cases.append((case.program, regions))
    assert run(harness, cases, tmp_path) == [len(cases), 0, 0]


def test_mutated_programs_are_refused_or_run_clean(harness, tmp_path):
    rng = random.Random(3)
    cases = [(mutate(rng, draw(rng, *draw_name(rng)).program), None) for _ in range(20000)]
    ran, refused, large = run(harness, cases, tmp_path)
    assert ran > 2000 and refused > 5000 and ran + refused + large == len(cases)


def overlap(rng, name, prefix):
    """A program whose operands were put onto each other, regions for it, and whether what it writes lies apart from
    what it reads.
    """
    case = draw(rng, name, prefix)
    op, words = opcodes.opcode(name), array("i", case.program)
    at = 12 + (opcodes.opcode(prefix).words if prefix else 0)
    places = [k for k, operand in enumerate(op.operands) if operand[2] != "buf"]
    for _ in range(rng.choice((1, 1, 2))):
        moved, onto = rng.choice(places), rng.choice(places)
        address = words[at + 1 + onto]
        if op.operands[moved][1] == ":" or address >> opcodes.REGION_SHIFT != opcodes.CONSTANTS:
            words[at + 1 + moved] = address + rng.choice((0, 0, 4, 8, op.bytes(onto, case.immediates) // 8 * 8))
    if prefix and rng.random() < 0.3:
        words[13 + rng.randrange(len(opcodes.opcode(prefix).operands))] = words[at + 1 + rng.choice(places)] & ~3
    regions = list(case.regions)
    for region, word in ((opcodes.ARENA, 3), (opcodes.STATE, 4), (opcodes.CONSTANTS, 5)):
        regions[region] = bytes(regions[region]) + rng.randbytes(20000)
        words[word] = len(regions[region])
    spans, ends = [], {0: words[3], 1: words[4], 2: 4 * opcodes.CONTROL_WORDS, 5: words[5]}
    for k in places:
        start, times = words[at + 1 + k], 1
        if prefix == "each" and op.immediates[words[17]] in op.operands[k][3]:
            times = words[16] if start >> 26 == opcodes.ARENA else words[15]
        spans.append((range(start, start + op.bytes(k, case.immediates) * times), op.operands[k]))
    if prefix:
        kinds = opcodes.opcode(prefix).operands
        counts = (1, words[16]) if prefix == "each" else (1,)
        spans += [(range(words[13 + k], words[13 + k] + 4 * count), kinds[k]) for k, count in enumerate(counts)]
    fine = True
    for span, operand in spans:
        fine = fine and span.start % min(4, opcodes.SIZES[operand[2]]) == 0
        fine = fine and span.stop - (span.start >> 26 << 26) <= ends[span.start >> 26]
    for a, (written, operand) in enumerate(spans):
        for b, (other, second) in enumerate(spans):
            if a != b and operand[1] != ":" and set(written) & set(other):
                fine = fine and operand[4] is not None and operand[2:4] == second[2:4] and written == other
    return words.tobytes(), regions, fine


@functools.cache
def overlaps():
    rng = random.Random(4)
    cases = []
    for name in NAMES:
        for prefix in (None, *opcodes.PREFIXES) if has_size(name) else (None,):
            cases += [overlap(rng, name, prefix) for _ in range(8 if prefix else 16)]
    return cases


def test_what_an_instruction_writes_lies_apart_from_what_it_reads(harness, tmp_path):
    """So that a kernel may rely on what it has checked: a shift was checked, written over and read again."""
    counts = [sum(fine for *_, fine in overlaps()), sum(not fine for *_, fine in overlaps())]
    assert min(counts) > 1000
    assert run(harness, [case[:2] for case in overlaps()], tmp_path) == [*counts, 0]


@pytest.mark.parametrize("engine", ("_odt", "odt.reference.program"))
def test_both_executors_refuse_what_writes_over_what_it_reads(engine):
    load = pytest.importorskip(engine).load
    for program, _, fine in overlaps():
        try:
            load(program)
            assert fine, program.hex()
        except ValueError as error:
            assert not fine, (program.hex(), error)


# What fuzzing found


def test_a_gradient_without_taps_ends_wherever_its_windows_lie(harness, tmp_path):
    """A stride wider than the filter, far beside the errors: the loop over a row's windows had no end."""
    op = opcodes.opcode("depthwise2d_dx_i8")
    sizes = (9, 7, 8, 4, 4, 7, 2, 3, 3, 2, 2, 4, 2)
    immediates = dict(zip(op.immediates, sizes))
    addresses, end = [], 0
    for index in range(len(op.operands)):
        addresses.append(end)
        end += (op.bytes(index, immediates) + 3) & ~3
    program = assemble(op, addresses, immediates, end, 0, 0)
    assert run(harness, [(program, None)], tmp_path) == [1, 0, 0]


# What load() and run() of the extension refuse


@pytest.fixture(scope="module")
def native():
    return pytest.importorskip("_odt")


def words(**changes):
    """A program of one clear of 2 words in an arena of 8 bytes, as an array."""
    program = array("i", [0x3154444F, opcodes.VERSION, 15, 8, 0, 0] + [12, 15] * 3 + [1, 0, 2])
    for at, value in changes.items():
        program[int(at[1:])] = value
    return program


@pytest.mark.parametrize(
    "changes, message",
    (
        ({"w0": 0}, "word 0"),
        ({"w1": 99}, "_odt has instruction set %d, program needs 99: rebuild" % opcodes.VERSION),
        ({"w2": 14}, "has 15 words, needs 14"),
        ({"w3": -1}, "word 3: a region of -1 bytes"),
        ({"w3": 4}, "word 13: operand 1 of instruction 1 reaches 8 bytes, region 0 has 4"),
        ({"w7": 14}, "word 7"),
        ({"w6": 15, "w7": 12}, "word 7"),
        ({"w12": 0}, "word 12: there is no instruction 0"),
        ({"w12": 1000}, "there is no instruction 1000"),
        ({"w12": 2}, "instruction 2 has 6 words, 3 are left"),
        ({"w13": 2}, "word 13: operand 1 of instruction 1 is at 2, not aligned to 4"),
        ({"w13": 5 << 26}, "writes to region 5"),
        ({"w13": 3 << 26}, "cannot be in region 3"),
        ({"w13": 6 << 26}, "cannot be in region 6"),
        ({"w14": 0}, "word 14: immediate 1 of instruction 1 is 0"),
        ({"w14": 1 << 26}, "its limit %d" % opcodes.DEFAULT_LIMIT),
    ),
)
def test_load_refuses_a_damaged_program_and_says_where(native, changes, message):
    with pytest.raises(ValueError, match=message):
        native.load(words(**changes).tobytes())


def test_load_takes_only_bytes_of_whole_words(native):
    program = words()
    for other in (program, bytearray(program), memoryview(program), "text", None):
        with pytest.raises(TypeError):
            native.load(other)
    for length in (0, 4, 13, 44, 56):
        with pytest.raises(ValueError):
            native.load(program.tobytes()[:length])


@pytest.mark.parametrize("name", ("native", "reference"))
def test_load_takes_read_only_buffers_whatever_becomes_of_them(name):
    """Unaligned, changed beneath the view, released: the program that runs is the one that was verified."""
    engine = pytest.importorskip("_odt") if name == "native" else reference
    control = array("i", [0] * opcodes.CONTROL_WORDS)

    def runs(loaded):
        arena = array("i", [5, 6])
        engine.run(loaded, [arena, bytearray(), control, None, None, None], 12, 15)
        return list(arena) == [0, 0]

    for shift in range(5):
        data = bytearray(shift) + words().tobytes()
        views = [memoryview(bytes(data))[shift:], memoryview(data).toreadonly()[shift:]]
        loaded = [engine.load(view) for view in views]
        data[shift:] = bytes(len(data) - shift)
        for view in views:
            view.release()
        assert all(runs(each) for each in loaded)
    for other in (memoryview(bytearray(words())), bytearray(words()), words(), "text", None, 5):
        with pytest.raises(TypeError):
            engine.load(other)
    with pytest.raises(ValueError):
        released = memoryview(words().tobytes())
        released.release()
        engine.load(released)


def test_bytes_and_views_of_them_are_refused_alike(native):
    draw = random.Random(7)
    refused = 0
    for _ in range(500):
        data = bytearray(words().tobytes())
        for _ in range(draw.randint(0, 3)):
            data[draw.randrange(len(data))] = draw.randrange(256)
        data = bytes(data[: draw.choice((len(data), len(data), draw.randrange(len(data))))])
        found = []
        for program in (data, memoryview(bytes(1) + data)[1:], memoryview(data)[::1]):
            try:
                found.append(type(native.load(program)))
            except ValueError as error:
                found.append(str(error))
        assert found == found[:1] * 3
        refused += isinstance(found[0], str)
    assert 100 < refused < 500


def test_run_refuses_regions_that_do_not_fit_and_names_them(native):
    loaded = native.load(words().tobytes())
    arena, control = array("i", [5, 6]), array("i", [0] * opcodes.CONTROL_WORDS)
    good = [arena, None, control, None, None, None]
    assert native.run(loaded, tuple(good), 12, 15) is None
    assert list(arena) == [0, 0]
    for at, bad, message in (
        (opcodes.ARENA, None, "ARENA has 0 bytes, program needs 8"),
        (opcodes.ARENA, array("i", [1]), "ARENA has 4 bytes"),
        (opcodes.ARENA, memoryview(bytearray(12))[1:9], "ARENA is not aligned"),
        (opcodes.CONTROL, bytearray(67), "CONTROL has 67 bytes"),
    ):
        with pytest.raises(ValueError, match=message):
            native.run(loaded, [*good[:at], bad, *good[at + 1 :]], 12, 15)
    both = bytearray(4 * opcodes.CONTROL_WORDS)
    shared = [memoryview(both)[:8], None, both, None, None, None]
    with pytest.raises(ValueError, match="region CONTROL has memory of one that is written"):
        native.run(loaded, shared, 12, 15)
    for at in (opcodes.X_DATA, opcodes.Y_DATA):
        for part in (both[:0], memoryview(both)[8:]):
            assert (
                native.run(
                    loaded, [memoryview(both)[:8], None, control, *shared[3:at], part, *shared[at + 1 :]], 12, 15
                )
                is None
            )
        with pytest.raises(ValueError, match="region ._DATA has memory of one that is written"):
            native.run(
                loaded,
                [memoryview(both)[:8], None, control, *shared[3:at], memoryview(both)[7:9], *shared[at + 1 :]],
                12,
                15,
            )
    inside = memoryview(both)[:8], None, control, memoryview(both)[4:8], None, None  # a sample at the arena's end
    assert native.run(loaded, inside, 12, 15) is None
    for first, last, begin, end in ((0, 8, 0, 8), (0, 8, 4, 7), (0, 8, 4, 9), (4, 12, 0, 12)):
        part, sample = memoryview(both)[first:last], memoryview(both)[begin:end]
        with pytest.raises(ValueError, match="region X_DATA has memory of one that is written"):
            native.run(loaded, [part, None, control, sample, None, None], 12, 15)
    with pytest.raises(BufferError):
        native.run(loaded, [bytes(8), *good[1:]], 12, 15)
    for regions in (good[:5], []):
        with pytest.raises(ValueError):
            native.run(loaded, regions, 12, 15)
    with pytest.raises(TypeError):
        native.run(loaded, 5, 12, 15)
    with pytest.raises(TypeError):
        native.run(words().tobytes(), good, 12, 15)


@pytest.mark.parametrize("bounds", ((0, 15), (12, 14), (13, 15), (15, 12), (-1, 15), (12, 16)))
def test_run_refuses_bounds_within_an_instruction(native, bounds):
    loaded = native.load(words().tobytes())
    with pytest.raises(ValueError, match="not a run of instructions"):
        native.run(loaded, [array("i", [0, 0]), None, bytearray(4 * opcodes.CONTROL_WORDS), None, None, None], *bounds)


def test_checks_of_buffers(native):
    assert native.crc32(b"123456789") == 0xCBF43926
    assert native.crc32(b"6789", native.crc32(b"12345")) == 0xCBF43926
    floats = array("f", [1.0, -3e38, float("inf"), float("nan")])
    assert native.find_nonfinite(floats) == 2
    assert native.find_nonfinite(floats[:2]) == -1
    assert native.find_nonfinite(floats[3:]) == 0
    for code in "bBhHiIlLfd":
        assert native.typecode(array(code)) == code
    assert native.typecode(b"") == native.typecode(bytearray(1)) == "B"
    assert native.nbytes(array("h", [1, 2, 3])) == 6


FORMATS = {"b": 0, "B": 1, "h": 2, "i": 3, "f": 4, "H": 5}


@pytest.mark.parametrize("code", FORMATS)
def test_samples_are_counted_where_they_are_whole_and_of_that_type(native, code):
    data, format = array(code, [1, 2, 3, 4, 5, 6]), FORMATS[code]
    assert [native.count_samples(data, (ord(code), format, n, 0)) for n in range(-1, 8)] == [0, 0, 6, 3, 2, 0, 0, 1, 0]
    for other in set("bBhHif") - {code}:
        assert native.count_samples(data, (ord(other), format, 1, 0)) == 0
    assert native.count_samples(array(code), (ord(code), format, 3, 0)) == 0
    for unknown in (-1, 6, 1 << 30):
        assert native.count_samples(data, (ord(code), unknown, 1, 0)) == 0
    assert native.count_samples(data, (ord(code), format, 1 << 30, 0)) == 0


@pytest.mark.parametrize("code", FORMATS)
def test_samples_with_labels_beyond_the_classes_or_numbers_that_are_none_are_not_counted(native, code):
    def count(values, classes):
        return native.count_samples(array(code, values), (ord(code), FORMATS[code], 1, classes))

    if code == "f":
        assert count([1.0, 2.0], 3) == 0  # labels are integers
        assert count([3e38, -1.0], 0) == 2
        assert [count([1.0, bad], 0) for bad in (float("inf"), float("nan"), float("-inf"))] == [0, 0, 0]
        assert count([0.0, 1.0, 0.5, 1e-40], 2) == 4  # probabilities
        for bad in (1.0000001, -1e-40, -1.0, 2.0, float("inf"), float("nan")):
            assert count([0.0, bad], 2) == 0
        return
    assert count([0, 9, 5], 10) == 3
    assert count([0, 9, 5], 9) == 0
    if code not in "BH":
        assert count([0, -1, 5], 10) == 0 and count([0, -1, 5], 0) == 3


def test_samples_are_counted_in_buffers_of_bytes(native):
    for data in (bytes(6), bytearray(6), memoryview(bytes(6))):
        assert native.count_samples(data, (ord("B"), 1, 3, 0)) == 2
    with pytest.raises(TypeError):
        native.count_samples([1, 2], (ord("B"), 1, 1, 0))
    with pytest.raises(TypeError):
        native.count_samples(b"12", ("B", 1, 1, 0))


def test_predictions_lie_within_their_regions_and_fill_what_is_given(native):
    """Every offset about the ends of both regions, in arrays that have a number more or less."""
    loaded, x = native.load(words().tobytes()), bytes(6)
    for width, offset, scale, numbers in itertools.product(
        (0, 1, 3), (-1, 0, 5, 6, 8, 9), (-1, 0, 4, 5, 9), (5, 6, 18)
    ):
        regions = [bytearray(8), bytearray(8), bytearray(4 * opcodes.CONTROL_WORDS), x, None, None]
        out = array("f", [7] * numbers)
        call = (loaded, regions, ord("B"), 1, 1, 12, 12, 2, width, offset, 0, scale)
        size = (1 if scale >= 0 else 4) * width * 2
        if width == 0 or numbers != 6 * width:
            assert native.predict(call, out) is False and list(out) == [7] * numbers
        elif 0 <= offset <= 8 - size and scale <= 4:
            assert native.predict(call, out) is True and list(out) == [0] * numbers
        else:
            with pytest.raises(ValueError, match="outside of their region"):
                native.predict(call, out)
    regions = [bytearray(8), bytearray(8), bytearray(4 * opcodes.CONTROL_WORDS), x, None, None]
    good = (loaded, regions, ord("B"), 1, 1, 12, 15, 2, 1, 0, 0, -1)
    assert native.predict(good, array("f", [7] * 6)) is True
    for at, wrong in ((2, ord("b")), (3, 4), (4, 4), (3, 9)):  # samples of another kind
        assert native.predict((*good[:at], wrong, *good[at + 1 :]), array("f", [7] * 6)) is False
    for at, wrong in ((0, 5), (1, None), (1, ()), (5, 11), (6, 99), (6, 0)):
        with pytest.raises((TypeError, ValueError)):
            native.predict((*good[:at], wrong, *good[at + 1 :]), array("f", [7] * 6))
    for wrong in (good[:-1], (), None, (*good, 1)):
        with pytest.raises((TypeError, ValueError)):
            native.predict(wrong, array("f", [7] * 6))
    for wrong in (None, bytes(24)):
        with pytest.raises((TypeError, BufferError)):
            native.predict(good, wrong)
    assert native.predict(good, bytearray(24)) is False  # whose elements are no floats
    for position, kept in ((0, 4), (4, 4), (5, 5), (6, 6), (-1, 6), (1 << 40, 6)):  # what was run alone
        out = array("f", [7] * 6)
        assert native.predict(good, out, position) is True and list(out).count(7) == kept
    assert native.predict((*good[:7], 0, *good[8:]), array("f", [7] * 6)) is True  # of no rows: nothing


def test_a_step_runs_on_data_of_its_kinds_alone(native):
    """A program that clears a word: it is run, and the control block set, or nothing is done."""
    control = array("i", [7] * opcodes.CONTROL_WORDS)
    x, y = bytes(6), array("h", (0, 1, 2))
    regions = [bytearray(b"\1" * 8), bytearray(8), control, x, y, None]
    good = (bytes, (ord("B"), 1, 2, 0), array, (ord("h"), 2, 1, 3), native.load(words().tobytes()), regions, 12, 15, 3)
    names = dict.fromkeys(("POSITION", "ORDER", "LOSS", "LOSS_HIGH", "CORRECT"), 0)
    names.update(SAMPLES=3, COUNT=3, RATE=0x3C000000, KEY=1, DONE=12)
    expected = [7] * opcodes.CONTROL_WORDS
    for name, value in names.items():
        expected[getattr(opcodes, name)] = value
    for at, wrong in (
        (0, bytearray), (2, bytes), (1, (ord("b"), 1, 2, 0)), (1, (ord("B"), 1, 3, 0)), (1, (ord("B"), 1, 1, 0)),
        (3, (ord("h"), 2, 1, 2)), (3, (ord("H"), 2, 1, 3)), (8, 2), (8, 0), (8, -1),
    ):  # fmt: skip
        assert native.step((*good[:at], wrong, *good[at + 1 :]), 0x3C000000) == 0
        assert set(control) == {7} and set(regions[0]) == {1}
    for data in (None, array("B", x), bytearray(x), b"", bytes(8)):
        regions[3] = data
        assert native.step(good, 0x3C000000) == 0 and set(control) == {7}
    regions[3] = x
    for at, wrong in ((4, 5), (5, None), (6, 11), (7, 99), (7, 0), (1, ()), (1, None), (3, (1, 2, 3)), (8, "3")):
        with pytest.raises((TypeError, ValueError)):
            native.step((*good[:at], wrong, *good[at + 1 :]), 0x3C000000)
    for wrong in (good[:-1], (*good, 1), (), None, list(good)):
        with pytest.raises((TypeError, ValueError)):
            native.step(wrong, 0x3C000000)
    with pytest.raises(TypeError):
        native.step(good, None)
    assert set(control) == {7} and set(regions[0]) == {1}
    assert native.step(good, 0x3C000000) == 3
    assert list(control) == expected and regions[0] != b"\1" * 8


def test_outputs_are_rounded_once_to_nearest_even(native):
    """Against NumPy's product in float64; scales about ties, the largest and the smallest."""
    rng = random.Random(5)
    loaded = native.load(words().tobytes())
    for _ in range(2000):
        arena = rng.randbytes(8)
        near = rng.choice((0x3F800000, 0x3C000001, 0x7F7FFFFF, 0x00800000, 0x3B000000 | rng.randrange(1 << 12) * 2 + 1))
        scale = struct.pack("<I", rng.choice((near, rng.randrange(0x00800000, 0x7F800000))))
        zero = rng.choice((-128, 0, rng.randint(-128, 127)))
        found = []
        for engine in (native, reference):
            out = array("f", bytes(32))
            regions = [
                bytearray(arena),
                bytearray(8)[4:] + scale,
                bytearray(4 * opcodes.CONTROL_WORDS),
                bytes(8),
                None,
                None,
            ]
            engine.predict((loaded, regions, ord("B"), 1, 1, 12, 12, 8, 1, 0, zero, 4), out, 0)
            found.append(bytes(out))
        with np.errstate(over="ignore"):
            real = (np.frombuffer(arena, "int8").astype("float64") - zero) * np.frombuffer(scale, "float32").astype(
                "float64"
            )
            assert found == [(real + 0.0).astype("float32").tobytes()] * 2
