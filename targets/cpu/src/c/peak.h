/* FMA peak: multiplications and additions that need nothing but registers. */
#ifndef PEAK_H
#define PEAK_H

#include "clock.h"
#include "layout_sweep.h"

/* Twelve independent chains hide the latency of two units; sixteen registers hold them and the two factors. */
#define PEAK_PROBE(NAME, LANES, REGISTER)                                                                              \
    static double NAME(double budget_ns)                                                                               \
    {                                                                                                                  \
        typedef float wide __attribute__((vector_size((LANES) * 4)));                                                  \
        wide c0 = {0}, c1 = c0, c2 = c0, c3 = c0, c4 = c0, c5 = c0, c6 = c0, c7 = c0, c8 = c0, c9 = c0, c10 = c0,      \
             c11 = c0, x = c0 + 0.5f, y = c0 + 1.0f;                                                                   \
        __asm__ volatile("" : "+" REGISTER(x), "+" REGISTER(y));                                                       \
        const double start = now_ns();                                                                                 \
        double end, rounds = 0;                                                                                        \
        do {                                                                                                           \
            for (int i = 0; i < 2000; i++) {                                                                           \
                c0 = c0 * x + y, c1 = c1 * x + y, c2 = c2 * x + y, c3 = c3 * x + y;                                    \
                c4 = c4 * x + y, c5 = c5 * x + y, c6 = c6 * x + y, c7 = c7 * x + y;                                    \
                c8 = c8 * x + y, c9 = c9 * x + y, c10 = c10 * x + y, c11 = c11 * x + y;                                \
                __asm__ volatile("" : "+" REGISTER(c0), "+" REGISTER(c1), "+" REGISTER(c2), "+" REGISTER(c3),          \
                                 "+" REGISTER(c4), "+" REGISTER(c5), "+" REGISTER(c6), "+" REGISTER(c7),               \
                                 "+" REGISTER(c8), "+" REGISTER(c9), "+" REGISTER(c10), "+" REGISTER(c11));            \
            }                                                                                                          \
            rounds += 2000;                                                                                            \
            end = now_ns();                                                                                            \
        } while (end - start < budget_ns);                                                                             \
        return rounds * 12 * 2 * (LANES) / (end - start);                                                              \
    }

PEAK_PROBE(peak_plain, 4, LS_VECTOR)
#if defined(__AVX2__) && defined(__FMA__)
PEAK_PROBE(peak_avx2, 8, LS_VECTOR)
#endif
#if defined(__AVX512F__)
PEAK_PROBE(peak_avx512, 16, LS_VECTOR)
#endif

struct peak_isa {
    const char *name;
    int lanes;
    double (*gflops)(double budget_ns);
};

/* Every instruction set that this file was compiled for, the widest last. */
static const struct peak_isa peak_isas[] = {
#if defined(__aarch64__)
    {"neon", 4, peak_plain},
#else
    {"plain", 4, peak_plain},
#endif
#if defined(__AVX2__) && defined(__FMA__)
    {"avx2", 8, peak_avx2},
#endif
#if defined(__AVX512F__)
    {"avx512", 16, peak_avx512},
#endif
};
enum { PEAK_ISAS = sizeof peak_isas / sizeof peak_isas[0] };

static inline double peak_gflops(double budget_ns)
{
    return peak_isas[PEAK_ISAS - 1].gflops(budget_ns);
}

/* The best of several short probes in a row: pre-emption spoils the slices that it hits, not the result. */
static inline double best_of(double (*probe)(double budget_ns), int slices, double slice_ns)
{
    double best = 0;
    for (int i = 0; i < slices; i++) {
        const double found = probe(slice_ns);
        if (found > best) best = found;
    }
    return best;
}

#endif
