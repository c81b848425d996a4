"""odt.embedding: against PyTorch's nn.Embedding, which rows a step trains, bad tokens, files."""

import random
import struct

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from executors import _odt
from instructions import Case, assemble

import odt
from odt import executor
from odt.base.opcodes import opcode
from odt.embedding import pad
from odt.base.regions import CONTROL_WORDS
from odt.reference import program as reference

RNG = np.random.default_rng(1)
VOCABULARY, STEPS, UNITS = 20, 6, 5
X = RNG.integers(0, VOCABULARY - 6, (24, STEPS)).astype("uint8")  # six tokens never come
Y = (np.arange(24) % 3).astype("uint8")
DTYPES = ("int8", "float32")
OPTIONS = ({}, {"micro_batch": 2}, {"optimizer": odt.SGD(0.1, 0.9, global_clipnorm=1.0)},
           {"optimizer": odt.AdamW(0.01, 0.05)}, {"optimizer": odt.Adam(0.01, state="float32")})  # fmt: skip


def network(dtype="int8", **options):
    x = odt.Input((STEPS,), dtype="uint8")
    y = odt.PositionEmbedding()(odt.Embedding(VOCABULARY, UNITS, name="table")(x))
    model = odt.Model(x, odt.Dense(3)(odt.Flatten()(y)))
    given = {"optimizer": odt.Adam(0.01), "dtype": dtype, "batch_size": 8, "seed": 3}
    model.compile(**dict(given, **{k: v for k, v in options.items() if (dtype, k) != ("float32", "state")}))
    return model


def table_of(model):
    return np.array(model.get_weights()[0]).reshape(VOCABULARY, UNITS)


def torchs(weights, x, dtype=torch.float64):
    """(tensors, logits) of the network with these weights, by PyTorch."""
    table, position, kernel, bias = [torch.tensor(np.array(w), dtype=dtype, requires_grad=True) for w in weights]
    y = F.embedding(torch.tensor(x.astype("int64")), table.reshape(VOCABULARY, UNITS))
    y = (y + position.reshape(STEPS, UNITS)).reshape(len(x), -1)
    return (table, position, kernel, bias), F.linear(y, kernel.reshape(3, -1), bias)


def test_one_step_of_rate_1_is_the_gradient_of_pytorchs_embedding():
    for options in ({}, {"micro_batch": 4}, {"optimizer": odt.SGD(1, global_clipnorm=1e6)}):
        model = network("float32", **dict({"optimizer": odt.SGD(1)}, **options))
        before = model.get_weights()
        tensors, y = torchs(before, X[:8])
        loss = F.cross_entropy(y, torch.tensor(Y[:8].astype("int64")))
        loss.backward()
        assert model.train_step(X[:8], Y[:8]) == pytest.approx(loss.item(), rel=1e-5)
        for tensor, old, new in zip(tensors, before, model.get_weights()):
            moved = np.array(old, "float64") - np.array(new)
            np.testing.assert_allclose(moved, tensor.grad.numpy().reshape(-1), atol=1e-6)


def test_the_int8_gradient_points_where_pytorchs_does():
    model = network(optimizer=odt.SGD(0.01))
    model.fit(X, Y, epochs=2, verbose=0)
    before = model.get_weights()
    moved = np.zeros(VOCABULARY * UNITS)
    for _ in range(40):  # what is rounded at random has the gradient as its mean
        model.set_weights(before)
        model.train_step(X[:8], Y[:8])
        moved += np.array(before[0], "float64") - np.array(model.get_weights()[0])
    tensors, y = torchs(before, X[:8])
    F.cross_entropy(y, torch.tensor(Y[:8].astype("int64"))).backward()
    expected = tensors[0].grad.numpy().reshape(-1)
    assert np.dot(moved, expected) / np.linalg.norm(moved) / np.linalg.norm(expected) > 0.98
    assert np.linalg.norm(moved / 40 / 0.01) == pytest.approx(np.linalg.norm(expected), rel=0.1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "_".join(options) or "plain")
