"""Lines of numbers in a text file: what ``odt.data.CsvReader`` and ``odt.sensors.CsvSource`` share.

The first line is a heading if it holds text and none of the columns in use is a number. Everything else is data, or an
error that names its line. Only columns in use are looked at, as bytes: a heading or a comment may be in any encoding
that is no UTF-16.
"""

from ..base.fixed import bit_length

_LINE = 65536  # bytes of a line
_PIECE = 512  # that are read at once
_NO_FLOATS = (b"nan", b"inf", b"infinity")
_MISSING = (b"", b"na", b"n/a", b"null", b"none")


class Lines:
    """The lines of the file ``path`` that are not blank.

    ``columns``: how many the first has; ``at``: where the line in hand begins.

    ``separator``: of columns; None: spaces and tabs, any number of them. ``decimal``: the mark in numbers.
    """

    def __init__(self, path, separator=",", decimal="."):
        for name, value in (("separator", separator), ("decimal", decimal)):
            if not (isinstance(value, str) and len(value) == 1 or value is None and name == "separator"):
                raise ValueError("%s: %s is a character, got %r" % (path, name, value))
        self.path, self.decimal, self.columns, self.at, self.following = path, decimal.encode(), 0, 0, 0
        self.separator = None if separator is None else separator.encode()
        self.file = open(path, "rb")

    def line(self):
        """The next line, b"" at the end."""
        while True:
            line = more = self._piece()
            while more and more[-1:] != b"\n" and len(line) < _LINE:
                more = self._piece()
                line += more
            self.at = self.following
            self.following += len(line)
            if len(line) >= _LINE and line[-1:] != b"\n":
                raise ValueError("%s: line %d has more than %d bytes" % (self.path, self.count(), _LINE))
            if not self.at:
                if line[:3] == b"\xef\xbb\xbf":  # a byte order mark
                    line = line[3:]
                if line[:4] == b"PK\3\4":
                    raise ValueError('%s: a workbook or another archive: in Excel save it as "CSV UTF-8"' % self.path)
                if b"\0" in line:
                    raise ValueError('%s: UTF-16, UTF-8 is expected: in Excel save it as "CSV UTF-8"' % self.path)
                if b"\r" in line.strip():
                    raise ValueError("%s: lines that end with \\r alone, \\n is expected: save it again" % self.path)
            if not line or line.strip():
                return line

    def _piece(self):
        """Some bytes up to a line's end: MicroPython reserves as many as are asked for."""
        try:
            return self.file.readline(_PIECE)
        except TypeError:  # the files of mpremote mount take no size
            return self.file.readline()

    def first(self, columns):
        """The words of the first sample, None without; ``columns``: a function from the number of columns to those in
        use.
        """
        words = self.words()
        if words and self.is_heading(words, columns(len(words))):
            self.columns = 0
            words = self.words()
        return words

    def words(self):
        """The words of the next line, None at the end; ValueError where they are not as many as in the first sample."""
        line = self.line()
        if not line:
            return None
        words = _split(line.strip(b" \r\n"), self.separator)
        self.columns = self.columns or len(words)
        if len(words) != self.columns:
            place = (self.path, self.count(), len(words), self.columns)
            raise ValueError("%s: line %d has %d columns, expected %d" % place)
        return words

    def seek(self, at):
        """Go on with the line that begins there."""
        if self.file is None:
            self.file = open(self.path, "rb")
        self.file.seek(at)
        self.following = at

    def is_heading(self, words, columns):
        """Whether words of the first line are the heading: of these columns none is a number, and one is a text."""
        found = False
        for column in columns:
            word = _clean(words[column])
            try:
                self.number_of(word)
                return False
            except ValueError:
                if word.lower().lstrip(b"+-") in _NO_FLOATS:
                    return False
            found = found or has_letter(word) and word.lower() not in _MISSING
        return found

    def number_of(self, word):
        """``number`` of a word of bytes."""
        word = _clean(word)
        return number((word if self.decimal == b"." else word.replace(self.decimal, b".")).decode())

    def refuse(self, column, word, what="number", hint=""):
        """ValueError for a word of the line in hand, with what may help."""
        word, own, mark = _clean(word), self.separator, self.decimal
        line = self.count()
        if own == b" " and not word:
            hint = ": give separator=None, any number of spaces"
        elif word.lower() in _MISSING or word.lower().lstrip(b"+-") in _NO_FLOATS:
            hint = ": fill it in, or leave the line or the column out"
        elif own != b";" and b";" in word or own is not None and b"\t" in word:
            hint = ": is separator=%r meant?" % (";" if b";" in word else "\t")
        elif own is not None and b" " in word and not has_letter(word) and self.columns == 1:
            hint = ": is separator=None meant, spaces?"
        elif b"," in word and b"." in word:
            hint = ": numbers are expected without marks of thousands"
        elif b"," in word and mark == b".":
            hint = ': is decimal="," meant?'
        elif what[0] == "w" and has_letter(word):  # whole number: a label
            hint = ": give labels=[..], the names"
        elif hint or what[0] != "n":
            pass
        elif 1 < line < 4 and has_letter(word) and not [digit for digit in word if 48 <= digit < 58]:
            hint = ": is it of a second heading? Take that line out"
        else:
            hint = ": take the text out, or the column, by skip= or columns="
        raise ValueError("%s: line %d, column %d is no %s: %r%s" % (
            self.path, line, column, what, text(word), hint))  # fmt: skip

    def count(self):
        """The number of the line in hand, from 1."""
        found, left = 1, self.at
        self.file.seek(0)
        while left > 0:
            piece = self.file.read(min(left, 512))
            found += piece.count(b"\n")
            left -= len(piece) or left
        self.seek(self.following)
        return found

    def close(self):
        """Close the file; seek() opens it again."""
        if self.file is not None:
            self.file.close()
            self.file = None


