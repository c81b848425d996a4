import odt

file = open("digits.bin", "rb")  # 1797 images of 8x8 pixels of 0..16, then their labels
x, x_test = file.read(64 * 200), file.read(64 * 100)
file.seek(64 * 1797)
y, y_test = file.read(200), file.read(100)
model = odt.Sequential([
    odt.Input((8, 8, 1), dtype="uint8", scale=1 / 16),
    odt.Conv2D(8, 3, strides=2, activation="relu"),
    odt.Flatten(),
    odt.Dense(10),
])
model.compile(odt.Adam(0.004), batch_size=4, seed=1)
model.fit(x, y, epochs=5)
print("accuracy %.1f %%, digest %08x" % (100 * model.evaluate(x_test, y_test)[1], model.digest()))
