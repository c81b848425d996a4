"""Successive halving of a search's trials: training ends early where other trials are ahead (Li et al., 2020, ASHA).

After a ninth and a third of its epochs a trial is compared with the others that cost no more: it goes on among their
best third.
"""

from ...callbacks import Callback

_PART = 3  # one in three goes on
_FEW = 2  # as many better ones end a trial at least


class Rungs(Callback):
    """The callback of a ``trial`` of a NetworkSearch whose costs are ``figures``.

    ``ended``: the epochs after which it ended the training, or 0; ``accuracy``: what it saw last.
    """

    def __init__(self, search, trial, figures):
        self.search, self.trial, self.figures, self.ended, self.accuracy = search, trial, figures, 0, None
        epochs = search.epochs
        self.epochs = [epoch for epoch in (epochs // _PART**2, epochs // _PART) if epoch and epoch < epochs]

    def on_epoch_end(self, epoch, logs=None):
        """Evaluate after the epochs of a rung; end the training where others are ahead."""
        if epoch + 1 not in self.epochs or self.ended:
            return
        self.accuracy = accuracy = self.model.evaluate(*self.search.test)[1]
        costs = [self.figures[name] for name in self.search.objectives if name != "accuracy"]
        rung = "after %d" % (epoch + 1)
        others = [
            known[rung][0]
            for known in [trial.user_attrs for trial in self.search.study.get_trials(deepcopy=False)]
            if rung in known and all([cost <= own for cost, own in zip(known[rung][1], costs)])
        ]
        self.trial.set_user_attr(rung, [accuracy, costs])
        better = sum([other > accuracy for other in others])
        if better >= max(_FEW, (len(others) + 1) / _PART):
            self.ended = epoch + 1
            self.model.stop_training = True
