/* @TITLE@
 *
@ABOUT@
 *
 * Use:
 *
@USE@ *     @NAME@_close(workspace);
 *
 * Memory is the caller's and begins at a multiple of `alignment` bytes. Calls with different workspaces may run at the
 * same time, also with the same @SHARED@; calls with one workspace may not. */
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
@FIELDS@};

const struct @NAME@_description *@NAME@_describe(void);
size_t @NAME@_workspace_size(void);
@PACK@
/* Clears the workspace@THREADS_START@. */
int @NAME@_open(void *workspace);

@RUN@
/* Ends what `open` began; the memory remains the caller's. */
int @NAME@_close(void *workspace);

#ifdef __cplusplus
}
#endif

#endif
