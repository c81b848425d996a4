"""Two threads compute what one computes, to the bit, and leave nothing behind (native/threads.h)."""

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time

import native_sources
import pytest
from checkout import ROOT
from executors import compare
from instructions import NAMES, draw
from sanitized import run, spoil

import odt
from odt import executor
from odt.slots import Bytes

pytestmark = pytest.mark.slow

HERE = os.path.dirname(os.path.abspath(__file__))
import kernel_cases  # noqa: E402

LAYERS = [layer + kind for layer in ("dense", "conv2d", "depthwise2d") for kind in ("_i8", "_dx_i8", "_dw_i8")]
CORES = {  # options, and ODT_X86_LEVEL
    "as here": ("", 2), "with AVX2 alone": ("", 1), "without vectors": ("", 0),
    "as on 32-bit cores": ("-DODT_PANEL=1", 2), "in small tiles": ("-DODT_X86_SMALL=1", 2),
    "in small tiles, with AVX2 alone": ("-DODT_X86_SMALL=1", 1),
}  # fmt: skip
RISC_V = {"as on RISC-V": ("-DODT_PANEL=1 -DODT_RV32=1", 2)}  # what shares work out is as on 32-bit cores

_odt = pytest.importorskip("_odt")


@pytest.fixture(autouse=True)
def one_thread_afterwards():
    yield
    executor.use("native")
    odt.set_num_threads(1)


def draw_large(rng, name, monkeypatch):
    """As the boards' tests do; gradients of all channels."""
    grow = kernel_cases.grow

    def all_rows(rng, values, op):
        grow(rng, values, op)
        if "R" in values:
            values.update(at=0, R=values["N"])

    with monkeypatch.context() as patch:
        patch.setattr(kernel_cases, "grow", all_rows)
        return kernel_cases.draw_medium(rng, name, monkeypatch)


def compile_native(path, options, *harness):
    """native/ with a worker that threads.c starts."""
    command = ["gcc", "-std=c99", "-O1", "-fwrapv", "-ffp-contract=off", "-DODT_THREADS", *options.split()]
    native_sources.build(path, command, [os.path.join(HERE, name) for name in ("threads.c", *harness)], ["-pthread"])


class Library:
    """An executor of a shared library of native/."""

    def __init__(self, path):
        self.library = ctypes.CDLL(str(path))
        self.library.odt_step.restype = ctypes.c_size_t
        self.library.odt_step.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int32]

    def load(self, program):
        return ctypes.create_string_buffer(program, len(program))

    def run(self, program, regions, pc, stop):
        table = (ctypes.c_void_p * (2 * len(regions)))()
        held = []
        for i, region in enumerate(regions):
            if region:
                held.append((ctypes.c_char * len(region)).from_buffer(region))
                table[2 * i] = ctypes.addressof(held[-1])
            table[2 * i + 1] = len(region or b"")
        while pc < stop:
            pc = self.library.odt_step(program, pc, table, 0)


@pytest.mark.parametrize("options, level", {**CORES, **RISC_V}.values(), ids=[*CORES, *RISC_V])
def test_kernels_agree_with_the_reference_in_two_threads(options, level, tmp_path, monkeypatch):
    monkeypatch.setenv("ODT_X86_LEVEL", str(level))
    compile_native(tmp_path / "native.so", "-shared -fPIC " + options)
    native = Library(tmp_path / "native.so")
    assert native.library.odt_is_served()
    assert ctypes.c_int.in_dll(native.library, "odt_x86_level").value == level
    jobs = ctypes.c_uint32.in_dll(native.library, "odt_jobs")
    for name in [*LAYERS, "adam_i8"]:
        before = jobs.value
        for seed in range(40):
            case = draw(random.Random("%s %d" % (name, seed)), name)
            compare(case, case.run(native))
        for seed in range(40):
            case = draw_large(random.Random("two %s %d" % (name, seed)), name, monkeypatch)
            if sum(len(region or b"") for region in case.regions) < 16000:
                compare(case, case.run(native))
        # The plain loops of the others: not, or of many channels.
        if "PANEL" in options or name.startswith(("conv2d", "adam")):
            assert jobs.value > before + 2, name


@pytest.mark.parametrize("threads", (0, 2), ids=("one after the other", "two threads"))
def test_the_extension_agrees_with_the_reference(threads):
    if threads:
        odt.set_num_threads(2)
    else:
        _odt.threads(0)
    for name in NAMES:
        for seed in range(8):
            case = draw(random.Random("%s %d" % (name, seed)), name)
            compare(case, case.run(_odt))


