// Log-mel of one frame, and its cosine transform (MFCC), by integers (docs/reference/numerics.md, Features).
// The caller passes tables of int16 and work of int32 with each frame; odt/sensors/features/tables.py makes them once.

#ifndef ODT_FEATURES_LOGMEL_H
#define ODT_FEATURES_LOGMEL_H

#include "../../bytes.h"

enum { ODT_LOGMEL_MAGIC = 0x4d31 };
enum { ODT_LOGMEL_DONE, ODT_LOGMEL_STATE, ODT_LOGMEL_SAMPLES, ODT_LOGMEL_OUT };

// Their elements, for frames of W samples, N = fft, C channels and K coefficients (K = 0: no cosine transform): tables:
// [MAGIC, W, N, C, K], edges (C + 2), weights (N/2 + 1); if K two factors and cosines of a quarter (2 + C + 1) work:
// sines of a quarter (N/4 + 1), the window's first half (W - W/2), scratch (N + 2); if K that of channels
#define ODT_LOGMEL_TABLES(fft, channels, coefficients) \
    (5 + (channels) + 2 + (fft) / 2 + 1 + ((coefficients) ? (channels) + 3 : 0))
#define ODT_LOGMEL_WORK(window, fft, channels, coefficients) \
    ((fft) / 4 + 1 + (window) - (window) / 2 + (fft) + 2 + ((coefficients) ? (channels) : 0))

// out is (K) int16, or (C) if K is 0; samples (W) int16. If an argument is wrong, returns the ODT_LOGMEL_.. that says
// which and writes nothing. Wrong numbers in tables or work give wrong outputs, but no access outside the four buffers.
int odt_log_mel_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);

#endif
