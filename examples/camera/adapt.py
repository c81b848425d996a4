"""A MobileNetV2 that learned to read digits on a PC sees them turned, inverted or with little contrast, and adapts.

    python adapt.py                                                 on a PC
    micropython adapt.py                                            on MicroPython's unix port

Each of them ends with the same digest; so does a board that reads camera.odt in its flash: see README.md.
bench/examples/camera.py made the files that it reads.
"""

import gc

import odt
from odt import executor

# A test may ask for less by putting ODT_ARGS before this script, and give the model's file as it lies in flash.
args = globals().get("ODT_ARGS", {})
CHANGE, EPOCHS = args.get("change", "turned"), args.get("epochs", 6)
LEARN, TEST = args.get("learn", 200), args.get("test", 100)
RECORD, EXTENT = 289, 48  # 24x24 pixels of 4 bits, and their label; what the camera sees of them


class Camera:
    """Images ``first`` .. ``last - 1`` of digits.bin as the changed camera sees them, one at a time: 48x48x3 uint8.

    A light colour on a dark one, others for each image.
    """

    image = bytearray(EXTENT * EXTENT * 3)  # of all cameras: made while the heap is empty, before the model's memory

    def __init__(self, first, last):
        self.first, self.last = first, last

    def __iter__(self):
        with open("digits.bin", "rb") as file:
            file.seek(RECORD * self.first)
            for number in range(self.first, self.last):
                record = file.read(RECORD)
                self.see(record, [self.colour(number, level) for level in range(16)])
                yield self.image, record[-1:]

    def colour(self, number, level):
        """Bytes of a pixel of that level in the image of that number."""
        found = bytearray(3)
        for channel in range(3):
            low, high = number * (7 + 4 * channel) % 80, 150 + number * (13 + 6 * channel) % 106
            value = low + (high - low) * level // 15
            if CHANGE == "inverted":
                value = 255 - value
            elif CHANGE == "low contrast":
                value = value // 8 + 100
            found[channel] = value
        return bytes(found)

    def see(self, record, colours):
        """Each pixel two by two; "turned" by 90 degrees."""
        image, half = self.image, EXTENT // 2
        turns, line = CHANGE == "turned", bytearray(EXTENT * 3)
        for y in range(half):
            for x in range(half):
                at = half * x + half - 1 - y if turns else half * y + x
                pixel = colours[record[at >> 1] >> 4 * (1 - (at & 1)) & 15]
                line[6 * x : 6 * x + 3] = pixel
                line[6 * x + 3 : 6 * x + 6] = pixel
            image[6 * EXTENT * y : 6 * EXTENT * y + 3 * EXTENT] = line
            image[6 * EXTENT * y + 3 * EXTENT : 6 * EXTENT * (y + 1)] = line


model = odt.load_model(args.get("model", "camera.odt"))
session = model.session
print("arena %d bytes, state %d bytes" % (len(session.arena), len(session.state)))
if TEST:
    test = Camera(LEARN, LEARN + TEST)
    print("%s, before: %.1f %%" % (CHANGE, 100 * model.evaluate(test)[1]))
model.fit(Camera(0, LEARN), epochs=EPOCHS, verbose=0)
if TEST:
    print("%s, after:  %.1f %%" % (CHANGE, 100 * model.evaluate(test)[1]))
print("executor:", executor.backend)
print("digest %08x" % model.digest())
gc.collect()
if hasattr(gc, "mem_alloc"):
    print("heap in use: %d bytes, %d free" % (gc.mem_alloc(), gc.mem_free()))
