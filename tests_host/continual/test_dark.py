"""odt.continual.dark: the loss against PyTorch and NumPy in float64, the logits that odt.continual.replay keeps for it,
files, bad input.
"""

import numpy as np
import pytest
import torch
from digits_data import X, Y, reader
from single_calls import as_float, call, control, softmax

import odt
from odt.base import opcodes
from odt.continual import DarkExperience, Replay


def dark(dtype="int8", alpha=1, seed=1, rate=0.004, batch_size=16):
    model = reader(dtype, batch_size, seed)
    model.compile(odt.Adam(rate), DarkExperience(alpha), dtype=dtype, batch_size=batch_size, seed=seed)
    return model


def rows(labels, logits):
    """What fit gets for these labels, and logits in quarters, None for a row without."""
    made = bytearray()
    for label, row in zip(labels, logits):
        made += bytes([label]) + (b"\x80" + bytes(len(row) - 1) if row[0] is None else row.astype("int8").tobytes())
    return memoryview(made)


def small(alpha, dtype="float32", batch_size=6):
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4)])
    model.compile(odt.SGD(1), DarkExperience(alpha), dtype=dtype, batch_size=batch_size, seed=3)
    return model


def data(seed=0):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(6, 5)).astype("float32"), np.arange(6) % 4
    logits = [rng.integers(-127, 128, 4) if i % 3 else [None] * 4 for i in range(6)]
    return x, y, logits


def exact(out, y, logits, alpha):
    """The loss as PyTorch has it."""
    loss = torch.nn.functional.cross_entropy(out, torch.tensor(y), reduction="none")
    kept = torch.tensor([row[0] is not None for row in logits])
    past = torch.tensor(np.array([row if row[0] is not None else [0] * 4 for row in logits]) / 4)
    return (loss + alpha * kept * ((out - past) ** 2).mean(1)).mean()


@pytest.mark.parametrize("alpha", (0.1, 1, 7))
def test_one_step_of_rate_1_is_pytorchs_gradient(alpha):
    x, y, logits = data()
    model = small(alpha)
    w, b = [torch.tensor(np.array(w), dtype=torch.float64, requires_grad=True) for w in model.get_weights()]
    loss = exact(torch.nn.functional.linear(torch.tensor(x).double(), w.reshape(4, 5), b), y, logits, alpha)
    loss.backward()
    assert model.train_step(x, rows(y, logits)) == pytest.approx(loss.item(), rel=1e-5)
    for before, after in zip((w, b), model.get_weights()):
        np.testing.assert_allclose(before.detach().numpy() - after, before.grad.numpy(), atol=2e-5 * (1 + alpha))


@pytest.mark.parametrize("alpha", (0.05, 0.3, 2))
def test_the_error_in_int8_is_that_of_float64_to_a_step(alpha):
    rng = np.random.default_rng(5)
    x, labels, z = rng.integers(-127, 128, (40, 4)), rng.integers(0, 4, 40), 11
    past = np.clip(np.rint((x - z) * 0.08 * 4 + rng.normal(0, 3, x.shape)), -127, 127).astype(int)
    logits = [row if i % 4 else [None] * 4 for i, row in enumerate(past)]
    c = control(COUNT=40, SAMPLES=40, Y_FORMAT=opcodes.UINT8, Y_ZERO=1)
    part = round(alpha / 4 * 65536)
    given = np.frombuffer(rows(labels, logits), np.uint8)
    got = call("distil_xent_i8", dict(x=x, labels=given, c=c, sx=0.08), B=40, N=4, z=z, alpha=part)
    v = (x - z) * np.float64(np.float32(0.08))
    p = softmax(v)
    d = np.where((np.arange(40) % 4 > 0)[:, None], v - past / 4, 0)
    e = 127 * (p - np.eye(4)[labels] + 2 * alpha / 4 * d)
    assert np.abs(got["e"] - np.clip(e, -127, 127).ravel()).max() <= 1.02 + 254 * alpha / 4 / 512
    assert abs(as_float(got["se"])[0] * 127 * 40 - 1) < 1e-6
    loss = -np.log(p[np.arange(40), labels]).sum() + alpha / 4 * (d * d).sum()
    assert abs(got["c"][opcodes.LOSS] / 65536 - loss) < 2e-3 * loss
    assert got["c"][opcodes.CORRECT] == (x.argmax(1) == labels).sum()


