"""odt: training neural networks on microcontrollers."""

from . import (
    adabn as adabn,
    adapt as adapt,
    callbacks as callbacks,
    dark as dark,
    executor as executor,
    features as features,
    frozen as frozen,
    inspect as inspect,
    labels as labels,
    latents as latents,
    lite as lite,
    metrics as metrics,
    online as online,
    plan as plan,
    profile as profile,
    prototypes as prototypes,
    rates as rates,
    readers as readers,
    record as record,
    replay as replay,
    reservoir as reservoir,
    rules as rules,
    slots as slots,
    stream as stream,
    teach as teach,
    tent as tent,
    update as update,
    vae as vae,
    watch as watch,
)
from .activations import (
    LeakyReLU as LeakyReLU,
    ReLU6 as ReLU6,
    Sigmoid as Sigmoid,
    Softmax as Softmax,
    Tanh as Tanh,
)
from .joins import (
    Add as Add,
    Concatenate as Concatenate,
    Multiply as Multiply,
)
from .layers import (
    Activation as Activation,
    AvgPool1D as AvgPool1D,
    AvgPool2D as AvgPool2D,
    Conv1D as Conv1D,
    Conv2D as Conv2D,
    Dense as Dense,
    DepthwiseConv2D as DepthwiseConv2D,
    Dropout as Dropout,
    Flatten as Flatten,
    GlobalAvgPool as GlobalAvgPool,
    Input as Input,
    MaxPool1D as MaxPool1D,
    MaxPool2D as MaxPool2D,
    ReLU as ReLU,
)
from .losses import (
    BinaryCrossentropy as BinaryCrossentropy,
    CategoricalCrossentropy as CategoricalCrossentropy,
    Huber as Huber,
    MeanAbsoluteError as MeanAbsoluteError,
    MeanSquaredError as MeanSquaredError,
    SparseCategoricalCrossentropy as SparseCategoricalCrossentropy,
)
from .model import (
    Model as Model,
    Sequential as Sequential,
)
from .normalization import (
    Normalization as Normalization,
)
from .norms import (
    BatchNorm as BatchNorm,
    GroupNorm as GroupNorm,
    LayerNorm as LayerNorm,
)
from .open import (
    load_model as load_model,
)
from .optimizers import (
    SGD as SGD,
    Adam as Adam,
    AdamW as AdamW,
    RMSprop as RMSprop,
)
from .resizing import (
    AdaptiveAvgPool1D as AdaptiveAvgPool1D,
    AdaptiveAvgPool2D as AdaptiveAvgPool2D,
    Conv1DTranspose as Conv1DTranspose,
    Conv2DTranspose as Conv2DTranspose,
    Reshape as Reshape,
    UpSampling1D as UpSampling1D,
    UpSampling2D as UpSampling2D,
)
from .run.threads import (
    get_num_threads as get_num_threads,
    set_num_threads as set_num_threads,
)
from .schedules import (
    CosineDecay as CosineDecay,
    StepDecay as StepDecay,
)
from .vae import (
    Sampling as Sampling,
)
from .zeroth import (
    ZerothOrder as ZerothOrder,
)

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
