"""The picture of the memory plan shows the plan: every byte of it, once."""

import re
import sys
import xml.etree.ElementTree as ElementTree
from unittest import mock

import matplotlib.image
import pytest

import odt
from odt.host import chart, commands
from odt.plan.program import HEADER_WORDS

SVG = "{http://www.w3.org/2000/svg}"


def network(**options):
    x = odt.Input((12, 12, 2))
    y = odt.Conv2D(6, 3, padding="same", activation="relu", name="first")(x)
    z = odt.DepthwiseConv2D(3, padding="same", name="a<b")(y)
    z = odt.Add(activation="relu", name="sum")([y, z])
    z = odt.MaxPool2D(name="pool")(odt.Conv2D(8, 3, name="second")(z))
    model = odt.Model(x, odt.Dense(4, name="last")(odt.Flatten()(z)))
    model.compile(batch_size=4, **options)
    return model


OPTIONS = (
    {}, {"dtype": "float32"}, {"micro_batch": 2}, {"optimizer": odt.SGD(0.1, global_clipnorm=1)},
    {"checkpoint": "sqrt"},
)  # fmt: skip


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "".join(options) or "plain")
def test_boxes_that_live_at_once_lie_apart_and_reach_the_arena_s_end(options):
    model = network(**options)
    plan = chart.Plan(model)
    for number, box in enumerate(plan.boxes):
        assert 0 <= box.offset < box.top <= plan.arena and 0 <= box.first <= box.last < len(plan.live)
        for other in plan.boxes[:number]:
            together = box.first <= other.last and other.first <= box.last
            assert not together or box.top <= other.offset or other.top <= box.offset
    assert max(box.top for box in plan.boxes) == plan.arena == len(model.session.arena)


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "".join(options) or "plain")
def test_every_byte_of_the_arena_that_the_program_touches_lies_in_a_box(options):
    """By the program's own addresses and extents, as the executor decodes them."""
    model = network(**options)
    plan = chart.Plan(model)
    index = 0
    for _, code, addresses, immediates in model.program.walk(HEADER_WORDS, model.program.section("train")[1]):
        sizes = dict(zip(code.immediates, immediates))
        for number, address in enumerate(addresses):
            if address >> odt.base.opcodes.REGION_SHIFT == odt.base.opcodes.ARENA:
                end = address + code.bytes(number, sizes)
                living = [box for box in plan.boxes if box.first <= index <= box.last]
                assert any(box.offset <= address and end <= box.top for box in living), (index, code.name)
        index += 1
    assert index == len(plan.live)


def test_the_lower_bound_is_the_most_that_boxes_take_at_once():
    plan = chart.Plan(network())
    for index, live in enumerate(plan.live):
        assert live == sum(box.top - box.offset for box in plan.boxes if box.first <= index <= box.last)
    assert plan.lower_bound == max(plan.live) <= plan.arena


def test_the_layers_come_in_the_network_s_order_and_back():
    plan = chart.Plan(network())
    assert [first for _, first, _ in plan.spans] == [0] + [end for _, _, end in plan.spans[:-1]]
    names = [name for name, _, _ in plan.spans]
    forward = [name for name, _, end in plan.spans if end <= plan.forward]
    assert forward == ["step", "input", "first", "a<b", "sum", "second", "pool", "last"]
    behind = [name for name in names[len(forward) :] if name not in ("step", "loss")]
    assert behind == ["last", "pool", "second", "sum", "a<b", "first"]


def test_the_page_is_well_formed_and_tells_each_box(tmp_path):
    path = tmp_path / "plan.html"
    plan = chart.chart(network(), path)
    page = ElementTree.fromstring(path.read_text().partition("\n")[2])  # behind the doctype
    assert not re.findall(r"(?:src|href)=", path.read_text())
    boxes = page.findall(".//%srect[@class='box']" % SVG)
    assert len(boxes) == len(plan.boxes)
    for shape, box in zip(boxes, plan.boxes):
        text = shape.find(SVG + "title").text
        assert box.name in text and "%d bytes at %d," % (box.size, box.offset) in text
        assert text.endswith("instructions %d to %d" % (box.first, box.last))
    labels = [text.text for text in page.iter(SVG + "text")]
    assert {"input", "first", "a<b", "sum", "second", "pool", "last", "loss"} <= set(labels)


