from .oselm import (
    OSELM as OSELM,
    Autoencoder as Autoencoder,
)
