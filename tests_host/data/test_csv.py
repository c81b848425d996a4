"""Text files: what Python's csv module and NumPy find in a file, CsvReader and CsvSource find, or say in which line
not.
"""

import csv as python_csv
import io
import re
from array import array

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odt
from odt.data import CsvReader, NpyReader
from odt.sensors import CsvSource, WavSource

NUMBERS = ("1.5", "-2", "0", "3e2", "+.25", "7.", '"4.5"', " 6 ", "1e-3")
ODD = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "",
    "NA",
    "null",
    "1e99",
    "1,5",
    "2024-01-01 00:00",
    "12:30:01",
    "x",
    "m/s²",
    '"a, b"',
    "1 2",
    "0x1F",
    "-",
)
NO_TEXT = ("nan", "inf", "infinity", "na", "null")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "field.csv"


def number(word):
    """What a word means to Python, None without: what odt reads but for "1_0" and the like, which are not generated."""
    try:
        return float(word)
    except ValueError:
        return None


def rows_of(text, skipped):
    """(rows of floats or None, number of the first's line) as the csv module splits them and float() reads them; by the
    heading's rule.
    """
    reader = python_csv.reader(io.StringIO(text), skipinitialspace=True)
    rows = [(reader.line_num, row) for row in reader if [word for word in row if word.strip()] or len(row) > 1]
    used = [[word for k, word in enumerate(row) if k != skipped] for _, row in rows]
    if (
        used
        and all(number(word) is None for word in used[0])
        and any(re.search("[A-Za-z]", w) and w.lower() not in NO_TEXT for w in used[0])
    ):
        rows, used = rows[1:], used[1:]
    return [line for line, _ in rows], [[number(word) for word in row] for row in used]


def read(path, **options):
    found, labels = [], []
    reader = CsvReader(str(path), 2, **options)
    for x, y in reader:
        found += list(x)
        labels += list(y)
    assert len(labels) % reader.samples == 0
    return np.array(found, "float32").reshape(reader.samples, -1), labels


cells = st.one_of(st.sampled_from(NUMBERS), st.sampled_from(NUMBERS), st.sampled_from(NUMBERS + ODD))
tables = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1, max_size=5))


@settings(max_examples=400, deadline=None)
@given(
    table=tables,
    skip=st.booleans(),
    mark=st.booleans(),
    end=st.sampled_from(("\n", "\r\n", "\n\n")),
    blank=st.booleans(),
)
def test_every_line_of_a_file_is_a_sample_or_named(place, table, skip, mark, end, blank):
    quoted = [['"%s"' % word if "," in word and word[0] != '"' else word for word in row] for row in table]
    text = ("\n" if blank else "") + end.join(",".join(row) for row in quoted) + "\n"
    place.write_bytes((b"\xef\xbb\xbf" if mark else b"") + text.encode())
    skipped = 0 if skip and len(table[0]) > 1 else None
    lines, rows = rows_of(text.lstrip("\n"), skipped)
    columns = [k for k in range(len(table[0])) if k != skipped]
    good = rows and all(value is not None and abs(value) < 3e38 for row in rows for value in row)
    try:
        source, buffer, found = CsvSource(str(place), "f", columns), bytearray(4 * len(columns)), []
        while source.readinto(buffer):
            found += array("f", bytes(buffer))
    except ValueError as error:
        assert not good, error
        assert "field.csv" in str(error)
        bad = [line for line, row in zip(lines, rows) if any(v is None or not abs(v) < 3e38 for v in row)]
        offset = len(text) - len(text.lstrip("\n"))  # blank lines before it: an empty word makes one, too
        assert not bad or "line %d, column" % (bad[0] + offset) in str(error), (text, bad, error)
        return
    assert good and np.array_equal(np.array(found, "f").reshape(len(rows), -1), np.array(rows, "f"))
    if len(columns) > 1:
        x, t = read(place, targets=[-1], skip=() if skipped is None else (skipped,))
        assert np.array_equal(x, np.array(rows, "f")[:, :-1]) and np.array_equal(t, np.array(rows, "f")[:, -1])


