"""Mutation testing: do the tests notice a wrong operator, constant, comparison or exception?

    python bench/studies/mutation.py --each 12 --seed 1          a sample of every module below
    python bench/studies/mutation.py --each 0 metrics fixed.c    all mutations of these

Python's mutations are cosmic-ray's (pip install cosmic-ray), native/'s the regular expressions below. One at a time
is applied in a copy of the checkout, and those tests run that are to see it. Prints what survives, line by line, and
the score of each module; bench/results/mutation.txt is the last run, with what is to be said of its survivors.
"""

import argparse
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from folders import ROOT  # noqa: E402

AGREE = "test_executors_agree.py test_edges.py -k "

# A module of odt/ or a file of native/, and the tests that are to see its mutations: the module's own, and of what
# everything needs, those that take least.
TESTS = {
    "base/fixed": "test_fixed.py test_reference.py test_edges.py",
    "callbacks": "test_fit.py",
    "continual/reservoir": "test_readers.py",
    "data/readers": "test_readers.py",
    "files/checkpoint": "test_checkpoint.py test_info.py",
    "files/frozen": "test_frozen.py test_info.py",
    "slots/places": "test_checkpoint.py",
    "losses": "test_gradients.py test_bad_input.py test_reference.py",
    "metrics": "test_metrics.py",
    "optimizers/__init__": "test_optimizers.py test_bad_input.py test_rates.py",
    "optimizers/rates": "test_rates.py",
    "plan/activation": "test_gradients.py test_model.py",
    "plan/gradient": "test_gradients.py test_update.py",
    "plan/join": "test_gradients.py test_model.py",
    "plan/linear": "test_gradients.py test_update.py test_bad_input.py",
    "plan/masks": "test_masks.py test_update.py",
    "plan/memory": "test_memory.py",
    "plan/pool": "test_gradients.py test_model.py",
    "plan/program": "test_edges.py test_bad_input.py test_info.py",
    "plan/recompute": "test_recompute.py test_memory.py",
    "reference/update_i8": "test_reference.py test_edges.py",
    "run/calibration": "test_model.py test_micro_batches.py test_normalisation.py",
    "run/data": "test_bad_input.py test_fit.py",
    "run/fit": "test_fit.py test_model.py test_micro_batches.py",
    "run/folding": "test_normalisation.py",
    "run/progress": "test_model.py test_fit.py test_monitor.py",
    "run/session": "test_fit.py test_model.py test_micro_batches.py",
    "run/weights": "test_model.py test_frozen.py",
    "fixed.c": "test_edges.py test_executors_agree.py",
    "program.c": "test_executor_safety.py " + AGREE + "'verifiers or refuse or prefix or safety or region'",
    "kernels/update/adam_i16.c": AGREE + "adam",
    "kernels/update/apply_i8.c": AGREE + "'apply or settle'",
    "kernels/loss/softmax_xent_i8.c": AGREE + "softmax_xent",
    "kernels/loss/mse_i8.c": AGREE + "mse",
    "kernels/norm/norm_i8.c": AGREE + "'norm or affine or track or stats'",
    "kernels/step/gather_i8.c": AGREE + "gather",
    "kernels/step/range_i8.c": AGREE + "range",
    "kernels/step/scales_i8.c": AGREE + "'rescale or ratio or product or bias'",
    "kernels/step/tick.c": AGREE + "'clear or tick or step_key'",
}


def file_of(module):
    """Where a module of TESTS lies in the checkout."""
    return "native/" + module if module.endswith(".c") else "odt/%s.py" % module


def test_file(name):
    """Where a file of tests lies."""
    (found,) = (ROOT / "tests_host").rglob(name)
    return found


# Of C: what is found outside comments and preprocessor lines, and what it becomes.
C_MUTATIONS = (
    (r" \+ ", (" - ",)), (r" - ", (" + ",)), (r" \* ", (" + ",)), (r" << ", (" >> ",)), (r" >> ", (" << ",)),
    (r" < ", (" <= ", " > ")), (r" > ", (" >= ", " < ")), (r" <= ", (" < ",)), (r" >= ", (" > ",)),
    (r" == ", (" != ",)), (r" != ", (" == ",)), (r" && ", (" || ",)), (r" \|\| ", (" && ",)),
    (r" \+= ", (" -= ", " = ")),
    (r"\b\d+\b", (lambda word: str(int(word) + 1), lambda word: str(int(word) - 1))),
    (r"\bodt_min\b", ("odt_max",)), (r"\bodt_max\b", ("odt_min",)), (r"\+\+", ("--",)),
)  # fmt: skip


