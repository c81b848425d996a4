"""A fleet of boards that learns together: a PC that runs rounds over nodes of odt.fleet.

    from odt.host.fleet import Fleet, Twin

    fleet = Fleet(model, [Twin(Node(..)), Twin(Node(..))])   # Process and Serial are other links
    for _ in range(20):
        print(fleet.run_round())
    fleet.model.evaluate(x_test, y_test)

The model is integers, and so are its sums: it has one digest, whatever nodes answer first, on boards and on a PC.
"""

from .links import Process, Serial, Socket, Twin
from .remote import FleetError
from .replay import replay
from .rounds import Fleet
from .sums import SUMS, Robust
from .zeroth import ZerothFleet

__all__ = ["SUMS", "Fleet", "FleetError", "Process", "Robust", "Serial", "Socket", "Twin", "ZerothFleet", "replay"]
