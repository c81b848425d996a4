"""Coverage-guided fuzzing (libFuzzer, https://llvm.org/docs/LibFuzzer.html) under ASan and UBSan.

    python tests_host/fuzz/fuzz.py --seconds 3600              make fuzz FUZZ_SECONDS=3600
    python tests_host/fuzz/fuzz.py --seconds 600 executor      one target alone
    python tests_host/fuzz/fuzz.py --seed 7 --fresh executor   again what a run with seed 7 did
    python tests_host/fuzz/fuzz.py --coverage                  which lines the corpora reach, file by file

``executor`` and ``executor_panel`` are native/ (executor.c), the second as 32-bit cores have it; the
others are Python that reads what may be damaged, by Atheris (loaders.py). A target starts from the inputs
that corpus.py makes, from tests_host/fuzz/corpus (minimised: what reaches more than these) and from
build/fuzz/TARGET, where the inputs of earlier runs stay that reach more still. What fails is left in
build/fuzz/findings. ``--keep`` writes tests_host/fuzz/corpus anew.
"""

import argparse
import datetime
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
sys.path.append(os.path.join(os.path.dirname(HERE), "helpers"))

import native_sources
from checkout import ROOT

FOLDER = os.path.join(ROOT, "build", "fuzz")
OPTIONS = {"executor": (), "executor_panel": ("-DODT_PANEL=1",)}
# The others, and the modules that they are there for.
LOADERS = {
    "verifiers": "reference.program", "checkpoint": "files.checkpoint", "slots": "slots.places files.checkpoint",
    "frozen": "files.frozen", "info": "host.info",
    "model": "files.reader files.session files.layers files.opened files.open files.split run.transfer",
    "npy": "data.readers", "csv": "data.readers data.csv", "numbers": "data.csv",
    "monitor": "host.monitor.curves host.monitor host.monitor.series",
    "answers": "host.boards.board host.boards.install",
}  # fmt: skip
TARGETS = (*OPTIONS, *LOADERS)
SHARED = {"executor_panel": "executor", "verifiers": "executor"}  # the corpus of another target

# Without -fwrapv: a sum that may wrap says so (native/fixed.h). Others are counted, and do not end the run.
CFLAGS = [
    "-std=c99",
    "-O1",
    "-g",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
    "-Werror",
    "-fsanitize=address,undefined,float-cast-overflow,integer-divide-by-zero",
    "-fno-sanitize-recover=all",
    "-fsanitize-recover=signed-integer-overflow",
]
COVERAGE = ["-std=c99", "-O1", "-g", "-fwrapv", "-ffp-contract=off", "-fprofile-instr-generate", "-fcoverage-mapping"]
LIMITS = ["-max_len=8192", "-timeout=30", "-rss_limit_mb=4096", "-print_final_stats=1"]
EDGES = ("-use_counters=0",)  # an input is worth keeping for what it reaches, not for how often


class Failure(Exception):
    """The fuzzer has found something: its report."""


def seed_of_today():
    """Another one for each commit and day: which, every report says."""
    done = subprocess.run(["git", "rev-parse", "HEAD"], check=False, capture_output=True, text=True, cwd=ROOT)
    return zlib.crc32(("%s %s" % (done.stdout.strip(), datetime.date.today())).encode()) & 0x7FFFFFFF


def run(command, **environment):
    """What it prints; Failure with its errors if it fails."""
    environment = dict(os.environ, **environment)
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, errors="replace", cwd=ROOT, env=environment
    )
    if done.returncode:
        raise Failure("%s\n%s" % (" ".join(command), done.stderr[-8000:]))
    return done.stdout


# --- builds -------------------------------------------------------------------------------------


def build(target, folder=FOLDER, coverage=False):
    """The path of a target of native/, compiled if its sources are newer. The harness counts no edges."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, target + (".lines" if coverage else ".bin"))
    harness = [os.path.join(HERE, name) for name in ("executor.c", "program_mutator.c")]
    parts = [os.path.join(ROOT, "native", "**", "*." + end) for end in ("h", "inc")]
    headers = [name for part in parts for name in glob.glob(part, recursive=True)]
    newest = max(os.path.getmtime(name) for name in native_sources.sources() + harness + headers + [__file__])
    if os.path.exists(path) and os.path.getmtime(path) > newest:
        return path
    command = ["clang", *(COVERAGE if coverage else CFLAGS), *OPTIONS[target]]
    objects = native_sources.compiled([*command, "-fsanitize=fuzzer-no-link"])
    subprocess.run([*command, "-fsanitize=fuzzer", *objects, *harness, "-o", path], check=True)
    return path


def command_of(target, folder=FOLDER):
    """What runs the target: libFuzzer's options and folders come after it."""
    if target in OPTIONS:
        return [build(target, folder)]
    return [sys.executable, os.path.join(HERE, "loaders.py"), target]


