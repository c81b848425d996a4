"""Stateful recurrent layers, in int8 and float32: trained over windows, evaluated, reset. Runs on a machine.

``ODT_ARGS``: "executor".
"""

import gc
from array import array

import odt

args = globals().get("ODT_ARGS", {})
if "executor" in args:
    odt.executor.use(args["executor"])
STEPS, WIDTH, ROWS, COUNT = 5, 3, 4, 12
CELLS = {
    "gru": lambda: [odt.GRU(5, stateful=True)],
    "lstm": lambda: [odt.LSTM(4, stateful=True)],
    "simple_rnn": lambda: [odt.SimpleRNN(6, stateful=True)],
    "two": lambda: [odt.GRU(5, return_sequences=True, stateful=True), odt.LSTM(4, stateful=True)],
}
state, x = 1, array("h", bytes(2 * COUNT * STEPS * WIDTH))
for at in range(len(x)):
    state = (state * 1103515245 + 12345) & 0x7FFFFFFF
    x[at] = (state >> 21) - 512
y = bytes([i % 4 for i in range(COUNT)])
size = STEPS * WIDTH * ROWS
for dtype in ("int8", "float32"):
    for name in sorted(CELLS):
        layers = [odt.Input((STEPS, WIDTH), dtype="int16", scale=1 / 256)] + CELLS[name]() + [odt.Dense(4)]
        model = odt.Sequential(layers)
        model.compile(odt.Adam(0.02), dtype=dtype, batch_size=ROWS, seed=1)
        model.fit(x, y, epochs=2, verbose=0)
        model.evaluate(x, y)
        digest = model.digest()
        one, two = x[:size], y[:ROWS]
        model.train_step(one, two)
        taken = 0
        if hasattr(gc, "mem_alloc"):
            gc.collect()
            gc.disable()
            before = gc.mem_alloc()
            model.train_step(one, two)
            taken = gc.mem_alloc() - before
            gc.enable()
        else:
            model.train_step(one, two)
        model.reset_states()
        outputs = odt.executor.engine.crc32(model.predict(x))
        print("%s %s: digest %08x, outputs %08x" % (dtype, name, digest, outputs))
        print("heap %d" % taken)
        model = None
print(odt.executor.backend, "executor")
