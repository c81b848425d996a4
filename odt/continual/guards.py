"""What a classifier says of samples: how they are shared among classes, and how sure it is. For adabn and tent."""

from ..run.classes import numbers


def said(model, x):
    """(how many samples are said to be of each class, the mean of the samples' largest probabilities)."""
    values = numbers(model.predict_proba(x))
    width = model.session.classes
    counts, sure = [0] * width, 0.0
    for at in range(0, len(values), width):
        best = at
        for index in range(at + 1, at + width):
            if values[index] > values[best]:
                best = index
        counts[best - at] += 1
        sure += values[best]
    return counts, sure * width / len(values)


def refuse_harm(name, before, after, sure, share):
    """ValueError where of two results of said() the later is less sure by more than ``sure``, and gives the most
    frequent class fewer of the samples, by more than ``share`` of them.

    So it is where the shares of classes are not those of training: what follows them moves predictions apart. Of a
    changed sensor, predictions become more confident, or stay as they are.
    """
    count, top, now = sum(before[0]), max(before[0]), max(after[0])
    if before[1] - after[1] > sure and top - now > share * count:
        raise ValueError(
            "%s: x: predictions would be sure by %.2f, of %.2f before, and %d of %d samples of one class, %d before: "
            "give samples of all classes, about equally many (guard=False does it anyway)"
            % (name, after[1], before[1], now, count, top)
        )