def _split(line, separator):
    """The words of a line; a separator in quotes is none."""
    if b'"' not in line or separator is None:
        return line.split(separator)
    words, word = [], b""
    for part in line.split(separator):
        word = word + separator + part if word else part
        if word.count(b'"') % 2 == 0:
            words.append(word)
            word = b""
    return words + [word] if word else words


def _clean(word):
    word = word.strip()
    return word[1:-1].strip() if word[:1] == b'"' == word[-1:] and len(word) > 1 else word


def text(word):
    """A word's characters; of another encoding than UTF-8 its bytes."""
    word = _clean(word)[:60]
    try:
        return word.decode()
    except ValueError:
        return word


def has_letter(word):
    return bool(word) and max(word) > 64


def number(text):
    """(the sign's bit, digits, exponent) of a decimal number: digits * 10^exponent.

    ValueError for what is none, NaN and infinities with them.
    """
    text = text.strip()
    head, _, tail = text.replace("E", "e").partition("e")
    sign = 0
    if head[:1] in ("-", "+"):
        sign = 0x80000000 if head[0] == "-" else 0
        head = head[1:]
    whole, _, part = head.partition(".")
    digits = whole + part
    power = tail[1:] if tail[:1] in ("-", "+") else tail
    has_power = "e" in text or "E" in text
    if not digits or (has_power and not power) or [c for c in digits + power if c not in "0123456789"]:
        raise ValueError("no number: %r" % text)
    return sign, int(digits), (int(tail) if has_power else 0) - len(part)


def parse(text):
    """A decimal number as the bits of the nearest float32 (ties to even), by integers alone.

    ValueError for what is none, NaN and infinities among it, and for what is too large.
    """
    return float32(*number(text))


def whole(sign, value, exponent):
    """value * 10^exponent as an int, rounded half away from 0, and whether it is one."""
    if not value:
        return 0, True
    if exponent > 20:
        raise ValueError("too large")
    under, exact = 10 ** min(max(-exponent, 0), 5000), True
    if exponent > 0:
        value *= 10**exponent
    elif exponent:
        exact = value % under == 0
        value = (2 * value + under) // (2 * under)
    return (-value if sign else value), exact


def float32(sign, value, exponent):
    """value * 10^exponent as the bits of the nearest float32."""
    digits = exponent + (bit_length(value) * 1233 >> 12)  # about the digits before the point
    if value == 0 or digits < -47:
        return sign
    if digits > 40:
        raise ValueError("too large")
    top = value * 10**exponent if exponent > 0 else value
    bottom = 1 if exponent > 0 else 10**-exponent
    shift = bit_length(top) - bit_length(bottom) - 24  # the quotient has 24 or 25 bits
    if shift > 0:
        bottom <<= shift
    else:
        top <<= -shift
    mantissa = top // bottom
    if mantissa >= 1 << 24:
        shift += 1
        sticky = (mantissa & 1) << 1 | (1 if mantissa * bottom != top else 0)
        mantissa >>= 1
    else:
        rest = 2 * (top - mantissa * bottom)
        sticky = 3 if rest > bottom else 2 if rest == bottom else 1 if rest else 0
    if sticky == 3 or (sticky == 2 and mantissa & 1):
        mantissa += 1
        if mantissa == 1 << 24:
            mantissa >>= 1
            shift += 1
    field = shift + 150
    if field > 254:
        raise ValueError("too large")
    return sign if field < 1 else sign | field << 23 | mantissa & 0x7FFFFF
