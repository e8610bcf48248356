/* A blocked matrix product C = A B of SIZE x SIZE floats. TILE: side of the blocks that are computed together; UNROLL:
   columns of one inner step. Both are set by the compiler's command line.

   Prints `ns=N` (the fastest of five calls) and `pass`, or says what is wrong and ends with exit code 1.

   The factors are small whole numbers, so every sum is exact whatever its order, and C x = A (B x) holds to the last
   bit for a vector x of whole numbers (Freivalds' check, in 64-bit integers). */

#define _POSIX_C_SOURCE 199309L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifndef TILE
#error "expected -DTILE=N"
#endif
#ifndef UNROLL
#error "expected -DUNROLL=N"
#endif
#if TILE % UNROLL != 0
#error "expected TILE to be a multiple of UNROLL"
#endif

#define CALLS 5

static void block(long size, const float *a, const float *b, float *c, long row, long column) {
    long rows = row + TILE < size ? row + TILE : size;
    long columns = column + TILE < size ? column + TILE : size;
    for (long i = row; i < rows; i++) {
        long j = column;
        for (; j + UNROLL <= columns; j += UNROLL) {
            float sums[UNROLL] = {0};
            for (long k = 0; k < size; k++)
                for (long u = 0; u < UNROLL; u++)
                    sums[u] += a[i * size + k] * b[k * size + j + u];
            for (long u = 0; u < UNROLL; u++)
                c[i * size + j + u] = sums[u];
        }
        for (; j < columns; j++) {
            float sum = 0;
            for (long k = 0; k < size; k++)
                sum += a[i * size + k] * b[k * size + j];
            c[i * size + j] = sum;
        }
    }
}

static void product(long size, const float *a, const float *b, float *c) {
    for (long row = 0; row < size; row += TILE)
        for (long column = 0; column < size; column += TILE)
            block(size, a, b, c, row, column);
}

/* The first row of C where C x and A (B x) differ, or -1. */
static long wrong_row(long size, const float *a, const float *b, const float *c, int64_t *x, int64_t *bx) {
    for (long i = 0; i < size; i++)
        x[i] = i % 61 + 1;
    for (long i = 0; i < size; i++) {
        bx[i] = 0;
        for (long j = 0; j < size; j++)
            bx[i] += (int64_t)b[i * size + j] * x[j];
    }
    for (long i = 0; i < size; i++) {
        int64_t left = 0, right = 0;
        for (long j = 0; j < size; j++) {
            if (!isfinite(c[i * size + j]))
                return i;
            left += (int64_t)c[i * size + j] * x[j];
            right += (int64_t)a[i * size + j] * bx[j];
        }
        if (left != right)
            return i;
    }
    return -1;
}

int main(int count, char **arguments) {
    long size = count > 1 ? strtol(arguments[1], NULL, 10) : 256;
    if (size < 1 || size > 4096) {
        fprintf(stderr, "expected a size from 1 to 4096\n");
        return 2;
    }
    float *a = malloc(sizeof(float) * (size_t)(size * size));
    float *b = malloc(sizeof(float) * (size_t)(size * size));
    float *c = malloc(sizeof(float) * (size_t)(size * size));
    int64_t *x = malloc(sizeof(int64_t) * (size_t)size);
    int64_t *bx = malloc(sizeof(int64_t) * (size_t)size);
    if (!a || !b || !c || !x || !bx) {
        fprintf(stderr, "no memory\n");
        return 2;
    }
    uint32_t state = 1;
    for (long i = 0; i < size * size; i++) {
        state = state * 1664525u + 1013904223u;
        a[i] = (float)(state >> 29);
        b[i] = (float)(state >> 26 & 7);
    }
    int64_t best = INT64_MAX;
    for (int call = 0; call < CALLS; call++) {
        /* What is not written must not look right. */
        for (long i = 0; i < size * size; i++)
            c[i] = NAN;
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        product(size, a, b, c);
        clock_gettime(CLOCK_MONOTONIC, &end);
        long row = wrong_row(size, a, b, c, x, bx);
        if (row >= 0) {
            printf("wrong in row %ld\n", row);
            return 1;
        }
        int64_t took = (end.tv_sec - begin.tv_sec) * INT64_C(1000000000) + (end.tv_nsec - begin.tv_nsec);
        if (took < best)
            best = took;
    }
    printf("ns=%lld\n", (long long)(best > 0 ? best : 1));
    printf("gflops=%.3f\n", 2.0 * (double)size * (double)size * (double)size / (double)(best > 0 ? best : 1));
    printf("pass\n");
    return 0;
}
