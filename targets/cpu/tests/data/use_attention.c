/* Uses an exported attention as a caller would: main FOLDER TOLERANCE. */
#include <pthread.h>

#include "user.h"

#include "attention.h"

static const struct attention_description *d;
static const char *folder;
static const float *q, *k, *v;
static size_t outputs;

/* An operand or the reference by its name in the folder. */
static void *named(const char *name, size_t bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return file(path, d->alignment, bytes, 0);
}

/* Three calls with a workspace of its own; the last result. */
static void *calls(void *unused)
{
    (void)unused;
    void *workspace = aligned(d->alignment, attention_workspace_size());
    float *o = aligned(d->alignment, outputs * sizeof(float));
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
    q = named("q.f32", (size_t)d->heads * (size_t)d->queries * (size_t)d->width * sizeof(float));
    k = named("k.f32", (size_t)d->kv_heads * (size_t)d->keys * (size_t)d->width * sizeof(float));
    v = named("v.f32", (size_t)d->kv_heads * (size_t)d->keys * (size_t)d->value_width * sizeof(float));
    const double *reference = named("reference.f64", outputs * sizeof(double));
    const double tolerance = strtod(arguments[2], NULL);
    pthread_t thread[2];
    for (int n = 0; n < 2; n++)
        if (pthread_create(&thread[n], NULL, calls, NULL)) die("can't create a thread");
    for (int n = 0; n < 2; n++) {
        void *result;
        pthread_join(thread[n], &result);
        const float *o = result;
        must_agree(o, reference, outputs, tolerance);
        free(result);
    }
    const void *const inputs[] = {q, k, v, reference};
    for (int n = 0; n < 4; n++) free((void *)(uintptr_t)inputs[n]);
    puts("right");
    return 0;
}
