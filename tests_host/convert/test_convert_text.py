"""Networks of tokens: embeddings of PyTorch, Keras and ONNX give the same outputs in odt, or are refused by name."""

import os
import warnings

import numpy as np
import onnxruntime
import pytest
import torch
from exporting import quick  # noqa: F401
from odt_networks import step
from onnx import TensorProto, helper
from onnx_graphs import by_onnxruntime, f, model
from torch import nn

import odt
from odt.host.convert import Unsupported, load, onnxfile, save_onnx

os.environ.setdefault("KERAS_BACKEND", "torch")
import keras  # noqa: E402
from keras import layers as L  # noqa: E402
from keras import ops  # noqa: E402

torch.set_num_threads(1)
TOKENS, STEPS, WIDTH, CLASSES = 30, 12, 16, 4
node = helper.make_node


class Text(nn.Module):
    """Tokens in, scores out; ``kind``: "gru", or how a transformer has its positions."""

    def __init__(self, kind, **options):
        super().__init__()
        self.kind = kind
        self.table = nn.Embedding(TOKENS, WIDTH, **options)
        self.body = nn.GRU(WIDTH, WIDTH, batch_first=True)
        if kind != "gru":
            self.body = nn.TransformerEncoderLayer(WIDTH, 2, 24, batch_first=True, norm_first=True)
        if kind == "table":
            self.positions = nn.Embedding(STEPS, WIDTH)
        elif kind == "parameter":
            self.positions = nn.Parameter(torch.randn(1, STEPS, WIDTH) / 4)
        self.last = nn.Linear(WIDTH, CLASSES)

    def forward(self, x):
        y = self.table(x)
        if self.kind == "gru":
            return self.last(self.body(y)[1][-1])
        if self.kind == "table":
            y = y * WIDTH**0.5 + self.positions(torch.arange(x.shape[1], device=x.device))
        else:
            y = y + self.positions
        return self.last(self.body(y).mean(1))


