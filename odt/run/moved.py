"""Weights that a step of ZerothOrder has moved go back, where something ends it half way.

Each run of weights has four instructions in a step, in their order: along its direction, back, against it, back.
"""

from ..base.opcodes import forget
from ..base.regions import DONE


def put_back(session):
    """Run what is left of a pair that was begun; what interrupts it is raised afterwards."""
    start, stop = session.sections["train"]
    control, late, runs = session.control, None, {}
    done = control[DONE]
    if not start <= done < stop:
        return
    for at, code, addresses, immediates in session.program.walk(start, stop):
        if code.name[:7] == "perturb":
            which = addresses[0], immediates[code.immediates.index("id")]
            runs.setdefault(which, []).append((at, at + code.words))
    forget()
    for places in runs.values():
        moved = len([at for at, _ in places if at <= done])
        while moved % 2 and control[DONE] != places[moved][0]:
            try:
                session.engine.run(session.loaded, session.regions, places[moved][0], places[moved][1])
            except KeyboardInterrupt as error:
                late = error
    control[DONE] = 0
    if late:
        raise late
