"""From a typed sentence to tokens, on a PC and on a board: the longest piece of a list at each place."""

from odt.embedding import pad

STEPS = 28  # tokens of a sample
PADDING, UNKNOWN = 0, 1  # the pieces' numbers begin after these


class Tokens:
    """Reads text by ``pieces``, a text of them, longest possible first at each place; letters are pieces, too."""

    def __init__(self, pieces):
        self.numbers = {piece: number + 2 for number, piece in enumerate(pieces.split("\n"))}
        self.longest = max([len(piece) for piece in self.numbers])
        self.vocabulary = 2 + len(self.numbers)

    def split(self, text):
        """The tokens of a text, of any length."""
        text, at, found = " " + " ".join(text.lower().split()), 0, bytearray()
        while at < len(text):
            size = min(self.longest, len(text) - at)
            while size > 1 and text[at : at + size] not in self.numbers:
                size -= 1
            found.append(self.numbers.get(text[at : at + size], UNKNOWN))
            at += size
        return found

    def samples(self, texts):
        """Of several texts, what fit takes; ValueError for one that is empty or too long."""
        return pad([self.split(text) for text in texts], STEPS, PADDING)
