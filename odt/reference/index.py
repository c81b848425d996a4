# Generated from odt/opcodes.py by odt/host/generate.py; after a change there: make generate.
"""Which module has the function of an instruction: MODULES[ord(BY_NUMBER[its number - 1]) - 97]."""

MODULES = (
    "activation_f32",
    "activation_i8",
    "dropout",
    "dynamic",
    "dynamic_f32",
    "join",
    "join_f32",
    "join_i8",
    "linear_f32",
    "linear_i8",
    "loss_f32",
    "loss_i8",
    "norm_f32",
    "norm_i8",
    "pool_f32",
    "pool_i8",
    "step",
    "step_f32",
    "step_i8",
    "update_f32",
    "update_i8",
)
BY_NUMBER = (
    "qqsssssssjjjjjjjjjjjbbpppphlluuttuuuriiiiiiiiiiaaoooogkkttthffhgppoofhgbaabbaabbaaaabbaatuututsrjjji"
    "iijjjiiicccclklklklkponnnnnnnnnmmmmmmmmssrrrqdddededdubabadeus"
)