def test_boxes_have_the_place_and_the_height_of_their_bytes_in_the_page(tmp_path):
    plan = chart.chart(network(), tmp_path / "plan.html")
    page = ElementTree.fromstring((tmp_path / "plan.html").read_text().partition("\n")[2])
    shapes = page.findall(".//%srect[@class='box']" % SVG)
    bottom = max(float(shape.get("y")) + float(shape.get("height")) for shape in shapes)
    height = bottom - min(float(shape.get("y")) for shape in shapes)
    for shape, box in zip(shapes, plan.boxes):
        unit = plan.arena / height
        assert abs(float(shape.get("height")) * unit - (box.top - box.offset)) < 0.02 * unit
        assert abs((bottom - float(shape.get("y"))) * unit - box.top) < 0.03 * unit


def test_the_page_s_drawing_has_the_width_of_the_page(tmp_path):
    """Of a small network as of a large one: it is scaled, and no narrower than 12 pixels an instruction."""
    small = odt.Sequential([odt.Input((2,)), odt.Dense(3)])
    small.compile()
    for model in (small, network()):
        plan = chart.chart(model, tmp_path / "plan.html")
        page = ElementTree.fromstring((tmp_path / "plan.html").read_text().partition("\n")[2])
        (drawing,) = page.iter(SVG + "svg")
        width = int(drawing.get("viewBox").split()[2])
        assert drawing.get("width") is None and drawing.get("style").startswith("width: 100%; min-width: ")
        assert 1240 <= width - 110 <= max(1240 + len(plan.live), 12 * len(plan.live))
        ends = [float(box.get("x")) + float(box.get("width")) for box in page.findall(".//%srect[@class='box']" % SVG)]
        assert width / 2 < max(ends) <= width


def test_a_png_is_drawn(tmp_path):
    chart.chart(network(), str(tmp_path / "plan.png"))
    picture = matplotlib.image.imread(tmp_path / "plan.png")
    assert picture.shape[0] > 500 and picture.shape[1] > 800 and picture.std() > 0.1


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(ValueError, match="ends with .html or .png, got 'plan.svg'"):
        chart.chart(network(), "plan.svg")


def test_without_matplotlib_the_command_says_what_to_install_and_a_page_is_drawn(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text("import odt\nodt.Sequential([odt.Input((2,)), odt.Dense(3)]).compile()\n")
    with mock.patch.dict(
        sys.modules, {"matplotlib": None, "matplotlib.figure": None, "matplotlib.backends.backend_agg": None}
    ):
        assert commands.main(["chart", str(script), "--output", str(tmp_path / "plan.png")]) == 1
        out = capsys.readouterr().out
        assert out.startswith("odt: a .png needs matplotlib (") and "pip install matplotlib, or draw a .html" in out
        assert commands.main(["chart", str(script), "--output", str(tmp_path / "plan.html")]) == 0
    assert sorted(file.name for file in tmp_path.iterdir()) == ["plan.html", "train.py"]


def test_the_command_draws_the_model_that_a_script_compiles_and_does_not_train_it(tmp_path, capsys):
    script = tmp_path / "train.py"
    script.write_text(
        "import odt\n"
        "model = odt.Sequential([odt.Input((2,)), odt.Dense(3, name='only')])\n"
        "model.compile()\n"
        "raise SystemExit('trained')\n"
    )
    page = tmp_path / "page.html"
    assert commands.main(["chart", str(script), "--output", str(page)]) == 0
    assert "only" in page.read_text() and "lower bound" in capsys.readouterr().out
    script.write_text("pass\n")
    assert commands.main(["chart", str(script), "--output", str(page)]) == 1
    assert "compiles no model" in capsys.readouterr().out


def test_summary_gives_the_arena_beside_its_lower_bound(capsys):
    model = network()
    plan = model.session.plan
    assert plan.arena == plan.lower_bound
    for bound in (plan.arena, plan.arena * 4 // 5):
        plan.lower_bound = bound
        model.summary()
        assert "%d bytes (lower bound %d); peak use by kind:" % (plan.arena, bound) in capsys.readouterr().out
