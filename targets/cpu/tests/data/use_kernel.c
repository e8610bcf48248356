/* Uses an exported kernel as a caller would: main X REFERENCE TOLERANCE WEIGHTS... */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlp.h"

static const struct mlp_description *d;
static const float *x;
static const void *packed;
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

static void *file(const char *path, size_t bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    void *data = aligned(room > bytes ? room : bytes);
    memset(data, 0, room > bytes ? room : bytes);
    if (!f || fread(data, 1, bytes, f) != bytes || fgetc(f) != EOF) die(path);
    fclose(f);
    return data;
}

/* Three calls with a workspace of its own; the last result. */
static void *calls(void *unused)
{
    (void)unused;
    void *workspace = aligned(mlp_workspace_size());
    float *y = aligned(outputs * sizeof(float));
    memset(workspace, 0, mlp_workspace_size());
    if (mlp_run(x, packed, workspace, y) != MLP_NOT_OPEN) die("a closed workspace was not refused");
    if (mlp_open(workspace) != MLP_OK) die("can't open");
    for (int n = 0; n < 3; n++) {
        memset(y, 0xff, outputs * sizeof(float));
        if (mlp_run(x, packed, workspace, y) != MLP_OK) die("can't run");
    }
    if (mlp_run((const float *)((const char *)x + 4), packed, workspace, y) != MLP_MISALIGNED) die("misalignment was not refused");
    if (mlp_run(NULL, packed, workspace, y) != MLP_NULL_POINTER) die("a null pointer was not refused");
    if (mlp_close(workspace) != MLP_OK || mlp_close(workspace) != MLP_NOT_OPEN) die("can't close once and only once");
    free(workspace);
    return y;
}

int main(int count, char **arguments)
{
    d = mlp_describe();
    if (d->size != sizeof *d || count != 4 + d->products) die("another interface");
    printf("%s", d->about);
    outputs = (size_t)d->tokens * (size_t)d->outputs;
    x = file(arguments[1], (size_t)d->tokens * (size_t)d->inputs * sizeof(float), d->x_floats * sizeof(float));
    const double *reference = file(arguments[2], outputs * sizeof(double), 0);
    const double tolerance = strtod(arguments[3], NULL);
    const float *weights[16];
    for (int g = 0; g < d->products; g++)
        weights[g] = file(arguments[4 + g], (size_t)d->weight_rows[g] * (size_t)d->weight_columns[g] * sizeof(float), 0);
    void *room = aligned(mlp_packed_size());
    if (mlp_pack_weights(weights, (char *)room + 4) != MLP_MISALIGNED) die("misaligned weights were not refused");
    if (mlp_pack_weights(weights, room) != MLP_OK) die("can't pack");
    /* The given weights are not needed afterwards. */
    for (int g = 0; g < d->products; g++) free((void *)(uintptr_t)weights[g]);
    packed = room;

    pthread_t thread[2];
    for (int n = 0; n < 2; n++)
        if (pthread_create(&thread[n], NULL, calls, NULL)) die("can't create a thread");
    for (int n = 0; n < 2; n++) {
        void *result;
        pthread_join(thread[n], &result);
        const float *y = result;
        double squares = 0, worst = 0;
        for (size_t i = 0; i < outputs; i++) {
            squares += reference[i] * reference[i];
            const double off = fabs((double)y[i] - reference[i]);
            if (!(off <= worst)) worst = off;
        }
        const double limit = tolerance * sqrt(squares / (double)outputs);
        if (!(worst <= limit)) {
            fprintf(stderr, "off by %g, allowed %g\n", worst, limit);
            return 1;
        }
        free(result);
    }
    free(room);
    free((void *)(uintptr_t)x);
    free((void *)(uintptr_t)reference);
    puts("right");
    return 0;
}
