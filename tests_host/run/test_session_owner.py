"""A model has one thread at a time on CPython: where a fit is underway others are refused, short calls wait for one
another.
"""

import asyncio
import inspect
import linecache
import os
import runpy
import sys
import threading

import numpy as np
import pytest
from checkout import ROOT

import odt
from odt.host.guard import _SHORT
from odt.run.network import Network

SCRIPT = str(ROOT / "tests_device" / "scripts" / "owner.py")
sys.path.insert(0, os.path.dirname(SCRIPT))
X = np.random.default_rng(0).normal(size=(64, 8)).astype("float32")
Y = np.arange(64) % 3


def network():
    model = odt.Sequential([odt.Input((8,)), odt.Dense(16, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=8, seed=1)
    return model


def test_a_fit_in_one_thread_refuses_all_calls_of_another(tmp_path, capsys):
    text = runpy.run_path(SCRIPT, {"ODT_ARGS": {"folder": str(tmp_path) + "/"}})
    refused, taken = text["refused"], text["taken"]
    assert taken <= {"summary", "disassemble", "draw"} and len(refused | taken) == 19
    assert "digest True\nafterwards any thread may True" in capsys.readouterr().out


def test_the_script_calls_all_that_a_model_has():
    """A new method fails here until it is in the script, and in the guard where it uses the session."""
    source = open(SCRIPT).read()
    for cls in (Network, odt.Model):
        for name, value in vars(cls).items():
            if inspect.isfunction(value) and name[0] != "_":
                assert '"%s": lambda' % name in source, name
    readers = {"fit", "fit_async", "summary", "disassemble", "draw", "predict_proba", "predict_classes"}
    assert {*_SHORT, *readers} >= {
        name for name, value in vars(Network).items() if inspect.isfunction(value) and name[0] != "_"
    }


@pytest.mark.parametrize("call", ("predict", "train_step", "evaluate"))
def test_short_calls_of_several_threads_give_what_they_give_alone(call):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        models = network(), network()
        models[0].calibrate(X)
        models[1].calibrate(X)
        parts = [slice(16 * number, 16 * number + 8) for number in range(4)]
        if call == "train_step":  # in any order: each step is one of the batch that it was called with
            threads = [threading.Thread(target=models[0].train_step, args=(X[:8], Y[:8])) for _ in range(40)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for _ in range(40):
                models[1].train_step(X[:8], Y[:8])
            assert models[0].digest() == models[1].digest()
            return
        arguments = [(X[part],) if call == "predict" else (X[part], Y[part]) for part in parts]
        expected = [np.array(getattr(models[1], call)(*each)) for each in arguments]
        found = [[] for _ in parts]

        def use(number):
            for _ in range(100):
                found[number].append(np.array(getattr(models[0], call)(*arguments[number])))

        threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(4):
            assert len(found[number]) == 100
            assert all(np.array_equal(each, expected[number]) for each in found[number])
    finally:
        sys.setswitchinterval(interval)


def test_a_fit_async_refuses_other_threads_from_its_first_slice_to_its_last():
    model, alone = network(), network()
    alone.fit(X, Y, epochs=30, verbose=0)
    seen = []

    async def main():
        task = asyncio.create_task(model.fit_async(X, Y, epochs=30, verbose=0, slice_ms=1))
        await asyncio.sleep(0)
        for call in (lambda: model.save("never"), lambda: model.predict(X), lambda: model.fit(X, Y)):
            thread = threading.Thread(target=attempt, args=(call, seen))
            thread.start()
            while thread.is_alive():
                await asyncio.sleep(0)
        await task

    asyncio.run(main())
    assert len(seen) == 3 and all("underway" in text or "within a step" in text for text in seen)
    assert model.digest() == alone.digest()


def attempt(call, seen):
    try:
        call()
    except RuntimeError as error:
        seen.append(str(error))


def test_of_two_fits_at_once_one_is_refused():
    for _ in range(10):
        model, seen = network(), []
        begin = threading.Barrier(2)

        def train(model=model, seen=seen, begin=begin):
            begin.wait()
            attempt(lambda: model.fit(X, Y, epochs=5, verbose=0), seen)

        threads = [threading.Thread(target=train) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone = network()
        for _ in range(2 - len(seen)):  # one after the other, where the first had ended
            alone.fit(X, Y, epochs=5, verbose=0)
        assert len(seen) < 2 and model.digest() == alone.digest()


@pytest.mark.parametrize("error", (KeyboardInterrupt, MemoryError, ValueError))
def test_a_fit_that_ends_by_an_exception_leaves_the_model_to_others(error):
    model, seen = network(), []

    class Ends:
        def on_batch_end(self, step):
            raise error

    with pytest.raises(error):
        model.fit(X, Y, verbose=0, callbacks=[Ends()])
    thread = threading.Thread(target=lambda: seen.append(len(model.predict(X))))
    thread.start()
    thread.join()
    assert seen == [64]


def test_an_interrupt_at_any_line_of_the_guard_leaves_the_model_to_others():
    """Whatever the main thread's Ctrl-C cut off, once that thread has used the model again others may, too."""
    model, at, cut = network(), 0, 0
    while True:
        left = [at]

        def trace(frame, event, argument, left=left):
            if not frame.f_code.co_filename.endswith("guard.py"):
                return None
            # Python delivers no signal as a with statement begins and ends.
            if event == "line" and not linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip().startswith(
                "with "
            ):
                left[0] -= 1
                if left[0] < 0:
                    sys.settrace(None)
                    raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            model.fit(X[:8], Y[:8], verbose=0)
            sys.settrace(None)
        except KeyboardInterrupt:
            cut += 1
        finally:
            sys.settrace(None)
        if left[0] >= 0:
            break
        model.fit(X[:8], Y[:8], verbose=0)
        seen = []
        thread = threading.Thread(target=attempt, args=(lambda: model.predict(X), seen), daemon=True)
        thread.start()
        thread.join(3)
        assert not thread.is_alive() and not seen, (at, seen)
        at += 1
    assert cut > 12