def test_both_executors_train_to_the_same_bits(dtype, options):
    if dtype == "float32" and getattr(options.get("optimizer"), "state", None):
        options = {}
    found, before = [], executor.backend
    try:
        for backend in ("native", "reference"):
            executor.use(backend)
            model = network(dtype, **options)
            model.fit(X[:21], Y[:21], epochs=2, verbose=0)
            found.append((model.digest(), bytes(model.predict(X))))
    finally:
        executor.use(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "optimizer", (odt.SGD(0.1), odt.SGD(0.1, 0.9), odt.Adam(0.01)), ids=("sgd", "momentum", "adam")
)
def test_a_step_moves_the_rows_that_its_batch_names_and_no_other(dtype, optimizer):
    model = network(dtype, optimizer=optimizer)
    model.fit(X, Y, epochs=2, verbose=0)  # moments that would move a row without a gradient
    before = table_of(model)
    model.train_step(X[:8, :], Y[:8])
    moved = np.any(table_of(model) != before, axis=1)
    named = np.isin(np.arange(VOCABULARY), X[:8])
    assert named.any() and not named.all()
    assert not moved[~named].any() and moved[named].mean() > 0.9


def test_sums_over_micro_batches_update_all_rows_as_pytorchs_adam_does():
    model = network("float32", micro_batch=4)
    model.fit(X, Y, epochs=2, verbose=0)
    before = table_of(model)
    model.train_step(X[:4], Y[:4])
    came = np.isin(np.arange(VOCABULARY), X)
    assert np.any(table_of(model) != before, axis=1)[came].all()


def test_sparse_adam_is_pytorchs():
    """Three steps beside torch.optim.SparseAdam, whose rows have no step of their own either."""
    model = network("float32", optimizer=odt.Adam(0.01, epsilon=1e-7))
    table = torch.nn.Embedding(VOCABULARY, UNITS, sparse=True)
    weights = model.get_weights()
    table.weight.data.copy_(torch.tensor(np.array(weights[0])).reshape(VOCABULARY, UNITS))
    rest = [torch.tensor(np.array(w), requires_grad=True) for w in weights[1:]]
    sparse, dense = torch.optim.SparseAdam(table.parameters(), 0.01, eps=1e-7), torch.optim.Adam(rest, 0.01, eps=1e-7)
    for step in range(3):
        x, y = X[8 * step : 8 * step + 8], Y[8 * step : 8 * step + 8]
        model.train_step(x, y)
        z = (table(torch.tensor(x.astype("int64"))) + rest[0].reshape(STEPS, UNITS)).reshape(8, -1)
        sparse.zero_grad(), dense.zero_grad()
        F.cross_entropy(F.linear(z, rest[1].reshape(3, -1), rest[2]), torch.tensor(y.astype("int64"))).backward()
        sparse.step(), dense.step()
    np.testing.assert_allclose(table_of(model), table.weight.detach().numpy(), atol=2e-5)


