# The same script on this page and on the board; edit it.
import odt

x = [[0, 0], [0, 1], [1, 0], [1, 1]]
y = [0, 1, 1, 0]

model = odt.Sequential([odt.Input((2,)), odt.Dense(8, activation="relu"), odt.Dense(2)])
model.compile(odt.Adam(0.02), batch_size=4, seed=1)
model.fit(x, y, epochs=50)
print("digest %08x" % model.digest())
for (a, b), answer in zip(x, model.predict_classes(x)):
    print(a, "xor", b, "=", answer)