@pytest.mark.parametrize("rows", (1, 2, 30))
@pytest.mark.parametrize("form", ("%.18e", "%7.3f", "%g"))
def test_what_numpy_writes_is_read_as_numpy_reads_it(place, rows, form):
    random = np.random.default_rng(rows)
    table = np.c_[random.normal(size=(rows, 3)) * 100, random.integers(0, 9, rows)]
    for options, ours in (({"delimiter": ","}, {}), ({"delimiter": ";", "header": "a;b;c;label"}, {"separator": ";"}),
        ({}, {"separator": None}),
                          ({"delimiter": "   "}, {"separator": None}),
                          ({"delimiter": "\t"}, {"separator": "\t"})):  # fmt: skip
        np.savetxt(place, table, form, **options)
        want = np.loadtxt(place, delimiter=options.get("delimiter") if ours.get("separator", ",") else None, ndmin=2)
        x, labels = read(place, **ours)
        assert np.array_equal(x, want[:, :3].astype("f")) and labels == want[:, 3].tolist()
        source, buffer = CsvSource(str(place), "h", [-1], **ours), bytearray(2 * rows)
        assert source.readinto(buffer) == 2 * rows and list(array("h", bytes(buffer))) == labels


def test_a_table_of_561_aligned_columns_is_read(place):
    """As UCI HAR's, of 9 KB per line."""
    table = np.random.default_rng(1).normal(size=(3, 562)).astype("f")
    table[:, -1] = (0, 1, 2)
    np.savetxt(place, table, " %15.7e")
    x, labels = read(place, separator=None)
    assert np.array_equal(x, np.loadtxt(place, dtype="f")[:, :-1]) and labels == [0, 1, 2]


@pytest.mark.parametrize("encoding", ("utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"))
@pytest.mark.parametrize("heading", ("m/s²,°C,label", "größe,µV,label", "a,b,label"))
def test_a_heading_in_any_encoding_is_read_or_the_file_is_named(place, encoding, heading):
    place.write_bytes((heading + "\n1.5,2.5,0\n3.5,4.5,1\n").encode(encoding))
    if "16" in encoding:
        for make in (lambda: CsvReader(str(place), 2), lambda: CsvSource(str(place), "f")):
            with pytest.raises(ValueError, match="field.csv: UTF-16, UTF-8 is expected"):
                make()
        return
    x, labels = read(place)
    assert x.tolist() == [[1.5, 2.5], [3.5, 4.5]] and labels == [0, 1]
    assert CsvSource(str(place), "f").channels == 3


@pytest.mark.parametrize("text, options, expected", (
    ("1.5,2,0.0\n3.5,4,1.000e+00\n", {}, [0, 1]),
    ("1.5,2,rest\n3.5,4,\"wave\"\n", {"labels": ["rest", "wave"]}, [0, 1]),
    ("a,b,c\n1.5,2,wave\n", {"labels": ("rest", "wave")}, [1]),
    ("1,5;2;3\n2,5;1;4\n", {"separator": ";", "decimal": ","}, [3, 4]),
    ("x;y;z\n1,5;2;3\n", {"separator": ";", "decimal": ","}, [3]),
    ("2024-01-01 00:00\t1.5\t0\n2024-01-01 00:01\t2.5\t1\n", {"separator": "\t", "skip": (0,)}, [0, 1]),
    ('"Oslo, NO",1.5,1\n"Bern, CH",2.5,0\n', {"skip": (0,)}, [1, 0]),
    ("x,y,label\n1,1.5,2.5,1\n2,3.5,4.5,0\n", {"skip": (0,)}, [1, 0]),  # as R writes names of rows
))  # fmt: skip
def test_labels_marks_and_skipped_columns(text, options, expected, place):
    place.write_text(text)
    assert read(place, **options)[1] == expected


