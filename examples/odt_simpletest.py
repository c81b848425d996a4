"""The smallest training: XOR in int8, on any machine that runs odt.

Prints four answers and the digest of what was learnt.
"""

import odt

model = odt.Sequential([odt.Input((2,), dtype="int8"), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.Adam(0.05), batch_size=4, seed=1)
x = bytes([0, 0, 0, 1, 1, 0, 1, 1])
model.fit(x, bytes([0, 1, 1, 0]), epochs=60, verbose=0)
scores = model.predict(x)
for i in range(4):
    print(x[2 * i], "xor", x[2 * i + 1], "=", int(scores[2 * i + 1] > scores[2 * i]))
print("digest %08x, %s executor" % (model.digest(), odt.backend))
