"""The reference executor: every instruction in plain Python, in modules by families and dtypes.

program.py verifies and runs programs. The instructions are in ``<family>_i8.py`` and ``<family>_f32.py``, those that
are rarely needed in files of their own (``linear_depthwise_i8.py``), those of either dtype in ``<family>.py``; index.py
says which is where, and a module is imported with the first program that needs it. vectors.py has some of float32 for
ulab and NumPy; data.py, float32.py and buffers.py are what they share.

A function is called as its instruction is; its docstring is the formula and the operands of odt/base/opcodes.py, which
says how they are read. ``make generate`` writes it, and index.py.
"""
