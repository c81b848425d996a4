"""What python -m odt deploy says before it writes anything."""

import pytest

import odt
from odt.host.boards import deploy
from odt.host.boards.board import BoardError
from odt.host.commands import main
from odt.sensors import Frames, LogMel

FOUND = {
    "name": "micropython", "version": (1, 25, 0), "machine": "a board", "mpy": 4358, "free": 200000, "libs": ["/lib"],
    "deflate": True,
    "disk": 500000, "block": 4096, "frozen": True, "odt": odt.__version__,
    "without": [],
}  # fmt: skip


def model(**kwargs):
    made = odt.Sequential([odt.Input((3,)), odt.Dense(4, activation="relu"), odt.Dense(2)])
    made.compile(odt.Adam(0.01), batch_size=2, **kwargs)
    return made


def test_what_does_not_fit_is_said_with_both_figures(tmp_path):
    made = model()
    assert deploy.check(FOUND, tmp_path, made) == "native"
    plan = made.session.plan
    own = plan.arena + plan.state + len(plan.code)
    least = deploy.HEAP["firmware"] + own
    assert deploy.check(dict(FOUND, free=least), tmp_path, made) == "native"
    with pytest.raises(
        BoardError, match="%d bytes of heap are free, %d are needed at least: .*, %d of the" % (least - 1, least, own)
    ):
        deploy.check(dict(FOUND, free=least - 1), tmp_path, made)
    for without in (dict(FOUND, disk=-1), dict(FOUND, libs=[])):
        with pytest.raises(BoardError, match="no file system"):
            deploy.check(without, tmp_path, made)
    with pytest.raises(BoardError, match="nothing to install"):
        deploy.check(dict(FOUND, frozen=False), tmp_path, made)


def test_the_pieces_are_those_of_the_program():
    assert deploy.pieces(model()) == {"_odt"}
    assert deploy.pieces(model(dtype="float32")) == {"_odt", "_odt_f32"}


@pytest.mark.parametrize(
    "content, words", [(b"", "gesture.odt"), (b"ODTN" + bytes(60), "gesture.odt"), (None, "No such file")]
)
def test_what_is_no_model_is_refused_before_a_board_is_asked(tmp_path, capsys, content, words):
    path = tmp_path / "gesture.odt"
    if content is not None:
        path.write_bytes(content)
    assert main(["deploy", str(path), "--connect", "/dev/none"]) == 1
    text = capsys.readouterr().out
    assert text.startswith("odt: ") and words in text and "/dev/none" not in text


@pytest.mark.parametrize("frozen", (False, True))
def test_a_board_gets_the_capabilities_that_the_model_needs(frozen, tmp_path, monkeypatch):
    path = tmp_path / "heard.odt"
    frames = Frames(LogMel(rate=8000, channels=20), hop=160, rows=4)
    made = odt.Sequential([*frames.layers(), odt.Flatten(), odt.Dense(2)])
    made.compile(batch_size=2)
    made.export(path, features=frames)
    asked = []

    def stop(board, found, files, *rest, **more):
        asked.append(rest[0] if frozen else rest[4])
        raise BoardError("stop")

    monkeypatch.setattr(deploy.Board, "probe", lambda _: dict(FOUND, frozen=frozen))
    monkeypatch.setattr(deploy, "check", lambda *_: "native")
    monkeypatch.setattr(deploy.install, "package", lambda files: files)
    monkeypatch.setattr(deploy.install, "expected", dict)
    monkeypatch.setattr(deploy.install, "extend" if frozen else "bring", stop)
    for words, names in (
        ((), ["data", "sensors"]),
        (("--with", "continual"), ["continual", "data", "online", "sensors"]),
    ):
        assert main(["deploy", str(path), "--connect", "p", *words]) == 1
        assert asked.pop() == names


def test_the_kernels_of_a_models_layers_are_a_capability_that_it_needs():
    made = odt.Sequential([odt.Input((3,)), odt.Dense(4), odt.ELU(), odt.Dense(2)])
    made.compile(batch_size=2)
    made.features = None
    assert deploy.needs(made) == ["kernels"]
    plain = model()
    plain.features = None
    assert deploy.needs(plain) == []
