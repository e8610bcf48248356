/* @TITLE@
 *
@ABOUT@
 *
 * Use:
 *
 *     workspace = aligned memory of @NAME@_workspace_size() bytes;  @NAME@_open(workspace);
 *     @NAME@_run(q, k, v, workspace, o);                            as often as wanted
 *     @NAME@_close(workspace);
 *
 * Memory is the caller's and begins at a multiple of `alignment` bytes. Calls with different workspaces may run at the same
 * time, also with the same operands; calls with one workspace may not. */
#ifndef @NAME_UPPER@_H
#define @NAME_UPPER@_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#define @RESTRICT@
#else
#define @RESTRICT@ restrict
#endif

/* What the functions return. */
enum @NAME@_status {
    @NAME_UPPER@_OK = 0,
    @NAME_UPPER@_OTHER_PROCESSOR = 1, /* this processor has not the instruction set that the kernel is written in */
    @NAME_UPPER@_MISALIGNED = 2,      /* a pointer is no multiple of `alignment` */
    @NAME_UPPER@_NULL_POINTER = 3,
    @NAME_UPPER@_NOT_OPEN = 4,        /* the workspace was not opened, or is closed */
    @NAME_UPPER@_NO_THREAD = 5        /* a worker thread can't be created */
};

struct @NAME@_description {
    size_t size;               /* of this structure */
    const char *about;         /* where the plan and its figures come from, in lines */
    const char *isa;           /* instruction set */
    int threads;               /* workers of one call, the caller's thread included */
    int causal;                /* whether query i sees only keys 0 to i */
    long heads, kv_heads;      /* of q and o, of k and v: kv_heads divides heads, neighbours share */
    long queries, keys;        /* rows of a head */
    long width, value_width;   /* columns of q and k, of v and o */
    size_t alignment;          /* bytes; of all pointers */
};

const struct @NAME@_description *@NAME@_describe(void);
size_t @NAME@_workspace_size(void);

/* Clears the workspace@THREADS_START@. */
int @NAME@_open(void *workspace);

/* o = softmax(q k^T / sqrt(width)) v of every head; float32, q[heads][queries][width], k[kv_heads][keys][width],
 * v[kv_heads][keys][value_width], o[heads][queries][value_width]. Writes o and the workspace only. */
int @NAME@_run(const float *@RESTRICT@ q, const float *@RESTRICT@ k, const float *@RESTRICT@ v, void *@RESTRICT@ workspace,
               float *@RESTRICT@ o);

/* Ends what `open` began; the memory remains the caller's. */
int @NAME@_close(void *workspace);

#ifdef __cplusplus
}
#endif

#endif
