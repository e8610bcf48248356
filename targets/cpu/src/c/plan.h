/* A plan that was loaded: its objects, its memory, and how its workers go through them. */
#ifndef PLAN_H
#define PLAN_H

#include <dlfcn.h>

#include "layout_sweep.h"
#include "memory.h"
#include "pool.h"
#include "spans.h"

enum { MAX_GEMMS = 16, MAX_PHASES = MAX_GEMMS * 4 + 1, NAME_LENGTH = 64 };

/* One product as the command line names it. */
struct product {
    char name[NAME_LENGTH], activation[NAME_LENGTH];
    long inner, features;
    const char *weights_path;
    struct memory weights;
};

struct phase {
    char name[2 * NAME_LENGTH];
    const char *kind;
};

struct slot {
    const struct ls_gemm *gemm;
    struct ls_buffers buffers;
    struct memory panels, packed, scratch, output;
    int pack_alone; /* every worker packs what only it reads, so no barrier follows */
    int pack_phase, compute_phase, reduce_phase, activate_phase;
};

/* What must be intact after the run: its guard, and where a digest is given its content. */
struct guarded {
    char name[2 * NAME_LENGTH];
    const struct memory *memory;
    int fixed;
    uint64_t digest;
};

struct meter;

struct plan {
    const char *label;
    int threads, carry, gemms;
    const char *object[MAX_GEMMS];
    struct slot slot[MAX_GEMMS];
    const struct ls_attention *attention;
    struct ls_attention_buffers attention_buffers;
    struct memory attention_packed, attention_partial, attention_scratch, attention_output;
    int attention_phase[LS_PHASES];
    float *output; /* the result that is compared */
    size_t output_floats;
    struct guarded guarded[4 * MAX_GEMMS];
    int guards;
    void (*work)(struct plan *, int worker, struct meter *);
    struct phase phase[MAX_PHASES];
    int phases, wait_phase;
    double load_ns;
    struct barrier barrier;
    double spent[MAX_WORKERS][MAX_PHASES]; /* ticks */
    long switches[MAX_WORKERS];
    struct track track[MAX_WORKERS]; /* of the last call */
};

static int add_phase(struct plan *p, const char *name, const char *suffix, const char *kind)
{
    struct phase *phase = &p->phase[p->phases];
    snprintf(phase->name, sizeof phase->name, "%s%s", name, suffix);
    phase->kind = kind;
    return p->phases++;
}

static void *open_symbol(const char *path, const char *symbol)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail("can't load an object", dlerror());
    return dlsym(library, symbol);
}

static const struct ls_gemm *open_object(const char *path)
{
    const struct ls_gemm *gemm = open_symbol(path, "layout_sweep_gemm");
    if (!gemm) fail("this object exports no product", path);
    if (gemm->abi != LAYOUT_SWEEP_ABI || gemm->size != sizeof *gemm) fail("this object was made for another harness", path);
    return gemm;
}

static void check_fit(const struct plan *p, int g, const struct product *product, long tokens)
{
    const struct ls_gemm *gemm = p->slot[g].gemm;
    const char *path = p->object[g];
    if (gemm->tokens != tokens || gemm->inner != product->inner || gemm->features != product->features)
        fail("this object was made for other extents", path);
    if (gemm->threads != p->threads) fail("this object was made for another number of threads", path);
    const char *before = g ? p->slot[g - 1].gemm->output_layout : "row-major";
    if (strcmp(gemm->input_layout, before)) fail("this object reads another layout than the product before leaves", path);
    if (g + 1 == p->gemms && strcmp(gemm->output_layout, "row-major")) fail("the last product must write rows", path);
    if (gemm->activate && !product->activation[0]) fail("this object has an activation pass, the product has none", path);
    if (p->carry && (gemm->batches || p->slot[0].gemm->token_worker[0] < 0)) fail("this object can't be carried", path);
}

/* Remembers a buffer that is written to, or, where it is fixed, must stay as it is now. */
static void guard(struct plan *p, const char *what, const char *whose, const struct memory *memory, int fixed)
{
    struct guarded *g = &p->guarded[p->guards++];
    snprintf(g->name, sizeof g->name, "%s of %s", what, whose);
    g->memory = memory;
    g->fixed = fixed;
    g->digest = fixed ? digest(memory->data, memory->floats) : 0;
}

/* Floats of the result that are written; the rest is padding and stays zero. */
static size_t written_floats(const struct ls_gemm *gemm)
{
    const int rows = !strcmp(gemm->output_layout, "row-major");
    return rows ? (size_t)gemm->tokens * (size_t)gemm->features : gemm->output_floats;
}

/* Where a worker's time goes: everything since the last mark belongs to one phase. */
struct meter {
    double *spent;
    uint64_t mark;
    struct track *track;
};

static inline void charge(struct meter *m, int phase)
{
    const uint64_t now = ticks();
    m->spent[phase] += (double)(now - m->mark);
    note(m->track, phase, m->mark, now);
    m->mark = now;
}

static void meet(struct plan *p, struct meter *m)
{
    if (p->threads == 1) return;
    barrier_wait(&p->barrier);
    charge(m, p->wait_phase);
}

/* The tokens of worker `w` when whole panels are dealt evenly. */
static void share(const struct ls_gemm *gemm, int w, long *first, long *last)
{
    const long panels = (gemm->tokens + gemm->token_panel - 1) / gemm->token_panel;
    *first = w * panels / gemm->threads * gemm->token_panel;
    *last = (w + 1) * panels / gemm->threads * gemm->token_panel;
    if (*last > gemm->tokens) *last = gemm->tokens;
}

