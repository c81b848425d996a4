"""A Pico whose file system has the room of a Pico W's, and what its capabilities compute, one after the other."""

PICO_W = 848 // 4  # blocks
PARTS = (
    """
import odt
from odt.online import OSELM
learner = OSELM(2, classes=2, seed=1)
for i in range(40):
    learner.learn_one([i % 7 / 7, i % 5 / 5], i % 2)
print(odt.__path__, "digest %08x" % learner.digest())
""",
    """
from array import array
from binascii import crc32
import odt.sensors.stream
from odt.sensors import LogMel
heard = LogMel(rate=8000, channels=10)
frame = heard(array("h", [(i * i) % 2000 - 1000 for i in range(heard.window)]))
print(odt.sensors.stream.__file__, "digest %08x" % crc32(bytes(frame)))
""",
    """
import odt
from odt.continual import Replay
layers = [odt.Input((8, 8, 2), dtype="uint8", scale=1 / 16), odt.Conv2D(4, 3), odt.Flatten(), odt.Dense(3)]
model = odt.Sequential(layers)
model.compile(odt.Adam(0.01), batch_size=4)
replay = Replay(model, budget=1024)
x, y = bytes([(7 * i) % 16 for i in range(512)]), bytes([0, 1, 2, 1])
replay.add(x, y)
model.fit(replay.mixed(x, y), epochs=2, verbose=0)
print(odt.__path__, "digest %08x" % model.digest())
""",
)
