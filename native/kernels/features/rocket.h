// MiniRocket's features of a window of samples, by integers (docs/reference/numerics.md, Features).
// The caller passes tables of int16 and work of int32 with each window; odt/sensors/features/rocket.py makes them once.

#ifndef ODT_FEATURES_ROCKET_H
#define ODT_FEATURES_ROCKET_H

#include "../../bytes.h"

enum { ODT_ROCKET_MAGIC = 0x4d52, ODT_ROCKET_KERNELS = 84, ODT_ROCKET_MOST = 120 };
enum { ODT_ROCKET_DONE, ODT_ROCKET_STATE, ODT_ROCKET_SAMPLES, ODT_ROCKET_OUT };

// Elements of both, for windows of W samples of C channels, D dilations with F = 84 times the sum of their counts (at
// most MOST) features. tables: [MAGIC, W, C, D], the dilations (D), their counts (D), the channels of each dilation's
// 84 kernels, a bit each (84 D) work: biases (F), scratch: samples between zeros (2 W), sums of nine (W)
#define ODT_ROCKET_TABLES(dilations) (4 + 2 * (dilations) + ODT_ROCKET_KERNELS * (dilations))
#define ODT_ROCKET_WORK(window, features) ((features) + 3 * (window))

// samples are (W C) int16, channels interleaved; out is (F) int16: for each dilation, kernel and bias, the share of the
// convolution's outputs above the bias, in Q14. If an argument is wrong, returns the ODT_ROCKET_.. that says which and
// writes nothing.
int odt_rocket_i16(odt_bytes_t out, odt_bytes_t samples, odt_bytes_t tables, odt_bytes_t work);

#endif
