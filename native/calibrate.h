// Calibration in one call, where all kernels are one _odt.

#ifndef ODT_CALIBRATE_H
#define ODT_CALIBRATE_H

#include "odt.h"

// Runs the instruction at a word, which is the binding's affair; ODT_RUN_CHANGED if it has looked for the regions'
// buffers again, 0 if what calls it is to end.
typedef int (*odt_runner_t)(void *context, size_t pc);
enum { ODT_RUN_CHANGED = 2 };

// Sets every scale that follows a peak to one too fine, then those of the instructions from word `start` to before
// `stop` of a verified program, each from the peak that it finds; what updates is left out. `scales`: room for one word
// per sample of the batch, by whose scales that of the input is limited; room 0: it is not. Later they keep what an
// instruction reads and overwrites, which is then run again alone; where they have no room for it, all before it.
// `regions` may change within a run. 0 if a run gave 0, else 1; or 2, if `steps`, where it could run what updates, too:
// then this was calibration and after it a run of all these words.
//
// A batch in `parts` micro-batches: the control block points at the first one, and has the batch's samples. The arena's
// buffer has room for an arena each; else all before an instruction is run again for each of them. No `steps` then.
int odt_calibrate(const int32_t *program, odt_region_t *regions, size_t start, size_t stop, int32_t *scales,
    int32_t room, int32_t parts, int steps, odt_runner_t run, void *context);

#endif
