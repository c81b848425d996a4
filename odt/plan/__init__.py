"""From a network to its program: which instructions, in which order, on which bytes. The way through: compiler.py."""
