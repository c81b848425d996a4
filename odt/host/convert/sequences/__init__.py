"""Layers over the steps of a sequence, as other frameworks have them."""
