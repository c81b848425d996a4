"""Curves in a terminal, of characters."""

import math


def draw(text, series, last, low, high, width, height=9, label="%8.3f", lines=()):
    """Append to a rich Text: curves, (mark, style, [(x from 0 to ``last``, value)]), on axes from ``low`` to ``high``.

    ``lines``: the x of vertical lines below the curves.
    """
    columns = {min(int(x / last * (width - 1) + 0.5), width - 1) for x in lines}
    grid = [[("|", "red") if x in columns else (" ", "") for x in range(width)] for _ in range(height)]
    for mark, style, points in series:
        for x, value in points:
            if math.isfinite(value):
                column = min(int(x / last * (width - 1) + 0.5), width - 1)
                row = min(int((high - value) / (high - low) * (height - 1) + 0.5), height - 1)
                grid[row][column] = (mark, style)
    for number, row in enumerate(grid):
        value = high - (high - low) * number / (height - 1)
        words = label % value
        text.append("\n%s |" % (words if len(words) < 9 else "%8.1e" % value))
        for character, style in row:
            text.append(character, style)
    return text.append("\n%s+%s" % (" " * 9, "-" * width))
