"""Curves in a terminal, of characters."""

import math


def draw(text, series, last, low, high, width, height=9):
    """Append to a rich Text: curves, (mark, style, [(x from 0 to ``last``, value)]), on axes from ``low`` to ``high``."""
    grid = [[(" ", "")] * width for _ in range(height)]
    for mark, style, points in series:
        for x, value in points:
            if math.isfinite(value):
                column = min(int(x / last * (width - 1) + 0.5), width - 1)
                row = min(int((high - value) / (high - low) * (height - 1) + 0.5), height - 1)
                grid[row][column] = (mark, style)
    for number, row in enumerate(grid):
        text.append("\n%8.3f |" % (high - (high - low) * number / (height - 1)))
        for character, style in row:
            text.append(character, style)
    return text.append("\n%s+%s" % (" " * 9, "-" * width))
