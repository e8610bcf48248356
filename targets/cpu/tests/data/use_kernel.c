/* Uses an exported kernel as a caller would: main X REFERENCE TOLERANCE WEIGHTS... */
#include <pthread.h>

#include "user.h"

#include "mlp.h"

static const struct mlp_description *d;
static const float *x;
static const void *packed;
static size_t outputs;

/* Three calls with a workspace of its own; the last result. */
static void *calls(void *unused)
{
    (void)unused;
    void *workspace = aligned(d->alignment, mlp_workspace_size());
    float *y = aligned(d->alignment, outputs * sizeof(float));
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
    x = file(arguments[1], d->alignment, (size_t)d->tokens * (size_t)d->inputs * sizeof(float), d->x_floats * sizeof(float));
    const double *reference = file(arguments[2], d->alignment, outputs * sizeof(double), 0);
    const double tolerance = strtod(arguments[3], NULL);
    const float *weights[16];
    for (int g = 0; g < d->products; g++)
        weights[g] = file(arguments[4 + g], d->alignment, (size_t)d->weight_rows[g] * (size_t)d->weight_columns[g] * sizeof(float), 0);
    void *room = aligned(d->alignment, mlp_packed_size());
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
        must_agree(y, reference, outputs, tolerance);
        free(result);
    }
    free(room);
    free((void *)(uintptr_t)x);
    free((void *)(uintptr_t)reference);
    puts("right");
    return 0;
}
