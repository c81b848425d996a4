"""What watches a machine, window by window: what bench/examples/stories.py and the board both run."""

from array import array

from odt.data import Normalizer
from odt.online import Autoencoder, PageHinkley
from odt.sensors import LogMel

RATE, WINDOW, BANDS = 6400, 256, 20
LEARNED, MEASURED = 64, 32  # healthy windows: to learn from, and then to see how high their scores are


class Bands:
    """An OS-ELM autoencoder of a window's energies in bands: log2 of them, less that of the first healthy windows."""

    def __init__(self, hidden=8, forgetting=1.0, seed=0):
        self.mel = LogMel(RATE, WINDOW, 256, BANDS, 50, RATE // 2)
        self.model = Autoencoder(BANDS, hidden, forgetting=forgetting, seed=seed)
        self.energies = array("h", bytes(2 * BANDS))
        self.usual = array("i", bytes(4 * BANDS))
        self.x = array("f", bytes(4 * BANDS))

    def center(self, windows):
        """Let the energies be differences from the means of these."""
        count = 0
        for window in windows:
            self.mel(window, self.energies)
            for k in range(BANDS):
                self.usual[k] += self.energies[k]
            count += 1
        for k in range(BANDS):
            self.usual[k] //= count

    def see(self, window):
        energies, usual, x = self.mel(window, self.energies), self.usual, self.x
        for k in range(BANDS):
            x[k] = (energies[k] - usual[k]) / 256  # the same number in floats of any width
        return x

    def learn(self, window):
        self.model.learn_one(self.see(window))

    def learned(self):
        """All are learned that were to be."""

    def score(self, window):
        return self.model.score_one(self.see(window))


class Watch:
    """Says where the scores of ``model`` rise: Page-Hinkley's test, in deviations of healthy windows' scores from their
    mean.

    ``limit``: of a window's score, the mean and three deviations.
    """

    def __init__(self, model):
        self.model = model
        self.detector = PageHinkley(min_instances=1, delta=1, threshold=20, mode="up")
        self.limit = None
        self.healthy()

    def healthy(self, learn=LEARNED, measure=MEASURED):
        """The next windows are a healthy machine's: learn ``learn`` of them, then measure ``measure``."""
        self.learning, self.measuring = learn, measure
        self.scores = Normalizer(1)
        self.detector.reset()

    def see(self, window):
        """(the score of a window, whether it is an alarm); of one that is learned (None, False)."""
        if self.learning:
            self.learning -= 1
            self.model.learn(window)
            if not self.learning:
                self.model.learned()
            return None, False
        score = self.model.score(window)
        if self.measuring:
            self.measuring -= 1
            self.scores.update([score])
            self.mean, self.deviation = self.scores.mean[0], self.scores.deviation(0)
            self.limit = self.mean + 3 * self.deviation
            return score, False
        self.detector.update((score - self.mean) / self.deviation)
        return score, self.detector.drift_detected
