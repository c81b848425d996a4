"""The pages docs/howto/add_.., done: the blocks of all of them go into one copy of the tree, which is built, and their
tests pass. No page takes more files than its kind of thing may.
"""

import os
import re
import shutil
import subprocess
import sys
import sysconfig

import pytest
from checkout import ROOT

from odt.host import traits

HOWTO = ROOT / "docs" / "howto"
BLOCK = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.M | re.S)
# Files of each page, without its test and what `make generate` writes.
MOST = {
    "a_layer": 6, "an_optimizer": 4, "an_online_learner": 4, "a_feature": 6, "an_importer": 4, "a_machine": 1,
    "an_example": 1,
}  # fmt: skip
BEFORE = {  # what follows the family's section of the table, and the first row of entry points
    "a_layer": "    # norm: ", "an_optimizer": "    # dynamic: ", "a_feature": "    X(log_mel, ",
}  # fmt: skip


def blocks(page):
    return BLOCK.findall((HOWTO / ("add_%s.md" % page)).read_text())


@pytest.mark.parametrize("page", MOST)
def test_a_thing_takes_few_files(page):
    files = {name for name, _ in blocks(page) if not name.startswith("tests_host/")}
    assert 1 <= len(files) <= MOST[page], files


def test_each_page_that_adds_a_thing_is_counted():
    assert {file.stem for file in HOWTO.glob("add_*.md")} == {"add_" + page for page in MOST}


class Tree:
    """A copy of what the pages change and what their tests need."""

    def __init__(self, path):
        self.path = path
        for name in ("odt", "native", "docs", "boards"):
            shutil.copytree(ROOT / name, path / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "examples" / "xor", path / "examples" / "xor")
        device = ["tests_device/machines/%s.py" % name for name in ("machines", "example_runs")]
        for name in ("pyproject.toml", "Makefile", "tests_host/helpers/checkout.py", *device):
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, path / name)

    def follow(self, page, first):
        """Put the page's blocks in; its instructions get the numbers from ``first`` on. Returns how many it has."""
        count = 0
        for name, text in blocks(page):
            file = self.path / name
            file.parent.mkdir(parents=True, exist_ok=True)
            before = file.read_text() if file.exists() else ""
            if name in ("odt/base/opcodes.py", "native/bindings/entry_points.h"):  # inside, not at the end
                count = len(re.findall(r'b"90\d ', text))
                text = re.sub(r'b"90(\d) ', lambda match: 'b"%d ' % (first - 1 + int(match[1])), text)
                after = before.replace(BEFORE[page], text + BEFORE[page], 1)
            else:
                after = before + ("\n\n" if before else "") + text
            assert after != before
            file.write_text(after)
        return count

    def run(self, *command, cwd=None):
        folders = [str(self.path / name) for name in ("", "tests_host/helpers", "tests_device/machines")]
        done = subprocess.run(
            command, cwd=cwd or self.path, env=dict(os.environ, PYTHONPATH=os.pathsep.join(folders)), text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout
        return done.stdout

    def build(self):
        """The extension, beside the package."""
        self.run(sys.executable, "-B", "-m", "odt.host.generate")
        sources = [
            *[path for path in self.path.glob("native/**/*.c") if path.parent.name != "bindings"],
            self.path / "native/bindings/cpython.c",
        ]
        flags = ["-O0", "-std=c99", "-ffp-contract=off", "-fwrapv", "-Wall", "-Werror", "-fPIC", "-shared"]
        module = self.path / ("_odt" + sysconfig.get_config_var("EXT_SUFFIX"))
        include = "-I", self.path / "native", "-I", sysconfig.get_path("include")
        self.run("cc", *flags, *include, *sources, "-o", module)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    tree = Tree(tmp_path_factory.mktemp("pages") / "tree")
    first = len(traits.LINES) + 1
    for page in MOST:
        first += tree.follow(page, first)
    tree.build()
    return tree


@pytest.mark.slow
def test_layer_optimizer_learner_feature_and_importer_pass_their_tests(tree):
    tests = sorted(name for page in MOST for name, _ in blocks(page) if name.startswith("tests_host/"))
    assert len(tests) == 5
    tree.run(sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests)
    tree.run(sys.executable, "-B", "-m", "odt.host.generate", "--check")


@pytest.mark.slow
def test_what_is_added_costs_no_board_ram_until_it_is_named(tree):
    code = (
        "import sys, odt, odt.online, odt.sensors\n"
        "names = ['odt.layers.activations', 'odt.optimizers.signs', 'odt.online.ewma', 'odt.sensors.features.lines']\n"
        "print([name for name in names if name in sys.modules])\n"
        "odt.Abs, odt.Signum, odt.online.EWMA, odt.sensors.LineLength\n"
        "print([name for name in names if name not in sys.modules])\n"
    )
    assert tree.run(sys.executable, "-B", "-c", code).split("\n")[:2] == ["[]", "[]"]


@pytest.mark.slow
def test_the_board_is_built_by_make_and_opened_by_the_tests(tree):
    rules = subprocess.run(
        ["make", "-pn", "qemu"], cwd=tree.path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ).stdout
    assert "build/qemu_m7soft/firmware.elf" in re.search(r"^qemu: (.*)$", rules, re.M)[1]
    code = "import machines as m; print('qemu_m7soft' in m.NAMES and m.QEMU, m.BOARDS['qemu_m7soft'].qemu_machine)"
    found = tree.run(sys.executable, "-B", "-c", code)
    assert "'qemu_m7soft'" in found and found.split()[-1] == "mps2-an500"


@pytest.mark.slow
def test_the_example_runs_and_is_among_those_of_the_machines(tree):
    text = tree.run(sys.executable, "-B", "train.py", cwd=tree.path / "examples" / "sine")
    assert float(re.search(r"^loss ([\d.]+), digest [0-9a-f]{8}$", text, re.M)[1]) < 0.01
    assert "executor: native" in text
    code = "from example_runs import RUNS; print(RUNS['sine'], 'xor' in RUNS)"
    found = tree.run(sys.executable, "-B", "-c", code)
    assert found == "('train.py', (), {}) False\n"
