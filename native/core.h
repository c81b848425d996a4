// Which core this is, and which loops it gets. No other file of native/ but the bindings asks a compiler's or a port's
// macro for that; this one includes nothing.
//
// Set from outside, defined or not:
//
//     ODT_THREADS                 two threads may compute (threads.h): setup.py, micropython.mk on ports with threads,
//                                 micropython.cmake on an RP2040 or RP2350
//     ODT_POLLS                   a binding has odt_poll() (odt.h): micropython.mk and micropython.cmake
//     ODT_PANEL=1                 tests alone: the loops of 32-bit cores on a PC
//     ODT_RV32=1                  tests alone, with ODT_PANEL=1: those of RISC-V
//     ODT_FAST=1                  kernels for speed in files for an RP2040 (natmod.mk)
//     ODT_X86_SMALL=1             tests alone: a PC's tiles so small that shapes of tests are several
//     ODT_X86_LEVEL=an int        tests alone, its name: 0 of a PC's vectors none, 1 AVX2 alone, 2 (all) VNNI as well
//     ODT_TEST_SOFTFLOAT          a test alone: bindings/softfloat.c on a PC
//     ODT_TEST_DIVIDE             a test alone: bindings/divide.c on a PC
//     MICROPY_ENABLE_DYNRUNTIME   a native module, _odt.mpy: MicroPython's dynruntime.mk
//     PICO_ON_DEVICE=1            an RP2040 or RP2350: its SDK
//
// Decided here, each 0 or 1 but ODT_DIVIDER. A kernel's file that is not for every core lies in native/cores/, and says
// at the end of its name, after two underscores, which core it is for:
//
//     m0/       __m0        ODT_M0          RP2040: all; _odt.mpy for armv6m: without the depthwise ones
//               __rp2040    ODT_RP2040      RP2040
//     m4/       __m4        ODT_M4          Cortex-M4, M7, M33 (RP2350, STM32F4): _odt.mpy for armv7emsp, armv7emdp
//     rv32/     __rv32      ODT_RV32        a RISC-V of 32 bits (ESP32-C3, RP2350's Hazard3): _odt.mpy for rv32imc
//     panel/    __panel     ODT_PANEL and not ODT_M4: the M0 and all other 32-bit cores (M3, ESP32, RISC-V)
//               __c         as __panel, but not ODT_M0: in C what that core has in assembly
//               __lanes     ODT_M0 or ODT_RV32: what both share
//               none        ODT_PANEL: all 32-bit cores
//     threads/  __threads   ODT_THREADS
//     x86/      __x86       ODT_X86         a PC with AVX2, or AVX-512 with VNNI, checked at run time
//
// A file in native/kernels/ is portable C for every core. A .h compiles alone; an .inc is a part of the one file that
// includes it.

#ifndef ODT_CORE_H
#define ODT_CORE_H

// --- which core this is -------------------------------------------------------------------------

// Addresses of 32 bits: a microcontroller, without the vectors that plain loops are compiled to on a PC.
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ == 4
#define ODT_32_BIT 1
#else
#define ODT_32_BIT 0
#endif

// Arm's 32-bit instructions.
#if defined(__arm__)
#define ODT_ARM 1
#else
#define ODT_ARM 0
#endif

// A Cortex-M0 or M0+ (ARMv6-M): a product has 32 bits, of division and unaligned words there are none.
#if defined(__ARM_ARCH_6M__)
#define ODT_M0 1
#else
#define ODT_M0 0
#endif

// A core that multiplies pairs of int16 and adds both products (SMLAD): a Cortex-M4 and later.
#if defined(__ARM_FEATURE_DSP) && __ARM_FEATURE_DSP
#define ODT_M4 1
#else
#define ODT_M4 0
#endif

// A RISC-V of 32 bits with a multiplier: 31 registers.
#ifndef ODT_RV32
#if defined(__riscv) && defined(__riscv_mul) && ODT_32_BIT
#define ODT_RV32 1
#else
#define ODT_RV32 0
#endif
#endif

#ifndef ODT_FAST
#define ODT_FAST 0
#endif

// A chip of the Pico SDK: SRAM beside a flash with a cache, two cores.
#if defined(PICO_ON_DEVICE) && PICO_ON_DEVICE
#define ODT_PICO 1
#else
#define ODT_PICO 0
#endif

