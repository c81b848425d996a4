"""The machines themselves: each boots, runs scripts, sees files, and fails loudly."""

import time

import machines
import pytest

ALL = machines.UNIX + machines.QEMU
# A process, an emulated Arm, an emulated RISC-V: what the tests do with a machine is the same for all of a kind.
ONE_OF_EACH = ("unix", "qemu_m3", "qemu_rv32")


@pytest.fixture(scope="module", params=ALL)
def machine(request):
    with machines.open(request.param) as m:
        yield m


@pytest.fixture(scope="module", params=ONE_OF_EACH)
def one(request):
    with machines.open(request.param) as m:
        yield m


def test_machine_runs_a_script_and_tells_what_it_is(machine):
    out = machine.exec("import sys\nprint(sys.implementation.name, sys.platform)")
    assert out == "micropython {}\n".format("qemu" if "qemu" in machine.name else "linux")


def test_script_finds_its_arguments(one):
    out = one.exec("print(ODT_ARGS['steps'] + 1)", args={"steps": 200, "path": "a'b"})
    assert out == "201\n"


def test_script_reads_the_files_it_was_given(one, tmp_path):
    data = bytes(i * 7 & 0xFF for i in range(20000))
    (tmp_path / "data.bin").write_bytes(data)
    (tmp_path / "helper.py").write_text("value = 42\n")
    (tmp_path / "main.py").write_text(
        "import helper\nwith open('data.bin', 'rb') as f:\n    d = f.read()\nprint(helper.value, len(d), sum(d))\n"
    )
    out = one.run(tmp_path / "main.py", cwd_files=tmp_path)
    assert out == f"42 20000 {sum(data)}\n"


def test_script_writes_files_that_the_host_sees(one):
    one.exec("with open('out.bin', 'wb') as f:\n    f.write(bytes(range(256)))")
    assert (one.files / "out.bin").read_bytes() == bytes(range(256))


def test_native_module_is_built_in(machine):
    assert machine.exec("import _odt\nprint(_odt.__name__)") == "_odt\n"


def test_package_is_frozen_without_its_host_part(machine):
    source = "import odt\nprint(odt.__file__)\ntry:\n    import odt.host\nexcept ImportError:\n    print('no host')"
    assert machine.exec(source) == "odt/__init__.py\nno host\n"


def test_traceback_raises_with_the_whole_output(one):
    with pytest.raises(machines.MachineError) as error:
        one.exec("print('before')\n1 / 0")
    assert "before" in error.value.output
    assert "ZeroDivisionError" in error.value.output


def test_endless_script_is_ended_and_the_machine_runs_on(one):
    begin = time.monotonic()
    with pytest.raises(machines.MachineError, match="did not end in 3 s"):
        one.exec("print('x')\nwhile True:\n    pass", timeout=3)
    assert time.monotonic() - begin < 10
    assert one.exec("print(1 + 1)") == "2\n"


def test_failed_script_leaves_no_globals_to_the_next(one):
    one.exec("left_over = 1")
    assert one.exec("print('left_over' in globals())") == "False\n"


@pytest.mark.parametrize("name", ONE_OF_EACH[1:])
def test_crash_raises_at_once(name):
    with machines.open(name) as m:
        begin = time.monotonic()
        with pytest.raises(machines.MachineError, match="crashed the machine"):
            m.exec("import machine\nmachine.mem32[0xf0000000] = 1", timeout=60)
        assert time.monotonic() - begin < 20
        assert m.exec("print(1 + 1)") == "2\n"


@pytest.mark.parametrize("name", ONE_OF_EACH[1:])
def test_instruction_count_is_the_same_in_every_run(name):
    source = machines.COUNTER + (
        "import gc\n"
        "def work():\n"
        "    start()\n"
        "    s = 0.5\n"
        "    for i in range(5000):\n"
        "        s = s * 0.999 + i\n"
        "    return executed()\n"
        "gc.collect()\n"
        "gc.disable()\n"
        "work()\n"
        "print(work())\n"
    )
    counts = []
    for _ in range(2):
        with machines.open(name) as m:
            counts.append(int(m.exec(source)))
    assert abs(counts[0] - counts[1]) <= 100  # a tick, in the midst of which a run may begin


def test_machine_without_image_names_the_command_that_builds_it(monkeypatch, tmp_path):
    monkeypatch.setattr(machines, "BUILD", tmp_path)
    with pytest.raises(machines.MachineError, match="make qemu"):
        machines.open("qemu_m4")
