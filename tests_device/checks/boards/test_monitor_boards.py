"""python -m odt monitor: on the unix port and on the emulated Pico, whose line may break."""

import os
import re
import signal
import subprocess
import sys

import machines
import pytest
from digests import digest

TRAIN = """
import odt
model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.SGD(0.05), batch_size=4, seed=1)
x, y = [[i % 7, i % 3] for i in range(24)], [i % 2 for i in range(24)]
model.fit(x, y, epochs=EPOCHS, validation_data=(x[:8], y[:8]))
print("digest %08x" % model.digest())
"""


WATCH = """
import gc
from odt.online import Autoencoder, PageHinkley
from odt.sensors import Above, Rules
from odt.sensors import log

model, detector, rules = Autoencoder(4, hidden=2), PageHinkley(threshold=2, mode="up"), Rules()
rules.add("odd", Above("score", 1), log)
for i in range(160):
    a = (i * 31 % 100 - 50) / 64
    x = [a, -a, a / 2, 0 if i >= 140 else 1]
    score = model.score_one(x)
    log("score", score, 1)
    detector.update(score)
    rules.value("score", score, i)
    if detector.drift_detected:
        log("drift")
    if i < 120:
        model.learn_one(x)
print("digest %08x" % model.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    gc.disable()
    before = gc.mem_alloc()
    log("score", score, 1)
    print("two lines took %d bytes" % (gc.mem_alloc() - before))
"""


def start(folder, epochs, *arguments):
    script = folder / "script.py"
    script.write_text(TRAIN.replace("EPOCHS", str(epochs)) if epochs else WATCH)
    return subprocess.Popen(
        [sys.executable, "-m", "odt", "monitor", str(script), "--report", str(folder / "report"), *map(str, arguments)],
        cwd=machines.ROOT, env=dict(os.environ, PYTHONUNBUFFERED="1"), text=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )  # fmt: skip


def rows(folder):
    """The figures of the report."""
    page = (folder / "report.html").read_text()
    return re.findall(r"<tr><td>\d+</td>.*</tr>", page)


@pytest.fixture(scope="module")
def pico():
    with machines.open("rp2040") as machine:
        yield machine


def connect(machine):
    assert machine.mpremote("exec", "pass")[0] == 0  # switches it on
    return ["--connect", machine._port]


def test_figures_and_digest_are_one_on_the_pc_the_unix_port_and_the_pico(pico, tmp_path):
    found = set()
    unix = "unix=%s" % (machines.BUILD / "unix" / "micropython")
    for place in (["--on", "host"], ["--on", unix], connect(pico)):
        process = start(tmp_path, 3, *place)
        text = process.communicate(timeout=300)[0]
        assert process.returncode == 0, text
        assert "odt: report in " in text and "damaged" not in text
        found.add((*rows(tmp_path), digest(text)))
    ((*figures, _),) = found
    assert len(figures) == 3


def test_scores_thresholds_and_events_are_one_on_the_pc_the_unix_port_and_the_pico(pico, tmp_path):
    found = []
    unix = "unix=%s" % (machines.BUILD / "unix" / "micropython")
    for place in (["--on", "host"], ["--on", unix], connect(pico)):
        process = start(tmp_path, 0, *place)
        text = process.communicate(timeout=300)[0]
        assert process.returncode == 0, text
        assert "odt: report in " in text and "damaged" not in text
        heap = re.search(r"^two lines took (\d+) bytes", text, re.M)
        assert heap is None if place[1] == "host" else int(heap[1]) <= 512
        events = re.findall(r"^(\w+) at score (\d+): ([\d.]+)", text, re.M)
        page = (tmp_path / "report.html").read_text()
        assert re.findall(r"<tr><td>(\w+)</td><td>(\d+)</td></tr>", page) == [event[:2] for event in events]
        found.append((events, digest(text)))
    assert found[0] == found[1] == found[2]
    first = {name: int(number) for name, number, _ in reversed(found[0][0])}
    assert set(first) == {"odd", "drift"} and 140 < min(first.values()) <= max(first.values()) < 150


def test_ctrl_c_stops_the_script_on_the_board_and_reports_what_there_was(pico, tmp_path):
    process = start(tmp_path, 10**6, *connect(pico))
    for line in process.stdout:
        if line.startswith("epoch 2/"):
            break
    process.send_signal(signal.SIGINT)
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 130
    assert text.endswith("odt: interrupted; the script on the board was stopped\n"), text
    assert len(rows(tmp_path)) >= 2
    assert pico.mpremote("exec", "print(2 + 3)")[1] == b"5\r\n"


def test_board_that_goes_away_is_status_1_with_the_reason_and_a_report(pico, tmp_path):
    process = start(tmp_path, 10**6, *connect(pico))
    for line in process.stdout:
        if line.startswith("epoch 2/"):
            break
    pico._stop()
    text = process.communicate(timeout=120)[0]
    assert process.returncode == 1
    assert "odt: report in " in text
    assert text.splitlines()[-1] == "odt: board: read failed: socket disconnected"
    assert len(rows(tmp_path)) >= 2
