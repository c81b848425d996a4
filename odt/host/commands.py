"""The command line: python -m odt install | deploy | run | monitor | record | fleet | devices | pico | chart | info |
import | search.
"""

import argparse
import sys
from pathlib import Path

from .. import __version__
from . import chart, info, monitor, run
from .boards import deploy, install, pico, record, report
from .boards.board import Board, BoardError, ports
from .boards.capabilities import CAPABILITIES
from .fleet import command as fleet
from .files import MPY
from .text import complain, say
from .text import run as guarded

_WITH = "capabilities besides the base, with commas between, or all: %s" % ", ".join(CAPABILITIES)


def main(arguments=None):
    """Run the command; returns the process's exit status."""
    return guarded(lambda: _main(arguments))


def _main(arguments):
    parser = argparse.ArgumentParser(
        prog="odt" if Path(sys.argv[0]).stem == "odt" else "python -m odt", description=__doc__
    )
    parser.add_argument("--version", action="version", version="odt " + __version__)
    commands = parser.add_subparsers(dest="command", required=True)

    command = commands.add_parser("install", help="bring odt to a MicroPython board, and test it there")
    command.add_argument("--connect", "--port", metavar="PORT", help="the board's serial port, where there are several")
    command.add_argument("--example", metavar="NAME", help="also copy the example of this name with its data")
    command.add_argument("--python-only", action="store_true", help="leave the kernels out (slow, less RAM)")
    command.add_argument("--with", metavar="NAMES", dest="capabilities", help=_WITH)
    command.add_argument("--files", metavar="FOLDER", default=MPY, help="what `make mpy` built")
    command.set_defaults(run=install.install)

    command = commands.add_parser("deploy", help="bring a model file to a board with what it needs, and try it there")
    command.add_argument("model", metavar="MODEL", help="a file of model.export()")
    command.add_argument("--connect", "--port", metavar="PORT", help="the board's serial port, where there are several")
    command.add_argument("--with", metavar="NAMES", dest="capabilities", help=_WITH)
    command.add_argument("--files", metavar="FOLDER", default=MPY, help="what `make mpy` built")
    command.set_defaults(run=deploy.command)

    command = commands.add_parser("run", help="run a script on a board or here, and compare the digests")
    command.add_argument("script")
    command.add_argument(
        "--on", metavar="PLACE", default="board", help="board (default), host, or unix=PATH of MicroPython"
    )
    command.add_argument("--compare", action="store_true", help="run it on this PC too: all digests must be the same")
    command.add_argument("--connect", "--port", metavar="PORT", help="the board's serial port, where there are several")
    command.add_argument("--timeout", metavar="SECONDS", type=float, default=3600, help="an hour, if not given")
    command.set_defaults(run=run.command)

    command = commands.add_parser(
        "monitor", help="follow a script that trains or watches a stream: live curves, and a report"
    )
    command.add_argument("script", help="or -: the standard input")
    command.add_argument(
        "--on", metavar="PLACE", default="board", help="board (default), host, or unix=PATH of MicroPython"
    )
    command.add_argument(
        "--report", metavar="NAME", default="training", help="NAME.html and NAME.png; training, if not given"
    )
    command.add_argument("--connect", "--port", metavar="PORT", help="the board's serial port, where there are several")
    command.add_argument("--timeout", metavar="SECONDS", type=float, help="no limit, if not given")
    command.set_defaults(run=monitor.command)

    command = commands.add_parser("record", help="record a board's sensor with labels, for fit and NumPy")
    command.add_argument(
        "script", help="it makes window, a Window of odt.sensors.stream, and source, what has readinto()"
    )
    command.add_argument(
        "--output", "-o", metavar="FILE", default="recordings.npy", help="recordings.npy, if not given"
    )
    command.add_argument("--label", metavar="NAME", help="record these at once; without, it asks")
    command.add_argument("--count", metavar="WINDOWS", type=int, default=5, help="for each label that is given; 5")
    command.add_argument(
        "--budget", metavar="BYTES", type=int, default=60000000, help="of the file at most; 60 million"
    )
    command.add_argument(
        "--on", metavar="PLACE", default="board", help="board (default), host, or unix=PATH of MicroPython"
    )
    command.add_argument("--connect", "--port", metavar="PORT", help="the board's serial port, where there are several")
    command.set_defaults(run=record.command)

    command = commands.add_parser("fleet", help="boards and processes learn one network together")
    fleet.add_arguments(command)

    command = commands.add_parser("devices", help="list the boards that are plugged in, or test them")
    command.add_argument("--test", action="store_true", help="train there; write times and sizes to odt-BOARD.json")
    command.set_defaults(run=devices)

    command = commands.add_parser("pico", help="start an emulated Raspberry Pi Pico, and a REPL on it")
    command.add_argument("--no-repl", action="store_true", help="only keep it running, until Ctrl-C")
    command.add_argument("--stock", action="store_true", help="its MicroPython has no odt: to try install")
    command.add_argument("--flash", metavar="FILE", help="keep its files there; without, they end with it")
    command.add_argument("--firmware", metavar="FILE", help="another .uf2 of a Raspberry Pi Pico")
    command.add_argument("--build", metavar="FOLDER", default=pico.BUILD, help="what `make pico` built")
    command.set_defaults(run=pico.command)

    command = commands.add_parser("chart", help="draw the memory of a script's training step")
    command.add_argument("script", help="it is run until it has compiled a model")
    command.add_argument("--output", metavar="FILE", default="plan.html", help=".html or .png")
    command.set_defaults(run=chart.command)

    command = commands.add_parser("info", help="say what a checkpoint, frozen weights or a program holds")
    command.add_argument("file")
    command.add_argument("--model", metavar="SCRIPT", help="it compiles the model: names and shapes come from it")
    command.set_defaults(run=info.command)

    command = commands.add_parser("import", help="make a model file of a network of ONNX or Keras")
    command.add_argument("model", metavar="MODEL", help="a file of a network: .onnx, .keras, .tflite")
    command.add_argument("--calibrate", metavar="DATA", help=".npz (its x, or only array) or .npy: samples for int8")
    command.add_argument("--output", "-o", metavar="FILE", default="model.odt", help="model.odt, if not given")
    command.add_argument(
        "--dtype",
        choices=("int8", "float32"),
        help="int8 with --calibrate, else float32; a quantized MODEL of which nothing trains needs none",
    )
    command.add_argument(
        "--uint8", metavar="SCALE", type=float, help="the board's samples are bytes, each times SCALE; so is DATA then"
    )
    command.add_argument(
        "--input", choices=("int8", "uint8"), help="the board's samples are bytes as a quantized MODEL takes them"
    )
    command.add_argument("--batch-norm", choices=("fold", "keep"), default="fold", help="keep: it trains on")
    command.add_argument(
        "--train", metavar="WHAT", default="all", help="all, last, bias, none, or layers' names with commas between"
    )
    command.add_argument("--optimizer", choices=("adam", "sgd"), default="adam")
    command.add_argument("--rate", metavar="NUMBER", type=float, default=0.001, help="learning rate; 0.001")
    command.add_argument("--batch-size", metavar="COUNT", type=int, default=16)
    command.add_argument("--seed", metavar="NUMBER", type=int, default=0)
    command.add_argument("--labels", metavar="NAMES", help="the classes' names, with commas between")
    command.set_defaults(run=importing)

    command = commands.add_parser("search", help="try networks for labelled samples; the best becomes a model file")
    command.add_argument("data", metavar="DATA", help=".npz: x, y, and if wanted x_test, y_test, x_adapt, y_adapt")
    command.add_argument("--output", "-o", metavar="FILE", default="best.odt", help="best.odt, if not given")
    command.add_argument("--ram", metavar="BYTES", type=float, help="of training, at most: arena and state")
    command.add_argument("--predict-ram", metavar="BYTES", type=float, help="of prediction, at most")
    command.add_argument("--flash", metavar="BYTES", type=float, help="of the model file, at most")
    command.add_argument("--cycles", metavar="NUMBER", type=float, help="of an RP2040's training step, at most")
    command.add_argument("--minutes", metavar="NUMBER", type=float, help="10, where --trials is not given")
    command.add_argument("--trials", metavar="COUNT", type=int, help="the number of networks to try")
    command.add_argument("--workers", metavar="COUNT", type=int, help="processes; as many as there are cores")
    command.add_argument("--epochs", metavar="COUNT", type=int, default=18, help="of a network's training; 18")
    command.add_argument("--dtype", choices=("int8", "float32", "both"), default="both")
    command.add_argument("--scale", metavar="NUMBER", type=float, help="what a step of integer samples means")
    command.add_argument("--network", metavar="SCRIPT", help="with a function network(trial) of your own")
    command.add_argument(
        "--objectives", metavar="NAMES",
        help="some of accuracy,ram,predict_ram,flash,cycles; accuracy within the limits, if not given",
    )  # fmt: skip
    command.add_argument("--sampler", choices=("tpe", "nsga2"), default="tpe")
    command.add_argument("--study", metavar="FILE", help="trials are kept there, and gone on with")
    command.add_argument("--take", metavar="TRIAL", type=int, help="write this one's model, not the best's")
    command.add_argument("--picture", metavar="FILE", help=".png: accuracy against costs")
    command.add_argument("--labels", metavar="NAMES", help="the classes' names, with commas between")
    command.add_argument("--seed", metavar="NUMBER", type=int, default=0)
    command.set_defaults(run=searching)

    options = parser.parse_args(arguments)
    try:
        return options.run(options)
    except BoardError as error:
        complain("odt:", error)
        return 1


def importing(options):
    """convert/ needs NumPy, which the other commands do not."""
    try:
        from .convert.command import command
    except ImportError as error:
        raise BoardError("%s: pip install '.[import]'" % error) from None
    return command(options)


def searching(options):
    """networks.py needs Optuna, which the other commands do not."""
    try:
        from .search.command import command
    except ImportError as error:
        raise BoardError("%s: pip install '.[search]'" % error) from None
    return command(options)


def devices(options):
    """A line a board: its port, what it is, which kernels fit, whether it has odt. --test: how it trains, too."""
    plugged, failed = ports(), 0
    for port in plugged:
        try:
            board = Board(port)
            found = board.probe()
            say(port + ":", install.describe(found) + ", " + board.odt(found))
            if options.test:
                report.test(board, found)
        except BoardError as error:
            complain("%s: %s" % (port, error))
            failed += options.test
    if not plugged:
        say("odt: no board is plugged in")
    return 1 if failed or not plugged else 0
