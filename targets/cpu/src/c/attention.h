/* An attention that was loaded: one object instead of a chain of products. */
#ifndef ATTENTION_H
#define ATTENTION_H

#include "plan.h"

/* The attention as the command line names it, and what it reads. */
struct attention {
    char name[NAME_LENGTH];
    long heads, kv_heads, queries, keys, width, value_width;
    int causal;
    const char *query_path, *key_path, *value_path;
    struct memory query, key, value;
};

static void parse_attention(struct attention *a, const char *text)
{
    if (sscanf(text, "%63[^:]:%ld:%ld:%ld:%ld:%ld:%ld:%d", a->name, &a->heads, &a->kv_heads, &a->queries, &a->keys,
               &a->width, &a->value_width, &a->causal) != 8)
        fail("expected attention=NAME:HEADS:KV_HEADS:QUERIES:KEYS:WIDTH:VALUE_WIDTH:CAUSAL", text);
}

static size_t attention_outputs(const struct attention *a)
{
    return (size_t)a->heads * (size_t)a->queries * (size_t)a->value_width;
}

static void read_operand(struct memory *m, const char *path, long heads, long rows, long columns)
{
    *m = allocate((size_t)heads * (size_t)rows * (size_t)columns);
    read_file(path, m->data, m->floats * sizeof(float));
}

static void load_operands(struct attention *a)
{
    read_operand(&a->query, a->query_path, a->heads, a->queries, a->width);
    read_operand(&a->key, a->key_path, a->kv_heads, a->keys, a->width);
    read_operand(&a->value, a->value_path, a->kv_heads, a->keys, a->value_width);
}

struct marked {
    struct plan *plan;
    struct meter *meter;
};

static void mark_phase(void *context, int phase)
{
    const struct marked *m = context;
    charge(m->meter, m->plan->attention_phase[phase]);
}

static void run_attention(struct plan *p, int w, struct meter *m)
{
    const struct ls_attention *own = p->attention;
    struct marked marked = {p, m};
    const struct ls_marker marker = {mark_phase, &marked};
    if (own->pack) {
        own->pack(&p->attention_buffers, w, &marker);
        meet(p, m);
    }
    own->compute(&p->attention_buffers, w, &marker);
    if (own->merge) {
        meet(p, m);
        own->merge(&p->attention_buffers, w, &marker);
    }
}

static void load_attention(struct plan *p, const struct attention *a)
{
    static const struct { const char *suffix, *kind; } phases[LS_PHASES] = {
        {".pack", "pack"}, {".scores", "gemm"}, {".softmax", "activation"},
        {".values", "gemm"}, {".finish", "activation"}, {".merge", "reduce"}};
    const double start = now_ns();
    const char *path = p->object[0];
    const struct ls_attention *own = p->attention = open_symbol(path, "layout_sweep_attention");
    if (!own) fail("this object exports no attention", path);
    if (own->abi != LAYOUT_SWEEP_ABI || own->size != sizeof *own) fail("this object was made for another harness", path);
    const long fits[][2] = {{own->heads, a->heads},   {own->kv_heads, a->kv_heads}, {own->queries, a->queries},
                            {own->keys, a->keys},     {own->width, a->width},       {own->value_width, a->value_width},
                            {own->causal, a->causal}};
    for (size_t i = 0; i < sizeof fits / sizeof fits[0]; i++)
        if (fits[i][0] != fits[i][1]) fail("this object was made for other extents", path);
    if (own->threads != p->threads) fail("this object was made for another number of threads", path);
    p->barrier.workers = p->threads;
    p->attention_packed = allocate(own->packed_floats);
    p->attention_partial = allocate(own->partial_floats);
    p->attention_scratch = allocate(own->scratch_floats * (size_t)p->threads);
    p->attention_output = allocate(attention_outputs(a));
    struct { const char *what; struct memory *memory; } written[] = {
        {"packed operands", &p->attention_packed}, {"partial results", &p->attention_partial},
        {"scratch", &p->attention_scratch}, {"output", &p->attention_output}};
    for (int i = 0; i < 4; i++) {
        poison(written[i].memory->data, written[i].memory->floats);
        guard(p, written[i].what, a->name, written[i].memory, 0);
    }
    p->attention_buffers = (struct ls_attention_buffers){
        a->query.data, a->key.data, a->value.data, p->attention_packed.data, p->attention_partial.data,
        p->attention_scratch.data, p->attention_output.data};
    p->output = p->attention_output.data;
    p->output_floats = p->attention_output.floats;
    for (int i = 0; i < LS_PHASES; i++) {
        if (i == LS_MERGE && own->key_splits < 2) continue;
        p->attention_phase[i] = add_phase(p, a->name, phases[i].suffix, phases[i].kind);
    }
    p->wait_phase = add_phase(p, "wait", "", "wait");
    p->work = run_attention;
    p->load_ns = now_ns() - start;
}

#endif
