# What _odt is given: arguments of any kind, buffers that move or shrink while others are looked at, programs and data
# that are wrong. Runs on any MicroPython; under the sanitizers in `make sanitize`. Raises whatever is not as it should.

from array import array

import _odt

state = [1]
CONTROL = 68  # bytes of its region


def below(count):
    """The next of some random numbers, 0 .. count - 1."""
    state[0] = state[0] * 1103515245 + 12345 & 0x7FFFFFFF
    return (state[0] >> 8) % count


class Number:
    """Does something as it says what it is."""

    def __init__(self, value, call):
        self.value, self.call = value, call

    def __int__(self):
        self.call()
        return self.value


def words(values):
    return bytes(array("i", values))


def clears(count):
    """A program that clears its arena's words one after the other."""
    program = [0x3154444F, _odt.VERSION, 12 + 3 * count, 4 * count, 0, 0] + [12, 12 + 3 * count] * 3
    for i in range(count):
        program += [1, 4 * i, 1]
    return words(program)


def numbers_that_move_a_buffer():
    for size in (1, 100, 5000):
        data = bytearray(b"\x01" * 8)
        crc = _odt.crc32(data, Number(0, lambda: data.extend(bytes(size))))
        assert crc == _odt.crc32(bytes(data)), size
        kind = [ord("B"), 1, 1, 0]
        for at in range(4):
            data = bytearray(b"\x01" * 8)
            moving = list(kind)
            moving[at] = Number(kind[at], lambda: data.extend(bytes(size)))
            assert _odt.count_samples(data, moving) == len(data) == 8 + size, (at, size)
            shrinking = list(kind)
            shrinking[at] = Number(kind[at], lambda: (shrinking.clear(), shrinking.extend([0] * size)))
            try:
                _odt.count_samples(data, shrinking)
                assert at == 3
            except ValueError:
                assert at < 3


def put(items, at, item):
    items[at] = item


def a_list_that_changes_while_a_program_runs():
    try:
        from micropython import schedule
    except ImportError:
        return
    loaded = _odt.load(clears(50))
    runs = (
        lambda: _odt.run(loaded, regions, 12, 162),
        lambda: _odt.calibrate(loaded, regions, 12, 162, scales),
        lambda: _odt.calibrate(loaded, regions, 12, 162, scales, False, 2),  # micro-batches
    )
    for size in (0, 1, 300, 20000):
        arena, control = bytearray(b"\x01" * 200), bytearray(CONTROL)
        regions = [arena, None, control, None, None, None]
        changes = (
            lambda: arena.extend(bytes(size)),
            lambda: put(regions, 0, bytearray(b"\x02" * (200 + size))),
            lambda: put(regions, 2, bytearray(size)),
            lambda: regions.clear(),
            lambda: _odt.run(loaded, [bytearray(200), None, bytearray(CONTROL), None, None, None], 12, 162),
            lambda: scales.extend(array("i", range(size))),
        )
        for change in changes:
            for number, run in enumerate(runs):
                scales = array("i", [0] * 16)
                regions[:] = [bytearray(b"\x01" * 200 * max(number, 1)), None, control, None, None, None]
                arena = regions[0]
                came = False

                def come(unused):
                    nonlocal came
                    came = True
                    change()

                try:
                    schedule(come, None)  # nothing looks for callbacks before the program runs
                    came_before = came
                    run()
                    assert len(regions) == 6 and not any(regions[0][:200][4:])
                except (ValueError, RuntimeError, TypeError) as error:
                    assert "region" in str(error) or "buffer" in str(error), error
                assert came and not came_before


def anything(depth=0):
    """Some object."""
    data = bytearray(below(70))
    simple = (
        lambda: None, lambda: below(100) - 50, lambda: (1 << 31) - below(3), lambda: (1 << 63) + below(3),
        lambda: -(1 << 80),
        lambda: 1.5, lambda: "text", lambda: b"", lambda: bytes(below(70)), lambda: data, lambda: memoryview(data),
        lambda: memoryview(data)[below(9) :], lambda: array("bBhHiIlLqQfd"[below(12)], range(below(20))),
        lambda: object,
        lambda: Number(below(40), lambda: data.extend(bytes(below(5000)))), lambda: _odt.load(good[below(len(good))]),
        lambda: good[below(len(good))], lambda: _odt.load, lambda: Number,
    )  # fmt: skip
    kind = below(len(simple) + 4)
    if kind < len(simple):
        return simple[kind]()
    if depth > 1:
        return data
    items = [anything(depth + 1) for _ in range((6, 6, 4, below(8))[below(4)])]
    return items if kind & 1 else tuple(items)


def regions():
    """Six buffers that mostly do."""
    made = [
        bytearray(below(300)),
        bytearray(below(300)),
        bytearray(CONTROL),
        bytes(below(60)),
        bytes(below(60)),
        bytes(below(300)),
    ]
    while below(3) == 0:
        made[below(len(made))] = anything()
    return made if below(2) else tuple(made)


