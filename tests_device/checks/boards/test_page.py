"""make page: its planner's figures are summary()'s, it trains to the PC's digest, and its boards do.

In headless Chromium, by page.mjs; first without one, in Node. docs/howto/page.md has what it takes.
"""

import base64
import json
import re
import subprocess
import sys

import machines
import pages
import pytest
from sklearn.datasets import load_iris

import odt

EXAMPLES = machines.ROOT / "examples"
POLICY = {
    "default-src": ["'none'"], "script-src": ["'self'", "'wasm-unsafe-eval'"], "worker-src": ["'self'"],
    "connect-src": ["'self'"], "style-src": ["'self'", "'unsafe-inline'"], "img-src": ["'self'", "data:"],
    "base-uri": ["'none'"], "form-action": ["'none'"],
}  # fmt: skip
NODE = """
import { readFileSync } from 'node:fs';
const [root, build] = process.argv.slice(2);
const { start, unpack } = await import(`${root}/docs/page/src/runtime.js`);
const module = '@micropython/micropython-webassembly-pyscript/micropython.mjs';
const { loadMicroPython } = await import(`${build}/page_js/node_modules/${module}`);
const odt = await start({
  load: loadMicroPython,
  wasm: readFileSync(`${build}/page/odt.wasm`),
  files: unpack(readFileSync(`${build}/page/odt.pack`)),
  print: (text) => process.stdout.write(text),
});
odt.write('digits.bin', readFileSync(`${root}/examples/digits/digits.bin`));
odt.run(readFileSync(`${root}/examples/digits/train.py`, 'utf8'));
odt.run(readFileSync(`${root}/examples/xor/train.py`, 'utf8'));
"""


