"""Which command made each file of bench/results, what it depends on, and two commands over this table.

    make figures                        runs every command, then writes the documents' tables: many hours
    make figures ONLY="steps kernels"   these results; ONLY=stale: those that make stale names; ONLY=documents: tables
    make stale                          names results that are older than what they depend on

A result names the commit on which it was made. It is stale when a later commit changes its script or a path that it
depends on, or when its commit is no longer in the history of HEAD. Whether a change alters the figures is not known.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# What results of a kind depend on. odt/reference defines every bit of training; the kernels compute the same.
KINDS = {
    "training": "odt/base odt/layers odt/losses.py odt/optimizers odt/plan odt/reference odt/run",
    "kernels": "boards native odt/base tests_device/rp2040js",
    "planner": "odt/base odt/layers odt/optimizers odt/plan odt/run",
    # What a fleet learns; its links, command and pages change no bit.
    "federated": "odt/fleet/node.py odt/fleet/secret.py odt/fleet/shared.py odt/fleet/updates.py odt/fleet/zeroth.py "
    "odt/host/fleet/rounds.py odt/host/fleet/sums.py odt/host/fleet/updates.py odt/host/fleet/zeroth.py",
}
# Name, command, kinds and further paths, two spaces apart. A command in brackets prints, or needs a file that is named
# in capitals.
TABLE = """
accuracy             bench/accuracy/accuracy.py                  training
adabn                bench/accuracy/adabn.py                     training kernels odt/continual
adapters             bench/studies/adapters.py                   training
attention            bench/accuracy/attention.py                 training native odt/attention bench/accuracy/paired.py
backbones            bench/examples/backbones.py                 training kernels planner
by_rows              bench/costs/by_rows.py                      kernels planner odt/host/rows
camera               bench/examples/camera.py  training kernels planner odt/host/rows bench/examples/camera_net.py
continual            bench/accuracy/continual.py                 training odt/continual
continual_generated  bench/accuracy/continual.py --generated     training odt/continual
cost                 bench/costs/cost.py --check                 kernels planner odt/host/cost
cost_m4f             bench/costs/cost.py --check --machine cortex-m4f  kernels planner odt/host/cost
cost_rv32            bench/costs/cost.py --check --machine rv32  kernels planner odt/host/cost
cost_sequences       bench/costs/cost.py --check --sequences     kernels planner odt/host/cost
dynamic              bench/accuracy/dynamic.py                   training kernels odt/adapt
echo                 bench/costs/echo.py                         kernels odt/online
examples             bench/examples/examples.py                  training kernels planner examples
features             bench/costs/features.py                     kernels odt/sensors
few_bits             bench/accuracy/few_bits.py                  training odt/data
fleet                bench/accuracy/fleet.py                     training federated bench/accuracy/lies.py
four_bits            bench/accuracy/four_bits.py                 training odt/host/rows odt/host/four_bits.py
four_bits_cycles     bench/accuracy/four_bits.py --cycles        kernels odt/host/rows odt/host/four_bits.py
forward_forward      bench/studies/forward_forward.py            training
frames               bench/costs/frames.py                       kernels odt/recurrent odt/attention odt/sensors
fuzz                 [tests_host/fuzz/fuzz.py --seconds 3600]    native odt/files odt/reference tests_host/fuzz
hard                 bench/accuracy/hard.py                      training
heads                bench/accuracy/heads.py                    training kernels odt/attention odt/host/heads.py
host                 bench/costs/host.py                         native planner
imported             bench/accuracy/imported.py                  training odt/host/convert
kernels              bench/costs/kernels.py                      kernels
knn                  bench/costs/knn.py                          kernels odt/online
labels               bench/accuracy/labels.py                    training odt/continual
leakage              bench/accuracy/leakage.py                   training federated
loop                 bench/costs/loop.py                         kernels odt/sensors odt/run
lora                 bench/accuracy/lora.py                     training kernels odt/adapt bench/accuracy/text.py
memory               bench/costs/memory.py                       planner odt/host/rows
mingru               bench/studies/mingru.py                     bench/accuracy/recurrent.py
mobilenet            bench/accuracy/mobilenet.py                 training kernels odt/host/convert
mutation             [bench/studies/mutation.py --each 5]        native odt tests_host
neighbours           bench/accuracy/neighbours.py                odt/online
nitro                bench/studies/nitro.py                      training
noise                bench/accuracy/noise.py                     training kernels odt/noise
normalisation        bench/studies/normalisation.py              training
numerics             [bench/studies/numerics.py]
online               bench/costs/online.py                       kernels odt/online
options              bench/costs/options.py                      kernels planner odt/data
page                 bench/costs/page.py                         odt docs/page native
pico_rows            bench/costs/pico_rows.py                    kernels planner odt/host/rows odt/files
planning             bench/costs/planning.py                     kernels planner
predict              bench/costs/predict.py                      kernels planner
pretext              bench/studies/pretext.py                    training
prototypes           bench/accuracy/prototypes.py                training odt/continual
prune                bench/accuracy/prune.py                     training odt/host/convert
qas                  bench/studies/qas.py --seeds 3              training
qat                  bench/studies/qat.py --seeds 5              training
raw                  bench/accuracy/raw.py                       training
recurrent            bench/accuracy/recurrent.py                 training native odt/recurrent bench/accuracy/paired.py
replay               bench/accuracy/replay.py                    training kernels odt/continual
replay_series        bench/accuracy/replay.py --series           training kernels odt/continual
replay_speakers      bench/accuracy/replay.py --speakers         training kernels odt/continual
residual             bench/studies/residual.py                   training odt/adapt bench/accuracy/shift.py
rocket               bench/accuracy/rocket.py                    training odt/sensors
sample               bench/costs/sample.py                        kernels
sample_inside        bench/costs/by_rows.py inside               kernels planner odt/host/rows
sanitize             make sanitize                               native
search               bench/accuracy/search.py                    training odt/host/cost
search_typed         bench/accuracy/search_typed.py              training odt/host/cost
sequences            bench/studies/sequences.py                  planner odt/recurrent odt/attention
series               bench/costs/series.py                       training kernels odt/recurrent odt/attention
shift                bench/accuracy/shift.py                     training kernels odt/adapt
shift_deep           bench/accuracy/shift.py --deep --seeds 5    training odt/adapt
soak                 bench/costs/soak.py                         kernels planner odt/continual
spectra              [bench/costs/spectra.py FIRMWARE.uf2 qemu_m4 qemu_m4hf]  kernels odt/sensors
spoken               bench/accuracy/spoken.py                    training kernels odt/recurrent odt/attention
steps                bench/costs/steps.py                        kernels planner
stories              bench/examples/stories.py                   training kernels odt/continual odt/sensors examples
story_fleet          bench/examples/story_fleet.py              training federated examples/fleet
teach                bench/accuracy/teach.py                     training kernels odt/continual
text                 bench/accuracy/text.py                      training kernels odt/embedding examples/command
tiny                 bench/costs/tiny.py                         kernels planner
tiny_rows            bench/costs/tiny_rows.py                    planner odt/host/rows odt/adapt
twenty               bench/accuracy/twenty.py                    training odt/data
vae                  bench/accuracy/vae.py                       training kernels odt/generative
viper                bench/costs/viper.py                        native odt/reference
windows              bench/accuracy/windows.py                  training native odt/recurrent
zeroth               bench/accuracy/zeroth.py                    training kernels odt/adapt
"""
# What writes tables and transcripts into the documents, in order: from the builds, then from results.
DOCUMENTS = (
    "tests_device/checks/install/test_readme.py",
    "tests_device/checks/install/test_mip.py",
    "tests_device/checks/install/test_capabilities.py",
    "tests_device/checks/kernels/test_kernel_pieces.py",
    "tests_device/checks/make/layers_table.py",
    "tests_host/host/test_monitor_series.py",
    "tests_host/docs/test_docs.py",
)


class Result:
    """A file of bench/results: ``command`` as words, whether it ``writes`` the file, the ``paths`` it depends on."""

    def __init__(self, line):
        self.name, command, rest = (re.split("  +", line) + [""])[:3]
        self.command = shlex.split(command.strip("[]"))
        self.writes = not command.startswith("[")
        self.paths = [] if self.command[0] == "make" else [self.command[0]]
        for word in rest.split():
            self.paths += KINDS.get(word, word).split()


RESULTS = {result.name: result for result in map(Result, TABLE.strip().split("\n"))}


def git(root, *words):
    """(whether it succeeded, what it printed)"""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stdout.strip()


def commits(text):
    """The commits that the first lines of a result name."""
    return list(dict.fromkeys(re.findall(r"commit ([0-9a-f]{7,40})\b", "\n".join(text.splitlines()[:5]))))


def age(root, result, commit):
    """Why a result of that commit is stale, "" if it is not."""
    if not git(root, "merge-base", "--is-ancestor", commit, "HEAD")[0]:
        return "is gone: no commit of that name leads to HEAD"
    changes = git(root, "rev-list", commit + "..HEAD", "--", *result.paths)[1].split()
    if not changes:
        return ""
    found = {path: len(git(root, "rev-list", commit + "..HEAD", "--", path)[1].split()) for path in result.paths}
    parts = ", ".join("%s %d" % pair for pair in found.items() if pair[1])
    return "is before %d commits to what it depends on (%s)" % (len(changes), parts)


def stale(root=ROOT, results=None):
    """``[(name, why)]`` of the results that are stale, name no commit, or are not there."""
    found = []
    for name, result in (RESULTS if results is None else results).items():
        file = root / "bench" / "results" / (name + ".txt")
        if not file.exists():
            found.append((name, "is not there"))
            continue
        named = commits(file.read_text())
        if not named:
            found.append((name, "names no commit"))
        whys = [(commit, age(root, result, commit)) for commit in named]
        found += [(name, "%s %s" % (commit, why)) for commit, why in whys if why]
    return found


def renew(words):
    """Run the commands of the named results, or of all, and of the documents' tables: True if all succeeded."""
    names = dict.fromkeys(name for name, _ in stale()) if words == ["stale"] else words or list(RESULTS)
    failed = []
    for name in names:
        if name == "documents":
            continue
        result = RESULTS[name]
        if not result.writes:
            print("%s: by hand: %s" % (name, " ".join(result.command)), flush=True)
            continue
        command = result.command if result.command[0] == "make" else [sys.executable, *result.command]
        failed += [name] if run(command) else []
    for script in DOCUMENTS if not words or "documents" in words or words == ["stale"] else ():
        failed += [script] if run([sys.executable, script]) else []
    if failed:
        print("failed: " + " ".join(failed))
    return not failed


def run(command):
    print("$ " + " ".join(map(str, command)), flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def main():
    words = sys.argv[1:]
    if words[:1] == ["--stale"]:
        for name, why in stale():
            print("%s.txt: %s" % (name, why))
        return
    unknown = [word for word in words if word not in (*RESULTS, "stale", "documents")]
    if unknown:
        raise SystemExit("no result %s; there are %s" % (", ".join(unknown), ", ".join(RESULTS)))
    raise SystemExit(not renew(words))


if __name__ == "__main__":
    main()
