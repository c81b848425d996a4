"""What is seen within a step is what PyTorch, the other executor and the arithmetic say."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import odt
import odt.files.frozen
from odt.inspect import Ranges, Trace, names, profile

RANDOM = np.random.default_rng(12)
X = RANDOM.normal(size=(10, 6, 6, 2)).astype("float32")
Y = RANDOM.integers(0, 3, 10).astype("uint8")


def network(dtype="float32", micro=None, optimizer=None, wide=7):
    model = odt.Sequential([
        odt.Input((6, 6, 2), name="image"), odt.Conv2D(3, 3, padding="same", activation="relu"), odt.MaxPool2D(),
        odt.Flatten(), odt.Dense(wide), odt.ReLU(), odt.Dense(3),
    ])  # fmt: skip
    model.compile(optimizer or odt.SGD(0.1), dtype=dtype, batch_size=10, seed=1, micro_batch=micro)
    return model


def nhwc(tensor):
    return tensor.detach().numpy().transpose(0, 2, 3, 1)


def pytorch(model, x, y, wide=7):
    """All tensors of a step of ``network``, in odt's names and layouts, in float64."""
    w1, b1, w2, b2, w3, b3 = [torch.tensor(np.array(w, "float64")) for w in model.get_weights()]
    leaves = [
        w1.reshape(3, 3, 3, 2).permute(0, 3, 1, 2).contiguous(),
        b1,
        w2.reshape(wide, 27),
        b2,
        w3.reshape(3, wide),
        b3,
    ]
    leaves = [leaf.requires_grad_() for leaf in leaves]
    image = torch.tensor(x.astype("float64").transpose(0, 3, 1, 2))
    before = F.conv2d(image, leaves[0], leaves[1], padding=1)
    conv = F.relu(before)
    pool = F.max_pool2d(conv, 2)
    flat = pool.permute(0, 2, 3, 1).reshape(len(x), 27)
    hidden = F.linear(flat, leaves[2], leaves[3])
    dense = F.relu(hidden)
    logits = F.linear(dense, leaves[4], leaves[5])
    kept = (before, conv, pool, flat, hidden, dense, logits)
    for tensor in kept:
        tensor.retain_grad()
    F.cross_entropy(logits, torch.tensor(y.astype("int64"))).backward()
    found = {
        "image": x, "conv2d": nhwc(conv), "maxpool2d": nhwc(pool), "flatten": flat.detach(), "relu": dense.detach(),
        "dense": dense.detach(), "dense_1": logits.detach(), "loss error": logits.grad, "dense_1 dx": dense.grad,
        "dense masked error": hidden.grad, "dense dx": flat.grad.reshape(-1, 3, 3, 3),
        "maxpool2d masked error": nhwc(pool.grad * (pool > 0)), "maxpool2d dx": nhwc(before.grad),
        "conv2d gradient": leaves[0].grad.permute(0, 2, 3, 1), "conv2d bias gradient": leaves[1].grad,
        "dense gradient": leaves[2].grad, "dense bias gradient": leaves[3].grad,
        "dense_1 gradient": leaves[4].grad, "dense_1 bias gradient": leaves[5].grad,
    }  # fmt: skip
    for at, name in ((0, "conv2d kernel"), (1, "conv2d bias"), (2, "dense kernel"), (4, "dense_1 kernel")):
        value = (leaves[at] - 0.1 * leaves[at].grad).detach()
        found[name] = value.permute(0, 2, 3, 1) if at == 0 else value
    return {name: np.asarray(value) for name, value in found.items()}


def close(got, wanted):
    return np.linalg.norm(got - wanted) < 1e-4 * np.linalg.norm(wanted)


@pytest.mark.parametrize("micro", (None, 4))
@pytest.mark.parametrize("wide", (7, 300))
def test_every_float_tensor_of_a_step_is_pytorchs(wide, micro, tmp_path):
    model = network(micro=micro, wide=wide)
    expected = pytorch(model, X, Y, wide)
    if micro:  # outputs and errors are those of the last micro-batch
        expected = {n: v for n, v in expected.items() if n.endswith((" gradient", " kernel", " bias"))}
    assert set(expected) <= set(names(model))
    with Trace(model, expected) as trace:
        model.train_step(X, Y)
    for name, wanted in expected.items():
        got = np.array(trace[name]).reshape(trace.shape(name))
        assert got.size == wanted.size and close(got.reshape(wanted.shape), wanted), name
        assert trace.shape(name) == wanted.shape or name == "dense dx", name


