// What _odt offers, the same for every interpreter. A binding defines entry_<name>() for each.

#ifndef ODT_ENTRY_POINTS_H
#define ODT_ENTRY_POINTS_H

// X(name, least arguments, most arguments)
#define ODT_ENTRY_POINTS(X) \
    X(load, 1, 1) /* load(program): verifies bytes, or a read-only buffer in place, returns a Program */ \
    X(run, 4, 5) /* run(program, regions, start, stop, rows=0): runs the instructions of these words; of a batch of so \
        many rows the first COUNT alone */ \
    X(crc32, 1, 2) /* crc32(buffer, crc=0): as zlib's */ \
    X(find_nonfinite, 1, 1) /* find_nonfinite(buffer): of float32, the first NaN or inf, or -1 */ \
    X(draw, 3, 3) /* draw(buffer, key, first): fills it with int16, -16384 .. 16383, the key's random numbers from \
        there on */ \
    X(typecode, 1, 1) /* typecode(buffer): one character, as array's */ \
    X(nbytes, 1, 1) /* nbytes(buffer): its bytes, whatever its elements */ \
    X(count_samples, 2, 2) /* count_samples(buffer, (typecode's ord, format, elements, classes)): samples of so \
        many elements, 0 unless all of it is good: of that typecode, finite, labels below the classes if any */ \
    X(predict, 2, 3) /* predict((program, regions, typecode's ord, format, elements, start, stop, rows, width, offset, \
        zero, scale), out): runs these words for all samples in X_DATA, `rows` at a time, and puts the outputs, \
        `width` a sample, into an array of float32: of int8 at that offset of ARENA (q - zero) * the scale at that \
        offset of STATE, -1 where they are float32. False, and nothing is done, where samples are not of that kind \
        (see count_samples) or do not fill out. predict(.., out, position): only puts what was run of the samples from \
        there on */

// And where all kernels are one _odt: on stock firmware Python does as much, by run() and draw() (odt/run/).
#define ODT_WHOLE_ENTRY_POINTS(X) \
    X(draw_bytes, 6, 6) /* draw_bytes(buffer, at, count, key, first, low): of the numbers of draw() the upper bytes, \
        rounded to nearest, or the lower ones, into these bytes of the buffer */ \
    X(calibrate, 5, 7) /* calibrate(program, regions, start, stop, scales, step=False, parts=1): sets the scales that \
        follow peaks, on the samples of the batch in hand, as these words find them. scales: an array of int32, one \
        per sample, for the input's scale to be limited by the median of theirs, or None. step: then runs these \
        words, if that can be done in the same pass; True if it was. parts: micro-batches of the batch, the first of \
        which is in hand; the arena is one for each, one after the other, or one for all */ \
    X(step, 2, 2) /* step((x's type, its kind, y's type, its kind, program, regions, start, stop, batch), rate): runs \
        these words for one batch, the samples of X_DATA and Y_DATA, at that RATE, with KEY 1 and the loss's sums 0. \
        Returns how many samples: 0, and nothing is done, where data is not of these types and kinds (see \
        count_samples) or more than a batch */

// And where all kernels are one _odt: on stock firmware rls is _odt_online's, knn _odt_knn's.
#define ODT_ONLINE_ENTRY_POINTS(X) \
    X(rls, 5, 5) /* rls(state, work, x, y, learn): recursive least squares: outputs of x into work and, unless y is \
        None, then their mean squared error; if learn, y is learned. Returns an ODT_RLS_.. (kernels/online/rls.h) */ \
    X(knn, 3, 3) /* knn(state, work, x): the label that most of the k nearest samples of x have, or an ODT_KNN_.. \
        (kernels/online/knn.h); x: float32, int16, or None where work has it */