static void pack_inputs(struct plan *p, struct slot *s, int w, struct meter *m)
{
    const struct ls_gemm *gemm = s->gemm;
    if (s->pack_alone) {
        for (int i = 0; i < gemm->token_blocks; i++)
            if (gemm->token_worker[i] == w) gemm->pack(&s->buffers, gemm->token_start[i], gemm->token_start[i + 1]);
        charge(m, s->pack_phase);
    } else {
        long first, last;
        share(gemm, w, &first, &last);
        if (first < last) gemm->pack(&s->buffers, first, last);
        charge(m, s->pack_phase);
        meet(p, m);
    }
}

/* Product after product, with a barrier wherever one worker reads what another wrote. */
static void run_stepped(struct plan *p, int w, struct meter *m)
{
    for (int g = 0; g < p->gemms; g++) {
        struct slot *s = &p->slot[g];
        const struct ls_gemm *gemm = s->gemm;
        if (gemm->pack) pack_inputs(p, s, w, m);
        for (int batch = 0; batch < (gemm->batches ? gemm->batches : 1); batch++) {
            if (batch) meet(p, m);
            gemm->compute(&s->buffers, w, batch, 0, gemm->tokens);
            charge(m, s->compute_phase);
            if (gemm->batches) {
                meet(p, m);
                gemm->reduce(&s->buffers, w, batch);
                charge(m, s->reduce_phase);
            }
        }
        if (gemm->activate) {
            long first, last;
            meet(p, m);
            share(gemm, w, &first, &last);
            if (first < last) gemm->activate(&s->buffers, first, last);
            charge(m, s->activate_phase);
        }
        if (g + 1 < p->gemms) meet(p, m);
    }
}

/* Each row block of the first product through all products: no barrier. */
static void run_carried(struct plan *p, int w, struct meter *m)
{
    const struct ls_gemm *leader = p->slot[0].gemm;
    for (int i = 0; i < leader->token_blocks; i++) {
        if (leader->token_worker[i] != w) continue;
        const long first = leader->token_start[i], last = leader->token_start[i + 1];
        for (int g = 0; g < p->gemms; g++) {
            struct slot *s = &p->slot[g];
            if (s->gemm->pack) s->gemm->pack(&s->buffers, first, last), charge(m, s->pack_phase);
            s->gemm->compute(&s->buffers, w, 0, first, last), charge(m, s->compute_phase);
            if (s->gemm->activate) s->gemm->activate(&s->buffers, first, last), charge(m, s->activate_phase);
        }
    }
}

static void load_plan(struct plan *p, const struct product *products, long tokens, const struct memory *x)
{
    const double start = now_ns();
    p->barrier.workers = p->threads;
    for (int g = 0; g < p->gemms; g++) p->slot[g].gemm = open_object(p->object[g]);
    for (int g = 0; g < p->gemms; g++) {
        struct slot *s = &p->slot[g];
        const struct ls_gemm *gemm = s->gemm;
        const struct product *product = &products[g];
        check_fit(p, g, product, tokens);
        if (!g && gemm->input_floats > x->floats) fail("this object reads more padding than there is", p->object[g]);
        s->panels = allocate(gemm->panel_floats);
        s->packed = allocate(gemm->packed_floats);
        s->scratch = allocate(gemm->scratch_floats);
        /* A reader in place may touch padding rows that the writer does not have. */
        size_t floats = gemm->output_floats;
        if (g + 1 < p->gemms && p->slot[g + 1].gemm->input_floats > floats) floats = p->slot[g + 1].gemm->input_floats;
        s->output = allocate(floats);
        s->buffers = (struct ls_buffers){
            g ? p->slot[g - 1].output.data : x->data, product->weights.data, s->panels.data, s->packed.data, s->scratch.data,
            s->output.data};
        if (gemm->load_weights) gemm->load_weights(&s->buffers);
        guard(p, "packed weights", product->name, &s->panels, 1);
        guard(p, "packed activations", product->name, &s->packed, 0);
        guard(p, "scratch", product->name, &s->scratch, 0);
        guard(p, "output", product->name, &s->output, 0);
        poison(s->packed.data, s->packed.floats);
        poison(s->scratch.data, s->scratch.floats);
        poison(s->output.data, written_floats(gemm));
        s->pack_alone = 1;
        for (int i = 0; i < gemm->token_blocks; i++) s->pack_alone &= gemm->token_worker[i] >= 0;
        if (gemm->pack) s->pack_phase = add_phase(p, product->name, ".pack", "pack");
        s->compute_phase = add_phase(p, product->name, "", "gemm");
        if (gemm->reduce) s->reduce_phase = add_phase(p, product->name, ".reduce", "reduce");
        if (gemm->activate) s->activate_phase = add_phase(p, product->activation, "", "activation");
    }
    p->wait_phase = add_phase(p, "wait", "", "wait");
    p->output = p->slot[p->gemms - 1].output.data;
    p->output_floats = written_floats(p->slot[p->gemms - 1].gemm);
    p->work = p->carry ? run_carried : run_stepped;
    p->load_ns = now_ns() - start;
}

static void run_plan(int w, void *context)
{
    struct plan *p = context;
    const long before = involuntary_switches();
    struct meter meter = {p->spent[w], ticks(), &p->track[w]};
    p->track[w].count = 0;
    p->track[w].dropped = 0;
    for (int i = 0; i < p->phases; i++) p->spent[w][i] = 0;
    p->work(p, w, &meter);
    p->switches[w] = involuntary_switches() - before;
}

#endif
