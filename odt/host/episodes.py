"""Networks that tell new classes by a few samples of each: episodic training in PyTorch, and the board's file of what
it gives.

    episodes.train(net, x, y, ways=20, shots=5)             # prototypical networks (Snell et al., 2017)
    model = episodes.backbone(net, x[:200], "front.odt") # on the board:
    Prototypes(Latents(odt.load_model("front.odt")))

Each episode draws classes, some samples of each that are the support, whose means are the prototypes, and others, the
queries, which are to be nearest to their own. ``net`` maps samples to embeddings, (n, features). Needs PyTorch and
NumPy.
"""

import numpy as np

_METRICS = ("euclidean", "cosine")


def train(net, x, y, ways=5, shots=5, queries=5, episodes=1000, rate=0.001, metric="euclidean", augment=None, seed=0):
    """Train ``net`` in place; returns the loss of each episode.

    ``x``: (samples, *shape) as net takes them, ``y``: their classes. The loss is the cross-entropy of -|f(x) - mean|^2,
    or of 10 times the cosine. Adam, its rate halved four times. ``augment``: a function of an episode's samples.
    ValueError where classes or samples lack.
    """
    import torch

    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    x = torch.as_tensor(np.asarray(x))
    classes = _classes(y, ways, shots + queries)
    steer = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.StepLR(steer, max(1, episodes // 5), 0.5)
    losses = []
    net.train()
    for _ in range(episodes):
        rows = _draw(classes, ways, shots + queries, rng)
        samples = x[torch.as_tensor(rows.ravel())]
        logits = _logits(net(augment(samples) if augment else samples), ways, shots, metric)
        loss = torch.nn.functional.cross_entropy(logits, torch.arange(ways).repeat_interleave(queries))
        steer.zero_grad()
        loss.backward()
        steer.step()
        schedule.step()
        losses.append(loss.item())
    net.eval()
    return losses


def trials(y, ways, shots, queries, count, seed=0):
    """Yield (support, queries) ``count`` times: indices into ``y``, (ways, shots) and (ways, queries)."""
    rng = np.random.default_rng(seed)
    classes = _classes(y, ways, shots + queries)
    for _ in range(count):
        rows = _draw(classes, ways, shots + queries, rng)
        yield rows[:, :shots], rows[:, shots:]


def backbone(net, calibrate, path=None, dtype="int8", input=None):
    """``net`` as an odt model that does not train, and its file, if ``path`` names one.

    ``calibrate``: samples of net's shape, which show every range; ``input``: options of odt.Input, as
    odt.host.convert.load takes them.
    """
    from .convert import load

    calibrate = np.asarray(calibrate)
    options = {"calibrate": calibrate} if dtype == "int8" else {"shape": calibrate.shape[1:]}
    model = load(net.eval(), dtype=dtype, train="none", input=input, loss="mse", batch_size=1, **options)
    if path is not None:
        model.export(path)
    return model


def _classes(y, ways, each):
    """The rows of each class that has enough."""
    y = np.asarray(y)
    rows = [np.flatnonzero(y == label) for label in np.unique(y)]
    rows = [found for found in rows if len(found) >= each]
    if len(rows) < ways or ways < 2:
        raise ValueError("y: %d classes have %d samples, an episode takes %d such classes of 2 at least" % (
            len(rows), each, ways))  # fmt: skip
    return rows


def _draw(classes, ways, each, rng):
    chosen = rng.choice(len(classes), ways, False)
    return np.stack([rng.choice(classes[which], each, False) for which in chosen])


def _logits(embeddings, ways, shots, metric):
    """Of each query, class by class, how near it is to each prototype."""
    import torch

    if metric not in _METRICS:
        raise ValueError('metric is "euclidean" or "cosine", got %r' % (metric,))
    if metric == "cosine":
        embeddings = torch.nn.functional.normalize(embeddings)
    parts = embeddings.reshape(ways, -1, embeddings.shape[-1])
    means = parts[:, :shots].mean(1)
    queries = parts[:, shots:].reshape(-1, embeddings.shape[-1])
    if metric == "cosine":
        return 10 * queries @ torch.nn.functional.normalize(means).T
    return -((queries[:, None] - means) ** 2).sum(2)
