"""The ranges of a model that runs by rows, found by the program of the same step without stages, and with whole
kernels.

A range is measured an instruction at a time: of a stripe that would be the range of some rows. State and samples are
the model's own, so that the ranges, and the first step, are those of that program. It takes its arena for as long as it
runs.
"""

from ...base.regions import X_DATA, Y_DATA
from ...run.session import Session
from ...run.start import begin
from .first import Whole

_OWN = (  # what start.begin() gives a session
    "plan", "engine", "loaded", "arena", "state", "control", "frozen", "regions", "program", "sections", "parts",
    "others", "update", "whole", "scale", "scales", "watched", "before", "now", "peaks",
)  # fmt: skip


def calibrate(session, level, whole, step):
    """As Session.calibrate()."""
    kept = {name: getattr(session, name) for name in _OWN}
    plan = session.plan.rows.whole
    data = session.regions[X_DATA], session.regions[Y_DATA]
    state, frozen, whole_state = session.state, session.frozen, None
    if session.plan.rows.found:
        whole_state = Whole(session, plan)
        state, frozen = whole_state.gather(), frozen[: plan.constants]
    try:
        loaded = session.engine.load(bytes(plan.code))
        begin(session, plan, session.engine, loaded, bytearray(plan.arena), state, session.control, frozen)
        session.regions[X_DATA], session.regions[Y_DATA] = data
        return Session.calibrate(session, level, whole, step)
    finally:
        for name, value in kept.items():
            setattr(session, name, value)
        if whole_state:
            whole_state.scatter(state)
