/* Memory: huge pages where the system grants them, guards behind every buffer, digests of what must not change. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "layout-sweep harness: %s%s%s\n", what, which[0] ? ": " : "", which);
    exit(1);
}

enum { HUGE_PAGE = 2 << 20, GUARD_FLOATS = 64 };
static const float GUARD_VALUE = -1.2345e33f;
static size_t mapped_bytes;

struct memory {
    float *data;
    size_t floats;
};

static float *map_huge(size_t bytes)
{
    const size_t size = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    char *raw = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) fail("out of memory", "");
    char *aligned = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE);
    if (aligned > raw) munmap(raw, (size_t)(aligned - raw));
    if (aligned < raw + HUGE_PAGE) munmap(aligned + size, (size_t)(raw + HUGE_PAGE - aligned));
    madvise(aligned, size, MADV_HUGEPAGE);
    memset(aligned, 0, size);
    mapped_bytes += size;
    return (float *)aligned;
}

/* Zeroed floats with a guard behind them. */
static struct memory allocate(size_t floats)
{
    struct memory m = {map_huge((floats + GUARD_FLOATS) * sizeof(float)), floats};
    for (int i = 0; i < GUARD_FLOATS; i++) m.data[floats + (size_t)i] = GUARD_VALUE;
    return m;
}

static int guard_broken(const struct memory *m)
{
    for (int i = 0; i < GUARD_FLOATS; i++)
        if (m->data[m->floats + (size_t)i] != GUARD_VALUE) return 1;
    return 0;
}

/* Quiet NaN in every float. */
static void poison(float *data, size_t floats)
{
    memset(data, 0xff, floats * sizeof(float));
}

/* Four lanes of multiply and rotate over 64-bit words: any changed bit changes the result. */
static uint64_t digest(const float *data, size_t floats)
{
    uint64_t lane[4] = {1, 2, 3, 4}, word;
    const unsigned char *bytes = (const unsigned char *)data;
    const size_t words = floats / 2;
    for (size_t i = 0; i < words; i++) {
        memcpy(&word, bytes + i * 8, 8);
        uint64_t h = (lane[i & 3] ^ word) * 0x9e3779b97f4a7c15u;
        lane[i & 3] = h << 31 | h >> 33;
    }
    uint64_t sum = floats;
    if (floats & 1) {
        uint32_t last;
        memcpy(&last, bytes + words * 8, 4);
        sum ^= last;
    }
    for (int i = 0; i < 4; i++) sum = (sum ^ lane[i]) * 0xc2b2ae3d27d4eb4fu, sum ^= sum >> 29;
    return sum;
}

/* Reads exactly `bytes` bytes; a file of another size is an error. */
static void read_file(const char *path, void *into, size_t bytes)
{
    FILE *file = fopen(path, "rb");
    if (!file) fail("can't open", path);
    if (fread(into, 1, bytes, file) != bytes) fail("too short, or unreadable", path);
    if (fgetc(file) != EOF) fail("longer than the extents say", path);
    fclose(file);
}

/* Bytes of this process that lie in huge pages; -1 when the system does not say. */
static double huge_bytes(void)
{
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file) return -1;
    char line[256];
    double kib = -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "AnonHugePages: %lf kB", &kib) == 1) break;
    fclose(file);
    return kib < 0 ? -1 : kib * 1024;
}

#endif
