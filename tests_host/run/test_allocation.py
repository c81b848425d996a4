"""Each allocation that compile, fit, save, load and their like make fails in turn: MemoryError, and a
model that is as it was, or as it was after some of its steps. tests_device/scripts/allocation.py is the same on
MicroPython, with a heap that is full."""

import importlib.util
import os
import subprocess
import sysconfig
from array import array

import pytest

import odt
from odt.run import replace, session
from odt.slots import Blocks, Bytes

HERE = os.path.dirname(os.path.abspath(__file__))
X = [[0.0, 1.0], [1.0, 0.5], [0.25, 1.0], [0.5, -1.0], [-0.25, 0.0]]
Y = [0, 2, 1, 0, 1]

# Python's own collector gets over a failure, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def failing(tmp_path_factory):
    """The module of failing.c."""
    path = str(tmp_path_factory.mktemp("failing") / ("failing" + sysconfig.get_config_var("EXT_SUFFIX")))
    include = sysconfig.get_paths()["include"]
    source = os.path.join(HERE, "failing.c")
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-I", include, source, "-o", path], check=True)
    spec = importlib.util.spec_from_file_location("failing", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def network(dtype="int8"):
    model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), dtype=dtype, batch_size=2, seed=1)
    return model


class Memory:
    """A block device."""

    def __init__(self):
        self.data = bytearray(16 * 128)

    def ioctl(self, operation, argument):
        return {4: 16, 5: 128}.get(operation)

    def readblocks(self, number, buffer):
        buffer[:] = self.data[128 * number : 128 * (number + 1)]

    def writeblocks(self, number, buffer):
        self.data[128 * number : 128 * (number + 1)] = buffer


def sweep(failing, call, check, least, step=1):
    """``call()`` with each allocation failing in turn, until all succeed; ``check(failed)`` after each."""
    failures = 0
    for at in range(1, 1 << 20, step):
        failing.fail_at(at)
        try:
            call()
            failed = False
        except (MemoryError, SystemError):  # CPython's own, where a function's frame could not be allocated
            failed = True
        finally:
            count = failing.stop()
        failures += failed
        check(failed)
        if count < at:
            break
    assert not failed and failures > least, failures


def trained(dtype):
    """A model that has trained an epoch."""
    model = network(dtype)
    model.fit(X, Y, verbose=0)
    return model


def digests_of_steps(dtype, first):
    """Digests of a model before its epoch ``first`` and after each of its three steps."""
    model = network(dtype)
    if first:
        model.fit(X, Y, epochs=first, verbose=0)
    digests = [model.digest()]

    class Note:
        def on_batch_end(self, step):
            digests.append(model.digest())

    model.fit(X, Y, verbose=0, callbacks=[Note()])
    return digests