@pytest.mark.parametrize("options, level", CORES.values(), ids=CORES)
def test_thread_sanitizer_finds_no_race(options, level, tmp_path, monkeypatch):
    monkeypatch.setenv("ODT_X86_LEVEL", str(level))
    compile_native(tmp_path / "safety", "-fsanitize=thread " + options, "safety.c")
    rng, cases = random.Random(4), []
    for name in NAMES:
        for _ in range(6):
            case = draw(rng, name)
            cases.append((case.program, spoil(rng, case)))
    for name in [*LAYERS, "adam_i8"]:
        for _ in range(12):
            case = draw_large(rng, name, monkeypatch)
            cases.append((case.program, case.regions))
    assert run(str(tmp_path / "safety"), cases, tmp_path) == [len(cases), 0, 0]


@pytest.mark.parametrize("options", ("", "-fsanitize=thread"), ids=("jobs are counted", "ThreadSanitizer"))
def test_a_worker_that_is_no_longer_wanted_leaves_its_successors_jobs_alone(options, tmp_path):
    """However late it notices; and one that begins late does not pass itself off as another."""
    sources = os.path.join(HERE, "workers.c"), os.path.join(ROOT, "native", "threads.c")
    command = ["gcc", "-std=c99", "-D_GNU_SOURCE", "-O1", "-DODT_THREADS", "-Dnanosleep=slow_nanosleep"]
    subprocess.run([*command, *options.split(), "-pthread", "-o", tmp_path / "workers", *sources], check=True)
    done = subprocess.run([tmp_path / "workers", "300"], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr[:4000]
    assert int(done.stdout) > 200


def images(count, seed):
    rng = random.Random(seed)
    x = [[[[rng.random() for _ in range(2)] for _ in range(12)] for _ in range(12)] for _ in range(count)]
    return x, [rng.randrange(5) for _ in range(count)]


X, Y = images(24, 1)


def network(seed=1, batch_size=8, **options):
    """Each kind of layer that is split, with strides and padding."""
    model = odt.Sequential([
        odt.Input((12, 12, 2)), odt.Conv2D(24, 3, strides=2, padding="same", activation="relu"),
        odt.DepthwiseConv2D(3, padding="same", activation="relu"), odt.Conv2D(66, 1, activation="relu"),
        odt.DepthwiseConv2D(3, strides=2), odt.Conv2D(9, 2, activation="relu"), odt.Flatten(),
        odt.Dense(20, "relu"), odt.Dense(5),
    ])  # fmt: skip
    model.compile(odt.Adam(0.004), batch_size=batch_size, seed=seed, **options)
    return model


def trained(epochs=3, **options):
    model = network(**options)
    model.fit(X, Y, epochs=epochs, verbose=0)
    return model.digest(), model.evaluate(X, Y)


@pytest.mark.parametrize("options", ({}, {"batch_size": 1}, {"micro_batch": 3}, {"dtype": "float32"}))
def test_a_model_trains_to_the_same_digest(options):
    alone = trained(**options)
    odt.set_num_threads(2)
    assert trained(**options) == alone
    odt.set_num_threads(1)
    assert trained(**options) == alone


def test_the_number_can_be_set_again_and_again():
    assert odt.get_num_threads() == 1
    before = threading.active_count(), len(os.listdir("/proc/self/task"))
    for n in (2, 1, 2, 2, 1, 1, 2, 1):
        odt.set_num_threads(n)
        assert odt.get_num_threads() == n
        stop = time.monotonic() + 60
        while len(os.listdir("/proc/self/task")) != before[1] + n - 1:  # it has left, but may not have ended
            assert time.monotonic() < stop
            time.sleep(0.001)
    assert threading.active_count() == before[0]


def test_the_number_may_be_set_in_threads_while_another_trains():
    alone = [trained(seed=seed, epochs=1) for seed in range(8)]
    changes, errors, ends = [0, 0], [], threading.Event()

    def change(number):
        rng = random.Random(number)
        try:
            while not ends.is_set():
                odt.set_num_threads(rng.choice((1, 2, 2)))
                changes[number] += 1
                if rng.random() < 0.3:
                    time.sleep(rng.random() / 200)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=change, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    try:
        while min(changes) < 100 and not errors:
            assert [trained(seed=seed, epochs=1) for seed in range(8)] == alone
    finally:
        ends.set()
        for thread in threads:
            thread.join()
    assert not errors
    odt.set_num_threads(2)
    assert odt.get_num_threads() == 2 and trained(seed=0, epochs=1) == alone[0]


def test_a_number_is_served_once_and_while_it_is_wanted():
    _odt.serve(0)
    odt.set_num_threads(2)
    number = _odt.threads(2)
    assert _odt.threads() == 0 and odt.get_num_threads() == 1
    _odt.serve(number - 1)
    odt.set_num_threads(1)
    _odt.serve(number)
    assert _odt.threads() == 1
    number = _odt.threads(2)
    thread = threading.Thread(target=_odt.serve, args=(number,))
    thread.start()
    while _odt.threads() != 2:
        time.sleep(0.001)
    _odt.serve(number)
    assert _odt.threads(1) == 0 and _odt.threads() == 1
    thread.join()


@pytest.mark.parametrize("n", (0, 3, -1, "2", None, 1.5))
def test_another_number_is_refused(n):
    odt.set_num_threads(2)
    with pytest.raises(ValueError, match=r"set_num_threads: n is 1 or 2, got " + repr(n)):
        odt.set_num_threads(n)
    assert odt.get_num_threads() == 2


@pytest.mark.parametrize("engine", ("reference", "numpy"))
def test_executors_in_python_have_one_thread(engine):
    executor.use(engine)
    assert odt.get_num_threads() == 1
    odt.set_num_threads(1)
    with pytest.raises(
        RuntimeError, match="n = 2 needs kernels in the firmware .* these .'%s'. compute on one core" % engine
    ):
        odt.set_num_threads(2)


def test_a_second_core_that_a_thread_of_the_programs_has_is_not_taken(monkeypatch):
    import _thread

    def refuse(function, arguments):
        raise OSError("core1 in use")

    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", refuse)
        with pytest.raises(RuntimeError, match="the second core is not free .core1 in use.: a thread of the program's"):
            odt.set_num_threads(2)
    assert odt.get_num_threads() == 1
    odt.set_num_threads(2)
    assert odt.get_num_threads() == 2


def test_a_core_that_is_free_a_moment_later_is_waited_for(monkeypatch):
    import _thread

    start, refusals = _thread.start_new_thread, [1, 2, 3]

    def refuse(function, arguments):
        if refusals:
            raise OSError("core1 in use %d" % refusals.pop())
        return start(function, arguments)

    monkeypatch.setattr(_thread, "start_new_thread", refuse)
    odt.set_num_threads(2)
    assert odt.get_num_threads() == 2 and not refusals


def test_a_thread_that_does_not_run_leaves_one(monkeypatch):
    import _thread

    monkeypatch.setattr(_thread, "start_new_thread", lambda function, arguments: 0)
    monkeypatch.setattr(odt.run.threads.time, "sleep", lambda seconds: None)
    with pytest.raises(RuntimeError, match="set_num_threads: the second thread does not run"):
        odt.set_num_threads(2)
    assert _odt.threads() == 1


def test_an_interrupted_step_leaves_the_model_and_the_worker_whole():
    odt.set_num_threads(2)
    model = network()
    rng, interrupted = random.Random(5), 0
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for _ in range(20):
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(0.001, 0.01))
                model.fit(X, Y, epochs=50, verbose=0)
            except KeyboardInterrupt:
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert interrupted == 20
    place = Bytes(bytearray(1 << 18))
    model.save(place)
    model.fit(X, Y, epochs=2, verbose=0)
    odt.set_num_threads(1)
    again = network(seed=2)
    again.load(place)
    again.fit(X, Y, epochs=2, verbose=0)
    assert again.digest() == model.digest()


