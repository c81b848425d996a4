"""An office, minute by minute, and who says whether somebody is there; bench/examples/stories.py and boards run it."""

from array import array

from odt.continual import labels

MINUTES = 2665, 8143, 9752  # of 2 to 4, 4 to 10 and 11 to 18 February 2015
LEAST, MOST = 30, 360  # minutes from one question to the next
EVEN = 200  # of the questions that nobody chooses
NAMES = (
    "learned from every minute",
    "the last minute's label",
    "learned from the answers",
    "the last of one each %d" % EVEN,
    "frozen, learned from 4-10",
)


def minutes(part, count):
    """(x, label) of each: temperature, humidity, light and CO2 of order 1, in an array that the next overwrites;
    whether somebody is there.

    Divided by powers of two, so that they are the same numbers in floats of any width.
    """
    x = array("f", bytes(16))
    with open("room.bin", "rb") as file:
        file.seek(6 * sum(MINUTES[:part]))
        for _ in range(count):
            data = file.read(6)
            light = data[2] | data[3] << 8
            x[0] = (data[0] - 80) / 64  # 1/40 degree from 21 C
            x[1] = (data[1] - 110) / 64  # 1/10 % from 27 %
            x[2] = ((light & 32767) - 128) / 256  # lux
            x[3] = ((data[4] | data[5] << 8) - 700) / 256  # ppm
            yield x, light >> 15


class Office:
    """``every`` learns each label a minute later, ``asks`` only answers; ``frozen`` learns nothing here.

    All predict first.
    """

    def __init__(self, every, asks, frozen):
        self.every, self.asks, self.frozen = every, asks, frozen
        self.last = self.answer = self.now = 0
        self.wait = MOST

    def live(self, part, log=None):
        """(how often each of NAMES was right, how often asks asked) of a sequence of minutes.

        ``log``: odt.sensors.stream's, to tell of each hour how often asks was right, and when it asks.
        """
        right, questions, hour = [0] * len(NAMES), 0, 0
        every, asks = self.every, self.asks
        for x, label in part:
            said = every.predict_one(x), self.last, asks.predict_one(x), self.answer, self.frozen.predict_one(x)
            for k in range(len(NAMES)):
                right[k] += said[k] == label
            every.learn_one(x, label)
            self.last = label
            if self.now % EVEN == 0:
                self.answer = label
            self.now += 1
            self.wait += 1
            hour += said[2] == label
            if log and self.now % 60 == 0:
                log("right", hour / 60)
                hour = 0
            if self.wait >= MOST or self.wait >= LEAST and labels.uncertainty(asks, x)[0] > 32768:
                asks.learn_one(x, label)
                self.wait = 0
                questions += 1
                if log:
                    log("question")
        return right, questions
