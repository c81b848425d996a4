"""A gradient that is made and spent in pieces: no bit changes, and RAM is saved."""

import numpy as np
import pytest
from single_calls import call, window_case

import odt
from odt.base.fixed import get
from odt.plan import updates, values

RANDOM = np.random.default_rng(11)
X = RANDOM.normal(size=(24, 8, 8, 2)).astype("float32")
Y = RANDOM.integers(0, 5, 24).astype("uint8")
OPTIMIZERS = {
    "adam": lambda: odt.Adam(0.3),  # so fast that weights outgrow their scales
    "adam float32": lambda: odt.Adam(0.01, state="float32"),
    "adamw": lambda: odt.AdamW(0.01),
    "sgd": lambda: odt.SGD(0.05),
    "momentum": lambda: odt.SGD(0.05, 0.9),
    "momentum float32": lambda: odt.SGD(0.05, 0.9, state="float32"),
    "nesterov": lambda: odt.SGD(0.05, 0.9, nesterov=True),
}


def network(optimizer, dtype="int8", **options):
    model = odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(14, 3, activation="relu"), odt.DepthwiseConv2D(3),
        odt.Conv2D(12, 1, groups=2), odt.ReLU(), odt.Conv2DTranspose(9, 2), odt.Flatten(),
        odt.Dense(13, "relu"), odt.Dense(5),
    ])  # fmt: skip
    model.compile(OPTIMIZERS[optimizer](), dtype=dtype, batch_size=8, seed=3, **options)
    return model


def instructions(model):
    return [code.name for _, code, _, _ in model.program.walk(12, len(model.program.words))]


@pytest.mark.slow
@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
@pytest.mark.parametrize("optimizer", sorted(OPTIMIZERS))
def test_a_gradient_in_pieces_ends_with_the_digest_of_a_whole_one(optimizer, dtype, micro, monkeypatch):
    digests = []
    for rows in (99, 5, 1):
        in_pieces_of(rows, monkeypatch)
        model = network(optimizer, dtype, micro_batch=micro)
        model.fit(X, Y, epochs=2, verbose=0)
        digests.append(model.digest())
        names = instructions(model)
        for kind, channels in (("conv2d", 14), ("depthwise2d", 14), ("group_conv2d", 12), ("transposed2d", 9)):
            name = kind + "_dw" + ("_i8" if dtype == "int8" else "_f32")
            assert names.count(name) == -(-channels // rows)
    assert digests[0] == digests[1] == digests[2]


def in_pieces_of(rows, monkeypatch):
    def pieces(self, parts, spared):
        (part,) = parts
        starts = range(0, part.total, rows)
        return (
            parts
            if rows >= part.total
            else [values.Part(part.total, part.columns, at, min(rows, part.total - at)) for at in starts]
        )

    monkeypatch.setattr(updates.Updates, "pieces", pieces)


def test_weights_that_outgrow_their_scale_were_among_them(monkeypatch):
    in_pieces_of(1, monkeypatch)
    model = network("adam")
    before = scales(model)
    model.fit(X, Y, epochs=2, verbose=0)
    assert any(new > old for new, old in zip(scales(model), before))


def scales(model):
    return [get(model.session.state, w.scale.offset) for _, w in model.session.plan.weights]


@pytest.mark.parametrize("kind", ("conv2d", "depthwise2d"))
@pytest.mark.parametrize("dtype", ("i8", "f32"))
def test_some_rows_of_a_gradient_are_those_of_the_whole(kind, dtype):
    rng = np.random.default_rng(2)
    v = dict(B=2, H=5, W=6, C=3, N=7, KH=3, KW=2, SH=2, SW=1, PT=1, PL=0, OH=3, OW=5)
    v, xs, ws, ys = window_case(rng, v, kind)
    x, e = rng.integers(-127, 128, xs), rng.integers(-127, 128, ys)
    options = dict(v, zx=5) if dtype == "i8" else v
    name = "%s_dw_%s" % (kind, dtype)
    whole = call(name, dict(x=x, e=e), **options)["dw"].reshape(7, -1)
    for at, count in ((0, 7), (0, 1), (2, 5), (6, 1)):
        assert np.array_equal(
            call(name, dict(x=x, e=e), at=at, R=count, **options)["dw"], whole[at : at + count].ravel()
        )
    for at, count in ((-1, 2), (5, 3), (7, 1)):  # not rows of it
        assert not call(name, dict(x=x, e=e, dw=np.ones(count * whole.shape[1])), at=at, R=count, **options)["dw"].any()


def test_a_large_dense_layer_trains_in_a_fraction_of_its_gradient():
    model = odt.Sequential([odt.Input((256,)), odt.Dense(128, "relu"), odt.Dense(10)])
    model.compile(odt.SGD(0.01, 0.9), batch_size=1)
    gradient = 4 * 256 * 128
    assert len(model.session.arena) + len(model.program.words) * 4 < gradient // 7


@pytest.mark.parametrize("optimizer, most", ((odt.SGD(0.01, 0.9), 96), (odt.Adam(0.001), 128)))
def test_the_har_network_of_batch_64_fits_the_ram_that_was_set(optimizer, most):
    """OnDeviceTraining's HAR topology; its float32 takes 181 and 222 KB (docs in ../shared/anchors.md)."""
    model = odt.Sequential([
        odt.Input((128, 9)), odt.Conv1D(16, 7, padding="same", activation="relu"), odt.MaxPool1D(2),
        odt.Conv1D(32, 5, padding="same", activation="relu"), odt.MaxPool1D(2),
        odt.Conv1D(64, 3, padding="same", activation="relu"), odt.GlobalAvgPool(), odt.Dense(6),
    ])  # fmt: skip
    model.compile(optimizer, batch_size=64, micro_batch=1)
    assert sum(len(w) for w in model.get_weights()) == 10214
    ram = (
        len(model.session.arena)
        + len(model.session.state)
        + 4 * len(model.program.words)
        + 4 * len(model.session.control)
    )
    assert ram <= most * 1024