def test_two_python_threads_train_at_once():
    alone = [trained(seed=seed) for seed in (1, 2, 3)]
    odt.set_num_threads(2)
    found = {}

    def train(seed):
        found[seed] = trained(seed=seed)

    threads = [threading.Thread(target=train, args=(seed,)) for seed in (2, 3)]
    for thread in threads:
        thread.start()
    train(1)
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in (1, 2, 3)] == alone


SCRIPT = """
import os, sys
sys.path[:0] = %r
import odt, test_threads
odt.set_num_threads(2)
model = test_threads.network()
model.fit(test_threads.X, test_threads.Y, epochs=1, verbose=0)
print("%%08x" %% model.digest(), flush=True)
""" % [str(ROOT), HERE, *sys.path]


@pytest.mark.parametrize("end", ("", "raise SystemExit(0)", "os._exit(0)", "del odt, model", "odt.set_num_threads(1)"))
def test_an_interpreter_that_ends_does_not_wait(end):
    model = network()
    model.fit(X, Y, epochs=1, verbose=0)
    done = subprocess.run([sys.executable, "-c", SCRIPT + end], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "%08x" % model.digest() and not done.stderr


def test_a_forked_process_computes_alone():
    odt.set_num_threads(2)
    child = os.fork()
    if not child:
        os._exit(0 if odt.get_num_threads() == 1 and trained()[0] else 1)
    stop = time.monotonic() + 60
    while time.monotonic() < stop:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0
            break
        time.sleep(0.01)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child waits for a thread that it does not have")
    assert odt.get_num_threads() == 2


def test_the_summary_states_the_second_cores_stack(capsys):
    model = network()
    model.summary()
    assert "second core" not in capsys.readouterr().out
    odt.set_num_threads(2)
    model.summary()
    assert "second core            9216 bytes of stack, on a board" in capsys.readouterr().out