# --- corpora ------------------------------------------------------------------------------------


def archive_of(target):
    """The committed corpus of a target: a .tar.xz."""
    return os.path.join(CORPUS, SHARED.get(target, target) + ".tar.xz")


def fill(target, corpus, folder=None):
    """What a target starts from, as files in ``corpus``; with those of earlier runs if their folder is given."""
    run([sys.executable, os.path.join(HERE, "corpus.py"), target, corpus, archive_of(target)])
    earlier = os.path.join(folder, target) if folder else None
    if earlier and os.path.isdir(earlier):
        for name in sorted(os.listdir(earlier)):
            shutil.copy(os.path.join(earlier, name), os.path.join(corpus, name))


def minimise(target, corpora, result, folder=FOLDER, start=()):
    """Copy from ``corpora`` to ``result``, a folder,
    the fewest inputs that reach what these and not ``start`` reach.
    """
    os.makedirs(result, exist_ok=True)
    with tempfile.TemporaryDirectory() as merged:
        for place in start:
            for name in os.listdir(place):
                shutil.copy(os.path.join(place, name), os.path.join(merged, name))
        known = set(os.listdir(merged))
        counted = EDGES if target in OPTIONS else ()
        command = [*command_of(target, folder), *LIMITS, *counted, "-set_cover_merge=1"]
        command += ["-artifact_prefix=" + os.path.join(folder, "findings", target + "-"), merged, *corpora]
        run(command)
        for name in sorted(set(os.listdir(merged)) - known):
            shutil.copy(os.path.join(merged, name), os.path.join(result, name))


def shorten(corpus):
    """Add executor.c's inputs with less of the regions' contents: what is missing comes from a seed."""
    for name in os.listdir(corpus):
        with open(os.path.join(corpus, name), "rb") as file:
            data = file.read()
        head = 12 + 4 * int.from_bytes(data[:4], "little")
        for count in (0, 64, 128, 256, 512, 1024):
            if head + count < len(data):
                with open(os.path.join(corpus, "%s_%d" % (name, count)), "wb") as file:
                    file.write(data[: head + count])


def keep(folder=FOLDER):
    """Write the committed corpora anew: of what there is, what reaches more than the inputs of corpus.py."""
    os.makedirs(CORPUS, exist_ok=True)
    for name in sorted(set(TARGETS) - set(SHARED)):  # executor's inputs are verifiers' too
        targets = [name, *[target for target in OPTIONS if SHARED.get(target) == name]]
        with tempfile.TemporaryDirectory() as work:
            made, kept, everything = [os.path.join(work, part) for part in ("made", "kept", "everything")]
            os.makedirs(kept)
            run([sys.executable, os.path.join(HERE, "corpus.py"), name, made])
            for target in targets:
                os.makedirs(everything, exist_ok=True)
                fill(target, everything, folder)
                if target in OPTIONS:
                    shorten(everything)
                minimise(target, [everything], kept, folder, (made, kept))
            files = sorted(os.listdir(kept))
            with tarfile.open(archive_of(name), "w:xz", preset=9) as archive:
                for file in files:
                    with open(os.path.join(kept, file), "rb") as one:
                        data = one.read()
                    entry = tarfile.TarInfo(file)
                    entry.size = len(data)
                    archive.addfile(entry, io.BytesIO(data))
        print("%-16s%6d inputs%9d bytes" % (name, len(files), os.path.getsize(archive_of(name))))


# --- runs ---------------------------------------------------------------------------------------


