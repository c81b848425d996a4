"""python -m odt record: windows of a board's sensor and their labels, in a file on the PC, with a live plot.

    python -m odt record sensor.py --output gestures.npy           asks for a label, and records the next windows
    python -m odt record sensor.py --label rest --count 20         without asking

The script makes ``window``, an odt.sensors.Window, and ``source``, what has readinto() (None, or no such name: an
interrupt feeds the window); ``rate``, samples a second, is kept in the file. The file is that of odt.sensors.record,
and goes on if it is there.
"""

import binascii
import collections
import os
import queue
import signal
import sys
import tempfile
import threading
from array import array
from pathlib import Path

from ...sensors import Window
from ...sensors.record import Recorder
from ..monitor.plotting import draw
from ..text import say, visible
from .board import BoardError, only_port, stop
from .process import Process, commands

_PATIENCE = 20  # seconds without a window
_STYLES = ("cyan", "yellow", "magenta", "green", "red", "blue")

# After the script: every window as a line, until the source ends.
_SENDER = """

def _odt_send(window, source, rate):
    import binascii
    import time

    def say(*words):
        text = " ".join([str(word) for word in words])
        print("odt-record", binascii.crc32(text.encode()) & 0xFFFFFFFF, text)

    say("sensor", window.length, window.channels, window.hop, window.typecode, rate or 0)
    while True:
        x = window.next()
        if x is not None:
            say("window", window.position, window.overruns, binascii.b2a_base64(bytes(memoryview(x))).decode().strip())
            continue
        count = source.readinto(window.slot()) if source else 0
        if count:
            window.commit(count)
        elif getattr(source, "ended", False):
            break
        else:
            time.sleep(0.002)


_odt_send(window, globals().get("source"), globals().get("rate"))
"""


class Sensor:
    """What the board sends, taken by a thread as it comes: the newest windows, until it ends."""

    def __init__(self, process):
        self.process = process
        self.kind = None  # (length, channels, hop, typecode, rate)
        self.windows = queue.Queue(1000)
        self.damaged = self.overruns = 0
        self.own = collections.deque(maxlen=4)  # lines of the script's own
        self.failure = None
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        rest = ""
        try:
            for text in self.process:
                lines = (rest + text).replace("\r", "\n").split("\n")
                rest = lines.pop()[-1000000:]
                for line in lines:
                    self._take(line)
        except BoardError as error:
            self.failure = error
        self._put(None)

    def _take(self, line):
        mark, _, rest = line.partition("odt-record ")
        if mark or not rest:
            if line.strip():
                self.own.append(visible(line, "\t"))
            return
        check, _, text = rest.partition(" ")
        words = text.split(" ")
        try:
            if check != str(binascii.crc32(text.encode("utf-8", "replace"))):
                self.damaged += 1
            elif words[0] == "sensor":
                self.kind = (*map(int, words[1:4]), words[4], int(words[5]))
                self._put((0, None))
            elif self.kind:
                self.overruns = int(words[2])
                self._put((int(words[1]), array(self.kind[3], binascii.a2b_base64(words[3]))))
        except (ValueError, IndexError, TypeError):  # a script's own line that looks like these
            self.damaged += 1

    def _put(self, window):
        """Queue a window; if the queue is full, drop the oldest."""
        while True:
            try:
                return self.windows.put_nowait(window)
            except queue.Full:
                try:
                    self.windows.get_nowait()
                except queue.Empty:
                    pass

    def next(self):
        """(position, array) of the next window; BoardError where none comes."""
        try:
            found = self.windows.get(timeout=_PATIENCE)
        except queue.Empty:
            raise BoardError("no window came in %d seconds: does the sensor run?" % _PATIENCE) from None
        if found is None:
            self._put(None)
            said = "".join("\n" + line for line in self.own)
            raise self.failure or BoardError("the script ended" + said)
        return found

    def newest(self):
        """The position of the newest window; earlier windows are dropped."""
        position = 0
        while True:
            try:
                found = self.windows.get_nowait()
            except queue.Empty:
                return position
            if found is None:
                self._put(None)
                return position
            position = found[0]