@pytest.mark.parametrize("text, options, words", (
    ("1.5,2,rest\n", {}, "line 1, column 2 is no whole number: 'rest': give labels="),
    ("1.5,2,0\n1.5,2,0.5\n", {}, "line 2, column 2 is no whole number: '0.5'"),
    ("1.5,2,9999999999\n", {}, "line 1, column 2"),
    ("1.5,2,jump\n", {"labels": ["rest", "wave"]}, "line 1, column 2 is no label of .'rest', 'wave'.: 'jump'"),
    ("1,2,0\n\nNA,2,1\n", {}, "line 3, column 0 is no number: 'NA': fill it in"),
    ("1,5;2,5;0\n", {}, "line 1, column 1 is no number: '5;2': is separator=';'"),
    ("1,5;2,5;0\n", {"separator": ";"}, "line 1, column 0 is no number: '1,5': is decimal=\",\""),
    ("1.5;2.5;0\n", {}, "leave no feature or no label: is separator=';' meant"),
    ("1.5  2.5  0\n1 2 3\n", {"separator": " "}, "separator=None"),
    ("1.5 2.5 0\n", {}, "1 columns leave no feature"),
    ("nan,nan,0\n1,2,0\n", {"skip": (2,), "label": 1}, "line 1, column 0 is no number: 'nan'"),
    ("NA,NA,NA\n1,2,0\n", {}, "line 1, column 0 is no number: 'NA': fill it in"),
    (",,\n1,2,0\n", {}, "line 1, column 0 is no number: '': fill it in"),
    ("1,2,0\n3,4\n", {}, "line 2 has 2 columns, expected 3"),
    ("1\t2\t0\n", {}, r"leave no feature or no label: is separator='\\t'"), ("1 2 0\n", {}, "is separator=None"),
    ("1.234,5;2;0\n", {"separator": ";", "decimal": ","}, "'1.234,5': numbers are expected without marks of thousands"),
    ("2024-01-01 10:00:00,1,0\n", {}, "line 1, column 0 .* take the text out, or the column, by skip="),
    ("5 C,1,0\n", {}, "'5 C': take the text out"), ("a,b,c\nm,s,-\n1,2,0\n", {}, "line 2, column 0 .* second heading"),
    ("a,b,c\r1,2,0\r", {}, "lines that end with"), ("PK\3\4workbook\n", {},
    'another archive: in Excel save it as "CSV UTF-8"'),
    ("1,2,0\n", {"label": "c"}, "label is a column's number, from 0, of 3, got 'c'"),
    ("1,2,0\n", {"skip": "a"}, "skip is a column's number"), ("1,2,0\n", {"targets": "c"},
    "targets is a column's number"),
    ("1,2,0\n", {"separator": ""}, "separator is a character"),
    ("1,2,0\n", {"decimal": None}, "decimal is a character"),
))  # fmt: skip
def test_what_is_no_number_is_named_with_its_line_and_what_helps(text, options, words, place):
    place.write_text(text)
    with pytest.raises(ValueError, match="field.csv: .*" + words):
        read(place, **options)


def test_one_column_may_be_given_as_a_number(place):
    place.write_text("7,1.5,2,0.5\n8,2.5,3,0.25\n")
    x, y = read(place, skip=0, targets=3)
    assert x.tolist() == [[1.5, 2], [2.5, 3]] and list(y) == [0.5, 0.25]
    assert list(read(place, skip=0, targets=-1)[1]) == [0.5, 0.25]


@pytest.mark.parametrize("call, options, words", (
    (CsvReader, {"batch_size": 2, "delimiter": ";"}, "CsvReader has no delimiter=: separator="),
    (CsvReader, {"batch_size": 2, "columns": [0]}, "CsvReader has no columns=: skip="),
    (CsvSource, {"usecols": [0]}, "CsvSource has no usecols=: columns="),
    (WavSource, {"channels": 1}, "WavSource has no channels=: a Window of the file's channels"),
    (CsvReader, {"batch_size": 2, "lable": 0}, "CsvReader has no lable=: label=.; it takes path, batch_size"),
))  # fmt: skip
def test_a_keyword_of_other_libraries_is_answered_with_ours(call, options, words, place):
    place.write_text("1,2,0\n")
    with pytest.raises(TypeError, match=words):
        call(str(place), **options)


