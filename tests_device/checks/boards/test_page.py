"""make page: its planner's figures are summary()'s, it trains to the PC's digests, and its boards do.

In headless Chromium, by page.mjs; docs/howto/page.md has what it takes. The scenarios share a page: one browser is
started for them, one for boards.
"""

import base64
import io
import json
import re
import subprocess
import sys

import machines
import numpy as np
import pages
import pytest
from sklearn.datasets import load_digits, load_iris

import odt

EXAMPLES = machines.ROOT / "examples"
POLICY = {
    "default-src": ["'none'"], "script-src": ["'self'", "'wasm-unsafe-eval'"], "worker-src": ["'self'"],
    "connect-src": ["'self'"], "style-src": ["'self'", "'unsafe-inline'"], "img-src": ["'self'", "data:"],
    "base-uri": ["'none'"], "form-action": ["'none'"],
}  # fmt: skip
KINDS = ["setosa", "<i>versicolor</i>", "virginica"]
OPTIONS = {"optimizer": "adam", "learning_rate": 0.004, "batch_size": 16, "dtype": "int8", "seed": 0}


def drive(*scenarios, **options):
    """What scenarios of page.mjs found, by name; what failed is raised where it is read."""
    command = ["node", str(machines.ROOT / "tests_device" / "machines" / "page.mjs"), str(machines.BUILD), *scenarios]
    done = subprocess.run(command, input=json.dumps(options), capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Found:
    """What drive() found: a scenario that failed is an AssertionError."""

    def __init__(self, found):
        self.found = found

    def __getitem__(self, name):
        assert "failed" not in self.found[name], self.found[name]["failed"]
        return self.found[name]


def encoded(data):
    return base64.b64encode(data if isinstance(data, bytes) else data.encode()).decode()


def npz(save=np.savez, **arrays):
    """Bytes of a file as NumPy writes it."""
    file = io.BytesIO()
    save(file, **arrays)
    return file.getvalue()


def table_files():
    """{name: bytes} of tables, good and bad."""
    iris, digits = load_iris(), load_digits()
    rows = [";".join([*map(str, x), KINDS[y]]) for x, y in zip(iris.data, iris.target)]
    ones, eight = np.ones((8, 2)), np.arange(8)
    images = npz(np.savez_compressed, x=digits.images[:400].astype("uint8"), y=digits.target[:400])
    return {
        "iris.csv": "\n".join(["sepal;width;petal;width;kind", *rows]).encode(),
        "one.csv": b"1,2,a\n3,4,a\n5,6,a\n", "bad.csv": b"1,2,a\n3,x,b\n5,6,a\n", "empty.csv": b"",
        "many.csv": b"\n".join(b"1,2,%d" % i for i in range(99)),
        "named.npz": npz(X=iris.data.astype("float32"), y=np.array(KINDS)[iris.target]),
        "images.npz": images, "cut.npz": images[:5000], "damaged.npz": images[:2000] + b"?" + images[2001:],
        "pickled.npz": npz(x=np.array([[1, "a"]] * 4, dtype=object), y=np.arange(4)),
        "rank.npz": npz(x=eight * 1.0, y=eight), "labels.npz": npz(x=ones, y=ones),
        "lengths.npz": npz(x=ones, y=eight[1:]), "other.npz": npz(a=ones, b=eight),
        "order.npz": npz(x=np.asfortranarray(ones), y=eight), "big.npz": npz(x=ones.astype(">f8"), y=eight),
        "finite.npz": npz(x=ones * [1, np.nan], y=eight), "classes.npz": npz(x=np.ones((40, 2)), y=np.arange(40)),
        "large.npz": npz(np.savez_compressed, x=np.zeros((3000, 3000)), y=np.arange(3000)),
    }  # fmt: skip


REFUSED = {
    "one.csv": "one.csv: its last column holds 1 class", "many.csv": "more than 32 values",
    "bad.csv": "bad.csv: line 2", "empty.csv": "empty.csv: its last column holds 0 class",
    "cut.npz": "cut.npz: no .npz file, or one that is cut off", "damaged.npz": "damaged.npz: x.npy is damaged",
    "pickled.npz": "x holds pickled objects", "rank.npz": "x has the shape (8,), expected numbers of 2 axes",
    "labels.npz": "y has the shape (8, 2), expected one class for each sample",
    "lengths.npz": "x has 8 samples, y has 7", "other.npz": "it holds a, b, expected x and y",
    "order.npz": "x is in Fortran order", "big.npz": "x: dtype >f8, expected little-endian numbers",
    "finite.npz": "x: sample 0 has a number that is none below 1e18",
    "classes.npz": "y has 40 different values, expected 2 to 32", "large.npz": "the page takes at most",
}  # fmt: skip


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Model files by name, and the first of these models."""
    folder = tmp_path_factory.mktemp("models")
    model = odt.Sequential([odt.Input((4,)), odt.Dense(2, name="<img src=x onerror=injected=1>")])
    model.compile(odt.SGD(0.1), batch_size=2)
    model.export(str(folder / "good.odt"))
    good = (folder / "good.odt").read_bytes()
    return model, {"good.odt": good, "cut.odt": good[:-9], "text.odt": b"no model", "<i>x</i>.odt": good}


def spoken_words(*names):
    """[[digit's name, its takes as base64]]: int8 at 8 kHz, the last of them by stream.bin."""
    digits = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    takes = {name: [] for name in names}
    for file in ("teach.bin", "stream.bin"):
        data = (EXAMPLES / "keyword" / file).read_bytes()
        for at in range(0, len(data), 5201):
            name = digits[data[at + 5200]]
            if name in takes:
                takes[name].append(encoded(data[at : at + 5200]))
    return [[name, takes[name]] for name in names]


@pytest.fixture(scope="module")
def requests():
    return pages.requests(20)


@pytest.fixture(scope="module")
def page(tmp_path_factory, requests, files):
    """All but boards."""
    sound = tmp_path_factory.mktemp("sound") / "word.wav"
    pages.wav(sound, [(EXAMPLES / "keyword" / "teach.bin").read_bytes()[:5200]])
    dense = "model = odt.Sequential([odt.Input((4,)), odt.Dense(2)])"
    scripts = {
        "none": "x = 1", "error": "import nothing", "large": dense.replace("4,", "20000,").replace("2)]", "20000)]"),
        "loop": "while True:\n    pass", "markup": dense.replace("2)]", "2, name='<img src=x onerror=injected=1>')]"),
        "budget": dense,
    }  # fmt: skip
    options = {"optimizer": "sgd", "learning_rate": 0.1, "batch_size": 2, "memory_budget": 100}
    tables = {name: encoded(data) for name, data in table_files().items()}
    return Found(drive(
        "plan", "wrong", "learn", "access", "tables", "sensors", "without", sound=str(sound),
        plan={"requests": requests}, learn={"label": "<b>me</b>"},
        wrong={"options": options, "scripts": scripts, "files": {n: encoded(data) for n, data in files[1].items()}},
        tables={"files": tables, "trained": ["iris.csv", "named.npz", "images.npz"]},
        sensors={"classes": [["wave", 2], ["<b>rest</b>", 0.1]], "words": spoken_words("zero", "six")},
    ))  # fmt: skip


@pytest.fixture(scope="module")
def picos():
    """A virtual Pico, and one by Web Serial."""
    return Found(drive("boards", "installs", stock=str(machines.BUILD / "stock_rp2040" / "firmware.uf2")))


def printed(script):
    """What a script prints on this interpreter."""
    command = [sys.executable, script.name]
    return subprocess.run(command, cwd=script.parent, stdout=subprocess.PIPE, text=True, timeout=120, check=True).stdout


def digest(text):
    return re.search(r"digest ([0-9a-f]{8})", text)[1]


def trained(table):
    """The model that the page trains of a table, with the planner's usual choices."""
    scope = {}
    exec(pages.planning.plan(table.source, {}, OPTIONS)["script"], scope)
    scope["model"].fit(*table.train, epochs=table.epochs, verbose=0)
    return scope["model"]


def is_alike(found, table):
    """Whether what the page learned of a table is what odt learns of it here; returns the accuracy."""
    model = trained(table)
    assert found["digest"] == "%08x" % model.digest()
    accuracy = model.evaluate(*table.test)[1]
    assert "%.1f %% of %d test samples" % (100 * accuracy, len(table.test[1])) in found["learned"]
    return accuracy


def test_the_script_lets_a_layer_train_as_it_was_chosen_also_beside_lite_branches():
    source = """model = odt.Sequential([
        odt.Input((8, 8, 1)), odt.Conv2D(8, 3, padding="same", trainable=False), odt.BatchNorm(),
        odt.Conv2D(8, 3, padding="same"), odt.Flatten(), odt.Dense(4)])"""
    for choices, held, rows in (
        ({}, {"conv2d"}, {}),
        ({"conv2d": "1", "dense": "frozen"}, {"dense"}, {}),
        ({"conv2d": "0.5"}, set(), {"conv2d": ((0, 4),)}),
        ({"conv2d_1": "lite"}, {"conv2d", "conv2d_1"}, {}),
        ({"conv2d_1": "lite", "conv2d": "bias"}, {"conv2d_1"}, {"conv2d": ()}),
    ):
        assert pages.frozen(pages.planning.plan(source, choices, {})["script"]) == (held, rows), choices


def agrees(found):
    """Whether a plan's figures are those of summary() for the code that the page shows."""
    expected, rows = pages.summary(found["code"])
    figures = dict(found["figures"])
    assert figures.pop("state") == figures["total RAM"] - figures["arena"]
    needed = figures.pop("RAM")  # one sum, wherever the page says how much RAM a plan takes
    assert needed == figures["total RAM"] + figures["program"]
    assert f"{needed:,} bytes of RAM: " in found["said"]
    assert abs(float(found["share"].split()[0]) - needed / 2703.36) < 0.051  # of an RP2040
    batch = re.search(r"batch_size=(\d+)", found["code"])[1]
    assert found["step"] == "one step: a batch of " + batch
    assert figures == expected, found["code"]
    assert [row[0] for row in found["rows"]] == [row.split()[0] for row in rows]
    numbers = [row.rsplit(None, 4)[1:4] for row in rows]
    assert [[cell.replace(",", "") for cell in row[3:]] for row in found["rows"]] == numbers


def test_the_planner_has_the_figures_of_summary_for_examples_and_random_networks(page, requests):
    found = page["plan"]
    assert len(found["examples"]) == 9
    scripts = ["digits/train.py", "xor/train.py", "series/train.py", "vibration/train.py", "backbones/nets.py"]
    shown = "".join([each["code"] for each in found["examples"]])
    for name in scripts:  # layers as the examples have them
        for line in re.findall(r"^ +(odt\.(?:Conv|Dense|MaxPool)\w+\(.*\)),$", (EXAMPLES / name).read_text(), re.M):
            assert line in shown, (name, line)
    for each in found["examples"] + found["links"]:
        agrees(each)
    times = [pair for each in found["examples"] for pair in zip(each["times"], pages.milliseconds(each["code"]))]
    assert len(times) == 5 * 9 and all(expected for _, expected in times)
    for text, expected in times:
        shown = text.replace("\u2248 ", "").replace(",", "")
        assert abs(float(shown.split()[0]) - expected) <= 0.51
    for request, each in zip(requests, found["links"]):
        held, rows = pages.frozen(each["code"])
        assert each["network"] == "own"
        assert held == {name for name, choice in request["choices"].items() if choice == "frozen"}
        parts = {name for name, choice in request["choices"].items() if choice in ("0.5", "0.25", "bias")}
        assert set(rows) <= parts
        assert all(rows.get(name) == () for name, choice in request["choices"].items() if choice == "bias")
        assert "%s" % request["options"]["learning_rate"] in each["code"]
    budgets = [each["code"] for each in found["links"] if "memory_budget" in each["code"]]
    assert budgets and any("by rows  " in pages.printed_summary(code) for code in budgets)


def test_a_script_for_a_board_trains_the_planned_network_of_each_example_on_noise(page, capsys):
    for each in page["plan"]["examples"]:
        scope = {}
        exec(each["code"], scope)
        pages.planning.model = scope["model"]
        exec(each["code"] + pages.planning.boarded(2)["steps"], {})
        assert re.fullmatch(r"epoch 1/2  loss \d+\.\d+\nepoch 2/2  loss .*\ndigest \w{8}\n", capsys.readouterr().out)


def test_the_page_trains_to_the_digest_of_the_pc_and_is_taught_a_class(page):
    found = page["learn"]
    assert found["before"] == [True, "Not trained yet."]
    assert found["digest"] == digest(printed(EXAMPLES / "digits" / "train.py"))
    assert "of 500 test images" in found["trained"] and "Now draw a sign" in found["trained"]
    assert sum(map(int, found["counts"])) == 500 and len(found["counts"]) == 100
    assert found["pictures"] == [8, 8] and found["seen"] == ["What it makes of the drawing", True]
    assert "knows digits alone" in found["answer"] and "Give the sign a name" in found["unnamed"]
    assert found["ink"][1] > 1.9 * found["ink"][0] > 0 and found["ink"][2] == found["ink"][0]
    assert found["cleared"] == ["", True] and not found["moved"]
    for number, (said, answers, ink) in enumerate(found["steps"]):
        assert not answers and not ink and ("Drawing %d of 3 of <b>me</b>" % (number + 1) in said or number == 2)
    assert "11 classes" in found["taught"] and "<b>me</b>" in found["taught"]  # a name is text
    after, before = map(float, re.search(r"of 500 test digits ([\d.]+) % are right, ([\d.]+) % before",
        found["taught"]).groups())  # fmt: skip
    assert "%.1f %% of 500" % before in found["trained"] and before - after < 2
    table = np.array([row[1:] for row in found["table"][1:]], int)
    assert [row[0] for row in found["table"]] == ["", *"0123456789", "<b>me</b>"]
    assert table[:10].sum() == 500 and table[10].tolist() == [0] * 10 + [3]
    assert abs(after - np.trace(table[:10]) / 5) < 0.01
    assert "The network that you taught says <b>me</b>" in found["after"] and found["bold"] == 0
    for name in ("all layers", "a quarter of the channels", "the last layer alone"):
        assert re.search(name + r": [\d.]+ %", found["compared"])
        assert any(name in series for series in found["series"])


def test_tables_of_ones_own_train_to_the_digests_of_the_pc(page, tmp_path):
    found, files = page["tables"], table_files()
    for name, words in REFUSED.items():
        assert words in found[name]["said"], (name, found[name]["said"])
    assert "4 features, 3 classes (<i>versicolor</i>, setosa, virginica). 113 samples" in found["iris.csv"]["said"]
    assert "64 features, 10 classes" in found["images.npz"]["said"]
    for name in ("iris.csv", "named.npz"):
        assert found[name]["names"] == ["<i>versicolor</i>", "setosa", "virginica"]
        assert found[name]["markup"] == 0 and not found[name]["drawing"]  # to draw is for digits
    (tmp_path / "iris.csv").write_bytes(files["iris.csv"])
    assert is_alike(found["iris.csv"], pages.tables.read(str(tmp_path / "iris.csv"), "iris.csv")) >= 0.85
    iris, digits = load_iris(), load_digits()
    for name, x, y, classes in (
        ("named.npz", iris.data.astype("float32"), np.array([1, 0, 2])[iris.target], sorted(KINDS)),
        ("images.npz", digits.images[:400].astype("uint8"), digits.target[:400], list("0123456789")),
    ):
        (tmp_path / "x").write_bytes(x.tobytes())
        (tmp_path / "y").write_bytes(y.astype("int32").tobytes())
        table = pages.arrays.read(list(x.shape[1:]), "B" if x.ndim > 2 else "f", classes, str(tmp_path))
        assert is_alike(found[name], table) >= 0.85


def test_recordings_of_the_examples_train_to_the_digests_of_the_pc(page):
    found = page["tables"]
    gestures = pages.sensed.gestures(str(EXAMPLES / "gesture" / "day.bin"))
    assert is_alike(found["gesture"], gestures) > 0.9
    assert "36 features, 4 classes (jumpingjack, lunge, other, squat). 225 samples" in found["gesture"]["said"]
    assert is_alike(found["keyword"], pages.sensed.spoken(str(EXAMPLES / "keyword" / "test.bin"))) > 0.8


def test_a_phone_and_a_microphone_record_classes_train_and_are_recognised(page):
    found = page["sensors"]
    assert "Give the class a name" in found["unnamed"]
    assert "was not allowed to use the microphone" in found["denied"]
    assert re.search(r"[1-3] words of one are recorded", found["sound"]), found["sound"]
    assert "classes that were recorded: 1, expected 2 or more" in found["few"]
    speech = found["speech"]
    for name, text in zip(("zero", "six"), speech["recorded"]):
        assert re.search(r"([4-9]|\d\d) words of %s are recorded" % name, text), text
    assert "Press Recognise" in speech["trained"], speech["trained"]
    assert [text.split(",")[0] for text in speech["heard"]] == ["zero", "six"]
    assert "this device sends no motion" in found["still"]
    assert [re.match(r"(\d+) windows", text) is not None for text in found["motion"]] == [True, True]
    assert "<b>rest</b>: 1" in found["listed"] and "wave: 1" in found["listed"] and found["bold"] == 0
    assert "100.0 % of" in found["trained"] and "Press Recognise" in found["trained"]
    assert [text.split(",")[0] for text in found["heard"]] == ["wave", "<b>rest</b>"]


def test_a_virtual_pico_and_one_by_web_serial_end_with_the_bits_of_the_page(picos):
    found = picos["boards"]
    expected = digest(printed(machines.ROOT / "docs" / "page" / "board.py"))
    assert "Raspberry Pi Pico with RP2040: connected" in found["virtual"]
    same = "The page and the board agree bit for bit; digest on the page %s, on the board %s; the board took "
    assert found["ran"].startswith(same % (expected, expected))
    assert re.search(r" took [\d.]+ s, [\d,]+ cycles of the emulated chip; the same curve, 50 epochs", found["ran"])
    assert found["main"] == [["start-virtual"], ["run-board"]]
    assert found["planned"].startswith(same % ((digest(found["planned"].replace("on the page ", "")),) * 2))
    assert "the same curve, 5 epochs" in found["planned"]
    assert found["plannedCurves"] == 3 and "MemoryError" in found["large"]
    assert "loss on the page" in found["curves"][1] and "loss on the board" in found["curves"][2]
    assert found["frozen"] == [True, "odt %s is in its firmware" % odt.__version__]
    found = picos["installs"]
    assert found["ran"].startswith(same % (expected, expected))
    assert found["baudRate"] == [115200, {"dataTerminalReady": True}]


def test_the_page_installs_odt_on_a_stock_pico_and_lists_its_files(picos):
    found = picos["installs"]
    assert "no module named 'odt': install odt first" in found["without"]
    assert re.search(r"/lib/_odt.mpy came damaged: CRC-32 \d+, expected \d+", found["damaged"])
    assert re.search(
        r"\d+ files copied, \d+ were there. Self-test passed .*; \d{5,} bytes of heap left", found["installed"]
    )
    assert "0 files copied, 15 were there. Self-test passed" in found["again"]
    assert "<i>x.txt is on the board" in found["copied"][0] and "/<i>x.txt, 5 bytes" in found["copied"][1]
    assert "was removed" in found["removed"][0] and "x.txt" not in found["removed"][1]
    assert "the board has gone" in found["pulled"] and "the board has gone" in found["pulledLater"]


def test_what_goes_wrong_is_said_and_the_page_works_on(page, files):
    found, plan = page["wrong"], files[0].session.plan
    assert found["good.odt"]["figures"]["arena"] == plan.arena and found["good.odt"]["figures"]["state"] == plan.state
    assert found["good.odt"]["rows"][1][0] == found["markup"]["rows"][1][0] == "<img src=x onerror=injected=1>"
    assert found["<i>x</i>.odt"]["said"].startswith("<i>x</i>.odt: ")
    for name, words in {
        "cut.odt": "damaged", "text.odt": "model file", "none": "no odt.Sequential",
        "error": "no module named 'nothing'", "large": "MemoryError", "loop": "stopped after",
        "budget": "memory_budget 100: at least",
    }.items():  # fmt: skip
        assert words in found[name]["said"], (name, found[name]["said"])
    assert found.get("script") is None  # nothing of a name ran
    assert found["link"] == "1" and found["afterwards"]["figures"]["total RAM"] == 564


def test_boards_and_browsers_that_lack_something_are_named(page):
    found = page["without"]
    assert "the board says nothing for 5 s" in found["silent"]
    assert found["serial"][0] is True and "no Web Serial" in found["serial"][1]
    assert "this browser has no WebAssembly" in found["bare"] and found["early"] == 0  # no empty table without a plan


def test_axe_finds_nothing_in_either_theme_nor_does_a_telephone_scroll_sideways(page):
    access = page["access"]
    assert access["violations"] == []
    assert len(access["wide"]) == 8 and max(access["wide"]) <= 0
    assert access["chosen"] == ["tab-learn", False]
    assert access["frozen"] == [["frozen", "frozen", "1"], False, True]  # the hint is hidden where flash is ticked
    assert access["focus"] == ["conv2d", "frozen"]  # still there after the table was drawn again


def test_no_request_leaves_the_page_and_no_inline_script_runs(page, picos):
    for found in (page.found, picos.found):
        assert found["requests"] == ["own"] and found["errors"] == []
    policy = {words[0]: words[1:] for words in [part.split() for part in page["access"]["policy"].split(";")]}
    assert policy == POLICY
    text = (machines.BUILD / "page" / "index.html").read_text()
    assert re.findall(r"<script[^>]*>", text) == ['<script type="module" src="main.js">'] and "onclick" not in text
