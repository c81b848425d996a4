"""What test_flower.py asks of Flower, by the Python that has it: prints one line of JSON."""

import json
import logging
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[2])]

from fleet_node import network, node, samples

from odt.fleet import Node
from odt.host.fleet import Fleet, Twin
from odt.host.fleet.flower import Boards, Integers, _named, weights

import flwr.serverapp.strategy as strategies  # isort: skip
from flwr.app import ConfigRecord, Message, RecordDict  # isort: skip
from flwr.supercore import telemetry  # isort: skip

logging.getLogger("flwr").setLevel(logging.CRITICAL)
NODES, ROUNDS = 4, 3
OTHERS = {
    "FedAvg": {}, "FedAvgM": {}, "FedAdam": {"eta": 0.01}, "FedAdagrad": {"eta": 0.01}, "FedYogi": {"eta": 0.01},
    "FedMedian": {}, "FedTrimmedAvg": {}, "Krum": {}, "MultiKrum": {"num_nodes_to_select": 3}, "Bulyan": {},
    "FedProx": {"proximal_mu": 0.0},
}  # fmt: skip


class Failing(Twin):
    """A node whose answers are lost."""

    def read(self, timeout):
        return b""


def fleet(links=None, **options):
    return Fleet(network(), links or [Twin(node(number)) for number in range(NODES)], timeout=0.2, **options)


def digests(fleet, strategy, dtype, rounds=ROUNDS):
    """Of the model after each round, and the result's metrics."""
    found = []
    result = strategy.start(
        Boards(fleet), weights(fleet, dtype), rounds, evaluate_fn=lambda number, arrays: found.append(arrays)
    )
    after = []
    for arrays in found[1:]:
        Boards(fleet)._evaluated({}, *Boards(fleet)._read([message(arrays)])[1:])
        after.append(fleet.digest())
    return after, result


def message(arrays, kind="train", **config):
    return Message(RecordDict({"arrays": arrays, "config": ConfigRecord(config)}), 1, kind)


def refused(call, *given):
    try:
        call(*given)
    except ValueError as error:
        return str(error)


def main():
    found = {"telemetry": telemetry.FLWR_TELEMETRY_ENABLED}
    own = fleet()
    found["integers"], result = digests(own, Integers(own), "int32")
    found["metrics"] = [result.evaluate_metrics_clientapp[ROUNDS][key] for key in ("loss", "accuracy")]
    own = fleet(form="top", share=0.2, combine="median")
    found["integers, top, median"] = digests(own, Integers(own, fraction_evaluate=0.0), "int32")[0]
    own = fleet([Twin(Node(network(), *samples(n), name="corner %d" % n, secret=True)) for n in range(NODES)],
                form="whole", secret=True)  # fmt: skip
    found["integers, masked"] = digests(own, Integers(own), "int32")[0]
    found["masked floats"] = refused(Boards(own).send_and_receive, [message(weights(own))])
    found["strategies"] = {
        name: digests(fleet(), getattr(strategies, name)(**options), "float32", 2)[0]
        for name, options in OTHERS.items()
    }  # fmt: skip
    own = fleet([*[Twin(node(number)) for number in range(3)], Failing(node(3))])
    replies = Boards(own).send_and_receive([Boards(own).create_message(message(weights(own)).content, "train", n)
                                            for n in (4, 2, 1)], timeout=0.2)  # fmt: skip
    found["replies"] = [
        (reply.metadata.src_node_id, reply.error.reason if reply.has_error() else "") for reply in replies
    ]
    own = fleet()
    grid, before = Boards(own), own.digest()
    found["refused"] = [
        refused(grid.send_and_receive, [message(weights(own), **{"lr": 0.1})]),
        refused(grid.send_and_receive, [message(weights(own), **{"proximal-mu": 0.5})]),
        refused(grid.send_and_receive, [message(weights(own), "query")]),
        refused(grid.send_and_receive, [message(weights(own)), message(weights(own, "int32"))]),
    ]
    arrays = weights(own)
    del arrays["1"]
    found["refused"].append(refused(grid.send_and_receive, [message(arrays)]))
    found["unchanged"] = own.digest() == before and own.number == 0
    named = message(weights(own))
    found["named"] = _named(named) == named.metadata.message_id != ""
    print(json.dumps(found))


if __name__ == "__main__":
    main()