def arguments_of_any_kind(count):
    calls = {}
    names = [
        name
        for name in (
            "load",
            "run",
            "crc32",
            "find_nonfinite",
            "draw",
            "typecode",
            "nbytes",
            "count_samples",
            "predict",
            "rls",
            "knn",
            "log_mel",
            "calibrate",
            "draw_bytes",
            "step",
        )
    ]
    for _ in range(count):
        name = names[below(len(names))]
        given = [anything() for _ in range((1, 1, 2, 4, below(6))[below(5)])]
        if name == "run" and below(4):
            program = good[below(len(good))]
            given = [
                _odt.load(program),
                regions(),
                (12, 12, 12, below(40))[below(4)],
                (len(program) // 4, below(60))[below(4) == 0],
            ]
        elif name == "count_samples" and below(2):
            given = [
                array("bBhif"[below(5)], [0] * below(9)),
                tuple([(below(256), 98, 66)[below(3)], below(6), below(4), below(4)]),
            ]
        elif name == "predict" and below(4):
            program = good[below(len(good))]
            end = (len(program) // 4, 12, below(60))[below(3)]
            kind = ((66, 98, 102)[below(3)], below(6), below(4), (12, below(20))[below(4) == 0], end)
            kind += below(6) - 1, below(6) - 1, below(330) - 5, below(300), below(330) - 20
            given = [(_odt.load(program), regions()) + kind, array("bBhif"[below(8) and 4], [0] * below(20))]
            if below(2):
                given.append(below(25) - 5)
        elif name == "step" and below(4):
            program, made = good[below(len(good))], list(regions())
            made[3:5] = bytes(below(9)), bytes(below(9))
            kinds = [(66, below(6), below(4), below(3)) for _ in range(2)]
            end = (len(program) // 4, 12, below(60))[below(3)]
            call = [
                bytes,
                kinds[0],
                bytes,
                kinds[1],
                _odt.load(program),
                made,
                (12, below(20))[below(4) == 0],
                end,
                below(9),
            ]
            if below(4) == 0:
                call[below(9)] = anything()
            given = [tuple(call), (0x3C000000, 0)[below(2)]]
        elif name == "calibrate" and below(4):
            program = good[below(len(good))]
            given = [
                _odt.load(program),
                regions(),
                12,
                len(program) // 4,
                (None, array("i", [0] * below(5)), anything())[below(3)],
            ]
        elif name == "draw" and below(4):
            given = [bytearray(below(60)), below(9), below(9)]
        elif name == "draw_bytes" and below(4):
            given = [bytearray(below(60)), below(70) - 5, below(70) - 5, below(9), below(9), below(2)]
            if below(4) == 0:
                given[below(6)] = anything()
        elif name == "rls" and below(4):
            given = [
                bytearray(elm),
                bytearray(below(400)),
                array("f", [1] * below(6)),
                None if below(2) else array("f", [below(9)]),
                below(2),
            ]
            for _ in range(below(3)):
                given[0][below(44)] = (0, 1, 255, below(256))[below(4)]
            if below(4) == 0:
                given[below(5)] = anything()
        elif name == "knn" and below(4):
            given = [
                bytearray(neighbours),
                bytearray(below(90)),
                (None, array("fh"[below(2)], [below(9)] * below(5)))[below(2)],
            ]
            for _ in range(below(3)):
                given[0][below(48)] = (0, 1, 255, below(256))[below(4)]
            if below(4) == 0:
                given[below(3)] = anything()
        elif name == "log_mel" and below(4):
            given = [array("h", bytes(2 * (3, 3, 3, below(9))[below(4)])), bytearray(40), array("h", mel_tables)]
            given.append(array("i", bytes(4 * (9 + 10 + 34 - (below(3) == 0)))))
            for _ in range(below(3)):
                given[2][below(27)] = (0, 1, -1, below(256), 17, -32768)[below(6)]
            if below(4) == 0:
                given[below(4)] = anything()
            elif below(8) == 0:  # out within the tables
                given[0] = memoryview(given[2])[below(24) :][:3]
        elif name == "load" and below(2):
            program = bytearray(good[below(len(good))])
            for _ in range(below(4)):
                at = below(len(program))
                program[at] = (program[at] + 1, below(256), 0, 255)[below(4)] & 255
            given = [bytes(program[: len(program) - (below(60) if below(4) == 0 else 0)])]
        try:
            getattr(_odt, name)(*given)
            calls[name] = calls.get(name, 0) + 1
        except (TypeError, ValueError, OverflowError, NotImplementedError) as error:
            assert str(error), (name, given)
    assert len(calls) == len(names), calls
    return calls


mel_tables = [0x4D31, 20, 32, 3, 0, 1, 3, 6, 10, 16] + [2000] * 17  # of log_mel: head, edges, weights
neighbours = words([0x3154444E, 2, 3, 8, 4, 2, 1, 0, 0, 0, 0, 3] + 4 * [0] + 10 * [0x00010002])
elm = words(
    [0x3152444F, 3, 4, 1, 7, 1, 0x3F800000, 0x3F7D70A4, 0x3A83126F, 0x46C80000, 0x42C80000]
    + 5 * [0]
    + 14 * [0x3F000000]
)
good = [clears(1), clears(5)] + [bytes(program) for program, _ in globals().get("ODT_ARGS", {}).get("cases", ())]
numbers_that_move_a_buffer()
a_list_that_changes_while_a_program_runs()
calls = arguments_of_any_kind(globals().get("ODT_ARGS", {}).get("count", 3000))
for program, blocks in globals().get("ODT_ARGS", {}).get("cases", ()):
    loaded = _odt.load(program)
    blocks = [None if block is None else bytearray(block) for block in blocks]
    _odt.run(loaded, blocks, 12, len(program) // 4)
    print("crc", *[_odt.crc32(block) for block in blocks[:3]])
print("called", sorted(calls.items()))