def drive(scenario, **options):
    """What a scenario of page.mjs found; no request left the page's origin, and the console had no error."""
    command = ["node", str(machines.ROOT / "tests_device" / "machines" / "page.mjs"), str(machines.BUILD), scenario]
    done = subprocess.run(command, input=json.dumps(options), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found.pop("requests") == ["own"]
    assert found.pop("errors") == []
    return found


def trained(example):
    """What an example prints on this interpreter."""
    path = EXAMPLES / example / "train.py"
    command = [sys.executable, path.name]
    done = subprocess.run(command, cwd=path.parent, stdout=subprocess.PIPE, text=True, timeout=120, check=True)
    return done.stdout


def digest(text):
    return re.search(r"digest ([0-9a-f]{8})", text)[1]


def test_odt_as_webassembly_trains_to_the_digests_of_the_pc(tmp_path):
    script = tmp_path / "go.mjs"
    script.write_text(NODE)
    command = ["node", str(script), str(machines.ROOT), str(machines.BUILD)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    expected = [digest(trained(example)) for example in ("digits", "xor")]
    assert re.findall(r"digest ([0-9a-f]{8})", done.stdout) == expected
    assert "with the native executor" in done.stdout


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
    assert figures == expected, found["code"]
    assert [row[0] for row in found["rows"]] == [row.split()[0] for row in rows]
    numbers = [row.rsplit(None, 4)[1:4] for row in rows]
    assert [[cell.replace(",", "") for cell in row[3:]] for row in found["rows"]] == numbers


def test_the_planner_has_the_figures_of_summary_for_examples_and_random_networks():
    requests = pages.requests(20)
    found = drive("plan", requests=requests)
    assert len(found["examples"]) == 9
    scripts = ["digits/train.py", "xor/train.py", "series/train.py", "vibration/train.py", "backbones/nets.py"]
    shown = "".join([each["code"] for each in found["examples"]])
    for name in scripts:  # layers as the examples have them
        for line in re.findall(r"^ +(odt\.(?:Conv|Dense|MaxPool)\w+\(.*\)),$", (EXAMPLES / name).read_text(), re.M):
            assert line in shown, (name, line)
    for each in found["examples"] + found["links"]:
        agrees(each)
    times = [(each["time"], pages.milliseconds(each["code"])) for each in found["examples"]]
    assert len([expected for _, expected in times if expected]) > 5
    for text, expected in times:
        assert text == "not estimated" if expected is None else abs(float(text.split()[0]) - expected) <= 0.51
    for request, each in zip(requests, found["links"]):
        held, rows = pages.frozen(each["code"])
        assert each["network"] == "own"
        assert held == {name for name, choice in request["choices"].items() if choice == "frozen"}
        parts = {name for name, choice in request["choices"].items() if choice in ("0.5", "0.25", "bias")}
        assert set(rows) <= parts
        assert all(rows.get(name) == () for name, choice in request["choices"].items() if choice == "bias")
        assert "%s" % request["options"]["learning_rate"] in each["code"]


def test_the_page_trains_to_the_digest_of_the_pc_and_is_taught_a_class():
    found = drive("learn", label="<b>me</b>")
    assert found["digest"] == digest(trained("digits"))
    assert sum(map(int, found["counts"])) == 500 and len(found["counts"]) == 100 and found["filters"] == 8
    assert "taught" not in found["before"]
    assert "11 classes" in found["learned"] and "<b>me</b>" in found["learned"]  # a name is text
    assert "The network that you taught says <b>me</b>" in found["after"] and found["bold"] == 0


def test_a_table_of_ones_own_trains_to_the_digest_of_the_pc(tmp_path):
    iris = load_iris()
    kinds = ["setosa", "<i>versicolor</i>", "virginica"]
    rows = [";".join([*map(str, x), kinds[y]]) for x, y in zip(iris.data, iris.target)]
    text = "\n".join(["sepal;width;petal;width;kind", *rows])
    tables = {
        "iris.csv": text, "one.csv": "1,2,a\n3,4,a\n5,6,a\n", "bad.csv": "1,2,a\n3,x,b\n5,6,a\n",
        "many.csv": "\n".join("1,2,%d" % i for i in range(99)), "empty.csv": "",
    }  # fmt: skip
    found = drive("tables", tables=tables, trained=["iris.csv"])
    assert "4 features, 3 classes (<i>versicolor</i>, setosa, virginica). 113 samples" in found["iris.csv"]["said"]
    assert "test samples" in found["iris.csv"]["learned"]
    assert found["iris.csv"]["names"] == ["<i>versicolor</i>", "setosa", "virginica"]
    assert found["iris.csv"]["markup"] == 0 and found["iris.csv"]["teach"]  # to draw is for digits
    for name, words in {
        "one.csv": "one.csv: its last column holds 1 class", "many.csv": "more than 32 values",
        "bad.csv": "bad.csv: line 2", "empty.csv": "empty.csv: its last column holds 0 class",
    }.items():  # fmt: skip
        assert words in found[name]["said"], (name, found[name]["said"])
    assert "of 500 test images" in found["digits"]
    (tmp_path / "iris.csv").write_text(text)
    table = pages.tables.read(str(tmp_path / "iris.csv"), "iris.csv")
    options = {"optimizer": "adam", "learning_rate": 0.004, "batch_size": 16, "dtype": "int8", "seed": 0}
    scope = {}
    exec(pages.planning.plan(pages.tables.described(table)["source"], {}, options)["script"], scope)
    scope["model"].fit(*table.train, epochs=8, verbose=0)
    assert found["iris.csv"]["digest"] == "%08x" % scope["model"].digest()
    accuracy = scope["model"].evaluate(*table.test)[1]
    assert accuracy >= 0.85 and "%.1f %% of 37 test samples" % (100 * accuracy) in found["iris.csv"]["learned"]


def test_a_virtual_pico_and_one_by_web_serial_end_with_the_bits_of_the_page():
    found = drive("boards")
    expected = digest(trained("xor"))
    for ready, ran in (("virtual", "ran"), ("serial", "ranBySerial")):
        assert "Raspberry Pi Pico with RP2040: connected" in found[ready]
        assert "digest on the page %s, on the board %s; the same bits" % (expected, expected) in found[ran]
    assert "cycles of the emulated chip" in found["ran"]
    assert found["baudRate"] == [115200, {"dataTerminalReady": True}]
    assert "the board has gone" in found["pulled"]
    assert "the board says nothing for 5 s" in found["silent"]
    assert found["without"][0] is True and "no Web Serial" in found["without"][1]


def test_the_page_installs_odt_on_a_stock_pico():
    found = drive("installs", stock=str(machines.BUILD / "stock_rp2040" / "firmware.uf2"))
    expected = digest(trained("xor"))
    assert "no module named 'odt': install odt first" in found["without"]
    assert re.search(
        r"15 files copied, 0 were there. Self-test passed .*; \d{5,} bytes of heap left", found["installed"]
    )
    assert "digest on the page %s, on the board %s; the same bits" % (expected, expected) in found["ran"]
    assert "0 files copied, 15 were there. Self-test passed" in found["again"]
    assert "is in the board's firmware: nothing to install" in found["frozen"]
    assert "the board has gone" in found["pulled"]
    assert re.search(r"/lib/_odt.mpy came damaged: CRC-32 \d+, expected \d+", found["damaged"])


def test_what_goes_wrong_is_said_and_the_page_works_on(tmp_path):
    model = odt.Sequential([odt.Input((4,)), odt.Dense(2, name="<img src=x onerror=injected=1>")])
    model.compile(odt.SGD(0.1), batch_size=2)
    model.export(str(tmp_path / "good.odt"))
    good = (tmp_path / "good.odt").read_bytes()
    files = {"good.odt": good, "cut.odt": good[:-9], "text.odt": b"no model", "<i>x</i>.odt": good}
    dense = "model = odt.Sequential([odt.Input((4,)), odt.Dense(2)])"
    scripts = {
        "none": "x = 1", "error": "import nothing", "large": dense.replace("4,", "20000,").replace("2)]", "20000)]"),
        "loop": "while True:\n    pass", "markup": dense.replace("2)]", "2, name='<img src=x onerror=injected=1>')]"),
    }  # fmt: skip
    options = {"optimizer": "sgd", "learning_rate": 0.1, "batch_size": 2}
    found = drive(
        "wrong", options=options, scripts=scripts,
        files={name: base64.b64encode(data).decode() for name, data in files.items()},
    )  # fmt: skip
    plan = model.session.plan
    assert found["good.odt"]["figures"]["arena"] == plan.arena and found["good.odt"]["figures"]["state"] == plan.state
    assert found["good.odt"]["rows"][1][0] == found["markup"]["rows"][1][0] == "<img src=x onerror=injected=1>"
    assert found["<i>x</i>.odt"]["said"].startswith("<i>x</i>.odt: ")
    for name, words in {
        "cut.odt": "damaged", "text.odt": "model file", "none": "no odt.Sequential",
        "error": "no module named 'nothing'", "large": "MemoryError", "loop": "stopped after",
    }.items():  # fmt: skip
        assert words in found[name]["said"], (name, found[name]["said"])
    assert found.get("script") is None  # nothing of a name ran
    assert found["afterwards"]["figures"]["total RAM"] == 564


@pytest.fixture(scope="module")
def access():
    return drive("access")


def test_axe_finds_nothing_in_either_theme_nor_does_a_telephone_scroll_sideways(access):
    assert access["violations"] == []
    assert len(access["wide"]) == 6 and max(access["wide"]) <= 0
    assert access["chosen"] == ["tab-learn", False]
    assert access["focus"] == ["conv2d", "frozen"]  # still there after the table was drawn again


def test_the_policy_lets_no_inline_script_run_and_nothing_else_be_asked(access):
    policy = {words[0]: words[1:] for words in [part.split() for part in access["policy"].split(";")]}
    assert policy == POLICY
    text = (machines.BUILD / "page" / "index.html").read_text()
    assert re.findall(r"<script[^>]*>", text) == ['<script type="module" src="main.js">'] and "onclick" not in text
