from .frames import Frames
from .motion import Motion

def mfe(
    rate: int = 16000,
    window: int | None = None,
    frame_length: float = 0.02,
    frame_stride: float = 0.01,
    num_filters: int = 32,
    fft_length: int = 256,
    low_frequency: int = 300,
    high_frequency: int = 0,
) -> Frames: ...
def mfcc(
    rate: int = 16000,
    window: int | None = None,
    num_cepstral: int = 13,
    frame_length: float = 0.02,
    frame_stride: float = 0.02,
    num_filters: int = 32,
    fft_length: int = 256,
    low_frequency: int = 300,
    high_frequency: int = 0,
) -> Frames: ...
def spectral(rate: int = 100, window: int = 128, axes: int = 3, fft_length: int = 16) -> Motion: ...
