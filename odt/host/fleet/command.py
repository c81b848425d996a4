"""python -m odt fleet: boards and processes that learn one network together, round by round.

    odt fleet node.py --processes 8                            eight processes on this PC
    odt fleet node.py --connect /dev/ttyACM0 /dev/ttyACM1      two boards, which have odt and its capability fleet
    odt fleet node.py --connect PORT --processes 3             both
    odt fleet node.py --twins 1000                             a thousand simulated boards, all in this process
    odt fleet node.py --connect tcp://HOST:7000                a board with a network, or a node of another PC
    odt fleet node.py --twins 2 --listen 7000                  nodes for another PC, on TCP ports

The script makes a Node and calls its serve(). On this PC it runs once more, with the number of nodes as its own number:
the model that it compiles is the fleet's, and its validation_data give the accuracy that is shown.
"""

import contextlib
import os
import runpy
from pathlib import Path
from unittest import mock

from ... import fleet as board
from ...fleet.node import Node
from ...fleet.zeroth import ZerothNode
from ..boards.board import BoardError
from ..text import complain, say
from .links import Process, Serial, Socket, Twin
from .listen import Listener, waited
from .remote import FleetError
from .rounds import Fleet
from .shown import Seen, drawing, line, write
from .sums import Robust
from .zeroth import ZerothFleet

_TCP = "tcp://"
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
    if options.listen is not None:
        return _listen(options, script, boards, apart, count)
    own = served(script, count, count)
    combine = _sum(options, count, isinstance(own, ZerothNode))
    with contextlib.ExitStack() as stack:
        links = _links(stack, script, boards, apart, 0, count, count)
        try:
            fleet = _fleet(options, own, links, combine, apart + bool(options.twins))
            if options.state and os.path.exists(options.state):
                fleet.load(options.state)
        except ValueError as error:
            raise BoardError(error) from None
        say("%d nodes share %d weights of %s" % (count, fleet.shared.count, script.name), flush=True)
        if isinstance(combine, Robust):
            say("sum: %s" % combine, flush=True)
        facts = [
            ("script", script.name), ("nodes", count), ("weights", fleet.shared.count),
            ("update", "8 bytes for a step" if isinstance(fleet, ZerothFleet) else options.form),
            ("sum", str(combine)),
        ]  # fmt: skip
        seen = Seen(fleet, options.rounds, facts)
        try:
            _run(options, fleet, own, seen)
            seen.ended = "well"
        except BaseException as error:
            seen.ended = str(error) or type(error).__name__
            raise
        finally:
            if options.report and seen.rows:
                write(seen, options.report)
                say("odt: report in %s" % options.report)
        fleet.close()
    say("digest %08x" % fleet.digest())
    return 0


def _links(stack, script, boards, apart, first, count, whole):
    """Links to nodes ``first`` and the next ones of ``whole``: boards, processes up to ``apart``, then twins."""
    links = []
    for number in range(count):
        place = first + number, whole
        if number >= apart:
            links.append(Twin(served(script, *place)))
        elif number >= len(boards):
            links.append(Process(script, place))
        elif boards[number].startswith(_TCP):
            links.append(Socket(*address(boards[number])))
        else:
            links.append(Serial(boards[number], script, place))
        stack.callback(links[-1].close)
    return links


def address(text):
    """(host, port) of tcp://HOST:PORT; BoardError for another text."""
    host, _, port = text[len(_TCP) :].rpartition(":")
    if not text.startswith(_TCP) or not host or not port.isdigit():
        raise BoardError("an address is tcp://HOST:PORT, got %s" % text)
    return host, int(port)


def _listen(options, script, boards, apart, count):
    whole = options.of or options.first + count
    if options.first + count > whole:
        raise BoardError("nodes %d to %d of a fleet of %d" % (options.first, options.first + count - 1, whole))
    with contextlib.ExitStack() as stack:
        links = _links(stack, script, boards, apart, options.first, count, whole)
        try:
            listener = Listener(links, options.listen, options.host)
        except (OSError, OverflowError) as error:
            raise BoardError("--listen %d: %s" % (options.listen, error)) from None
        ports = ", ".join(map(str, listener.ports))
        say("nodes %d to %d of %d on ports %s" % (options.first, options.first + count - 1, whole, ports), flush=True)
        waited(listener)
    return 0


