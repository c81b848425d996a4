"""What to write instead of what odt does not have: the texts of errors, loaded when there is one."""

import difflib

_SETTING = {
    "optimizer": "compile(optimizer=..), which keeps the weights",
    "loss": "compile(loss=..), which keeps the weights",
    "learning_rate": "compile(odt.Adam(learning_rate)), which keeps the weights",
}


def setting(model, name):
    """The text of the error where an attribute of a model is set that nothing reads."""
    known = [key for key in dir(model) if key[0] != "_"] + sorted(_SETTING)
    near = difflib.get_close_matches(name, known, 1)
    hint = _SETTING.get(name) or ("%s?" % near[0] if near and near[0] != name else "")
    if name == "trainable":
        hint = "what trains is decided when the model's file is made: model.trainable before compile() and export()"
    return "%s: a model has no such attribute to set%s%s; a class of your own may have any" % (
        name, ": " if hint else "", hint)  # fmt: skip