@pytest.mark.slow
@pytest.mark.parametrize("dtype, step", (("int8", 1), ("float32", 3)))
def test_a_compile_that_fails_leaves_the_model_that_was(failing, dtype, step):
    model = trained(dtype)
    state, before = bytes(model.session.state), model.digest()
    model.fit(X, Y, verbose=0)
    after = model.digest()
    replace.restore(model.session, state, 1)

    def call():
        model.compile(odt.SGD(0.1, 0.9), dtype="float32" if dtype == "int8" else "int8", batch_size=3, micro_batch=2)

    def check(failed):
        if failed:
            assert (model.digest(), model.dtype, model.batch_size) == (before, dtype, 2)
            model.evaluate(X, Y)
            model.fit(X, Y, verbose=0)
            assert model.digest() == after
        else:  # also where Python got over the failure
            model.fit(X, Y, verbose=0)
            model.compile(odt.Adam(0.01), dtype=dtype, batch_size=2, seed=1)
        replace.restore(model.session, state, 1)

    sweep(failing, call, check, 1000 // step, step)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_first_compile_that_fails_leaves_a_model_that_is_not_compiled(failing, dtype):
    kept = [None]

    def call():
        kept[0] = model = odt.Sequential([odt.Input((2,)), odt.Dense(4, "relu"), odt.Dense(3)])
        model.compile(odt.Adam(0.01), dtype=dtype, batch_size=2, seed=1)

    after = trained(dtype).digest()

    def check(failed):
        model = kept[0]
        if failed and model is not None and model.program is None:
            with pytest.raises(RuntimeError, match="compile"):
                model.fit(X, Y)
        elif model is not None:
            model.fit(X, Y, verbose=0)
            assert model.digest() == after
        kept[0] = None

    sweep(failing, call, check, 100, 7)


@pytest.mark.parametrize("first", (0, 1))
@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_fit_that_fails_leaves_the_model_after_one_of_its_steps(failing, dtype, first):
    """Also within calibration (``first`` 0); and what it left trains on."""
    steps = digests_of_steps(dtype, first)
    model = network(dtype)
    if first:
        model.fit(X, Y, verbose=0)
    state = bytes(model.session.state)
    session.bind(model.session, X, Y)
    model.session.prepare(2)
    steps.append(model.digest())  # with all ranges, before the first step
    replace.restore(model.session, state, first)
    model.session.calibrated = calibrated = 2 if first or dtype == "float32" else 0

    def call():
        model.fit(X, Y, verbose=0)

    def check(failed):
        if not failed:
            assert model.digest() == steps[3]
        elif model.session.calibrated == 2:
            assert model.digest() in steps
        else:
            model.fit(X, Y, verbose=0)
            assert model.digest() == steps[3]
        model.evaluate(X, Y)
        replace.restore(model.session, state, first)
        model.session.calibrated = calibrated

    sweep(failing, call, check, 20)


@pytest.mark.parametrize("where", ("file", "blocks", "bytes"))
def test_a_save_or_load_that_fails_leaves_the_old_or_the_new(failing, where, tmp_path):
    place = {"file": str(tmp_path / "m"), "blocks": Blocks(Memory()), "bytes": Bytes(bytearray(2048))}[where]
    model, other = trained("int8"), network()
    old, state = model.digest(), bytes(model.session.state)
    model.save(place)
    model.fit(X, Y, verbose=0)
    new = model.digest()

    def saved(failed):
        assert model.digest() == new
        other.load(place)
        assert other.digest() in ((old, new) if failed else (new,))
        replace.restore(model.session, state, 1)
        model.save(place)
        model.fit(X, Y, verbose=0)
        assert model.digest() == new

    sweep(failing, lambda: model.save(place), saved, 5)
    model.save(place)

    def before():
        replace.restore(other.session, state, 1)
        other.session.underway = (2, 5, 1, 0, 1)

    def loaded(failed):
        if failed:
            assert other.digest() == old
            assert other.epoch == 1 and other.session.steps() == 3 and other.session.underway == (2, 5, 1, 0, 1)
        else:
            assert (
                other.digest() == new
                and other.epoch == 1
                and other.session.steps() == 6
                and other.session.underway is None
            )
        before()

    before()
    sweep(failing, lambda: other.load(place), loaded, 5)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_weights_that_fail_to_be_set_leave_the_model_that_was(failing, dtype):
    model = trained(dtype)
    state, old = bytes(model.session.state), model.digest()
    values = network(dtype).get_weights()
    model.set_weights(values)
    new, calibrated = model.digest(), model.session.calibrated
    replace.restore(model.session, state, 1)

    def check(failed):
        assert (model.digest(), model.session.calibrated) == ((old, 2) if failed else (new, calibrated))
        replace.restore(model.session, state, 1)

    sweep(failing, lambda: model.set_weights(values), check, 5)


@pytest.mark.parametrize("dtype", ("int8", "float32"))
def test_a_look_that_fails_changes_nothing(failing, dtype):
    model = trained(dtype)
    before = model.digest()
    for look in (
        lambda: model.predict(X), lambda: model.evaluate(X, Y), lambda: model.get_weights(), lambda: model.digest(),
    ):  # fmt: skip

        def check(failed):
            assert model.digest() == before

        sweep(failing, look, check, -1)
    expected = bytes(model.predict(X))
    model.evaluate(X, Y)
    assert bytes(model.predict(X)) == expected


def test_the_entry_points_of_the_extension_fail_cleanly(failing):
    native = pytest.importorskip("_odt")
    model = trained("int8")
    code, data = model.session.plan.code, bytes(1000)
    start, stop = model.session.sections["predict"]
    regions, loaded = model.session.regions, model.session.loaded
    for entry, arguments in (
        (native.load, (code,)), (native.load, (code[:-4],)), (native.load, (code[:-1],)),
        (native.run, (loaded, regions, start, stop)), (native.run, (loaded, regions[:5], start, stop)),
        (native.run, (loaded, (None,) * 6, start, stop)), (native.run, (loaded, regions, start, stop + 1)),
        (native.crc32, (data,)), (native.draw, (bytearray(8), 1, 2)),
        (native.draw_bytes, (bytearray(8), 1, 2, 3, 4, True)),
        (native.calibrate, (loaded, regions, start, stop, array("i", bytes(40)))),
        (native.calibrate, (loaded, regions[:5], start, stop, None)),
        (native.find_nonfinite, (data,)), (native.typecode, (data,)), (native.nbytes, (data,)),
    ):  # fmt: skip

        def call(entry=entry, arguments=arguments):
            try:
                entry(*arguments)
            except ValueError:
                pass

        sweep(failing, call, lambda failed: None, -1)
