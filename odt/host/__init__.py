"""Parts of odt for CPython only; never in a board's manifest."""
