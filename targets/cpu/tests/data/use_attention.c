/* Uses an exported attention as a caller would: main FOLDER TOLERANCE. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attention.h"

static const struct attention_description *d;
static const char *folder;
static const float *q, *k, *v;
static size_t outputs;

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void *aligned(size_t bytes)
{
    void *memory = aligned_alloc(d->alignment, (bytes + d->alignment) / d->alignment * d->alignment);
    if (!memory) die("out of memory");
    return memory;
}

static void *file(const char *name, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    void *data = aligned(bytes);
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) die(path);
    fclose(f);
    return data;
}

/* Three calls with a workspace of its own; the last result. */
static void *calls(void *unused)
{
    (void)unused;
    void *workspace = aligned(attention_workspace_size());
    float *o = aligned(outputs * sizeof(float));
    memset(workspace, 0, attention_workspace_size());
    if (attention_run(q, k, v, workspace, o) != ATTENTION_NOT_OPEN) die("a closed workspace was not refused");
    if (attention_open(workspace) != ATTENTION_OK) die("can't open");
    for (int n = 0; n < 3; n++) {
        memset(o, 0xff, outputs * sizeof(float));
        if (attention_run(q, k, v, workspace, o) != ATTENTION_OK) die("can't run");
    }
    const float *skew = (const float *)((const char *)k + 4);
    if (attention_run(q, skew, v, workspace, o) != ATTENTION_MISALIGNED) die("misalignment was not refused");
    if (attention_run(q, k, NULL, workspace, o) != ATTENTION_NULL_POINTER) die("a null pointer was not refused");
    if (attention_close(workspace) != ATTENTION_OK || attention_close(workspace) != ATTENTION_NOT_OPEN)
        die("can't close once and only once");
    free(workspace);
    return o;
}

int main(int count, char **arguments)
{
    d = attention_describe();
    if (d->size != sizeof *d || count != 3) die("another interface");
    printf("%s", d->about);
    folder = arguments[1];
    outputs = (size_t)d->heads * (size_t)d->queries * (size_t)d->value_width;
    q = file("q.f32", (size_t)d->heads * (size_t)d->queries * (size_t)d->width * sizeof(float));
    k = file("k.f32", (size_t)d->kv_heads * (size_t)d->keys * (size_t)d->width * sizeof(float));
    v = file("v.f32", (size_t)d->kv_heads * (size_t)d->keys * (size_t)d->value_width * sizeof(float));
    const double *reference = file("reference.f64", outputs * sizeof(double));
    const double tolerance = strtod(arguments[2], NULL);
    pthread_t thread[2];
    for (int n = 0; n < 2; n++)
        if (pthread_create(&thread[n], NULL, calls, NULL)) die("can't create a thread");
    for (int n = 0; n < 2; n++) {
        void *result;
        pthread_join(thread[n], &result);
        const float *o = result;
        double squares = 0, worst = 0;
        for (size_t i = 0; i < outputs; i++) {
            squares += reference[i] * reference[i];
            const double off = fabs((double)o[i] - reference[i]);
            if (!(off <= worst)) worst = off;
        }
        const double limit = tolerance * sqrt(squares / (double)outputs);
        if (!(worst <= limit)) {
            fprintf(stderr, "off by %g, allowed %g\n", worst, limit);
            return 1;
        }
        free(result);
    }
    const void *const inputs[] = {q, k, v, reference};
    for (int n = 0; n < 4; n++) free((void *)(uintptr_t)inputs[n]);
    puts("right");
    return 0;
}
