"""XOR, the smallest problem that needs a hidden layer: mpremote run examples/xor/train.py"""

import odt

x = [[0, 0], [0, 1], [1, 0], [1, 1]]
y = [0, 1, 1, 0]

model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.Adam(0.02), batch_size=4, seed=1)
model.summary()
model.fit(x, y, epochs=100, verbose=0)

loss, accuracy = model.evaluate(x, y)
print("loss %.4f, accuracy %.0f %%, digest %08x" % (loss, 100 * accuracy, model.digest()))
scores = model.predict(x)
for index, (a, b) in enumerate(x):
    print(a, "xor", b, "=", int(scores[2 * index + 1] > scores[2 * index]))
