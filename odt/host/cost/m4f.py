FACTORS = {"python": {"int8": 0, "float32": 0, "part": 0, "parts": 0}}
