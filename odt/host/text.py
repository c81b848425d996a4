"""Text from outside: files, boards and scripts name layers, labels, series and machines.

A terminal, a drawing and a page show it, and obey none of it.
"""

import os
import sys
import unicodedata
import warnings

# Control characters, those that are not seen (they turn the direction of text, too), ends of lines and paragraphs,
# halves of characters, and what Unicode does not know.
_UNSEEN = ("Cc", "Cf", "Cs", "Cn", "Zl", "Zp")


def visible(text, keep=""):
    """The text with what a terminal obeys, or does not show, spelled out as Python does; except the characters of
    ``keep``.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join([c if c in keep or unicodedata.category(c) not in _UNSEEN else _spelled(c) for c in text])


def _spelled(character):
    code = ord(character)
    return ("\\x%02x" if code < 256 else "\\u%04x" if code < 65536 else "\\U%08x") % code


def say(*words, keep="", end="\n", flush=False):
    """print() for the commands: one line, visible. ``keep``: "\\n\\t" for text of several lines."""
    print(visible(" ".join([str(word) for word in words]), keep), end=end, flush=flush)


def complain(*words):
    """The same for what went wrong, in others' words: lines after the first one are indented, so that none looks like
    odt's own.
    """
    say(" ".join([str(word) for word in words]).replace("\n", "\n    "), keep="\n\t")


def literal(text):
    """The text as matplotlib shows it: a "$" begins no TeX, and a leading "_" hides no label."""
    text = visible(text).replace("$", r"\$")
    return " " + text if text.startswith("_") else text


def run(command):
    """``command()`` with the terminal guarded; returns its exit status.

    Warnings are made visible, what the terminal's encoding lacks is spelled out. 141, as a shell says of SIGPIPE, where
    who reads the output has gone (``| head``); 130 after Ctrl-C.
    """
    plain = warnings.formatwarning
    warnings.formatwarning = lambda *given, **named: visible(plain(*given, **named), "\n\t")
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            return command()
        finally:
            if sys.stdout:
                sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for what is flushed at the end
        return 141
    except KeyboardInterrupt:
        print("odt: interrupted", file=sys.stderr)
        return 130
    finally:
        warnings.formatwarning = plain
