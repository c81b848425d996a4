"""The reference executor: every instruction in plain Python, by families: odt/opcodes.py has what they are.

program.py verifies and runs programs; ``<family>.py``, ``<family>_i8.py`` and ``<family>_f32.py`` have the instructions, vectors.py
some of float32 for ulab and NumPy; data.py, int8.py, float32.py and buffers.py what they share.
"""
