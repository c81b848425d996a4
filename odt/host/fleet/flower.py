"""The nodes of a Fleet as nodes of Flower: its strategies run over boards, processes and twins.

    from flwr.serverapp.strategy import FedMedian
    from odt.host.fleet.flower import Boards, weights

    fleet = Fleet(model, links)
    FedMedian().start(grid=Boards(fleet), initial_arrays=weights(fleet), num_rounds=20)

A strategy of Flower's sees float32 arrays. ``Integers`` is a strategy that sums integers as a Fleet does: its rounds
have the digests of ``fleet.run_round()``. Flower's telemetry is off, unless its environment variable says otherwise.
What Flower does not document, and this file uses, is in _unlike_a_run(), _named() and nowhere else.
"""

import os
import uuid

os.environ.setdefault("FLWR_TELEMETRY_ENABLED", "0")

try:
    import numpy
    from flwr.app import Array, ArrayRecord, Error, Message, MetricRecord, RecordDict
    from flwr.serverapp import Grid
    from flwr.serverapp.strategy import FedAvg
    from flwr.supercore.task_identity import TaskIdentity  # private
except ImportError as error:
    raise ImportError("%s: pip install '.[flower]', in an environment of its own" % error) from None

from ...fleet.shared import LIMIT, POINT
from .remote import FleetError

_FAILED, _UNAVAILABLE = 2, 5  # of Flower's error codes: the app raised, the node does not answer
_TAKEN = {"server-round": None, "proximal-mu": 0}  # of a config: what it may be, None for anything


def weights(fleet, dtype="float32"):
    """The fleet's model as Flower's ArrayRecord: one flat array per shared array; "int32": in units of 2^-20."""
    return _record(numpy.array(fleet.weights, "int64"), fleet.shared.sizes, dtype)


class Boards(Grid):
    """A Grid without a SuperLink: a message to node k asks link k - 1 of a Fleet.

    A train message has the model, float32 or int32, and its reply what the node makes of it; the reply to int32 is the
    update alone. An evaluate message has a model; its reply has loss and accuracy on the node's validation data. A node
    that fails replies with an error. ValueError for messages of another type, for a config of which nodes know nothing,
    and for float32 arrays with ``secret``: masked updates are integers.
    """

    def __init__(self, fleet):
        self.fleet = fleet
        self._run = None
        self._replies = {}
        _unlike_a_run()

    def set_run(self, run):
        self._run = run

    @property
    def run(self):
        return self._run

    def create_message(self, content, message_type, dst_node_id, group_id="", ttl=None):
        return Message(content, dst_node_id, message_type, group_id=group_id, ttl=ttl)

    def get_node_ids(self):
        return list(range(1, len(self.fleet.remotes) + 1))

    def push_messages(self, messages):
        messages = list(messages)
        names = [_named(message) for message in messages]
        self._replies.update(zip(names, self._answers(messages)))
        return names

    def pull_messages(self, message_ids):
        return [self._replies.pop(name) for name in message_ids if name in self._replies]

    def send_and_receive(self, messages, *, timeout=None):
        """Replies, in the order of the nodes' numbers: a float's sum is then the same each time."""
        if timeout is not None:
            self.fleet.timeout = timeout
        replies = self.pull_messages(self.push_messages(messages))
        return sorted(replies, key=lambda reply: reply.metadata.src_node_id)

    def _answers(self, messages):
        """The replies to messages of one model."""
        if not messages:
            return []
        kind, model, dtype = self._read(messages)
        places = [message.metadata.dst_node_id - 1 for message in messages]
        return (self._trained if kind == "train" else self._evaluated)(dict(zip(places, messages)), model, dtype)

    def _read(self, messages):
        """(type, weights as integers, dtype) of messages, which agree in them."""
        kinds = {message.metadata.message_type for message in messages}
        if len(kinds) > 1 or not kinds <= {"train", "evaluate"}:
            raise ValueError("messages are of type train or evaluate, all of one, got %s" % ", ".join(sorted(kinds)))
        for message in messages:
            for config in message.content.config_records.values():
                for key, value in config.items():
                    if key not in _TAKEN or _TAKEN[key] not in (None, value):
                        raise ValueError("config: a node knows nothing of %s = %r" % (key, value))
        found = {id(record): record for message in messages for record in message.content.array_records.values()}
        records = [record.to_numpy_ndarrays() for record in found.values()]
        arrays = records[0] if records else []
        for other in records[1:]:
            if len(other) != len(arrays) or any(not numpy.array_equal(*pair) for pair in zip(arrays, other)):
                raise ValueError("messages of one round have one model")
        dtypes = {str(each.dtype) for each in arrays}
        sizes = [each.size for each in arrays]
        if sizes != list(self.fleet.shared.sizes) or len(dtypes) > 1 or not dtypes <= {"float32", "float64", "int32"}:
            raise ValueError(
                "arrays are float32 or int32, of %s numbers, got %s of %s"
                % (list(self.fleet.shared.sizes), ", ".join(sorted(dtypes)), sizes)
            )
        dtype = "int32" if dtypes == {"int32"} else "float32"
        return kinds.pop(), integers(numpy.concatenate([each.ravel() for each in arrays])), dtype

    def _trained(self, messages, model, dtype):
        fleet = self.fleet
        if fleet.secret and dtype != "int32":
            raise ValueError("masked updates are integers: the strategy is Integers, on weights(fleet, 'int32')")
        fleet.take(model)
        try:
            found = fleet.train(list(messages))
        except FleetError as error:  # masks do not cancel
            return [Message(Error(_FAILED, str(error)), reply_to=message) for message in messages.values()]
        replies = []
        for place, message in messages.items():
            part, update = found[place]
            if update is None:
                replies.append(Message(Error(_UNAVAILABLE, part.why), reply_to=message))
                continue
            update = numpy.array(update, "int64")
            if dtype != "int32":
                update += numpy.array(fleet.weights)
            metrics = MetricRecord({"num-examples": part.samples, "loss": part.loss})
            content = {"arrays": _record(update, fleet.shared.sizes, dtype), "metrics": metrics}
            replies.append(Message(RecordDict(content), reply_to=message))
        return replies

    def _evaluated(self, messages, model, dtype):
        fleet, replies = self.fleet, []
        fleet.take(model)
        for place, message in messages.items():
            remote = fleet.remotes[place]
            try:
                remote.send(fleet.number + 1, fleet.weights, fleet.timeout)
                loss, accuracy = remote.evaluate(fleet.weights, fleet.timeout)
            except FleetError as error:
                replies.append(Message(Error(_UNAVAILABLE, str(error)), reply_to=message))
                continue
            samples = remote.about.samples if remote.about else 1
            metrics = MetricRecord({"num-examples": samples, "loss": loss, "accuracy": accuracy})
            replies.append(Message(RecordDict({"metrics": metrics}), reply_to=message))
        return replies


