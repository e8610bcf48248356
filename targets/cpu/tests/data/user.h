/* What programs that use an exported kernel share. */
#ifndef USER_H
#define USER_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *aligned(size_t alignment, size_t bytes)
{
    void *memory = aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
    if (!memory) die("out of memory");
    return memory;
}

/* All `bytes` of a file, with zeros behind them up to `room` bytes. */
static void *file(const char *path, size_t alignment, size_t bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    const size_t all = room > bytes ? room : bytes;
    void *data = aligned(alignment, all);
    memset(data, 0, all);
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) die(path);
    fclose(f);
    return data;
}

/* Ends the program where `result` is further from `reference` than `tolerance` times its RMS. */
static void must_agree(const float *result, const double *reference, size_t count, double tolerance)
{
    double squares = 0, worst = 0;
    for (size_t i = 0; i < count; i++) {
        squares += reference[i] * reference[i];
        const double off = fabs((double)result[i] - reference[i]);
        if (!(off <= worst)) worst = off;
    }
    const double limit = tolerance * sqrt(squares / (double)count);
    if (worst <= limit) return;
    fprintf(stderr, "off by %g, allowed %g\n", worst, limit);
    exit(1);
}

#endif
