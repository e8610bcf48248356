/* Clocks: monotonic time, the time-stamp counter, the core's own clock. */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The counter's clock is not the core's: see core_hz. */
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    uint32_t low, high;
    __asm__ volatile("lfence\n\trdtsc\n\tlfence" : "=a"(low), "=d"(high) : : "memory");
    return (uint64_t)high << 32 | low;
#else
    uint64_t t;
    __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t) : : "memory");
    return t;
#endif
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __asm__ volatile("pause" ::: "memory");
#else
    __asm__ volatile("yield" ::: "memory");
#endif
}

/* Core clock: one addition of a register depends on the one before, hence one cycle each. The best of four slices, 0.3 ms
 * in all: pre-emption spoils the slices that it hits, not the result. */
static double core_hz(void)
{
    enum { SLICES = 4, ROUNDS = 4000, CHAIN = 64 };
    uint64_t sum = 0, one = 1;
    __asm__ volatile("" : "+r"(one));
    double best = 0;
    for (int repeat = 0; repeat < SLICES; repeat++) {
        const double start = now_ns();
        for (int i = 0; i < ROUNDS; i++) {
#if defined(__x86_64__)
            __asm__ volatile(".rept 64\n\taddq %1, %0\n\t.endr" : "+r"(sum) : "r"(one));
#else
            __asm__ volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one));
#endif
        }
        const double hz = (double)ROUNDS * CHAIN / (now_ns() - start) * 1e9;
        if (hz > best) best = hz;
    }
    return best;
}

/* Counter frequency over about 5 ms of monotonic time. */
static double tick_hz(void)
{
    const double start = now_ns();
    const uint64_t first = ticks();
    while (now_ns() - start < 5e6) relax();
    const uint64_t last = ticks();
    return (double)(last - first) / (now_ns() - start) * 1e9;
}

#endif
