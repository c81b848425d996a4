"""MLPerf Tiny's four networks as a whole: a training step of one sample, and a prediction.

    python bench/costs/tiny.py                 writes bench/results/tiny.txt
    python bench/costs/tiny.py ResNet-8        networks whose names hold a word: prints

int8, of first weights, on noise; SGD without momentum, whose state is the least that training takes. qemu_m4:
instructions that QEMU executes (an emulated Cortex-M4 with 4 MB of RAM, which no such chip has); rp2040: cycles by
odt's own interpreter. RAM: arena and state in KB. A network that has no room on a machine has "-" there.
"""

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import folders  # noqa: E402, F401
import architectures
import counting
from counting import ROOT

A = architectures
NETWORKS = {
    "ResNet-8": (A.conv, A.resnet8),
    "MobileNet": (A.conv, A.separable, A.mobilenet),
    "DS-CNN": (A.conv, A.separable, A.keywords),
    "anomaly": (A.anomaly,),
}
MACHINES = "qemu_m4", "rp2040"
COMPILE = """
import gc
import odt
%s
model = %s()
model.compile(%s, loss="%s", dtype="int8", batch_size=1, seed=7)
"""
DATA = """
x = bytearray(model.session.row)
for i in range(len(x)):
    x[i] = i * (i >> 5) * 7 & 127
y = x if %s else b"\\1"
"""
STEP = "model.train_step(x, y)"
PREDICTION = "model.predict(x, out)"
BEFORE_A_STEP = "model.train_step(x, y)\n"
BEFORE_A_PREDICTION = """
from array import array
model.calibrate(x)
out = array("f", bytes(4 * model.session.plan.output.count))
"""
MEASURED = """
{call}
gc.collect()
begin()
end()
begin()
{call}
end()
"""


def source(name, is_trained):
    *parts, network = NETWORKS[name]
    code = "".join([inspect.getsource(part) for part in (*parts, network)]).replace("odt.Input(", "Bytes(")
    code = "def Bytes(shape):\n    return odt.Input(shape, dtype='int8', scale=1 / 32)\n" + code
    loss = "mse" if network is A.anomaly else "sparse_categorical_crossentropy"
    return COMPILE % (code, network.__name__, "odt.SGD(0.001)" if is_trained else "None", loss) + DATA % (
        network is A.anomaly
    )


def sizes(name, is_trained):
    """(parameters, MACs forward, KB of RAM)."""
    scope = {}
    exec(source(name, is_trained), scope)
    model = scope["model"]
    plan = model.session.plan
    macs = sum([node.layer.macs for node in model.nodes])
    return sum([len(bytes(w)) // 4 for w in model.get_weights()]), macs, (plan.arena + plan.state) / 1000


def cost(machine, name, is_trained):
    """What one step or prediction counts; None where there is no room for it."""
    before, call = (BEFORE_A_STEP, STEP) if is_trained else (BEFORE_A_PREDICTION, PREDICTION)
    script = source(name, is_trained) + before + MEASURED.format(call=call)
    text = "try:\n" + "".join(["    %s\n" % line for line in script.splitlines()])
    counts = machine.run(
        text + "except MemoryError:\n    begin()\n    end()\n    begin()\n    end()\n    print('no room')\n"
    )
    return None if "no room" in machine.said else counts[-1]


def main():
    names = [name for name in NETWORKS if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    out = counting.head("MLPerf Tiny's networks as a whole. Written by: python bench/costs/tiny.py")
    out += [counting.heading(name) for name in MACHINES]
    out += ["", "%-12s%12s%12s%10s%14s%14s" % ("", "parameters", "MACs", "RAM, KB", *MACHINES)]
    print("\n".join(out))
    for what in (True, False):
        out.append("a training step" if what else "a prediction")
        print(out[-1])
        for name in names:
            cells = []
            for machine_name in MACHINES:
                machine = counting.open(machine_name)
                try:
                    found = cost(machine, name, what)
                finally:
                    machine.close()
                cells.append("-" if found is None else found)
            out.append("%-12s%12d%12d%10.1f%14s%14s" % ("  " + name, *sizes(name, what), *cells))
            print(out[-1], flush=True)
    if len(names) == len(NETWORKS):
        (ROOT / "bench/results/tiny.txt").write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