def python_mutants(path):
    """Yield a list for each place that has mutations: functions that give the mutated text."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast_from_path
    from cosmic_ray.mutating import mutate_code

    text, tree, places = path.read_text(), get_ast_from_path(path), {}
    for name in plugins.operator_names():
        operator = plugins.get_operator(name)
        if operator.arguments() or "_Is" in name:  # of numbers, == and is are often the same
            continue
        operator = operator()
        found = [position for node in ast_nodes(tree) for position in operator.mutation_positions(node)]
        for occurrence, position in enumerate(found):
            places.setdefault(position, []).append(lambda o=operator, n=occurrence: mutate_code(text, o, n))
    return [places[position] for position in sorted(places)]


def c_mutants(path):
    """The same of a file of native/."""
    lines, places = path.read_text().split("\n"), []
    for number, line in enumerate(lines):
        code = line.split("//")[0]
        if code.lstrip().startswith("#"):
            continue
        for pattern, becomes in C_MUTATIONS:
            for match in re.finditer(pattern, code):
                words = [word(match[0]) if callable(word) else word for word in becomes]
                changed = [line[: match.start()] + word + line[match.end() :] for word in words]
                places.append([lambda n=number, c=c: "\n".join(lines[:n] + [c] + lines[n + 1 :]) for c in changed])
    return places


class Checkout:
    """A copy of what git knows of the checkout, as it is here, whose tests run with its own _odt."""

    def __init__(self, folder):
        self.folder = Path(folder)
        listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True, cwd=ROOT)
        for name in listed.stdout.splitlines():
            if (ROOT / name).exists():
                (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, self.folder / name)

    def compile(self, changed=()):
        """Compile native/ into the copy, or what changed of it; True if that went well, and made other code."""
        flags = ["-std=c99", "-O1", "-ffp-contract=off", "-fwrapv", "-DODT_THREADS", "-fPIC", "-w", "-Inative"]
        include = subprocess.run(
            [sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('include'))"],
            capture_output=True,
            text=True,
        ).stdout.strip()
        sources = [path for path in self.folder.glob("native/**/*.c") if path.parent.name != "bindings"]
        sources.append(self.folder / "native/bindings/cpython.c")
        objects = self.folder / "objects"
        objects.mkdir(exist_ok=True)
        for source in sources:
            if changed and source not in changed:
                continue
            command = ["gcc", *flags, "-I" + include, "-c", str(source), "-o", str(objects / (source.name + ".o"))]
            before = Path(command[-1]).read_bytes() if changed else b""
            if subprocess.run(command, cwd=self.folder, capture_output=True).returncode:
                return False
            if Path(command[-1]).read_bytes() == before:
                return False  # what another core compiles, or another way to say the same
        command = ["gcc", "-shared", "-pthread", *map(str, sorted(objects.glob("*.o"))), "-lm", "-o", "_odt.so"]
        return subprocess.run(command, cwd=self.folder, capture_output=True).returncode == 0

    def passes(self, tests, timeout):
        """Whether the tests pass; None where they take too long."""
        words = [
            str(test_file(word).relative_to(ROOT)) if word.endswith(".py") else word for word in shlex.split(tests)
        ]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *words]
        try:
            return subprocess.run(command, cwd=self.folder, capture_output=True, timeout=timeout).returncode == 0
        except subprocess.TimeoutExpired:
            return None


def difference(before, after):
    """The first line that a mutation changes: its number, before and after."""
    for number, (old, new) in enumerate(zip(before.split("\n"), after.split("\n")), 1):
        if old != new:
            return "%d: %s  ->  %s" % (number, old.strip(), new.strip())
    return "the end"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=12, help="mutations of a module; 0: all")
    parser.add_argument("--seed", type=int, default=1, help="of the sample")
    parser.add_argument("modules", nargs="*", default=list(TESTS), metavar="MODULE", help=", ".join(TESTS))
    arguments = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT).stdout
    print("commit %s, %d places of each module, seed %d" % (commit.strip(), arguments.each, arguments.seed))
    print("%-24s%8s%8s%10s%8s" % ("module", "places", "tried", "survived", "score"), flush=True)
    totals = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        checkout = Checkout(folder)
        assert checkout.compile()
        for module in arguments.modules:
            is_c = module.endswith(".c")
            path = checkout.folder / file_of(module)
            text = path.read_text()
            begin = time.monotonic()
            if not checkout.passes(TESTS[module], 3600):
                print("%-24s its tests fail as it is" % module, flush=True)
                continue
            timeout = 5 * (time.monotonic() - begin) + 30
            rng = random.Random("%d %s" % (arguments.seed, module))
            places = c_mutants(path) if is_c else python_mutants(path)
            chosen = rng.sample(places, min(arguments.each, len(places)) if arguments.each else len(places))
            tried = alive = 0
            for place in chosen:
                mutated = rng.choice(place)()
                path.write_text(mutated)
                if not is_c or checkout.compile([path]):
                    tried += 1
                    if checkout.passes(TESTS[module], timeout):
                        alive += 1
                        print("    %s:%s" % (path.relative_to(folder), difference(text, mutated)), flush=True)
                path.write_text(text)
                if is_c:
                    checkout.compile([path])  # so that the next one is compared with the code as it is
            totals[0] += tried
            totals[1] += alive
            score = "%.0f %%" % (100 - 100 * alive / tried) if tried else ""
            print("%-24s%8d%8d%10d%8s" % (module, len(places), tried, alive, score), flush=True)
    print("%-24s%8s%8d%10d%7.0f %%" % ("all", "", *totals, 100 - 100 * totals[1] / max(1, totals[0])))


if __name__ == "__main__":
    main()
