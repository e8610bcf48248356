/* @TITLE@
 *
@ABOUT@
 *
 * Use:
 *
 *     packed = aligned memory of @NAME@_packed_size() bytes;        @NAME@_pack_weights(weights, packed);
 *     workspace = aligned memory of @NAME@_workspace_size() bytes;  @NAME@_open(workspace);
 *     @NAME@_run(x, packed, workspace, y);                          as often as wanted
 *     @NAME@_close(workspace);
 *
 * Memory is the caller's and begins at a multiple of `alignment` bytes. Calls with different workspaces may run at the same time,
 * also with the same packed weights; calls with one workspace may not. */
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
    int products;              /* weight matrices */
    long tokens;               /* rows of x and y */
    long inputs, outputs;      /* columns of x and y, float32, row-major */
    const long *weight_rows;   /* of each weight matrix [rows][columns], float32, row-major */
    const long *weight_columns;
    const int *gelu_after;     /* of each product: whether GELU (tanh form) follows */
    size_t x_floats;           /* floats that must be readable at x: tokens * inputs, and padding where the plan reads x in place */
    size_t alignment;          /* bytes; of x, y, packed and workspace */
};

const struct @NAME@_description *@NAME@_describe(void);
size_t @NAME@_packed_size(void);
size_t @NAME@_workspace_size(void);

/* Brings the weight matrices into the plan's order. They are not needed afterwards. */
int @NAME@_pack_weights(const float *const *@RESTRICT@ weights, void *@RESTRICT@ packed);

/* Clears the workspace@THREADS_START@. */
int @NAME@_open(void *workspace);

/* y = the workload of x. Writes y and the workspace only. */
int @NAME@_run(const float *@RESTRICT@ x, const void *@RESTRICT@ packed, void *@RESTRICT@ workspace, float *@RESTRICT@ y);

/* Ends what `open` began; the memory remains the caller's. */
int @NAME@_close(void *workspace);

#ifdef __cplusplus
}
#endif

#endif