def _sum(options, count, scalars):
    """The name of a sum, or what --robust chooses."""
    if options.liars is not None and options.combine != "chosen":
        raise BoardError("--liars is what --robust chooses by, without a name")
    if options.combine != "chosen":
        return options.combine
    try:
        return Robust(count, options.liars, scalars)
    except ValueError as error:
        raise BoardError(error) from None


def _fleet(options, own, links, combine, workers):
    if isinstance(own, ZerothNode):
        combine = combine.name if isinstance(combine, Robust) else combine
        return ZerothFleet(own, links, options.steps, combine, options.timeout, workers)
    return Fleet(
        own.model, links, options.form, options.share, options.momentum, combine, options.timeout,
        personal=own.shared.personal, secret=options.secret, workers=workers,
    )  # fmt: skip


def _run(options, fleet, own, seen):
    """All rounds, drawn where there is a terminal and rich."""
    failed = 0
    with _drawn(seen):
        for _ in range(options.rounds):
            try:
                found = fleet.run_round()
                failed = 0
            except FleetError as error:
                failed += 1
                seen.failed.append(str(error))
                if failed == _FAILURES:
                    raise
                complain("odt:", error)
                continue
            if options.state:
                fleet.save(options.state)
            evaluated, whole = fleet.evaluate(), accuracy(fleet, own)
            seen.add(found, evaluated, whole)
            line(found, evaluated, whole)


def _drawn(seen):
    """A drawing below the lines, four times per second."""
    try:
        from rich.console import Console
        from rich.live import Live
    except ImportError:
        return contextlib.nullcontext()
    console = Console(highlight=False, emoji=False)
    if not console.is_terminal:
        return contextlib.nullcontext()
    return Live(get_renderable=lambda: drawing(seen, console.width), console=console, refresh_per_second=4)


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


def add_arguments(command):
    """The command's options, for argparse."""
    command.add_argument("script", help="it makes a Node of odt.fleet and calls serve()")
    command.add_argument(
        "--connect", "--port", metavar="PORT", nargs="+", help="boards' serial ports, or tcp://HOST:PORT"
    )
    command.add_argument("--processes", metavar="COUNT", type=int, default=0, help="nodes on this PC; 0, if not given")
    command.add_argument("--twins", metavar="COUNT", type=int, default=0, help="simulated nodes, in this process; 0")
    command.add_argument(
        "--listen", metavar="PORT", type=int, help="serve these nodes to another PC, from this TCP port"
    )
    command.add_argument("--host", default="127.0.0.1", help="with --listen, the address; 127.0.0.1: this PC alone")
    command.add_argument("--first", metavar="NUMBER", type=int, default=0, help="with --listen, of the first node; 0")
    command.add_argument("--of", metavar="COUNT", type=int, help="with --listen, the nodes of the whole fleet")
    command.add_argument("--rounds", metavar="COUNT", type=int, default=20, help="20, if not given")
    command.add_argument(
        "--form", choices=("int8", "whole", "top", "random"), default="int8", help="of an update; int8"
    )
    command.add_argument("--share", metavar="NUMBER", type=float, default=0.1, help="of forms top and random; 0.1")
    command.add_argument("--momentum", metavar="NUMBER", type=float, default=0.0, help="of form top; 0")
    command.add_argument(
        "--robust", dest="combine", nargs="?", const="chosen", choices=("chosen", "median", "trimmed", "krum"),
        default="mean", help="withstands liars: chosen by the number of nodes, if no name is given, and said",
    )  # fmt: skip
    command.add_argument(
        "--liars", metavar="COUNT", type=int, help="that --robust withstands; a tenth of the nodes, at least one"
    )
    command.add_argument(
        "--secret", action="store_true", help="updates are masked, of form whole or random: the PC reads the sum"
    )
    command.add_argument("--timeout", metavar="SECONDS", type=float, default=600, help="for a round of a node; 600")
    command.add_argument("--steps", metavar="COUNT", type=int, default=50, help="of a round of zeroth order; 50")
    command.add_argument("--report", metavar="FILE.html", help="a page is written there at the end")
    command.add_argument("--state", metavar="FILE", help="model and round are kept there, and gone on with")
    command.set_defaults(run=checked)


def checked(options):
    """As ``command``; argparse's option --rounds and others are checked here."""
    if options.report and not options.report.endswith(".html"):
        raise BoardError("--report ends with .html, got %s" % options.report)
    for name, least in (("rounds", 1), ("steps", 1), ("processes", 0), ("twins", 0), ("first", 0)):
        if getattr(options, name) < least:
            raise BoardError("--%s is at least %d, got %d" % (name, least, getattr(options, name)))
    return command(options)