def test_the_gradient_that_is_made_in_pieces_is_one():
    model = network(wide=300)
    made = [code.name for _, code, _, _ in model.program.walk(*model.program.section("train"))]
    assert made.count("dense_dw_f32") > 2


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_steps_are_traced_to_npy_files(dtype, tmp_path):
    traced, plain = network(dtype), network(dtype)
    kept = ["conv2d", "dense gradient", "dense_1 kernel", "image"]
    with Trace(traced, kept, folder=str(tmp_path)) as trace:
        for model in (traced, plain):
            model.fit(X, Y, epochs=3, shuffle=False, verbose=0)
    for name in kept:
        array = np.load(tmp_path / (name.replace(" ", "_") + ".npy"))
        assert array.dtype == np.float32 and array.shape == (3,) + trace.shape(name)
        assert array[2].ravel().tolist() == list(trace[name])
        assert (array[0] != array[2]).any() == (name != "image")
    assert plain.digest() == traced.digest()


@pytest.mark.parametrize("micro", (None, 4))
def test_every_int8_tensor_is_the_reference_executors(micro, tmp_path):
    def traced(executor):
        odt.executor.use(executor)
        try:
            model = network("int8", micro, odt.Adam(0.01))
            model.fit(X, Y, epochs=2, verbose=0)
            with Trace(model, names(model), raw=True) as trace:
                model.train_step(X, Y)
            return trace.values
        finally:
            odt.executor.use(odt.backend)

    native, reference = traced("native"), traced("reference")
    assert native == reference and len(native) > 30
    assert {values.typecode for values in native.values()} == set("bhif")


def test_int8_tensors_in_real_numbers_are_near_those_of_pytorch():
    model = network("int8")
    model.fit(X, Y, verbose=0)
    expected = pytorch(model, X, Y)
    with Trace(model, expected) as trace:
        model.train_step(X, Y)
    for name, wanted in expected.items():
        got = np.array(trace[name]).reshape(wanted.shape)
        assert np.linalg.norm(got - wanted) < 0.08 * np.linalg.norm(wanted), name


def test_optimizer_state_in_real_numbers_is_near_that_of_pytorch():
    model = network("int8", None, odt.Adam(0.01))
    kept = ["dense kernel moment 1", "dense kernel moment 2", "dense gradient"]
    with Trace(model, kept) as trace:
        model.train_step(X, Y)
    gradient = np.array(trace["dense gradient"])
    first, second = np.array(trace[kept[0]]), np.array(trace[kept[1]])
    assert np.linalg.norm(first - 0.1 * gradient) < 0.05 * np.linalg.norm(0.1 * gradient)
    root = np.abs(gradient) * np.sqrt(0.001)
    assert np.linalg.norm(second - root) < 0.05 * np.linalg.norm(root)


def test_gradients_of_a_batch_in_micro_batches_are_the_batchs():
    kept = ["conv2d gradient", "dense gradient", "dense bias gradient"]
    found = []
    for micro in (None, 4):
        model = network("int8", micro)
        with Trace(model, kept, raw=True) as trace:
            model.train_step(X, Y)
        found.append(trace.values)
    assert found[0] == found[1]