def test_a_distance_beyond_64_nats_or_an_error_beyond_1_is_limited():
    c = control(COUNT=1, SAMPLES=1, Y_FORMAT=opcodes.UINT8, Y_ZERO=1)
    given = np.frombuffer(rows([0], [np.array([-127, 127])]), np.uint8)
    got = call("distil_xent_i8", dict(x=[[127, -127]], labels=given, c=c, sx=1.0), B=1, N=2, z=0, alpha=65536)
    assert list(got["e"]) == [127, -127]
    total = (int(got["c"][opcodes.LOSS_HIGH]) << 32) + int(np.uint32(got["c"][opcodes.LOSS]))
    assert total / 65536 == pytest.approx(2 * 64**2, rel=1e-4)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_on_labels_it_is_sparse_categorical_crossentropy_to_the_bit(dtype):
    plain, other = reader(dtype), dark(dtype)
    for model in (plain, other):
        model.fit(X[:200], Y[:200], epochs=2, verbose=0)
    assert other.digest() == plain.digest() and other.evaluate(X, Y) == plain.evaluate(X, Y)
    batch = rows(Y[:16], [[None] * 10] * 16)
    assert other.train_step(X[:16], batch) == plain.train_step(X[:16], Y[:16]) and other.digest() == plain.digest()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_both_executors_compute_the_same_bits(dtype):
    x, y, logits = data(2)
    digests = []
    try:
        for backend in ("native", "reference"):
            odt.executor.use(backend)
            model = small(0.7, dtype)
            digests.append([model.train_step(x, rows(y, logits)) for _ in range(4)] + [model.digest()])
    finally:
        odt.executor.use("native")
    assert digests[0] == digests[1]


def test_a_batch_in_parts_has_the_gradient_of_the_whole():
    x, y, logits = data(3)
    whole, parts = small(0.5), small(0.5)
    parts.compile(odt.SGD(1), DarkExperience(0.5), dtype="float32", batch_size=6, micro_batch=2, seed=3)
    assert parts.train_step(x, rows(y, logits)) == pytest.approx(whole.train_step(x, rows(y, logits)), rel=1e-5)
    np.testing.assert_allclose(parts.get_weights()[0], whole.get_weights()[0], atol=1e-5)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_what_is_kept_has_what_the_model_said_when_it_was_added(dtype):
    model = dark(dtype)
    model.fit(X[:100], Y[:100], epochs=30, verbose=0)
    replay = Replay(model, budget=4096)
    assert replay.capacity == (4096 - 32 - 40) // (64 + 1 + 10)
    replay.add(X[:100], Y[:100])
    kept = np.frombuffer(bytes(replay.x), "uint8").reshape(-1, 8, 8, 1)
    said = np.array(model.predict(kept)).reshape(-1, 10)
    found = np.frombuffer(bytes(replay.state[replay.logits :]), "int8").reshape(-1, 10)[: len(replay)]
    assert np.abs(found - np.clip(4 * said, -127, 127)).max() <= 0.5 and np.ptp(found) > 20
    model.fit(replay.mixed(X[100:150], Y[100:150]), epochs=1, verbose=0)
    assert (found == np.frombuffer(bytes(replay.state[replay.logits :]), "int8").reshape(-1, 10)[: len(replay)]).all()


def test_a_batch_has_the_logits_of_what_is_kept_and_none_of_what_is_new():
    model = dark(batch_size=8)
    replay = Replay(model, budget=4096)
    replay.add(X[:20], Y[:20])
    state = np.frombuffer(bytes(replay.state[replay.logits :]), "int8").reshape(-1, 10)
    known = {bytes(x.tobytes()): z for x, z in zip(X[:20], state)}
    data = replay.mixed(X[100:130], Y[100:130])
    for x, y in data:
        x, y = np.frombuffer(bytes(x), "uint8").reshape(-1, 64), np.frombuffer(bytes(y), "uint8").reshape(-1, 11)
        for sample, row in zip(x, y):
            past = known.get(sample.tobytes())
            assert (row[1:].view("int8") == past).all() if past is not None else row[1] == 128
        assert len(x) == 8 or len(x) < 8 and x is not None


def tasks():
    for pair in ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9)):
        rows = np.isin(Y[:1000], pair)
        yield X[:1000][rows], Y[:1000][rows]