class Integers(FedAvg):
    """FedAvg, or whatever sum the Fleet has, in integers: the model is the same in whatever order replies come.

    It starts from ``weights(fleet, "int32")``. Other arguments are FedAvg's.
    """

    def __init__(self, fleet, **options):
        super().__init__(**options)
        self.fleet = fleet

    def summary(self):
        """Nothing more is logged than the strategy's name."""

    def aggregate_train(self, server_round, replies):
        valid, _ = self._check_and_log_replies(replies, is_train=True)
        if not valid:
            return None, None
        fleet = self.fleet
        updates = [numpy.concatenate(reply.content["arrays"].to_numpy_ndarrays()).tolist() for reply in valid]
        fleet.apply(updates, [int(reply.content["metrics"]["num-examples"]) for reply in valid])
        metrics = self.train_metrics_aggr_fn([reply.content for reply in valid], self.weighted_by_key)
        return weights(fleet, "int32"), metrics


def integers(values):
    """A list of integers in units of 2^-20, of these or of floats."""
    if values.dtype == numpy.int32:
        return values.tolist()
    values = values.astype("float64") * (1 << POINT)
    if not numpy.isfinite(values).all():
        raise ValueError("the model has a weight that is no number: the strategy has diverged")
    return numpy.rint(numpy.clip(values, -LIMIT, LIMIT)).astype("int64").tolist()


def _record(values, sizes, dtype):
    if dtype == "float32":
        values = values / (1 << POINT)
    values = values.astype(dtype)
    places = numpy.cumsum([0, *sizes])
    return ArrayRecord({
        str(number): Array(numpy.ascontiguousarray(values[places[number] : places[number + 1]]))
        for number in range(len(sizes))
    })  # fmt: skip


def _unlike_a_run():
    """Message() refuses outside of a run; this process is none."""
    for name in ("run_id", "task_id", "node_id"):
        if getattr(TaskIdentity, "_" + name) is None:
            setattr(TaskIdentity, name, 1)


def _named(message):
    """Give a message its id, as a SuperLink does; returns it."""
    name = str(uuid.uuid4())
    message.metadata.__dict__["_message_id"] = name
    return name
