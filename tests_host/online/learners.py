"""A definition of recursive least squares, and what bad input leaves of a learner."""

import numpy as np
import pytest

EXECUTORS = ("native", "reference")


def rls(h, t, regularization=0.01, forgetting=1.0):
    """P and weights by the textbook's formula in float64, all of P."""
    P, beta = np.eye(h.shape[1]) / regularization, np.zeros((h.shape[1], t.shape[1]))
    for row, target in zip(h, t):
        g = P @ row
        d = forgetting + row @ g
        beta += np.outer(g / d, target - row @ beta)
        P = (P - np.outer(g, g) / d) / forgetting
    return P, beta


def unchanged(model, call, error, text):
    before = bytes(model.state)
    with pytest.raises(error, match=text):
        call()
    assert bytes(model.state) == before