@pytest.mark.parametrize("dtype", DTYPES)
def test_outputs_are_the_rows(dtype):
    x = odt.Input((STEPS,), dtype="uint8")
    model = odt.Model(x, odt.Embedding(VOCABULARY, UNITS)(x))
    model.compile(None, "mse", dtype=dtype, batch_size=8, seed=1)
    table = RNG.normal(size=(VOCABULARY, UNITS)).astype("float32")
    model.set_weights([table])
    found = np.array(model.predict(X)).reshape(24, STEPS, UNITS)
    np.testing.assert_array_equal(found, table_of(model)[X])
    assert np.abs(found - table[X]).max() <= (np.abs(table).max() / 254 * 1.001 if dtype == "int8" else 0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_frozen_table_stays_and_lies_in_read_only_memory(dtype, tmp_path):
    def made(flash):
        x = odt.Input((STEPS,), dtype="uint8")
        y = odt.Embedding(VOCABULARY, UNITS, trainable=False, name="table")(x)
        model = odt.Model(x, odt.Dense(3)(odt.Flatten()(y)))
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=8, seed=3, frozen=flash)
        return model

    plain = made(None)
    before = table_of(plain)
    flash = odt.files.frozen.pack(plain)
    model = made(flash)
    assert len(model.session.state) < len(plain.session.state) - VOCABULARY * UNITS
    for each in (plain, model):
        each.fit(X, Y, epochs=3, verbose=0)
        assert np.array_equal(table_of(each), before)
    assert bytes(model.predict(X)) == bytes(plain.predict(X))


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_file_of_a_model_goes_on_as_the_model_does(dtype, tmp_path):
    model = network(dtype)
    model.fit(X, Y, epochs=2, verbose=0)
    model.export(str(tmp_path / "table.odt"))
    opened = odt.load_model(str(tmp_path / "table.odt"))
    assert bytes(opened.predict(X)) == bytes(model.predict(X))
    high = X.copy()
    high[0, 0] = 255  # a file knows no vocabulary: such a token is the last one
    last = X.copy()
    last[0, 0] = VOCABULARY - 1
    assert bytes(opened.predict(high)) == bytes(opened.predict(last))
    for each in (opened, model):
        each.fit(X, Y, epochs=1, verbose=0)
    assert opened.digest() == model.digest()


