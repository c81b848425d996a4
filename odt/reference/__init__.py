"""The reference executor: every instruction in plain Python, by families: odt/opcodes.py has what they are.

program.py verifies and runs programs; the instructions are in ``<family>_i8.py`` and ``<family>_f32.py``, those of few networks
in files of their own (``linear_depthwise_i8.py``), those of either dtype in ``<family>.py``; index.py says which is where, and a
module is imported when a program first needs it. vectors.py has some of float32 for ulab and NumPy; data.py,
float32.py and buffers.py are what they share.
"""
