"""Frames of a fleet: they arrive as they were sent or not at all, whatever stands between them."""

import io
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odt.fleet import frames
from odt.host.fleet.remote import FleetError, Remote

BODIES = st.binary(max_size=frames.LONGEST) | st.lists(
    st.sampled_from([0x03, 0xC0, 0xDB, 0xDC, 0xDD, 0xDE]), max_size=frames.LONGEST
).map(bytes)


@given(st.integers(0, 255), st.integers(0, 255), BODIES)
def test_a_frame_comes_back_and_has_no_ctrl_c(kind, sequence, body):
    frame = frames.pack(kind, sequence, body)
    assert b"\x03" not in frame and frame.count(frames.END) == 2 and len(frame) <= frames.MOST + 2
    assert frames.unpack(frame[1:-1]) == (kind, sequence, body)
    stream = io.BytesIO(b"some text" + frame + frame)
    one, raw = bytearray(1), bytearray(frames.MOST)
    found = [frames.unpack(frames.read(stream, one, raw)) for _ in range(3)]
    assert found == [None, (kind, sequence, body), (kind, sequence, body)]
    assert frames.read(stream, one, raw) is None


def test_the_crc_is_that_of_zlib():
    frame = frames.pack(0x50, 9, b"abc")
    assert frame[-5:-1] == zlib.crc32(b"\x50\x09abc").to_bytes(4, "little")


@given(BODIES, st.data())
def test_a_changed_bit_is_noticed(body, data):
    frame = bytearray(frames.pack(0x50, 1, body)[1:-1])
    bit = data.draw(st.integers(0, 8 * len(frame) - 1))
    frame[bit // 8] ^= 1 << bit % 8
    found = [frames.unpack(part) for part in bytes(frame).split(frames.END)]
    assert not any(found) or found == [(0x50, 1, body)]  # 0xDB 0xDC and the like may become the same bytes


class Line:
    """A link that answers each request with what it is given."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = []

    def write(self, data):
        self.asked.append(data)

    def read(self, timeout):
        return self.answers.pop(0) if self.answers else b""

    def restart(self):
        pass

    def close(self):
        pass


def test_an_answer_in_pieces_between_text_is_found_and_the_text_is_kept():
    answer = frames.pack(frames.ANSWER, 1, b"yes")
    late = frames.pack(frames.ANSWER, 0, b"of the request before")
    remote = Remote(Line(b"booted\r\n" + answer[:4], answer[4:-1], b"\xc0", b""), "board")
    assert remote.ask(frames.HELLO, b"", 5) == b"yes"
    assert remote.text == "booted\\x0d\n"
    remote = Remote(Line(late + answer), "board")
    assert remote.ask(frames.HELLO, b"", 5) == b"yes"


def test_noise_ends_in_no_answer_and_is_escaped():
    noise = random.Random(3)
    parts = [bytes([noise.randrange(256) for _ in range(noise.randrange(80))]) for _ in range(200)]
    remote = Remote(Line(*parts, b"\n\x1b[2Jgone\n\xc0"), "board")
    with pytest.raises(FleetError) as error:
        remote.ask(frames.HELLO, b"", 0.2)
    assert str(error.value) == r"board: no answer in 0.2 seconds; it printed: \x1b[2Jgone"
    assert len(remote.text) <= 400


def test_a_request_is_repeated_until_it_is_answered(monkeypatch):
    monkeypatch.setattr("odt.host.fleet.remote._PATIENCE", 0.01)
    line = Line(*[b""] * 9)
    line.read = lambda timeout: frames.pack(frames.ANSWER, 1, b"late") if len(line.asked) > 2 else b""
    assert Remote(line).ask(frames.HELLO, b"body", 5) == b"late"
    assert len(line.asked) == 3 and len(set(line.asked)) == 1


ABOUT = b"\x01" * 22
WRONG = b"", ABOUT[:21], ABOUT + b"name", ABOUT + b"\0", ABOUT + b"n" * 33 + b"\0" + b"1234", ABOUT + b"name\0" + b"123"


@pytest.mark.parametrize("body", WRONG)
def test_an_answer_to_hello_that_is_none_is_refused(body):
    with pytest.raises(FleetError, match="board: a damaged answer"):
        Remote(Line(frames.pack(frames.ANSWER, 1, body)), "board").hello(1)


def test_a_name_reaches_the_terminal_escaped():
    body = b"\x01" * 22 + b"\x1b]0;evil\x07\0" + b"1234"
    assert Remote(Line(frames.pack(frames.ANSWER, 1, body))).hello(1).name == r"\x1b]0;evil\x07"
    why = frames.pack(frames.REFUSED, 1, b"no\x1b[31m\xff")
    with pytest.raises(FleetError) as error:
        Remote(Line(why), "board").ask(frames.HELLO, b"", 1)
    assert str(error.value) == "board: no\\x1b[31m\ufffd"