def sentences(count, seed=0):
    """(samples, labels): which of four tokens is in a sentence, once, among others."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(CLASSES, TOKENS, (count, STEPS)), rng.integers(0, CLASSES, count)
    x[np.arange(count), rng.integers(0, STEPS, count)] = y
    return x, y


def trained(kind):
    """A Text that knows the sentences."""
    if kind not in _TRAINED:
        torch.manual_seed(0)
        net, (x, y) = Text(kind), map(torch.from_numpy, sentences(2000))
        optimizer = torch.optim.Adam(net.parameters(), 0.01)
        for at in range(150):
            rows = torch.arange(at * 64, at * 64 + 64) % len(x)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            optimizer.step()
        _TRAINED[kind] = net.eval()
    return _TRAINED[kind]


_TRAINED = {}
KINDS = ("gru", "table", "parameter")


def outputs(made, x):
    return made.imported.outputs(made.predict(made.imported.samples(x)))


def near(got, expected, most=1e-5):
    assert got.shape == expected.shape
    assert np.abs(got - expected).max() <= most * np.abs(expected).max()


def by_torch(net, x):
    with torch.no_grad():
        return net(torch.from_numpy(x)).numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_pytorchs_text_networks_are_the_same_in_float32_and_near_in_int8(kind):
    net, (x, y) = trained(kind), sentences(800, 1)
    expected = by_torch(net, x)
    assert np.mean(expected.argmax(1) == y) > 0.97
    near(outputs(load(net, (STEPS,)), x), expected)
    for train in ("all", "none"):
        made = load(net, (STEPS,), calibrate=x[:100], train=train)
        assert np.mean(outputs(made, x).argmax(1) == expected.argmax(1)) >= 0.985, train
    assert made.nodes[0].layer.dtype == "uint8"


def test_an_imported_text_network_trains_on():
    (x, y), (xt, yt) = sentences(600, 2), sentences(300, 3)
    other = (y + 1) % CLASSES, (yt + 1) % CLASSES
    made = load(trained("table"), (STEPS,), calibrate=x[:100], optimizer=odt.Adam(0.004))
    assert made.evaluate(made.imported.samples(xt), other[1].astype("uint8"))[1] < 0.1
    made.fit(made.imported.samples(x), other[0].astype("uint8"), epochs=6, verbose=0)
    assert made.evaluate(made.imported.samples(xt), other[1].astype("uint8"))[1] > 0.95


@pytest.mark.parametrize("dynamo", (True, False))
@pytest.mark.parametrize("kind", KINDS)
def test_both_of_pytorchs_exporters_write_what_is_read(kind, dynamo, tmp_path):
    net, (x, _) = trained(kind), sentences(40, 4)
    path = str(tmp_path / "net.onnx")
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        torch.backends.mha.set_fastpath_enabled(False)
        try:
            torch.onnx.export(net, (torch.from_numpy(x),), path, verbose=False, dynamo=dynamo)
        finally:
            torch.backends.mha.set_fastpath_enabled(True)
    session = onnxruntime.InferenceSession(path)
    near(outputs(load(path), x), session.run(None, {session.get_inputs()[0].name: x})[0])


def by_keras(kind, dtype):
    """A network of the same layers, as people write it in Keras."""
    keras.utils.set_random_seed(1)
    x = keras.Input((STEPS,), dtype=dtype)
    y = L.Embedding(TOKENS, WIDTH)(x)
    if kind == "gru":
        y = L.GRU(WIDTH)(y)
    else:
        y = y * WIDTH**0.5 + L.Embedding(STEPS, WIDTH)(ops.arange(STEPS))
        a = L.LayerNormalization()(y)
        y = y + L.MultiHeadAttention(2, WIDTH // 2)(a, a)
        y = L.GlobalAveragePooling1D()(y + L.Dense(WIDTH)(L.Dense(24, "gelu")(L.LayerNormalization()(y))))
    return keras.Model(x, L.Dense(CLASSES)(y))


@pytest.mark.parametrize("dtype", ("int32", "uint8", "float32"))
@pytest.mark.parametrize("kind", ("gru", "table"))
def test_keras_text_networks_and_their_files_are_the_same(kind, dtype, tmp_path):
    made, (x, _) = by_keras(kind, dtype), sentences(40, 5)
    expected = made.predict(x, verbose=0)
    made.save(tmp_path / "net.keras")
    for source in (made, tmp_path / "net.keras"):
        near(outputs(load(source), x), expected)
    taken = load(made, calibrate=x, train="none")
    assert np.abs(outputs(taken, x) - expected).mean() < 0.05 * np.abs(expected).max()


@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("kind", ("gru", "table"))
def test_onnxruntime_computes_odts_text_networks(kind, dtype, tmp_path):
    x, y = sentences(1200, 6)
    tokens = odt.Input((STEPS,), dtype="uint8")
    z = odt.Embedding(TOKENS, WIDTH)(tokens)
    if kind == "table":
        z = odt.PositionEmbedding()(z)
        z = odt.Add()([z, odt.MultiHeadAttention(2)(odt.LayerNorm()(z))])
        z = odt.GlobalAvgPool()(odt.Reshape((STEPS, 1, WIDTH))(z))
    made = odt.Model(tokens, odt.Dense(CLASSES)(z if kind == "table" else odt.GRU(WIDTH)(z)))
    made.compile(odt.Adam(0.01, state="float32") if dtype == "int8" else odt.Adam(0.01), dtype=dtype, seed=3)
    x = x.astype("uint8")
    made.fit(x[:800], y[:800].astype("uint8"), epochs=6, verbose=0)
    save_onnx(made, tmp_path / "net.onnx")
    got, expected = by_onnxruntime(str(tmp_path / "net.onnx"), x[800:]), made.predict(x[800:])
    assert np.mean(got.argmax(1) == expected.argmax(1)) >= (0.98 if dtype == "int8" else 1)
    if dtype == "int8":
        assert np.mean(np.abs(got - expected)) <= step(made)
    else:
        near(got, expected)
        near(outputs(load(tmp_path / "net.onnx"), x[800:]), expected)


# --- what is refused, by name -------------------------------------------------------------------


def flat(*layers, width=3):
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(STEPS * width, 2))


class Tied(nn.Module):
    """Whose scores are products with the rows of its table."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(TOKENS, 3)

    def forward(self, x):
        return self.table(x).mean(1) @ self.table.weight.T


