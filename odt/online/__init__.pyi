from .centroid import (
    CentroidDrift as CentroidDrift,
)
from .drift import (
    ADWIN as ADWIN,
    DDM as DDM,
    PageHinkley as PageHinkley,
)
from .echo import (
    EchoState as EchoState,
)
from .kswin import (
    KSWIN as KSWIN,
)
from .neighbours import (
    KNN as KNN,
    NCM as NCM,
    RCE as RCE,
    KMeans as KMeans,
)
from .oselm import (
    OSELM as OSELM,
    Autoencoder as Autoencoder,
)
