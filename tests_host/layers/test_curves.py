"""ELU, SELU and GELU train as PyTorch trains them, in both dtypes; both executors end with the same bits."""

import numpy as np
import pytest
import torch
from checkout import ROOT
from torch import nn

import odt

LAYERS = {
    "elu": (odt.ELU, nn.ELU), "flat elu": (lambda: odt.ELU(0.25), lambda: nn.ELU(0.25)),
    "selu": (odt.SELU, nn.SELU), "gelu": (odt.GELU, nn.GELU),
}  # fmt: skip
DATA = np.frombuffer((ROOT / "examples/digits/digits.bin").read_bytes(), np.uint8)
torch.set_num_threads(1)
X, Y = DATA[: 1797 * 64].reshape(1797, 64).astype("float32") / 16, DATA[1797 * 64 :]


def network(name, dtype, optimizer):
    model = odt.Sequential([odt.Input((64,)), odt.Dense(24), LAYERS[name][0](), odt.Dense(10)])
    model.compile(optimizer, dtype=dtype, batch_size=16, seed=4)
    return model


def torch_network(name, model):
    net = nn.Sequential(nn.Linear(64, 24), LAYERS[name][1](), nn.Linear(24, 10))
    with torch.no_grad():
        for parameter, value in zip(net.parameters(), model.get_weights()):
            parameter.copy_(torch.tensor(np.array(value)).reshape(parameter.shape))
    return net


def trained(net, optimizer, x, y, epochs):
    losses = []
    for _ in range(epochs):
        for at in range(0, len(x), 16):
            loss = nn.functional.cross_entropy(net(torch.tensor(x[at : at + 16])), torch.tensor(y[at : at + 16]).long())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("name", LAYERS)
def test_thirty_steps_in_float32_are_pytorch_s(name):
    model = network(name, "float32", odt.SGD(0.05, 0.9))
    net = torch_network(name, model)
    expected = trained(net, torch.optim.SGD(net.parameters(), 0.05, 0.9), X[:480], Y[:480], 1)
    losses = [model.train_step(X[at : at + 16], Y[at : at + 16]) for at in range(0, 480, 16)]
    np.testing.assert_allclose(losses, expected, rtol=1e-4)
    for parameter, value in zip(net.parameters(), model.get_weights()):
        np.testing.assert_allclose(np.array(value).ravel(), parameter.detach().numpy().ravel(), atol=1e-4)
    got = np.array(model.predict(X[480:800])).reshape(-1, 10)
    np.testing.assert_allclose(got, net(torch.tensor(X[480:800])).detach().numpy(), atol=1e-3)


@pytest.mark.parametrize("name", LAYERS)
def test_int8_learns_the_digits_as_pytorch_does(name):
    model = network(name, "int8", odt.Adam(0.004))
    net = torch_network(name, model)
    model.fit(X[:1000], Y[:1000], epochs=5, verbose=0)
    trained(net, torch.optim.Adam(net.parameters(), 0.004), X[:1000], Y[:1000], 5)
    accuracy = model.evaluate(X[1000:], Y[1000:])[1]
    expected = (net(torch.tensor(X[1000:])).argmax(1).numpy() == Y[1000:]).mean()
    assert accuracy > expected - 0.03 > 0.85


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("name", LAYERS)
def test_both_executors_end_with_the_same_bits(name, dtype):
    digests = []
    for backend in ("native", "reference"):
        odt.executor.use(backend)
        try:
            model = network(name, dtype, odt.Adam(0.01))
            for at in (0, 16, 32):
                model.train_step(X[at : at + 16], Y[at : at + 16])
            digests.append(model.digest())
        finally:
            odt.executor.use("native")
    assert digests[0] == digests[1]
