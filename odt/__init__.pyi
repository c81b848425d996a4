"""odt: training neural networks on microcontrollers."""

from . import (
    adapt as adapt,
)
from . import (
    attention as attention,
)
from . import (
    callbacks as callbacks,
)
from . import (
    continual as continual,
)
from . import (
    data as data,
)
from . import (
    embedding as embedding,
)
from . import (
    files as files,
)
from . import (
    fleet as fleet,
)
from . import (
    generative as generative,
)
from . import (
    inspect as inspect,
)
from . import (
    metrics as metrics,
)
from . import (
    noise as noise,
)
from . import (
    online as online,
)
from . import (
    plan as plan,
)
from . import (
    recurrent as recurrent,
)
from . import (
    sensors as sensors,
)
from . import (
    slots as slots,
)
from .adapt.zeroth import ZerothOrder as ZerothOrder
from .attention import MultiHeadAttention as MultiHeadAttention
from .attention import PositionEmbedding as PositionEmbedding
from .base import executor as executor
from .embedding import Embedding as Embedding
from .files.open import load_model as load_model
from .generative import Sampling as Sampling
from .layers import Activation as Activation
from .layers import AvgPool1D as AvgPool1D
from .layers import AvgPool2D as AvgPool2D
from .layers import Conv1D as Conv1D
from .layers import Conv2D as Conv2D
from .layers import Dense as Dense
from .layers import DepthwiseConv2D as DepthwiseConv2D
from .layers import Dropout as Dropout
from .layers import Flatten as Flatten
from .layers import GlobalAvgPool as GlobalAvgPool
from .layers import Input as Input
from .layers import MaxPool1D as MaxPool1D
from .layers import MaxPool2D as MaxPool2D
from .layers import ReLU as ReLU
from .layers.activations import ELU as ELU
from .layers.activations import GELU as GELU
from .layers.activations import SELU as SELU
from .layers.activations import LeakyReLU as LeakyReLU
from .layers.activations import ReLU6 as ReLU6
from .layers.activations import Sigmoid as Sigmoid
from .layers.activations import Softmax as Softmax
from .layers.activations import Tanh as Tanh
from .layers.joins import Add as Add
from .layers.joins import Concatenate as Concatenate
from .layers.joins import Multiply as Multiply
from .layers.normalization import Normalization as Normalization
from .layers.norms import BatchNorm as BatchNorm
from .layers.norms import GroupNorm as GroupNorm
from .layers.norms import LayerNorm as LayerNorm
from .layers.resizing import AdaptiveAvgPool1D as AdaptiveAvgPool1D
from .layers.resizing import AdaptiveAvgPool2D as AdaptiveAvgPool2D
from .layers.resizing import Conv1DTranspose as Conv1DTranspose
from .layers.resizing import Conv2DTranspose as Conv2DTranspose
from .layers.resizing import Reshape as Reshape
from .layers.resizing import UpSampling1D as UpSampling1D
from .layers.resizing import UpSampling2D as UpSampling2D
from .losses import BinaryCrossentropy as BinaryCrossentropy
from .losses import CategoricalCrossentropy as CategoricalCrossentropy
from .losses import Huber as Huber
from .losses import MeanAbsoluteError as MeanAbsoluteError
from .losses import MeanSquaredError as MeanSquaredError
from .losses import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from .model import Model as Model
from .model import Sequential as Sequential
from .optimizers import SGD as SGD
from .optimizers import Adam as Adam
from .optimizers import AdamW as AdamW
from .optimizers import RMSprop as RMSprop
from .optimizers.rates import ExponentialDecay as ExponentialDecay
from .optimizers.rates import WarmUp as WarmUp
from .optimizers.schedules import CosineDecay as CosineDecay
from .optimizers.schedules import StepDecay as StepDecay
from .recurrent import GRU as GRU
from .recurrent import LSTM as LSTM
from .recurrent import SimpleRNN as SimpleRNN
from .run.threads import get_num_threads as get_num_threads
from .run.threads import set_num_threads as set_num_threads

AveragePooling1D = AvgPool1D
AveragePooling2D = AvgPool2D
GlobalAveragePooling1D = GlobalAvgPool
GlobalAveragePooling2D = GlobalAvgPool
MaxPooling1D = MaxPool1D
MaxPooling2D = MaxPool2D
BatchNormalization = BatchNorm
GroupNormalization = GroupNorm
LayerNormalization = LayerNorm
KERAS: dict[str, str]
__version__: str
backend: str
