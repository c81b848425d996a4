"""The HTML page around what the commands draw. It needs no network."""

from html import escape

from .text import visible

_STYLE = "body { font: 14px sans-serif; margin: 20px; color: #222; background: white; }"

_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<title>%s</title>
<style>
%s
%s</style>
</head>
<body>
<h3>%s</h3>
%s
</body>
</html>
"""


def page(title, style, body):
    """The whole page: ``title`` is text, ``style`` rules of its own, ``body`` HTML."""
    return _PAGE % (escape(visible(title)), _STYLE, style, escape(visible(title)), body)