def remembered(loss, dtype, seed):
    model = reader(dtype, seed=seed)
    model.compile(odt.Adam(0.001), loss, dtype=dtype, batch_size=16, seed=seed)
    replay = Replay(model, budget=1024, seed=seed)
    for x, y in tasks():
        model.fit(replay.mixed(x, y), epochs=5, verbose=0)
        replay.add(x, y)
    return model.evaluate(X[1000:], Y[1000:])[1]


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_of_few_samples_in_as_many_bytes_more_is_remembered(dtype):
    plain, other = [
        np.mean([remembered(loss, dtype, seed) for seed in range(8)])
        for loss in ("sparse_categorical_crossentropy", DarkExperience(0.3))
    ]
    assert other > plain + 0.03, (other, plain)


def test_a_model_file_goes_on_with_the_same_bits(tmp_path):
    model = dark()
    model.fit(X[:100], Y[:100], epochs=2, verbose=0)
    model.export(str(tmp_path / "dark.odt"))
    digests = []
    for each in (model, odt.load_model(str(tmp_path / "dark.odt"))):
        replay = Replay(each, budget=4096)
        replay.add(X[:100], Y[:100])
        each.fit(replay.mixed(X[100:160], Y[100:160]), epochs=2, verbose=0)
        digests.append((each.digest(), replay.digest()))
    assert digests[0] == digests[1]


def test_a_checkpoint_has_the_logits_and_one_without_is_refused(tmp_path):
    place, model = str(tmp_path / "kept.bin"), dark()
    replay = Replay(model, budget=4096)
    replay.add(X[:100], Y[:100])
    replay.save(place)
    again = Replay(model, budget=4096)
    again.load(place)
    assert again.digest() == replay.digest() and again.state == replay.state
    # As large a state, of samples of 74 bytes and no logits.
    other = odt.Sequential([odt.Input((74,), dtype="uint8", scale=1), odt.Dense(10)])
    other.compile("sgd")
    other = Replay(other, budget=4096)
    assert len(other.state) == len(replay.state)
    with pytest.raises(ValueError, match="another kind, size or setting"):
        other.load(place)


@pytest.mark.parametrize("alpha", (0, -1, 101, "1", None, float("nan")))
def test_an_alpha_that_is_none_is_refused(alpha):
    with pytest.raises(ValueError, match="DarkExperience: alpha is a number in 0.001..100, got"):
        DarkExperience(alpha)


def test_a_softmax_at_the_end_is_refused_and_so_are_class_weights():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4, activation="softmax")])
    with pytest.raises(ValueError, match="from_logits=True after"):
        model.compile("adam", DarkExperience())
    model = dark()
    before = model.digest()
    with pytest.raises(ValueError, match="class_weight: the loss dark_experience has no weights of classes"):
        model.fit(X[:32], Y[:32], class_weight={3: 2}, verbose=0)
    assert model.digest() == before


def test_rows_of_labels_that_are_none_and_of_another_length_are_refused():
    x, y, logits = data()
    model = small(1)
    before = model.digest()
    with pytest.raises(ValueError, match=r"y: label 4 of sample 2 is not in 0..3"):
        model.train_step(x, rows([0, 1, 4, 0, 0, 0], logits))
    with pytest.raises(ValueError, match="y: 29 samples, x has 6"):
        model.train_step(x, rows(y, logits)[:-1])
    plain = odt.Sequential([odt.Input((5,)), odt.Dense(4)])
    plain.compile("sgd", dtype="float32", batch_size=6)
    with pytest.raises(ValueError, match="y: 30 samples, x has 6"):
        plain.train_step(x, rows(y, logits))
    assert model.digest() == before


def test_what_is_not_finite_is_not_kept():
    model = odt.Sequential([odt.Input((5,)), odt.Dense(4)])
    model.compile("sgd", DarkExperience(), dtype="float32", batch_size=6)
    weights = model.get_weights()
    weights[0][0] = 2e38
    model.set_weights(weights)
    replay = Replay(model, budget=1024)
    before = replay.digest()
    with pytest.raises(ValueError, match="add: the model's output is not finite"):
        replay.add(np.full((1, 5), 10, "float32"), [0])
    assert replay.digest() == before and len(replay) == 0