def fuzz(target, seconds, seed, folder=FOLDER, fresh=False, options=()):
    """Fuzz for that many seconds.

    Returns {"executions", "inputs": what it started from, "edges", "corpus": what it ended with, "overflows": the
    places in which an int32 overflowed that does not say it may}, or raises Failure. ``fresh``: without what earlier
    runs have found, so that a seed does again what it did.
    """
    findings = os.path.join(folder, "findings", target + "-")
    os.makedirs(os.path.dirname(findings), exist_ok=True)
    with tempfile.TemporaryDirectory() as corpus:
        fill(target, corpus, None if fresh else folder)
        inputs = len(os.listdir(corpus))
        command = [*command_of(target, folder), *LIMITS, "-max_total_time=%d" % seconds, "-seed=%d" % seed]
        command += ["-artifact_prefix=" + findings, *options, corpus]
        done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", cwd=ROOT)
        executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
        covered = re.findall(r"cov: (\d+) ft: \d+ corp: (\d+)", done.stderr)
        if done.returncode or not executed or not covered:
            again = "python tests_host/fuzz/fuzz.py --seed %d --seconds %d --fresh %s" % (
                seed,
                max(seconds, 60),
                target,
            )
            raise Failure("%s: found with seed %d; again: %s\n%s" % (target, seed, again, done.stderr[-8000:]))
        if not fresh:
            minimise(target, [corpus], os.path.join(folder, target), folder)
    edges, kept = [int(word) for word in covered[-1]]
    overflows = re.findall(r"(native/\S+): runtime error: signed integer overflow", done.stderr)
    seen = {"executions": int(executed[1]), "inputs": inputs, "edges": edges, "corpus": kept}
    return dict(seen, overflows=sorted(set(overflows)))


def lines(target, folder=FOLDER):
    """Yield (file, lines reached, lines that there are), of all that the target has to start from."""
    with tempfile.TemporaryDirectory() as work:
        corpus = os.path.join(work, "corpus")
        fill(target, corpus, folder)
        if target in LOADERS:
            modules = LOADERS[target].split()
            command = [sys.executable, os.path.join(HERE, "loaders.py"), target, "--lines", corpus, *modules]
            for line in run(command).splitlines():
                name, reached, count = line.split()
                yield name, int(reached), int(count)
            return
        binary, raw, data = build(target, folder, True), os.path.join(work, "raw"), os.path.join(work, "data")
        run([binary, *LIMITS, "-runs=0", corpus], LLVM_PROFILE_FILE=raw)
        run(["llvm-profdata", "merge", "-sparse", raw, "-o", data])
        command = ["llvm-cov", "export", "-summary-only", binary, "-instr-profile", data, os.path.join(ROOT, "native")]
        for file in json.loads(run(command))["data"][0]["files"]:
            summary = file["summary"]["lines"]
            yield os.path.relpath(file["filename"], ROOT), summary["covered"], summary["count"]


def print_lines(targets, by_file=False):
    for target in targets:
        if target in OPTIONS and not shutil.which("llvm-cov"):
            print("%-16s lines not counted: there is no llvm-cov (Debian: llvm)" % target)
            continue
        rows = list(lines(target))
        reached, count = [sum(row[column] for row in rows) for column in (1, 2)]
        print("%-16s%6d of%6d lines  %5.1f %%" % (target, reached, count, 100 * reached / count))
        for name, covered, there in rows:
            if by_file and covered < there:
                print("    %-36s%6d of%6d  %5.1f %%" % (name, covered, there, 100 * covered / there))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="in all, half of it for native/")
    parser.add_argument("--seed", type=int, help="libFuzzer's; by default another one for each commit and day")
    parser.add_argument("--fresh", action="store_true", help="start without what earlier runs have found")
    parser.add_argument("--coverage", action="store_true", help="run the corpora alone: lines reached by file")
    parser.add_argument("--keep", action="store_true", help="write the committed corpora anew")
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    arguments = parser.parse_args()
    for target in arguments.targets:
        if target not in TARGETS:
            parser.error("no target %s; there are %s" % (target, ", ".join(TARGETS)))
    if arguments.keep or arguments.coverage:
        keep() if arguments.keep else print_lines(arguments.targets, True)
        return
    seed = seed_of_today() if arguments.seed is None else arguments.seed
    weights = {target: len(LOADERS) if target in OPTIONS else len(OPTIONS) for target in arguments.targets}
    failures = []
    print("seed %d" % seed)
    print("%-16s%12s%8s%8s%8s%7s" % ("target", "executions", "inputs", "edges", "corpus", "s"), flush=True)
    for target in arguments.targets:
        begin = time.monotonic()
        try:
            seconds = max(1, arguments.seconds * weights[target] // sum(weights.values()))
            seen = fuzz(target, seconds, seed, fresh=arguments.fresh)
        except Failure as failure:
            failures.append(str(failure))
            print("%-16s found something" % target, flush=True)
            continue
        row = (target, seen["executions"], seen["inputs"], seen["edges"], seen["corpus"], time.monotonic() - begin)
        print("%-16s%12d%8d%8d%8d%7.0f" % row, flush=True)
        failures += [
            "%s: overflows: an int32 that does not say so (native/fixed.h)" % place for place in seen["overflows"]
        ]
    print("\nreached by what there is to start from:")
    print_lines(arguments.targets)
    for failure in failures:
        print("\n" + failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
