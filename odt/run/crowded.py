"""What compile() raises where kernels are files and arena and state fit, but not what fit() loads then. A firmware with
kernels does not freeze this module.
"""


def crowded(needed, free):
    raise MemoryError(
        "training needs %d bytes beside arena and state, for what fit() loads and its first batch; %d are free. "
        "Use a model file: export() on a PC after a fit() there, load_model() here" % (needed, free)
    )