class Computed(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(TOKENS, 3)

    def forward(self, x):
        return self.table(x // 2).mean(1)


REFUSED = {
    "padding": (flat(nn.Embedding(TOKENS, 3, padding_idx=2)), r"embedding.*padding_idx=2, .*; instead: train= of"),
    "limited": (flat(nn.Embedding(TOKENS, 3, max_norm=1.0)), "embedding_renorm.*; instead: .*max_norm=None"),
    "counted": (flat(nn.Embedding(TOKENS, 3, scale_grad_by_freq=True)), "scale_grad_by_freq=True; instead"),
    "large": (flat(nn.Embedding(257, 3)), "has a table of 257 rows; instead: 256 at most"),
    "bag": (nn.EmbeddingBag(TOKENS, 3), "embedding_bag.*no such operator; instead: nn.Embedding, and mean"),
    "tied": (Tied(), "shares weights with node embedding; instead: a module of its own"),
    "computed": (Computed(), r"makes torch.int64|no such operator"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_odts_embedding_is_not_is_refused(name):
    with pytest.raises(Unsupported, match=REFUSED[name][1]):
        load(REFUSED[name][0], (STEPS,))


def test_a_row_of_padding_is_taken_where_nothing_trains_it():
    x, _ = sentences(20)
    for options in ({"train": "last"}, {"train": "none"}, {"train": ["1"]}):
        net = flat(nn.Embedding(TOKENS, 3, padding_idx=2, sparse=True)).eval()
        named = dict(options, train=["2"]) if options["train"] == ["1"] else options
        near(outputs(load(net, (STEPS,), **named), x), by_torch(net, x))


def test_samples_that_are_no_tokens_are_named():
    made = load(flat(nn.Embedding(TOKENS, 3)), (STEPS,))
    x = np.zeros((2, STEPS))
    for wrong in (TOKENS, -1, 1.5, float("nan")):
        x[1, 3] = wrong
        with pytest.raises(ValueError, match=r"tokens 0\.\.29 are expected, number 15 is"):
            made.imported.samples(x)
    with pytest.raises(ValueError, match="tokens are expected, got"):
        made.imported.samples(np.zeros((2, STEPS), complex))
    with pytest.raises(ValueError, match=r"takes tokens: odt.Input\(\(steps,\)"):
        load(flat(nn.Embedding(TOKENS, 3)), (STEPS,), input={"dtype": "uint8", "scale": 0.5})


TABLE = f(TOKENS, 3)


def onnx(nodes, kind=TensorProto.INT64, **weights):
    made = model(nodes, (STEPS,), {"t": TABLE, "w": f(3, 2), **weights}, kind=kind)
    made.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    return made


MEAN = [node("ReduceMean", ["g"], ["m"], axes=[1], keepdims=0), node("MatMul", ["m", "w"], ["y"])]
GATHER = node("Gather", ["t", "x"], ["g"], "told")
CAST = [node("Cast", ["x"], ["c"], to=7), node("Identity", ["c"], ["d"]), node("Gather", ["t", "d"], ["g"])]
READ = {
    **{kind: onnx([GATHER, *MEAN], getattr(TensorProto, kind)) for kind in ("INT32", "INT64")},
    **{kind: onnx([*CAST, *MEAN], getattr(TensorProto, kind)) for kind in ("FLOAT", "UINT8", "INT16", "UINT32")},
    "two tables": onnx([
        GATHER, node("Gather", ["u", "x"], ["h"], axis=0), node("Add", ["g", "h"], ["s"]),
        node("Relu", ["s"], ["r"]),
        node("ReduceMean", ["r"], ["m"], axes=[1], keepdims=0), node("MatMul", ["m", "w"], ["y"])], u=f(TOKENS, 3)),
}  # fmt: skip
REFUSED_FILES = {
    "columns": (onnx([node("Gather", ["t", "x"], ["g"], "told", axis=1), *MEAN], t=f(3, TOKENS)),
                r"told \(Gather\): gathers along axis 1 of a table; instead: axis 0"),
    "bytes": (onnx([GATHER, node("Cast", ["g"], ["e"], to=1), node("ReduceMean", ["e"], ["y"], axes=[1], keepdims=0)],
                   t=np.zeros((TOKENS, 3), "int8")), r"told \(Gather\): gathers rows of int8; instead: QDQ"),
    "three axes": (onnx([GATHER, *MEAN], t=f(TOKENS, 3, 2)), r"table of shape \(30, 3, 2\); instead"),
    "numbers, too": (onnx([GATHER, *MEAN[:1], node("Cast", ["x"], ["c"], to=1),
                           node("ReduceMean", ["c"], ["o"], axes=[1], keepdims=1), node("Add", ["m", "o"], ["y"])]),
                     "input x: is of INT64; instead: FLOAT"),
    "shared": (onnx([GATHER, node("ReduceMean", ["g"], ["m"], axes=[1], keepdims=0),
                     node("Gemm", ["m", "t"], ["y"], transB=1)]), "shares the weights t"),
}  # fmt: skip


@pytest.mark.parametrize("name", READ)
def test_gathers_of_tokens_are_read(name):
    proto, (x, _) = READ[name], sentences(20)
    x = x.astype(helper.tensor_dtype_to_np_dtype(proto.graph.input[0].type.tensor_type.elem_type))
    near(outputs(load(proto), x), by_onnxruntime(proto, x))


@pytest.mark.parametrize("name", REFUSED_FILES)
def test_other_gathers_of_constants_are_refused(name):
    with pytest.raises(Unsupported, match=REFUSED_FILES[name][1]):
        onnxfile.read(REFUSED_FILES[name][0])


def test_keras_refuses_masks_and_tables_of_its_own_kind():
    for layers, words in (
        ((L.Embedding(5, 3, mask_zero=True), L.Flatten()), r"\(Embedding\): has the option mask_zero=True"),
        ((L.Embedding(300, 3), L.Flatten()), "has a table of 300 rows"),
        ((L.Rescaling(0.5), L.Embedding(5, 3), L.Flatten()), "takes tokens that are none of the samples' own"),
    ):
        made = keras.Sequential([keras.Input((6,), dtype="int32"), *layers, L.Dense(2)])
        with pytest.raises(Unsupported, match=words):
            load(made)
