// Statistics and spectral power of a window of samples, by integers (docs/reference/numerics.md, Features).
// The caller passes tables of int16 and work of int32 with each window; odt/sensors/features/motion.py makes them once.

#ifndef ODT_FEATURES_MOTION_H
#define ODT_FEATURES_MOTION_H

#include "../../bytes.h"

enum { ODT_MOTION_MAGIC = 0x4d4f, ODT_MOTION_STATISTICS = 6 };
enum { ODT_MOTION_DONE, ODT_MOTION_STATE, ODT_MOTION_SAMPLES, ODT_MOTION_OUT };

// Their elements, for windows of W samples of C channels, N = fft, B bands: tables: [MAGIC, W, N, C, B], if B the
// bands' first bins and the end of the last (B + 1) work: if B the sines of a quarter (N/4 + 1), the window's first
// half (W - W/2), scratch (N + 2), else one unused word
#define ODT_MOTION_TABLES(bands) (5 + ((bands) ? (bands) + 1 : 0))
#define ODT_MOTION_WORK(window, fft, bands) ((bands) ? (fft) / 4 + 1 + (window) - (window) / 2 + (fft) + 2 : 1)

// samples are (W C) int16, channels interleaved; out is (C (6 + B)) int16: for each channel its mean, standard
// deviation, root mean square, number of mean crossings, its maximum and minimum less the mean; then 256 log2 of the
// power in each band. If an argument is wrong, returns the ODT_MOTION_.. that says which and writes nothing.
int odt_motion_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);

#endif