def test_after_a_bad_line_a_reader_begins_where_it_is_told(place):
    place.write_text("1,0\n2,1\nx,0\n4,1\n")
    reader = CsvReader(str(place), 1)
    for _ in range(2):
        with pytest.raises(ValueError, match="line 3"):
            [x[0] for x, _ in reader]
    place.write_text("1,0\n2,1\n3,0\n4,1\n")
    reader.close()
    assert [x[0] for x, _ in reader] == [1, 2, 3, 4]


def played(source):
    found, buffer = [], bytearray(6)
    while True:
        count = source.readinto(buffer)
        if not count:
            return found
        found += array(source.typecode, bytes(buffer[:count])).tolist()


def test_floats_become_integers_by_a_scale(place):
    values = ["0.981", "-0.5", "1e-3", "0.0005", "-0.0005", "12"]
    place.write_text("g\n" + "\n".join(values))
    for scale in (1000, 1024, 101.97, -1000, np.float64(7.5), np.int16(1000)):
        exact = [float(value) * float(scale) for value in values]
        assert played(CsvSource(str(place), scale=scale)) == [
            int(abs(v) + 0.5 + 1e-9) * (1 if v >= 0 else -1) for v in exact
        ]
    assert played(CsvSource(str(place), "f", scale=2)) == [np.float32(2 * float(v)).item() for v in values]
    with pytest.raises(ValueError, match="line 2, column 0 is no number of typecode 'h': '0.981': give scale="):
        CsvSource(str(place))
    with pytest.raises(ValueError, match="line 7, column 0"):
        played(CsvSource(str(place), "b", scale=100))
    with pytest.raises(TypeError, match="scale"):
        CsvSource(str(place), scale="7")
    with pytest.raises(TypeError, match="columns are ints, from 0, got 'g'"):
        CsvSource(str(place), columns=["g"])


def test_what_a_source_read_before_a_bad_line_is_kept_and_what_follows_it_comes(place):
    place.write_text("1\n2\n3\nx\n5\n6\n")
    source, buffer = CsvSource(str(place)), bytearray(64)
    assert source.readinto(buffer) == 6 and list(array("h", bytes(buffer[:6]))) == [1, 2, 3] and not source.ended
    with pytest.raises(ValueError, match="line 4, column 0"):
        source.readinto(buffer)
    assert source.readinto(buffer) == 4 and list(array("h", bytes(buffer[:4]))) == [5, 6]
    assert source.readinto(buffer) == 0 and source.ended


def test_lines_of_more_or_fewer_features_than_the_model_has_are_named(place, tmp_path):
    place.write_text("7,1.5,2,1\n8,2.5,3,0\n" * 4)
    np.save(tmp_path / "x.npy", np.zeros((8, 3), "float32"))
    for features, skip, refused in ((3, (), False), (2, (0,), False), (4, (), True), (2, (), True), (1, (1,), True)):
        model = odt.Sequential([odt.Input((features,)), odt.Dense(2)])
        model.compile(batch_size=8, seed=1)
        reader = CsvReader(str(place), 8, skip=skip)
        if not refused:
            assert len(model.fit(reader, verbose=0).history["loss"]) == 1
            continue
        columns = [column for column in range(3) if column not in skip]
        words = "field.csv: samples of %d numbers in columns %s, the model's Input has %d" % (
            len(columns),
            columns,
            features,
        )
        for call in (model.fit, model.evaluate):
            with pytest.raises(ValueError, match=re.escape(words)):
                call(reader)
        if features != 3:
            with pytest.raises(ValueError, match="x.npy: samples of 3 numbers, the model's Input has %d" % features):
                model.evaluate(NpyReader(str(tmp_path / "x.npy"), [0] * 8, 8))