#define ODT_RP2040 (ODT_M0 && (ODT_PICO || ODT_FAST))

// Instructions for the root of a float.
#if defined(__SSE2__)
#define ODT_SQRT_SSE 1
#else
#define ODT_SQRT_SSE 0
#endif
#if defined(__ARM_FP) && (__ARM_FP & 4)
#define ODT_SQRT_VFP 1
#else
#define ODT_SQRT_VFP 0
#endif

// --- what is built ------------------------------------------------------------------------------

// _odt.mpy, which a board holds in RAM: code is to be small.
#if defined(MICROPY_ENABLE_DYNRUNTIME)
#define ODT_MPY 1
#else
#define ODT_MPY 0
#endif

// That of a core with the least RAM: its general loops do for all.
#define ODT_SMALL (ODT_MPY && ODT_M0 && !ODT_FAST)

// After the includes of a file whose loops over elements are assembly on an M0: there the rest of it is compiled to be
// small.
#if ODT_M0 && !ODT_SMALL && defined(__GNUC__)
#define ODT_BESIDE_ASSEMBLY _Pragma("GCC optimize (\"Os\")")
#else
#define ODT_BESIDE_ASSEMBLY
#endif

// A function whose time is spent in others: compiled to be small, as all of a small module is.
#if ODT_SMALL
#define ODT_COMPACT
#elif defined(__GNUC__) && !defined(__clang__)
#define ODT_COMPACT __attribute__((noinline, optimize("Os", "wrapv")))
#else
#define ODT_COMPACT __attribute__((noinline))
#endif

// The opposite: a function of a file that is compiled to be small on an M0 (bindings/micropython.cmake).
#if ODT_M0 && !ODT_SMALL && defined(__GNUC__) && !defined(__clang__)
#define ODT_SPEED __attribute__((optimize("O2", "wrapv")))
#else
#define ODT_SPEED
#endif

// Leading zeros: by an instruction or of the compiler's library, which a module for an M0 is not linked with.
#if defined(__GNUC__)
#define ODT_CLZ (!ODT_SMALL)
#else
#define ODT_CLZ 0
#endif

// Whether sums that wrap are to be unsigned: clang may look for overflow (tests_host/fuzz). With gcc -fwrapv is enough.
#if defined(__clang__)
#define ODT_WRAPS_UNSIGNED 1
#else
#define ODT_WRAPS_UNSIGNED 0
#endif

// --- which loops it gets ------------------------------------------------------------------------

// Dense layers and convolutions by panels, rows packed on the stack (correlate.h); on a PC plain loops.
#ifndef ODT_PANEL
#define ODT_PANEL ODT_32_BIT
#endif

// By products of a PC's vectors (product_i8__x86.c, dot_i8__x86.c), where the processor has AVX2 or VNNI.
#if defined(__x86_64__) && defined(__GNUC__) && !ODT_MPY && !ODT_PANEL
#define ODT_X86 1
#else
#define ODT_X86 0
#endif
#ifdef ODT_X86_LEVEL
extern int ODT_X86_LEVEL;
#else
#define ODT_X86_LEVEL 2
#endif
// Vectors of 512 bits that multiply bytes, where the compiler knows them.
#if ODT_X86 && ((defined(__clang__) && __clang_major__ >= 11) || (!defined(__clang__) && __GNUC__ >= 9))
#define ODT_HAS_VNNI 1
#else
#define ODT_HAS_VNNI 0
#endif
#ifndef ODT_X86_SMALL
#define ODT_X86_SMALL 0
#endif

// Depthwise convolutions by tiles (depthwise2d_tile_i8__m0.h).
#define ODT_M0_DEPTHWISE (ODT_M0 && !ODT_SMALL)

// The divider of an RP2040, a core's own, or 0: words UDIVIDEND, UDIVISOR, SDIVIDEND, SDIVISOR, QUOTIENT. The
// quotient can be read after 8 cycles, and the remainder from the word after QUOTIENT. An interrupt that divides saves
// the divider's contents.
#if ODT_RP2040
#define ODT_DIVIDER 0xD0000060
#else
#define ODT_DIVIDER 0
#endif

#endif
