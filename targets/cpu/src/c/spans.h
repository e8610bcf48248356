/* When each worker was in which phase: what a timeline is drawn from. */
#ifndef SPANS_H
#define SPANS_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "pool.h"

/* So many spans of a worker are kept of one call; how many more there were is told. */
enum { MAX_SPANS = 2048 };

struct mark {
    int phase;
    uint64_t start, end; /* ticks */
};

/* One worker's spans, in order of time. Neighbours of one phase are one span. */
struct track {
    int count;
    long dropped;
    struct mark mark[MAX_SPANS];
};

static inline void note(struct track *t, int phase, uint64_t start, uint64_t end)
{
    struct mark *last = t->count ? &t->mark[t->count - 1] : NULL;
    if (last && last->phase == phase && last->end == start)
        last->end = end;
    else if (t->count < MAX_SPANS)
        t->mark[t->count++] = (struct mark){phase, start, end};
    else
        t->dropped++;
}

/* What is kept of a call's tracks: only what is there of them. */
struct kept {
    int count[MAX_WORKERS];
    long dropped[MAX_WORKERS];
    struct mark *mark; /* worker after worker */
};

static struct kept keep(const struct track *tracks, int workers)
{
    struct kept kept = {0};
    size_t total = 0;
    for (int w = 0; w < workers; w++) total += (size_t)(kept.count[w] = tracks[w].count);
    kept.mark = malloc((total ? total : 1) * sizeof *kept.mark);
    if (!kept.mark) fail("out of memory", "");
    for (int w = 0, at = 0; w < workers; at += kept.count[w], w++) {
        memcpy(kept.mark + at, tracks[w].mark, (size_t)kept.count[w] * sizeof *kept.mark);
        kept.dropped[w] = tracks[w].dropped;
    }
    return kept;
}

/* Spans as [phase, start, end] in nanoseconds since `first`. A counter that another core reads a little behind is 0. */
static void print_kept(const struct kept *kept, int workers, uint64_t first, double ns_per_tick, const int *cores)
{
    const struct mark *mark = kept->mark;
    json_open("workers", '[');
    for (int w = 0; w < workers; w++) {
        json_open(NULL, '{');
        json_integer("core", cores[w]);
        json_integer("dropped", kept->dropped[w]);
        json_open("spans", '[');
        for (int i = 0; i < kept->count[w]; i++, mark++) {
            json_open(NULL, '[');
            json_integer(NULL, mark->phase);
            const uint64_t ends[] = {mark->start, mark->end};
            for (int e = 0; e < 2; e++)
                json_integer(NULL, ends[e] > first ? (long long)((double)(ends[e] - first) * ns_per_tick + 0.5) : 0);
            json_close(']');
        }
        json_close(']');
        json_close('}');
    }
    json_close(']');
}

#endif
