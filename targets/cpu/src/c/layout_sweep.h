/* What a generated object and the harness agree on. */
#ifndef LAYOUT_SWEEP_H
#define LAYOUT_SWEEP_H

#include <stddef.h>

#define LAYOUT_SWEEP_ABI 1

/* The assembler's comment sign, and the letter of a vector register in an asm constraint. */
#if defined(__x86_64__)
#define LS_COMMENT "#"
#if defined(__AVX512F__)
#define LS_VECTOR "v"
#else
#define LS_VECTOR "x"
#endif
#elif defined(__aarch64__)
#define LS_COMMENT "//"
#define LS_VECTOR "w"
#else
#error "only x86-64 and aarch64 are known here"
#endif

/* One product's memory. All sizes are in floats and stand in `struct ls_gemm`. */
struct ls_buffers {
    const float *input;      /* activations, in the layout that `input_layout` names */
    const float *weights;    /* weights as given: [inner][features] */
    float *panels;           /* weights in panels (all of them, or only the last, padded one); written by load_weights */
    float *packed;           /* activations in panels; written by pack */
    float *scratch;          /* partial results; written by compute, read by reduce */
    float *output;           /* result, in the layout that `output_layout` names */
};

struct ls_gemm {
    unsigned abi;                /* LAYOUT_SWEEP_ABI */
    unsigned size;               /* sizeof(struct ls_gemm) */
    const char *geometry;        /* the words of the geometry, to be read by people */
    const char *isa;
    const char *input_layout;
    const char *output_layout;
    long tokens, inner, features;
    int threads;                 /* workers that tiles were dealt to */
    int batches;                 /* 0: streamed, nothing to reduce; otherwise compute and reduce so often */
    size_t input_floats;         /* padding rows included */
    size_t panel_floats, packed_floats, scratch_floats, output_floats;

    long token_panel;            /* tokens that one micro-kernel covers */
    int token_blocks;            /* blocks of the token axis */
    const int *token_start;      /* token_blocks + 1 boundaries, in tokens */
    const int *token_worker;     /* the worker that owns all tiles of a block, or -1 */

    /* Untimed: fills `panels`. NULL when nothing is packed. */
    void (*load_weights)(const struct ls_buffers *);
    /* Packs tokens [first, last); first is a multiple of token_panel. NULL when activations are read in place. */
    void (*pack)(const struct ls_buffers *, long first, long last);
    /* Runs the tiles of `worker` whose row block begins in tokens [first, last), and which belong to `batch`. */
    void (*compute)(const struct ls_buffers *, int worker, int batch, long first, long last);
    /* Adds the partials of `batch` in the shards of `worker`. NULL when streamed. */
    void (*reduce)(const struct ls_buffers *, int worker, int batch);
    /* The element-wise step over tokens [first, last). NULL when there is none, or when it is fused. */
    void (*activate)(const struct ls_buffers *, long first, long last);
};

/* An attention's memory. All sizes are in floats and stand in `struct ls_attention`. */
struct ls_attention_buffers {
    const float *queries;    /* [heads][queries][width] */
    const float *keys;       /* [kv_heads][keys][width] */
    const float *values;     /* [kv_heads][keys][value_width] */
    float *packed;           /* keys and values in the plan's order; written by pack */
    float *partial;          /* results of key splits; written by compute, read by merge */
    float *scratch;          /* scratch_floats for each worker */
    float *output;           /* [heads][queries][value_width] */
};

/* What a worker has done since it last said so. */
enum { LS_PACK, LS_SCORES, LS_SOFTMAX, LS_VALUES, LS_FINISH, LS_MERGE, LS_PHASES };

/* Told after each piece of work; a pointer to none may be NULL. */
struct ls_marker {
    void (*mark)(void *context, int phase);
    void *context;
};

struct ls_attention {
    unsigned abi;                /* LAYOUT_SWEEP_ABI */
    unsigned size;               /* sizeof(struct ls_attention) */
    const char *geometry;        /* the words of the geometry, to be read by people */
    const char *isa;
    long heads, kv_heads, queries, keys, width, value_width;
    int causal;
    int threads;                 /* workers that tasks were dealt to */
    int key_splits;              /* 1: nothing to merge */
    size_t packed_floats, partial_floats, scratch_floats;
    /* Brings the worker's share of keys and values into the plan's order. NULL when none is packed ahead. */
    void (*pack)(const struct ls_attention_buffers *, int worker, const struct ls_marker *);
    void (*compute)(const struct ls_attention_buffers *, int worker, const struct ls_marker *);
    /* Merges the key splits in the worker's share of queries. NULL when compute leaves the result. */
    void (*merge)(const struct ls_attention_buffers *, int worker, const struct ls_marker *);
};

/* Every object exports one of these. */
extern const struct ls_gemm layout_sweep_gemm;
extern const struct ls_attention layout_sweep_attention;

#endif
