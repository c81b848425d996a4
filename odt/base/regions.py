"""What programs and Python share: regions, words of the control block, formats of data.

The instructions: opcodes.py.
"""

try:
    from micropython import const
except ImportError:

    def const(value):
        return value


VERSION = 4

# Words of the control block, by which the host and a running program talk.
POSITION = const(0)  # the batch's first sample, in the order of the epoch
COUNT = const(1)  # rows of the batch that hold a sample; the others are padding
SAMPLES = const(2)  # samples in the data
ORDER = const(3)  # key of the epoch's permutation; 0 is the natural order
RATE = const(4)  # learning rate, float32 bits
X_FORMAT = const(5)  # one of FORMATS
X_SCALE = const(6)  # an integer sample means (raw - zero) * scale; float32 bits
X_ZERO = const(7)
Y_FORMAT = const(8)
Y_SCALE = const(9)
Y_ZERO = const(10)
LOSS = const(11)  # summed over the batch: see docs/reference/numerics.md for its unit
LOSS_HIGH = const(12)
CORRECT = const(13)  # rows whose largest output is at the label
KEY = const(14)  # key of this step's random numbers: of tick, before it of dropout and step_key; 0: none trains
BATCH = const(15)  # rows of the whole batch where it comes in micro-batches, else 0
DONE = const(16)  # where the instruction stands that was done last; what it computed and this change together
CONTROL_WORDS = const(17)

# Regions: the high bits of an operand's address.
ARENA = const(0)
STATE = const(1)
CONTROL = const(2)
X_DATA = const(3)
Y_DATA = const(4)
CONSTANTS = const(5)
REGIONS = const(6)
REGION_SHIFT = const(26)

# Formats of the user's data, by number: int8, uint8, int16, int32, float32, uint16.
INT8 = const(0)
UINT8 = const(1)
INT16 = const(2)
INT32 = const(3)
FLOAT32 = const(4)
UINT16 = const(5)

DEFAULT_LIMIT = const(0x3FFFFFF)  # of a size in an instruction
