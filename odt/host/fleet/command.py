"""python -m odt fleet: boards and processes that learn one network together, round by round.

    odt fleet node.py --processes 8                            eight processes on this PC
    odt fleet node.py --connect /dev/ttyACM0 /dev/ttyACM1      two boards, which have odt and its capability fleet
    odt fleet node.py --connect PORT --processes 3             both
    odt fleet node.py --twins 1000                             a thousand simulated boards, all in this process

The script makes a Node and calls its serve(). On this PC it runs once more, with the number of nodes as its own number:
the model that it compiles is the fleet's, and its validation_data give the accuracy that is shown.
"""

import contextlib
import os
import runpy
import sys
from pathlib import Path
from unittest import mock

from ... import fleet as board
from ...fleet.node import Node
from ..boards.board import BoardError
from ..text import complain, say
from .remote import FleetError
from .links import Process, Serial, Twin
from .rounds import Fleet


_FAILURES = 3  # rounds in a row without an update end the command


class _Served(Exception):
    """The script has called serve()."""


def command(options):
    """Returns 0 after all rounds; BoardError where no node answers, or the script serves none."""
    script = Path(options.script)
    if not script.is_file():
        raise BoardError("%s: no such script" % script)
    boards = options.connect or ()
    apart = len(boards) + options.processes
    count = apart + options.twins
    if not count:
        raise BoardError("there is no node: give --connect PORT [PORT ..], --processes COUNT or --twins COUNT")
    own = served(script, count, count)
    with contextlib.ExitStack() as stack:
        links = []
        for number in range(count):
            place = number, count
            if number < len(boards):
                links.append(Serial(boards[number], script, place))
            else:
                links.append(Process(script, place) if number < apart else Twin(served(script, number, count)))
            stack.callback(links[-1].close)
        try:
            fleet = Fleet(
                own.model, links, options.form, options.share, options.momentum, options.combine, options.timeout,
                personal=own.shared.personal, secret=options.secret, workers=apart + bool(options.twins),
            )  # fmt: skip
            if options.state and os.path.exists(options.state):
                fleet.load(options.state)
        except ValueError as error:
            raise BoardError(error) from None
        say("%d nodes share %d weights of %s" % (count, fleet.shared.count, script.name), flush=True)
        failed = 0
        for _ in range(options.rounds):
            try:
                found = fleet.run_round()
                failed = 0
            except FleetError as error:
                failed += 1
                if failed == _FAILURES:
                    raise
                complain("odt:", error)
                continue
            if options.state:
                fleet.save(options.state)
            show(found, fleet.evaluate(), accuracy(fleet, own))
        fleet.close()
    say("digest %08x" % fleet.digest())
    return 0


def served(script, number, count):
    """The Node of which the script calls serve(), here, as this number; BoardError if it calls none."""
    found = []

    def serve(node, *streams):
        found.append(node)
        raise _Served

    folder, before = os.getcwd(), board.place
    board.place = number, count
    os.chdir(script.resolve().parent)
    try:
        with mock.patch.object(Node, "serve", serve), contextlib.suppress(_Served):
            runpy.run_path(script.name, run_name="__main__")
    finally:
        board.place = before
        os.chdir(folder)
    if not found:
        raise BoardError("%s: it calls no Node(..).serve()" % script)
    return found[0]


def accuracy(fleet, own):
    """Of the fleet's model, on this PC's validation data; None for a loss that counts no right answers."""
    x, _ = own.validation_data
    if fleet.model.dtype == "int8":
        fleet.model.calibrate(x)
    return fleet.model.evaluate(*own.validation_data)[1]


def show(found, evaluated, whole):
    """A round in lines: what it came to, the nodes' accuracies, and why nodes took no part."""
    parts = found.parts.values()
    taking = sum([not part.why for part in parts])
    own = sorted([(value, name) for name, (_, value) in evaluated.items() if value >= 0])
    words = ["round %d: %d of %d nodes" % (found.number, taking, len(found.parts)), "loss %.4f" % found.loss]
    if whole is not None:
        words.append("accuracy %.4f" % whole)
    if own:
        mean = sum([value for value, _ in own]) / len(own)
        words.append("on nodes %.4f, worst %.4f (%s)" % (mean, *own[0]))
    words.append("%d bytes up, %d down, %.1f s" % (found.up, found.down, found.seconds))
    say(", ".join(words), flush=True)
    for part in parts:
        if part.why:
            complain("   ", part.why)
    for name, part in found.parts.items():
        if part.reset:
            say("    %s: it was reset: what it had not sent is lost" % name)
    sys.stdout.flush()


def add_arguments(command):
    """The command's options, for argparse."""
    command.add_argument("script", help="it makes a Node of odt.fleet and calls serve()")
    command.add_argument("--connect", "--port", metavar="PORT", nargs="+", help="boards' serial ports")
    command.add_argument("--processes", metavar="COUNT", type=int, default=0, help="nodes on this PC; 0, if not given")
    command.add_argument("--twins", metavar="COUNT", type=int, default=0, help="simulated nodes, in this process; 0")
    command.add_argument("--rounds", metavar="COUNT", type=int, default=20, help="20, if not given")
    command.add_argument(
        "--form", choices=("int8", "whole", "top", "random"), default="int8", help="of an update; int8"
    )
    command.add_argument("--share", metavar="NUMBER", type=float, default=0.1, help="of forms top and random; 0.1")
    command.add_argument("--momentum", metavar="NUMBER", type=float, default=0.0, help="of form top; 0")
    command.add_argument(
        "--robust", dest="combine", choices=("median", "trimmed", "krum"), default="mean",
        help="withstands liars: median fewer than half of the nodes, trimmed and krum a fifth",
    )  # fmt: skip
    command.add_argument(
        "--secret", action="store_true", help="updates are masked, of form whole or random: the PC reads the sum"
    )
    command.add_argument("--timeout", metavar="SECONDS", type=float, default=600, help="for a round of a node; 600")
    command.add_argument("--state", metavar="FILE", help="model and round are kept there, and gone on with")
    command.set_defaults(run=checked)


def checked(options):
    """As ``command``; argparse's option --rounds and others are checked here."""
    for name, least in (("rounds", 1), ("processes", 0), ("twins", 0)):
        if getattr(options, name) < least:
            raise BoardError("--%s is at least %d, got %d" % (name, least, getattr(options, name)))
    return command(options)