def test_frozen_weights_and_branches_have_names_too():
    a = odt.Input((4,))
    b = odt.Dense(4, "relu", trainable=False, name="kept")(a)
    c = odt.Concatenate()([b, odt.Dense(3)(a)])
    d = odt.Dense(4)(c)
    model = odt.Model(a, odt.Dense(2)(odt.Multiply(name="product")([d, odt.Dense(4)(b), odt.Dense(4)(c)])))
    for dtype in ("int8", "float32"):
        model.compile(odt.SGD(0.1, 0.9), dtype=dtype, batch_size=3)
        x = RANDOM.normal(size=(3, 4)).astype("float32")
        with Trace(model, names(model)) as trace:
            model.train_step(x, [0, 1, 1])
        assert set(trace.values) == set(names(model))
        assert {"kept kernel", "concatenate", "product dx0", "product dx0 2", "concatenate error"} <= set(names(model))
        assert np.allclose(trace["kept kernel"], model.get_weights()[0])
        left, right = np.array(trace["concatenate"]).reshape(3, 7)[:, :4], np.array(trace["kept"]).reshape(3, 4)
        assert np.abs(left - right).max() < (0.05 if dtype == "int8" else 1e-9)


def test_what_is_computed_again_is_traced_as_what_is_kept():
    found = []
    for checkpoint in (None, "sqrt"):
        layers = [odt.Dense(8, "relu") for _ in range(9)]
        model = odt.Sequential([odt.Input((4,)), *layers, odt.Dense(2)])
        model.compile(odt.SGD(0.1), batch_size=64, seed=4, checkpoint=checkpoint)
        x = np.random.default_rng(1).normal(size=(64, 4)).astype("float32")
        kept = ["dense_%d" % k for k in range(1, 10)] + ["dense_4 gradient", "dense_2 dx"]
        with Trace(model, kept, raw=True) as trace:
            model.train_step(x, [0, 1] * 32)
        found.append(trace.values)
        rows = profile(model, x, [0, 1] * 32)
    assert found[0] == found[1]
    assert sum(row[4] for row in rows) > 64 * sum(row[4] for row in model.session.plan.table)  # some twice


def test_what_cannot_be_traced_is_refused():
    model = network()
    with pytest.raises(ValueError, match="no tensor 'dense dy', there are: conv2d, "):
        Trace(model, ["dense dy"])
    model.nodes[1].layer.trainable = False
    with pytest.raises(RuntimeError, match="changed since compile"):
        names(model)
    with pytest.raises(RuntimeError, match="compile"):
        names(odt.Sequential([odt.Input((6,)), odt.Dense(2)]))
    with pytest.raises(TypeError, match="int8 is expected, got float32"):
        Ranges(network())


# --- ranges -----------------------------------------------------------------------------------


