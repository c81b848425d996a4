"""Training, validation, prediction, teaching and saving in turn, and the heap after each round. Runs on a machine.

ODT_ARGS: rounds, epochs of each, and teach=False where the heap has no room for a Teacher. Prints, after compile and
after each round, mem_info()'s lines; then a module is imported that was not yet.
"""

import gc
import os

import micropython

import odt

args = globals().get("ODT_ARGS", {})
ROUNDS, EPOCHS = args.get("rounds", 2), args.get("epochs", 10)


def heap(epochs):
    gc.collect()
    print("after", epochs, "epochs: free", gc.mem_free())
    micropython.mem_info()


x = bytes([(7 * i + i // 5) % 17 for i in range(64 * 16)])
y = bytes([i % 10 for i in range(16)])
one = x[64:128]
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(4, 3, activation="relu"),
    odt.MaxPool2D(),
    odt.Flatten(),
    odt.Dense(10),
])  # fmt: skip
model.compile(odt.Adam(0.004), batch_size=8, seed=1)
heap(0)
teacher = None
for turn in range(1, ROUNDS + 1):
    model.fit(x, y, epochs=EPOCHS, validation_data=(x, y), verbose=0)
    model.train_step(x[: 64 * 8], y[:8])
    model.evaluate(x, y)
    model.predict(x)
    model.predict(one)
    model.save("soak.ckpt")
    if args.get("teach", True):
        if teacher is None:
            from odt.continual import teach

            teacher = teach.Teacher(teach.front(model), 4, 2048, steps=40)
        teacher.learn(one, turn % 4)
        teacher.predict(one)
    heap(turn * EPOCHS)
os.remove("soak.ckpt")
from odt.online.drift import PageHinkley  # noqa: E402

print("imported", PageHinkley.__name__)
