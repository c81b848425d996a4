"""While a thread fits a model each call of another thread is refused, and the fit ends with its own digest.

Needs _thread.
"""

import _thread
import time

import odt

ODT_ARGS = globals().get("ODT_ARGS", {})
x = [[i / 9, 1, 2, 3] for i in range(64)]
y = [i % 3 for i in range(64)]
folder = ODT_ARGS.get("folder", "")


def network():
    model = odt.Sequential([odt.Input((4,)), odt.Dense(16, "relu"), odt.Dense(3)])
    model.compile(odt.Adam(0.01), batch_size=8, seed=1)
    return model


alone = network()
alone.fit(x, y, epochs=40, verbose=0)
model = network()
CALLS = {
    "fit": lambda: model.fit(x, y), "fit_async": lambda: model.fit_async(x, y).send(None),
    "train_step": lambda: model.train_step(x[:8], y[:8]), "evaluate": lambda: model.evaluate(x, y),
    "predict": lambda: model.predict(x[:4]), "predict_proba": lambda: model.predict_proba(x[:4]),
    "predict_classes": lambda: model.predict_classes(x[:4]), "calibrate": lambda: model.calibrate(x),
    "load_weights": lambda: model.load_weights(alone), "digest": lambda: model.digest(),
    "get_weights": lambda: model.get_weights(), "set_weights": lambda: model.set_weights(alone.get_weights()),
    "save": lambda: model.save(folder + "own.odt"), "load": lambda: model.load(folder + "own.odt"),
    "export": lambda: model.export(folder + "exported.odt"), "compile": lambda: model.compile(),
    "summary": lambda: model.summary(), "disassemble": lambda: model.disassemble(), "draw": lambda: model.draw(),
}  # fmt: skip
refused, taken, ended = set(), set(), []


def call_all():
    for name in CALLS:
        for _ in range(2):
            try:
                CALLS[name]()
                taken.add(name)
            except RuntimeError as error:
                assert "underway" in str(error), error
                refused.add(name)
    ended.append(True)


class Own:
    """What callbacks of the fit call, they may; the fit goes on until the other thread has tried everything."""

    begun = 0

    def on_batch_end(self, step):
        if not self.begun:
            self.begun = 1
            _thread.start_new_thread(call_all, ())
        model.predict(x[:4])
        model.evaluate(x, y)
        while self.begun < 2 and not ended:
            time.sleep(0.001)
        self.begun = 2


model.fit(x, y, epochs=40, verbose=0, callbacks=[Own()])
print("refused", *sorted(refused))
print("taken", *sorted(taken))
print("digest", model.digest() == alone.digest())
model.predict(x)
_thread.start_new_thread(lambda: ended.append(model.predict(x)), ())
while len(ended) < 2:
    time.sleep(0.001)
print("afterwards any thread may", list(ended[1]) == list(model.predict(x)))
