"""Nodes of a fleet as nodes of Flower: the digests of odt's own rounds, and what Flower does not document.

Flower runs in build/venv-flower, which make test sets up: it wants other versions of packages than the tests have.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from checkout import ROOT
import supernodes
from fleet_node import network, node, samples

from odt.base import executor
from odt.host.fleet import Fleet, Twin

SCRIPT = ROOT / "tests_host" / "helpers" / "fleet_node.py"
PUBLIC = {"flwr.app", "flwr.clientapp", "flwr.serverapp", "flwr.serverapp.strategy"}
PYTHON = ROOT / "build" / "venv-flower" / "bin" / "python"


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A folder with the kernels that the tests have, and nothing else of their packages."""
    folder = tmp_path_factory.mktemp("kernels")
    if executor.backend == "native":
        import _odt

        (folder / Path(_odt.__file__).name).symlink_to(_odt.__file__)
    return folder


def run(kernels, *words):
    """The last line that a script prints, by the Python that has Flower."""
    assert PYTHON.exists(), "make venv installs Flower into build/venv-flower"
    env = {key: value for key, value in os.environ.items() if not key.startswith(("FLWR_", "PYTHONPATH"))}
    env["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(kernels)))
    done = subprocess.run([str(PYTHON), *words], capture_output=True, text=True, env=env, cwd=ROOT)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def found(kernels):
    return json.loads(run(kernels, str(ROOT / "tests_host" / "helpers" / "flower_runs.py")))


def test_the_example_of_the_page_ends_with_two_equal_digests(kernels):
    page = (ROOT / "docs" / "howto" / "fleet.md").read_text()
    script = re.search(r"test_flower.py -->\n\n```py\n(.*?)^```$", page, re.M | re.S)[1]
    first, second = re.fullmatch(r"digests (\w{8}) (\w{8})", run(kernels, "-c", script)).groups()
    assert first == second


def fleet(**options):
    return Fleet(network(), [Twin(node(number)) for number in range(4)], **options)


def digests(fleet, rounds):
    return [fleet.run_round().digest for _ in range(rounds)]


def test_a_fleets_own_sums_have_one_digest_in_flower_and_without(found):
    assert found["integers"] == digests(fleet(), 3) and len(set(found["integers"])) == 3
    assert found["integers, top, median"] == digests(fleet(form="top", share=0.2, combine="median"), 3)
    assert found["integers, masked"] == digests(fleet(form="whole"), 3)


def test_evaluation_is_that_of_the_nodes(found):
    own = fleet()
    digests(own, 3)
    for remote in own.remotes:
        remote.send(4, own.weights, 5)
    losses, accuracies = zip(*[remote.evaluate(own.weights, 5) for remote in own.remotes])
    assert found["metrics"] == pytest.approx([np.mean(losses), np.mean(accuracies)], rel=1e-6)


def median(fleet):
    """FedMedian of Yin et al. (2018), by NumPy, of float32 weights."""

    def combine(updates, samples):
        base = np.array(fleet.weights, "int64")
        models = (np.array(updates) + base) / 2**20
        whole = np.median(models.astype("float32"), axis=0).astype("float32")
        return (np.rint(whole.astype("float64") * 2**20).astype("int64") - base).tolist()

    return combine


def test_a_strategy_of_flowers_sees_the_weights_as_float32(found):
    own = fleet()
    own.combine = median(own)
    assert found["strategies"]["FedMedian"] == digests(own, 2)


def test_every_strategy_of_flowers_runs_and_changes_the_model(found):
    for name, after in found["strategies"].items():
        assert len({fleet().digest(), *after}) == 3, name
    assert len({tuple(found["strategies"][name]) for name in ("FedAdam", "FedAdagrad", "FedYogi", "Krum")}) == 4


def test_a_node_that_fails_is_an_error_and_replies_come_by_number(found):
    assert found["replies"] == [[1, ""], [2, ""], [4, "node 3: no answer in 0.2 seconds"]]


def test_what_nodes_cannot_do_is_refused_and_changes_nothing(found):
    assert found["refused"] == [
        "config: a node knows nothing of lr = 0.1", "config: a node knows nothing of proximal-mu = 0.5",
        "messages are of type train or evaluate, all of one, got query", "messages of one round have one model",
        "arrays are float32 or int32, of [36, 4, 64, 4] numbers, got float32 of [36, 64, 4]",
    ]  # fmt: skip
    assert found["masked floats"].startswith("masked updates are integers") and found["unchanged"]


def test_what_flower_does_not_document_is_where_it_was_and_in_one_file(found):
    assert found["telemetry"] == "0"
    assert found["named"]
    using = [path.name for path in (ROOT / "odt").rglob("*.py") if "flwr" in path.read_text()]
    assert sorted(using) == ["flower.py", "flower_app.py"]
    app = (ROOT / "odt" / "host" / "fleet" / "flower_app.py").read_text()
    names = re.findall(r"^from (flwr\S*)|^import (flwr\S*)", app, re.M)
    assert {first or second for first, second in names} == PUBLIC
    assert not re.search(r"\w\._[a-z]|import _", app)


@pytest.mark.slow
def test_flwr_run_over_two_hosts_ends_with_the_digest_of_a_fleet(kernels):
    """A SuperLink, two SuperNodes, and their two nodes each: twins, and one process."""
    hosts = ("--twins", 2), ("--twins", 1, "--processes", 1)
    text = supernodes.run(kernels, SCRIPT, hosts, 4, rounds=2)
    wanted = ["%08x" % digest for digest in digests(fleet(), 2)]
    assert re.findall(r"round [12]: accuracy 0\.\d+, digest (\w{8})\n", text) == wanted
    assert "\ndigest %s\n" % wanted[1] in text


@pytest.mark.slow
def test_flwr_run_takes_a_strategy_of_flowers_for_which_hosts_are_clients(kernels):
    """FedAvg in NumPy: of each host the mean of its nodes, of these the mean by their samples."""
    text = supernodes.run(
        kernels, SCRIPT, [("--twins", 2), ("--twins", 1)], 3, rounds=1, strategy="FedAvg", form="whole"
    )
    own, updates = fleet(), []
    for number in range(3):
        alone = Fleet(network(), [Twin(node(number))], "whole")
        alone.run_round()
        updates.append(np.array(alone.weights, "int64") - np.array(own.weights))
    host = (np.array(own.weights) + np.floor((updates[0] + updates[1]) / 2 + 0.5)).astype("float32") / 2**20
    other = (np.array(own.weights) + updates[2]).astype("float32") / 2**20
    own.take(np.rint((2 * host.astype("float64") + other) / 3 * 2**20).astype("int64").tolist())
    own.model.calibrate(node(2).x)
    right = float(re.search(r"round 1: accuracy ([\d.]+)", text)[1])
    assert right == pytest.approx(own.model.evaluate(*samples(2))[1], abs=2 / 64)
