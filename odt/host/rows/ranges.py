"""The ranges of a model that runs by rows, found by the program of the same step without stages.

A range is measured an instruction at a time: of a stripe that would be the range of some rows. State and samples are
the model's own, so that the ranges, and the first step, are those of that program. It takes its arena for as long as it
runs.
"""

from ...base.regions import X_DATA, Y_DATA
from ...run.session import Session
from ...run.start import begin

_OWN = (  # what start.begin() gives a session
    "plan", "engine", "loaded", "arena", "state", "control", "frozen", "regions", "program", "sections", "loss_word",
    "parts", "others",
    "update", "whole", "scale", "scales", "watched", "before", "now", "peaks",
)  # fmt: skip


def calibrate(session, level, whole, step):
    """As Session.calibrate()."""
    kept = {name: getattr(session, name) for name in _OWN}
    plan = session.plan.rows.whole
    data = session.regions[X_DATA], session.regions[Y_DATA]
    try:
        loaded = session.engine.load(bytes(plan.code))
        begin(
            session, plan, session.engine, loaded, bytearray(plan.arena), session.state, session.control, session.frozen
        )
        session.regions[X_DATA], session.regions[Y_DATA] = data
        session.peaks = None
        return Session.calibrate(session, level, whole, step)
    finally:
        for name, value in kept.items():
            setattr(session, name, value)