// And these are of odt.sensors.features: of a frame. On stock firmware they are in the files that their comments begin
// with. They return an ODT_LOGMEL_.. and so on (kernels/features/*.h). A row is all that a kernel of these needs (make
// generate).
#define ODT_FEATURES_ENTRY_POINTS(X) \
    X(log_mel, 4, 4) /* _odt_features: log_mel(out, samples, tables, work) */ \
    X(frontend, 4, 4) /* _odt_frontend: frontend(out, samples, tables, work): TensorFlow's microfrontend */ \
    X(motion, 4, 4) /* _odt_motion: motion(out, samples, tables, work): statistics, power in bands */ \
    X(biquads, 4, 4) /* _odt_motion: biquads(out, samples, tables, work): a filter, of any number of samples */ \
    X(rocket, 4, 4) /* _odt_rocket: rocket(out, samples, tables, work): MiniRocket's shares above biases */

// And where kernels may be split over two threads (threads.h). CMake's scan for names knows no definitions of a
// module's.
#if defined(ODT_THREADS) || defined(NO_QSTR)
#define ODT_THREAD_ENTRY_POINTS(X) \
    X(threads, 0, 1) /* threads(): how many compute, 1 or 2, 0 while a worker is wanted and does not serve yet; \
        threads(2): a worker is wanted, returns its number; threads(1): it ends; threads(0), for tests: one thread \
        does its own part, then the worker's */ \
    X(serve, 1, 1) /* serve(number): be that worker until it is not wanted */
#else
#define ODT_THREAD_ENTRY_POINTS(X)
#endif

// X(code, text, its %d) for each way in which a program or its regions may be wrong: f is an
// odt_fault_t *; operands and immediates count from 1.
#define ODT_FAULTS(X) \
    X(ODT_FAULT_LENGTH, "program: it has %d words, needs %d", f->has, f->needs) \
    X(ODT_FAULT_MAGIC, "program: word 0 is not that of a program%s", "") \
    X(ODT_FAULT_VERSION, "_odt has instruction set %d, program needs %d: rebuild the firmware", \
        f->has, f->needs) \
    X(ODT_FAULT_REGION, "program: word %d: a region of %d bytes", f->word, f->needs) \
    X(ODT_FAULT_SECTION, "program: word %d: a section's bound %d is not at an instruction", \
        f->word, f->needs) \
    X(ODT_FAULT_OPCODE, "program: word %d: there is no instruction %d", f->word, f->needs) \
    X(ODT_FAULT_CUT, "program: word %d: instruction %d has %d words, %d are left", \
        f->word, f->opcode, f->needs, f->has) \
    X(ODT_FAULT_IMMEDIATE, "program: word %d: immediate %d of instruction %d is %d, its limit %d", \
        f->word, f->operand + 1, f->opcode, f->needs, f->has) \
    X(ODT_FAULT_ADDRESS, "program: word %d: operand %d of instruction %d cannot be in region %d", \
        f->word, f->operand + 1, f->opcode, f->region) \
    X(ODT_FAULT_WRITE, "program: word %d: operand %d of instruction %d writes to region %d", \
        f->word, f->operand + 1, f->opcode, f->region) \
    X(ODT_FAULT_ALIGNMENT, \
        "program: word %d: operand %d of instruction %d is at %d, not aligned to %d", \
        f->word, f->operand + 1, f->opcode, f->has, f->needs) \
    X(ODT_FAULT_EXTENT, \
        "program: word %d: operand %d of instruction %d reaches %d bytes, region %d has %d", \
        f->word, f->operand + 1, f->opcode, f->needs, f->region, f->has) \
    X(ODT_FAULT_OVERLAP, \
        "program: word %d: operand %d of instruction %d is written over operand %d", \
        f->word, f->operand + 1, f->opcode, f->needs)

// Names of the regions in their order, for errors; 1 where a run writes.
#define ODT_REGION_NAMES {"ARENA", "STATE", "CONTROL", "X_DATA", "Y_DATA", "CONSTANTS"}
#define ODT_REGION_IS_WRITTEN(region) ((region) <= ODT_CONTROL)
// The user's data may lie anywhere; programs access the rest in words.
#define ODT_REGION_IS_ALIGNED(region) ((region) != ODT_X_DATA && (region) != ODT_Y_DATA)

#endif
