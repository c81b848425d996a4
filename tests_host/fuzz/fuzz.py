"""Coverage-guided fuzzing (libFuzzer, https://llvm.org/docs/LibFuzzer.html) under ASan and UBSan.

    python tests_host/fuzz/fuzz.py --seconds 3600              make fuzz FUZZ_SECONDS=3600
    python tests_host/fuzz/fuzz.py --seconds 600 executor      one target alone

``executor`` and ``executor_panel`` are native/ (executor.c), the second as 32-bit cores have it; the
others are Python that reads what may be damaged, by Atheris (loaders.py). Inputs that found something
new stay in build/fuzz/TARGET, from which the next run starts; what fails is left in build/fuzz/findings.
"""

import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
FOLDER = os.path.join(ROOT, "build", "fuzz")
OPTIONS = {"executor": (), "executor_panel": ("-DODT_PANEL=1",)}
LOADERS = ("checkpoint", "slots", "npy", "csv", "verifiers")
TARGETS = (*OPTIONS, *LOADERS)

CFLAGS = (
    "-std=c99 -O1 -g -fwrapv -ffp-contract=off -Wall -Wextra -Werror -fno-sanitize-recover=all "
    "-fsanitize=address,undefined,float-cast-overflow,integer-divide-by-zero"
).split()
LIMITS = "-max_len=8192 -timeout=30 -rss_limit_mb=4096 -print_final_stats=1".split()


class Failure(Exception):
    """The fuzzer has found something: its report."""


def build(target, folder=FOLDER):
    """The path of a target of native/, compiled if its sources are newer. The harness counts no edges."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, target + ".bin")
    native = [os.path.join(ROOT, "native", part) for part in ("*.c", "kernels/*.c")]
    native = [name for part in native for name in sorted(glob.glob(part))]
    harness = [os.path.join(HERE, name) for name in ("executor.c", "program_mutator.c")]
    headers = [name for part in ("*.h", "kernels/*.h") for name in glob.glob(os.path.join(ROOT, "native", part))]
    newest = max(os.path.getmtime(name) for name in native + harness + headers + [__file__])
    if os.path.exists(path) and os.path.getmtime(path) > newest:
        return path
    command = ["clang", *CFLAGS, *OPTIONS[target]]
    with tempfile.TemporaryDirectory() as objects:
        subprocess.run([*command, "-fsanitize=fuzzer-no-link", "-c", *native], check=True, cwd=objects)
        objects = sorted(glob.glob(os.path.join(objects, "*.o")))
        subprocess.run([*command, "-fsanitize=fuzzer", *objects, *harness, "-o", path], check=True)
    return path


def fuzz(target, seconds, folder=FOLDER, corpus=None, options=()):
    """Fuzz for so many seconds (0: as options say); returns {"executions", "edges", "features", "corpus"} or raises Failure."""
    corpus = corpus or os.path.join(folder, target)
    findings = os.path.join(folder, "findings", target + "-")
    for path in (corpus, os.path.dirname(findings)):
        os.makedirs(path, exist_ok=True)
    if not os.listdir(corpus):
        subprocess.run([sys.executable, os.path.join(HERE, "corpus.py"), target, corpus], check=True)
    if target in OPTIONS:
        command = [build(target, folder)]
    else:
        command = [sys.executable, os.path.join(HERE, "loaders.py"), target]
    command += [*LIMITS, "-max_total_time=%d" % seconds, "-artifact_prefix=" + findings, *options, corpus]
    done = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace", cwd=ROOT)
    executed = re.search(r"number_of_executed_units: (\d+)", done.stderr)
    covered = re.findall(r"cov: (\d+) ft: (\d+) corp: (\d+)", done.stderr)
    if done.returncode or not executed or not covered:
        raise Failure("%s: %s\n%s" % (target, " ".join(command), done.stderr[-8000:]))
    edges, features, inputs = [int(word) for word in covered[-1]]
    return {"executions": int(executed[1]), "edges": edges, "features": features, "corpus": inputs}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=60, help="in all, shared by the targets")
    parser.add_argument("targets", nargs="*", default=TARGETS, metavar="TARGET", help=", ".join(TARGETS))
    arguments = parser.parse_args()
    for target in arguments.targets:
        if target not in TARGETS:
            parser.error("no target %s; there are %s" % (target, ", ".join(TARGETS)))
    failures = []
    print("%-16s%12s%8s%10s%8s%8s" % ("target", "executions", "edges", "features", "corpus", "s"))
    for target in arguments.targets:
        begin = time.monotonic()
        try:
            seen = fuzz(target, max(1, arguments.seconds // len(arguments.targets)))
        except Failure as failure:
            failures.append(str(failure))
            print("%-16s found something" % target, flush=True)
            continue
        row = (target, seen["executions"], seen["edges"], seen["features"], seen["corpus"], time.monotonic() - begin)
        print("%-16s%12d%8d%10d%8d%8.0f" % row, flush=True)
    for failure in failures:
        print("\n" + failure)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
