"""Weights that are frozen in flash: the same network, less RAM."""

import runpy
import struct
import zlib

import numpy as np
import pytest

import odt
from odt import executor
from odt.adapt import update
from odt.files import frozen

X = np.random.default_rng(8).normal(size=(24, 8, 8, 2)).astype("float32")
Y = np.random.default_rng(9).integers(0, 4, 24).astype("uint8")


def network(channels=9, **options):
    dtype = options.pop("dtype", "int8")
    model = odt.Sequential([
        odt.Input((8, 8, 2)), odt.Conv2D(channels, 3, activation="relu"), odt.DepthwiseConv2D(3, use_bias=False),
        odt.Conv2D(10, 1, activation="relu"), odt.MaxPool2D(), odt.Flatten(), odt.Dense(7, "relu"), odt.Dense(4),
    ])  # fmt: skip
    update.last(model, 2)
    model.compile(odt.Adam(0.02), dtype=dtype, batch_size=8, seed=4, **options)
    return model


@pytest.mark.parametrize("micro", (None, 3))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_network_in_flash_trains_as_the_one_in_ram(dtype, micro):
    plain = network(dtype=dtype, micro_batch=micro)
    plain.set_weights(plain.get_weights())  # which int8 rounds
    data = frozen.pack(plain)
    model = network(dtype=dtype, micro_batch=micro, frozen=data)
    model.set_weights(plain.get_weights())
    assert all(np.array_equal(*pair) for pair in zip(model.get_weights(), plain.get_weights()))
    plain.set_weights(plain.get_weights())
    histories = [each.fit(X, Y, epochs=4, verbose=0).history for each in (plain, model)]
    assert histories[0] == histories[1]
    for ours, theirs in zip(model.get_weights(), plain.get_weights()):
        assert np.array_equal(ours, theirs)
    assert frozen.pack(model) == data
    saved = len(plain.session.state) - len(model.session.state)
    assert len(data) - frozen.HEADER == saved > 200


def test_the_reference_reads_them_too():
    data = frozen.pack(network())
    digests = []
    for engine in ("native", "reference"):
        executor.use(engine)
        try:
            model = network(frozen=data)
            model.fit(X[:8], Y[:8], verbose=0)
        finally:
            executor.use("native")
        digests.append(model.digest())
    assert digests[0] == digests[1]


@pytest.mark.slow
def test_the_digest_is_of_the_state_and_of_the_weights_in_flash():
    """Two backbones under one head are two networks; without ``frozen=`` the digest is of the state alone."""
    plain = network()
    assert plain.digest() == zlib.crc32(plain.session.state)
    data = frozen.pack(plain)
    digests = {data: network(frozen=data).digest()}
    assert digests[data] == zlib.crc32(bytes(network(frozen=data).session.state) + data)
    for at in range(frozen.HEADER, len(data), 7):
        body = bytearray(data[frozen.HEADER :])
        body[at - frozen.HEADER] ^= 1
        other = data[:8] + struct.pack("<I", zlib.crc32(body)) + bytes(body)
        for name in ("native", "reference")[: 1 + (at < 30)]:
            executor.use(name)
            try:
                digests.setdefault(other, network(frozen=other).digest())
                assert network(frozen=other).digest() == digests[other]
            finally:
                executor.use("native")
    assert len(set(digests.values())) == len(digests) > 50


def test_a_module_holds_the_bytes(tmp_path):
    model = network()
    frozen.write_module(str(tmp_path / "backbone.py"), model)
    assert runpy.run_path(str(tmp_path / "backbone.py"))["DATA"] == frozen.pack(model)
    for shift in (1, 2, 3):  # to another place, in place
        frozen.write_module(tmp_path / "backbone.py", model, shift)
        data = runpy.run_path(str(tmp_path / "backbone.py"))["DATA"]
        assert data == frozen.pack(model) and len(data.obj) == shift + len(data)


def test_a_checkpoint_belongs_to_the_network_in_flash(tmp_path):
    data = frozen.pack(network())
    model = network(frozen=data)
    model.fit(X, Y, verbose=0)
    model.save(str(tmp_path / "model"))
    other = network(frozen=data)
    other.load(str(tmp_path / "model"))
    assert other.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="another network"):
        network().load(str(tmp_path / "model"))


def test_bytes_that_do_not_fit_are_refused_and_the_model_stays():
    model = network()
    data = frozen.pack(model)
    digest = model.digest()
    damaged = bytearray(data)
    damaged[-1] ^= 1
    for bad, error in (
        (b"", "not what odt.files.frozen.pack made"),
        (b"ODTX" + data[4:], "not what odt.files.frozen.pack made"),
        (data[:-4], "%d bytes of another network's layers" % (len(data) - 4)),
        (frozen.pack(network(8)), "another network's layers, this one's take %d" % len(data)),
        (frozen.pack(network(dtype="float32")), "another network's layers"),
        (bytes(damaged), "damaged"),
    ):
        with pytest.raises(ValueError, match=error):
            model.compile(frozen=bad)
    with pytest.raises(TypeError):
        model.compile(frozen=5)
    assert model.digest() == digest


def test_bytes_that_lie_where_kernels_cannot_read_words_are_refused_when_compiled():
    model = network()
    data = frozen.pack(model)
    digest, engine = model.digest(), model.session.engine
    room = bytearray(4) + data
    for at in range(5):
        part = memoryview(room)[at : at + len(data)]
        part[:] = data
        expected, one = [network(frozen=data).predict(x).tolist() for x in (X, X[:1])]
        if at % 4 == 0:
            assert network(frozen=part).predict(X).tolist() == expected
            continue
        with pytest.raises(ValueError, match="frozen: .* aligned to 4 bytes"):
            model.compile(frozen=part)
        assert model.digest() == digest and model.session.engine is engine and model.session.frozen is None
        executor.use("reference")  # which reads bytes
        try:
            assert network(frozen=part).predict(X[:1]).tolist() == one
        finally:
            executor.use("native")


def test_a_model_of_which_all_trains_has_nothing_to_freeze():
    model = odt.Sequential([odt.Input((3,)), odt.Dense(2)])
    model.compile()
    with pytest.raises(ValueError, match="all of the model trains"):
        frozen.pack(model)


def test_summary_states_the_flash(capsys):
    data = frozen.pack(network())
    network(frozen=data).summary()
    assert "frozen weights %12d bytes, in flash" % len(data) in capsys.readouterr().out