def quantized(factor, dtype="int8", clip=False):
    """A model whose int8 samples of scale 0.03 are given with ``factor`` times that; (ranges, model)."""
    model = odt.Sequential([odt.Input((6,), dtype, scale=0.03 * factor), odt.Dense(8, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=10, seed=1)
    x = RANDOM.normal(size=(40, 6)) / (0.2 if clip else 1)
    x = np.clip(np.round(x / 0.03), -127, 127).astype("int8")
    with Ranges(model) as ranges:
        model.fit(x, [0, 1, 2, 0] * 10, epochs=2, verbose=0)
    return ranges, x, model


def test_ranges_are_those_of_the_values(capsys):
    ranges, x, model = quantized(1)
    rows = {row[0]: row[1:] for row in ranges.rows()}
    assert rows["input"][0] == pytest.approx(128 * 0.03) or rows["input"][0] == pytest.approx(127 * 0.03)
    assert rows["input"][2] == pytest.approx(np.abs(x).max() * 0.03, rel=1e-6)
    assert rows["input"][3] == pytest.approx(np.isin(x, (-128, -127, 127)).mean())
    assert all(row[1] <= row[2] <= row[0] * 1.0001 for row in rows.values())
    assert {"dense", "dense_1", "loss error", "dense_1 dx"} <= set(rows)
    ranges.report()
    text = capsys.readouterr().out
    assert all(len(line) < 80 for line in text.splitlines())


@pytest.mark.parametrize("factor, words", ((10, "input: values up to .*Input's scale right"), (0.02, "Input's scale")))
def test_a_scale_of_the_input_that_is_wrong_is_warned_of(factor, words, capsys):
    ranges, _, _ = quantized(factor)
    assert not any("input" in text for text in quantized(1)[0].warnings())
    (warning,) = [text for text in ranges.warnings() if text.startswith("input:")]
    ranges.report()
    assert re.search(words, warning) and "warning: " + warning in capsys.readouterr().out


def test_samples_that_were_clipped_or_use_little_of_their_range_are_warned_of():
    ranges, _, _ = quantized(1, clip=True)
    assert any("input: " in text and "at an end of the range" in text for text in ranges.warnings())
    model = odt.Sequential([odt.Input((6,), "int8", scale=0.3), odt.Dense(3)])
    model.compile(batch_size=10)
    with Ranges(model) as ranges:
        model.fit(
            np.clip(np.round(RANDOM.normal(size=(40, 6)) / 0.3), -9, 9).astype("int8"), [0, 1, 2, 0] * 10, verbose=0
        )
    assert any("input: " in text and "smaller scale" in text for text in ranges.warnings())


def test_an_outlier_is_clipped_warned_of_and_forgotten(capsys):
    model = odt.Sequential([odt.Input((6,)), odt.Dense(3)])
    model.compile(odt.SGD(0.001), batch_size=10, seed=1)
    x = RANDOM.normal(size=(40, 6)).astype("float32")
    model.fit(x, [0, 1, 2, 0] * 10, verbose=1)
    assert "clipped" not in capsys.readouterr().out
    x[3] *= 100
    model.fit(x, [0, 1, 2, 0] * 10, verbose=1)
    assert "warning: input: a value of" in capsys.readouterr().out
    x[3] /= 100
    with Ranges(model) as ranges:
        model.fit(x, [0, 1, 2, 0] * 10, epochs=8, verbose=0)
    assert [text for text in ranges.warnings() if "clipped" in text]
    assert all(reach < 4 * peak for name, reach, _, peak, _ in ranges.rows() if name in ("input", "dense"))


# --- the cost by layer ------------------------------------------------------------------------


@pytest.mark.parametrize("micro", (None, 5))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_profile_counts_what_the_summary_says_and_changes_no_bit(dtype, micro, capsys):
    model, plain = network(dtype, micro, odt.Adam(0.01)), network(dtype, micro, odt.Adam(0.01))
    ticks = iter(range(10**6))
    rows = profile(model, X, Y, clock=lambda: next(ticks), unit="calls")
    text = capsys.readouterr().out
    plain.train_step(X, Y)
    assert model.digest() == plain.digest()
    assert all(len(line) < 80 for line in text.splitlines()) and "times in calls, of a step of 10" in text
    summary = {row[0]: row for row in model.session.plan.table}
    assert [row[0] for row in rows] == [node.layer.name for node in model.nodes] + ["loss", "step"]
    for row in rows[:-2]:
        assert row[4] == 10 * summary[row[0]][4] and row[5] + row[6] == 10 * summary[row[0]][5]
    assert sum(row[7] + row[8] for row in rows) == model.program.state
    count = sum(1 for _ in model.program.walk(*model.program.section("train")))
    assert sum(sum(row[1:4]) for row in rows) >= count  # a tick an instruction


def test_a_profile_of_real_time_adds_up():
    model = network("int8")
    rows = profile(model, X, Y)
    assert all(value >= 0 for row in rows for value in row[1:])


def test_a_network_that_is_partly_frozen_in_flash_is_traced():
    def network(**options):
        model = odt.Sequential([odt.Input((5,)), odt.Dense(6, "relu", trainable=False), odt.Dense(3)])
        model.compile(batch_size=4, seed=1, **options)
        return model

    model = network(frozen=odt.files.frozen.pack(network()))
    with Trace(model, ["dense", "dense_1 kernel"]) as trace:
        model.train_step(np.ones((4, 5), "float32"), [0, 1, 2, 0])
    assert list(trace["dense_1 kernel"]) == list(model.get_weights()[2])
    assert any(trace["dense"])


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_network_that_does_not_train_has_tensors_too(dtype):
    model = network(dtype, optimizer=odt.SGD(0.1))
    model.compile(None, dtype=dtype, batch_size=10, seed=1)
    found = names(model)
    assert {"image", "conv2d", "dense", "dense_1", "loss error"} <= set(found)
    assert not [name for name in found if " dx" in name or "gradient" in name or "momentum" in name]