def test_wrong_arguments_are_named():
    x = odt.Input((STEPS,), dtype="uint8")
    for call, words in (
        (lambda: odt.Embedding(0, 4), "Embedding: vocabulary is in 1..67108863, got 0"),
        (lambda: odt.Embedding(257, 4), "Embedding: vocabulary is in 1..256, got 257"),
        (lambda: odt.Embedding(20, 0), "Embedding: units is in 1..67108863, got 0"),
        (lambda: odt.Embedding(2.5, 4), "vocabulary"),
        (lambda: odt.Embedding(20, 4)(odt.Input((6,))), "takes tokens: odt.Input..steps,., dtype=.uint8.."),
        (lambda: odt.Embedding(20, 4)(odt.Input((6,), dtype="uint8", scale=0.5)), "takes tokens"),
        (lambda: odt.Embedding(20, 4)(odt.Flatten()(x)), "takes tokens"),
        (lambda: odt.Embedding(20, 4)(odt.Input((6, 2), dtype="uint8")), "takes input of shape .steps,., got .6, 2."),
        (lambda: odt.Input((0,), dtype="uint8"), "Input: shape is in 1..67108863, got 0"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            call()


@pytest.mark.parametrize("dtype", DTYPES)
def test_tokens_out_of_range_are_named_and_change_nothing(dtype):
    model = network(dtype)
    model.fit(X, Y, epochs=1, verbose=0)
    digest = model.digest()
    for kind in (bytes, bytearray, np.array, list):
        bad = np.array(X)
        bad[7, 2] = VOCABULARY
        data = bad.tolist() if kind is list else bad if kind is np.array else kind(bad.tobytes())
        good = X if kind is np.array else X.tolist() if kind is list else kind(X.tobytes())
        labels = Y.tobytes()
        for _ in range(2):  # the second time the data has the known types
            model.predict(good)
            model.evaluate(good, labels)
            for call in (model.predict, lambda x: model.evaluate(x, labels), lambda x: model.train_step(x, labels),
                         lambda x: model.fit(x, labels, epochs=1, verbose=0)):  # fmt: skip
                with pytest.raises(ValueError, match="x: sample 7, step 2 is token 20, not in 0..19"):
                    call(data)
    assert model.digest() == digest
    for data, words in ((bytes(STEPS + 1), "7 bytes are not whole samples of 6 bytes"), (b"", "empty")):
        with pytest.raises(ValueError, match=words):
            model.predict(data)


def test_the_smaller_of_two_vocabularies_counts():
    x = odt.Input((STEPS,), dtype="uint8")
    y = odt.Add()([odt.Embedding(30, 4)(x), odt.Embedding(9, 4)(x), odt.Embedding(40, 4)(x)])
    model = odt.Model(x, odt.Dense(3)(odt.Flatten()(y)))
    model.compile("adam", batch_size=8)
    with pytest.raises(ValueError, match="not in 0..8"):
        model.fit(X, Y, epochs=1, verbose=0)
    model.fit(X % 9, Y, epochs=1, verbose=0)


def test_sequences_are_padded():
    assert pad([b"\x01\x02", [3]], 3) == bytearray((1, 2, 0, 3, 0, 0))
    assert pad([[7]], 2, padding=9) == bytearray((7, 9))
    for sequences, words in (
        ([[1, 2, 3], [1] * 4], "pad: sequence 1 has 4 tokens, 1 to 3 are expected"),
        ([[1], []], "pad: sequence 1 has 0 tokens, 1 to 3 are expected"),
        ([[1, 256]], "pad: sequence 0 has the token 256, not in 0..255"),
        ([[-1]], "pad: sequence 0 has the token -1, not in 0..255"),
        ([[1.5]], "pad: sequence 0 has the token 1.5, not in 0..255"),
    ):
        with pytest.raises(ValueError, match=words):
            pad(sequences, 3)


def test_rows_cannot_train_in_part():
    x = odt.Input((STEPS,), dtype="uint8")
    model = odt.Model(x, odt.Dense(3)(odt.Flatten()(odt.Embedding(VOCABULARY, 4, name="table")(x))))
    odt.adapt.update.sparse(model, {"table": 0.5, "dense": 1})
    with pytest.raises(ValueError, match="table: it trains as a whole, the rows that a batch names, or not at all"):
        model.compile("adam", batch_size=8)


@pytest.mark.parametrize("dtype", DTYPES)
def test_no_token_reads_or_writes_beyond_the_table(dtype):
    """Programs whose arena ends with the table, tokens of any bits, lists that are too short: by both executors."""
    rng, suffix = random.Random(5), "_i8" if dtype == "int8" else "_f32"
    size = 1 if dtype == "int8" else 4
    for _ in range(200):
        M, N, V = rng.randint(1, 9), rng.randint(1, 5), rng.choice((1, 2, rng.randint(1, 300), 256, 257))
        for name in ("embed", "embed_dw"):
            op = opcode(name + suffix)
            R = rng.choice((1, min(V, M), V))
            immediates = {"M": M, "N": N, "V": V, "R": R, "all": rng.choice((0, 0, 1))}
            words, at = [], 0
            for index in range(len(op.operands)):
                at = at + 3 & ~3
                words.append(at)
                at += op.bytes(index, immediates)
            arena = bytearray(rng.randbytes(at))
            if dtype == "float32":
                struct.pack_into("<%df" % (at // 4), arena, 0, *[rng.uniform(-9, 9) for _ in range(at // 4)])
                odd = (-1, 0, V - 1, V, 1e30, *map(float, ("inf", "-inf", "nan")), 3.7)
                tokens = [rng.choice(odd) for _ in range(M)]
                struct.pack_into("<%df" % M, arena, words[-1 if name == "embed_dw" else 1], *tokens)
            program = assemble(op, words, immediates, len(arena), 0, 0)
            regions = [arena, bytearray(), bytearray(4 * CONTROL_WORDS), None, None, b""]
            case = Case(op.name, program, regions, immediates, words, 1)
            found = [case.run(each)[0] for each in (_odt, reference)]
            assert found[0] == found[1]
            if name == "embed":
                y = found[0][words[0] :][: M * N * size]
                rows = [bytes(arena[words[2] :][v * N * size : (v + 1) * N * size]) for v in range(V)]
                assert {bytes(y[m * N * size : (m + 1) * N * size]) for m in range(M)} <= set(rows)