def command(options):
    """Returns 0; BoardError with the reason where nothing could be recorded."""
    try:
        import rich  # noqa: F401
    except ImportError as error:
        raise BoardError("record needs rich (%s): pip install rich" % error) from None
    script = Path(options.script).resolve()
    if not script.is_file():
        raise BoardError("%s: no such script" % script)
    with tempfile.NamedTemporaryFile("w", suffix=".py", dir=script.parent, delete=False) as file:
        file.write(script.read_text() + _SENDER)
    port = options.connect or (only_port() if options.on == "board" else None)
    sender = Path(file.name)
    try:
        place, words = commands(sender, options.on, port, [sys.executable, str(sender)])
        process = Process(place, words, script.parent)
        sensor = Sensor(process)
        try:
            return _record(sensor, options)
        finally:
            process.interrupted = True
            process.kill()
            if port:
                stop(port)
    finally:
        os.remove(sender)


def _record(sensor, options):
    while not sensor.kind:
        sensor.next()
    length, channels, hop, typecode, rate = sensor.kind
    try:
        recorder = Recorder(options.output, Window(length, channels, hop, typecode), rate or None, options.budget)
    except (ValueError, TypeError) as error:
        raise BoardError(str(error)) from None
    say("odt: %d x %d of typecode %r%s into %s" % (
        length, channels, typecode, ", %d a second" % rate if rate else "", options.output))  # fmt: skip
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        if options.label:
            _capture(sensor, recorder, options.label, options.count)
        else:
            _ask(sensor, recorder, options.count)
    except KeyboardInterrupt:
        say()
    finally:
        signal.signal(signal.SIGINT, before)
        recorder.close()
        say("odt:", recorder)
        if sensor.damaged or sensor.overruns:
            say("odt: %d damaged lines were left out; the board lost %d samples" % (sensor.damaged, sensor.overruns))
    return 0


def _ask(sensor, recorder, count):
    """Labels from the standard input, until it ends."""
    label = ""
    while True:
        say("label (Enter: %s; -: the last record away; Ctrl-D: end) > " % (label or "none yet"), end="", flush=True)
        line = sys.stdin.readline()
        if not line:
            say()
            return
        word = line.strip()
        if word == "-":
            if len(recorder):
                recorder.remove()
            say(recorder)
            continue
        label = word or label
        if label:
            try:
                _capture(sensor, recorder, label, count)
            except ValueError as error:  # of the label
                say(error)
                label = ""


def _capture(sensor, recorder, label, count):
    """The next windows, of which nothing came before now."""
    from rich.console import Console
    from rich.live import Live

    window, console = recorder.window, Console(highlight=False, emoji=False)
    first, done, shown = None, 0, [None]
    newest = sensor.newest()
    live = Live(
        get_renderable=lambda: picture(shown[0], window.channels, visible("%s %d/%d" % (label, done, count)),
        console.width),
        console=console, refresh_per_second=10,
    )  # fmt: skip
    drawn = console.is_terminal
    if drawn:
        live.start()
    try:
        while done < count:
            position, x = sensor.next()
            if x is None:
                continue
            shown[0] = x
            first = (newest or position - window.hop) + window.hop + window.length if first is None else first
            if position < first:
                continue
            if not recorder.add(x, label):
                raise BoardError("%s is full: --budget is %d records" % (recorder.path, recorder.each))
            done += 1
    finally:
        if drawn:
            live.stop()
    say("%s: %d, %d in all" % (label, done, recorder.count(label)))


def picture(x, channels, title, width):
    """What rich draws: a window's channels over time."""
    from rich.text import Text

    text = Text(title, "bold")
    if x is None:
        return text
    low, high = min(x), max(x)
    count = len(x) // channels
    series = [(str(c % 10), _STYLES[c % len(_STYLES)], list(enumerate(x[c::channels]))) for c in range(channels)]
    return draw(text, series, max(count - 1, 1), low, high if high > low else low + 1, max(20, min(width, 110) - 12))
