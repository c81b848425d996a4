"""A fleet by `flwr run`: the apps of Flower, whose SuperNodes are PCs with several boards each.

    from odt.host.fleet.flower_app import client, server      # the app's file; its pyproject.toml names both

A host serves its boards by `odt fleet node.py .. --listen 7000`, and starts flower-supernode with --node-config
`script="/home/me/node.py" nodes="tcp://127.0.0.1:7000 tcp://127.0.0.1:7001"`. The run's config has `script` and
`hosts`, and may have `rounds`, `form`, `share`, `momentum`, `combine`, and `strategy`: a name of Flower's, which sees
each host as one client with float32 weights. Without it the sum is that of a Fleet, over all boards, and has its
digest. Flower starts a process for each message; what a node knows stays on the node.
"""

from pathlib import Path

import flwr.serverapp.strategy as strategies
import numpy
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp

from ..text import say
from .command import accuracy, address, served
from .flower import integers, weights
from .links import Socket
from .rounds import Fleet
from .sums import mean

client = ClientApp()
server = ServerApp()
_FORM = {"form": "int8", "share": 0.1, "momentum": 0.0}  # of a Fleet


def _compiled(script):
    """The Node of a script, as the PC's: its number is that of the nodes."""
    return served(Path(script), 2, 2)


def _hosted(message, context):
    """(a Fleet over this host's nodes, whether the model came as integers); the Fleet has that model."""
    config, own = context.node_config, _compiled(context.node_config["script"])
    options = message.content.config_records.get("config", {})
    form = {name: options.get(name, value) for name, value in _FORM.items()}
    links = [Socket(*address(each)) for each in str(config["nodes"]).split()]
    fleet = Fleet(own.model, links, personal=own.shared.personal, timeout=float(config.get("timeout", 600)), **form)
    arrays = message.content["arrays"].to_numpy_ndarrays()
    fleet.take(integers(numpy.concatenate([each.ravel() for each in arrays])))
    fleet.number = int(options["server-round"]) - 1
    return fleet, arrays[0].dtype == numpy.int32


def _close(fleet):
    for remote in fleet.remotes:
        remote.link.close()  # the node goes on


@client.train()
def train(message: Message, context: Context) -> Message:
    """The updates of this host's nodes, or, of float32 weights, what their mean makes of these."""
    fleet, whole = _hosted(message, context)
    try:
        found = [each for each in fleet.train().values() if each[1] is not None]
        whys = [part.why for part in fleet.journal[fleet.number].values() if part.why]
    finally:
        _close(fleet)
    if not found:
        raise RuntimeError("; ".join(whys))
    samples, losses = [part.samples for part, _ in found], [float(part.loss) for part, _ in found]
    loss = sum([own * count for own, count in zip(losses, samples)]) / sum(samples)
    content = {"metrics": MetricRecord({"num-examples": sum(samples), "loss": loss})}
    if whole:
        content["arrays"] = ArrayRecord([numpy.array(update, "int32") for _, update in found])
        content["nodes"] = ConfigRecord({"samples": samples, "whys": whys})
    else:
        fleet.combine = mean
        fleet.apply([update for _, update in found], samples)
        content["arrays"] = weights(fleet)
    return Message(RecordDict(content), reply_to=message)


@client.evaluate()
def evaluate(message: Message, context: Context) -> Message:
    """Loss and accuracy of the model on the nodes' own data, a mean over this host's nodes."""
    fleet, _ = _hosted(message, context)
    rows = []
    try:
        for remote in fleet.remotes:
            remote.hello(fleet.timeout)
            remote.send(fleet.number + 2, fleet.weights, fleet.timeout)
            rows.append((remote.about.samples, *remote.evaluate(fleet.weights, fleet.timeout)))
    finally:
        _close(fleet)
    count = sum([row[0] for row in rows])
    loss, right = [sum([row[0] * row[at] for row in rows]) / count for at in (1, 2)]
    metrics = MetricRecord({"num-examples": count, "loss": loss, "accuracy": right})
    return Message(RecordDict({"metrics": metrics}), reply_to=message)


class Hosts(strategies.FedAvg):
    """The sum of a Fleet over the nodes of all hosts: the same integers, in whatever order hosts reply."""

    def __init__(self, fleet, **options):
        super().__init__(fraction_evaluate=0.0, **options)
        self.fleet = fleet

    def summary(self):
        """Nothing more is logged than the strategy's name."""

    def aggregate_train(self, server_round, replies):
        valid, updates, samples = [], [], []
        for reply in replies:
            if reply.has_error():
                why = server_round, reply.metadata.src_node_id, reply.error.reason
                say("odt: round %d: host %d: %s" % why, flush=True)
                continue
            valid.append(reply)
            updates += [each.tolist() for each in reply.content["arrays"].to_numpy_ndarrays()]
            samples += reply.content["nodes"]["samples"]
            for why in reply.content["nodes"]["whys"]:
                say("odt: round %d: %s" % (server_round, why), flush=True)
        if not updates:
            return None, None
        self.fleet.apply(updates, samples)
        metrics = self.train_metrics_aggr_fn([reply.content for reply in valid], self.weighted_by_key)
        return weights(self.fleet, "int32"), metrics


@server.main()
def main(grid: Grid, context: Context) -> None:
    """All rounds; prints the accuracy of each, and the digest."""
    config = context.run_config
    own = _compiled(config["script"])
    fleet = Fleet(own.model, [], combine=config.get("combine", "mean"), personal=own.shared.personal)
    hosts = int(config["hosts"])
    least = {"min_available_nodes": hosts, "min_train_nodes": hosts}
    name = config.get("strategy", "")
    strategy = getattr(strategies, name)(**least, min_evaluate_nodes=hosts) if name else Hosts(fleet, **least)

    def evaluated(number, arrays):
        flat = numpy.concatenate([each.ravel() for each in arrays.to_numpy_ndarrays()])
        fleet.take(integers(flat))
        right = accuracy(fleet, own)
        say("round %d: accuracy %.4f, digest %08x" % (number, right, fleet.digest()), flush=True)
        return MetricRecord({"accuracy": right})

    strategy.start(
        grid, weights(fleet, "float32" if name else "int32"), int(config.get("rounds", 20)),
        train_config=ConfigRecord({name: config.get(name, value) for name, value in _FORM.items()}),
        evaluate_fn=evaluated,
    )  # fmt: skip
    say("digest %08x" % fleet.digest(), flush=True)
