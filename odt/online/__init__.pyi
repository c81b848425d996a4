from .drift import (
    ADWIN as ADWIN,
    DDM as DDM,
    PageHinkley as PageHinkley,
)
from .oselm import (
    OSELM as OSELM,
    Autoencoder as Autoencoder,
)
