// TensorFlow's microfrontend, one frame (docs/reference/numerics.md, Features). The caller passes tables of int16 and
// work of int32 with each frame; odt/sensors/features/frontend_tables.py makes them once. work keeps each channel's
// noise from frame to frame.

#ifndef ODT_FEATURES_FRONTEND_H
#define ODT_FEATURES_FRONTEND_H

#include "../../bytes.h"

enum { ODT_FRONTEND_MAGIC = 0x4631, ODT_FRONTEND_GAINS = 95, ODT_FRONTEND_LOGARITHMS = 129 };
enum { ODT_FRONTEND_DONE, ODT_FRONTEND_STATE, ODT_FRONTEND_SAMPLES, ODT_FRONTEND_OUT };

// Their elements, for frames of W samples, N = fft, C channels: tables: [MAGIC, W, N, C], edges (C + 2), weights (N/2 +
// 1), the window (W), sines of a quarter (N/4 + 1), gains, logarithms work: scratch (N/2 + 1), noise (C)
#define ODT_FRONTEND_TABLES(window, fft, channels) \
    (4 + (channels) + 2 + (fft) / 2 + 1 + (window) + (fft) / 4 + 1 + ODT_FRONTEND_GAINS + ODT_FRONTEND_LOGARITHMS)
#define ODT_FRONTEND_WORK(fft, channels) ((fft) / 2 + 1 + (channels))

// out is (C) int16, samples (W) int16. If an argument is wrong, returns the ODT_FRONTEND_.. that says which and writes
// nothing. Wrong numbers in tables or work give wrong outputs, but no access outside the four buffers.
int odt_frontend_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);

#endif
