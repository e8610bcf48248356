/* ---- how the products follow one another ---- */

enum { MAGIC = 0x6c73776b, CONTROL_BYTES = 4096, SPINS_BEFORE_YIELD = 4000 };

/* What stands at the beginning of a workspace. */
struct control {
    unsigned magic; /* MAGIC while the workspace is open */
    struct ls_buffers buffers[PRODUCTS];
    atomic_int arrived, generation; /* the barrier of one call */
#if THREADS > 1
    atomic_int ticket, finished; /* a call is announced, and ends, by these */
    int stop;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct worker { struct control *control; int index; pthread_t thread; } worker[THREADS - 1];
#endif
};
_Static_assert(sizeof(struct control) <= CONTROL_BYTES, "the control block has its place");

#if THREADS > 1
static inline void relax(int *count)
{
    if (++*count >= SPINS_BEFORE_YIELD) {
        sched_yield();
        return;
    }
#if defined(__x86_64__)
    __asm__ volatile("pause" ::: "memory");
#else
    __asm__ volatile("yield" ::: "memory");
#endif
}
#endif

static void meet(struct control *c)
{
#if THREADS > 1
    const int generation = atomic_load(&c->generation);
    if (atomic_fetch_add(&c->arrived, 1) == THREADS - 1) {
        atomic_store(&c->arrived, 0);
        atomic_store(&c->generation, generation + 1);
    } else {
        for (int n = 0; atomic_load(&c->generation) == generation;) relax(&n);
    }
#else
    (void)c;
#endif
}

/* The tokens of worker `w` when whole panels are dealt evenly. */
static inline void share(const struct ls_gemm *gemm, int w, long *first, long *last)
{
    const long panels = (gemm->tokens + gemm->token_panel - 1) / gemm->token_panel;
    *first = w * panels / THREADS * gemm->token_panel;
    *last = (w + 1) * panels / THREADS * gemm->token_panel;
    if (*last > gemm->tokens) *last = gemm->tokens;
}

static inline void pack_inputs(struct control *c, const struct ls_gemm *gemm, const struct ls_buffers *s, int w)
{
    int alone = 1;
    for (int i = 0; i < gemm->token_blocks; i++) alone &= gemm->token_worker[i] >= 0;
    if (alone) {
        for (int i = 0; i < gemm->token_blocks; i++)
            if (gemm->token_worker[i] == w) gemm->pack(s, gemm->token_start[i], gemm->token_start[i + 1]);
        return;
    }
    long first, last;
    share(gemm, w, &first, &last);
    if (first < last) gemm->pack(s, first, last);
    meet(c);
}

/* Product after product, with a barrier wherever one worker reads what another wrote. */
static inline void stepped(struct control *c, int w)
{
    for (int g = 0; g < PRODUCTS; g++) {
        const struct ls_gemm *gemm = product[g];
        const struct ls_buffers *s = &c->buffers[g];
        if (gemm->pack) pack_inputs(c, gemm, s, w);
        for (int batch = 0; batch < (gemm->batches ? gemm->batches : 1); batch++) {
            if (batch) meet(c);
            gemm->compute(s, w, batch, 0, gemm->tokens);
            if (!gemm->batches) continue;
            meet(c);
            gemm->reduce(s, w, batch);
        }
        if (gemm->activate) {
            long first, last;
            meet(c);
            share(gemm, w, &first, &last);
            if (first < last) gemm->activate(s, first, last);
        }
        if (g + 1 < PRODUCTS) meet(c);
    }
}

/* Each row block of the first product through all products: no barrier. */
static inline void carried(struct control *c, int w)
{
    const struct ls_gemm *leader = product[0];
    for (int i = 0; i < leader->token_blocks; i++) {
        if (leader->token_worker[i] != w) continue;
        const long first = leader->token_start[i], last = leader->token_start[i + 1];
        for (int g = 0; g < PRODUCTS; g++) {
            const struct ls_gemm *gemm = product[g];
            const struct ls_buffers *s = &c->buffers[g];
            if (gemm->pack) gemm->pack(s, first, last);
            gemm->compute(s, w, 0, first, last);
            if (gemm->activate) gemm->activate(s, first, last);
        }
    }
}

static void work(struct control *c, int w)
{
    if (CARRY)
        carried(c, w);
    else
        stepped(c, w);
}

#if THREADS > 1
static void *worker_main(void *argument)
{
    struct worker *me = argument;
    struct control *c = me->control;
    int seen = 0;
    for (;;) {
        for (int n = 0; n < SPINS_BEFORE_YIELD && atomic_load(&c->ticket) == seen;) relax(&n);
        if (atomic_load(&c->ticket) == seen) {
            pthread_mutex_lock(&c->lock);
            while (atomic_load(&c->ticket) == seen) pthread_cond_wait(&c->wake, &c->lock);
            pthread_mutex_unlock(&c->lock);
        }
        seen = atomic_load(&c->ticket);
        if (c->stop) return NULL;
        work(c, me->index);
        atomic_fetch_add(&c->finished, 1);
    }
}

static void announce(struct control *c)
{
    atomic_store(&c->finished, 0);
    pthread_mutex_lock(&c->lock);
    atomic_fetch_add(&c->ticket, 1);
    pthread_cond_broadcast(&c->wake);
    pthread_mutex_unlock(&c->lock);
}

/* Ends the first `workers` workers. */
static void dismiss(struct control *c, int workers)
{
    c->stop = 1;
    announce(c);
    for (int w = 0; w < workers; w++) pthread_join(c->worker[w].thread, NULL);
    pthread_cond_destroy(&c->wake);
    pthread_mutex_destroy(&c->lock);
}

static int hire(struct control *c)
{
    if (pthread_mutex_init(&c->lock, NULL)) return 0;
    if (pthread_cond_init(&c->wake, NULL)) {
        pthread_mutex_destroy(&c->lock);
        return 0;
    }
    for (int w = 0; w < THREADS - 1; w++) {
        c->worker[w].control = c;
        c->worker[w].index = w + 1;
        if (pthread_create(&c->worker[w].thread, NULL, worker_main, &c->worker[w])) {
            dismiss(c, w);
            return 0;
        }
    }
    return 1;
}
#endif

static int misaligned(const void *pointer)
{
    return ((uintptr_t)pointer & (ALIGNMENT - 1)) != 0;
}

static int runs_here(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
#endif
    return RUNS_HERE;
}

const struct @NAME@_description *@NAME@_describe(void)
{
    return &description;
}

size_t @NAME@_packed_size(void)
{
    return PACKED_FLOATS * sizeof(float);
}

size_t @NAME@_workspace_size(void)
{
    return CONTROL_BYTES + WORKSPACE_FLOATS * sizeof(float);
}

int @NAME@_pack_weights(const float *const *@RESTRICT@ weights, void *@RESTRICT@ packed)
{
    if (!weights || !packed) return @NAME_UPPER@_NULL_POINTER;
    if (!runs_here()) return @NAME_UPPER@_OTHER_PROCESSOR;
    if (misaligned(packed)) return @NAME_UPPER@_MISALIGNED;
    float *const base = packed;
    for (int g = 0; g < PRODUCTS; g++)
        if (!weights[g]) return @NAME_UPPER@_NULL_POINTER;
    for (int g = 0; g < PRODUCTS; g++) {
        struct ls_buffers s = {NULL, weights[g], base + at[g].panels, NULL, NULL, NULL};
        if (at[g].in_place) {
            const size_t floats = (size_t)product[g]->inner * (size_t)product[g]->features;
            memcpy(base + at[g].weights, weights[g], floats * sizeof(float));
            s.weights = base + at[g].weights;
        }
        if (product[g]->load_weights) product[g]->load_weights(&s);
    }
    return @NAME_UPPER@_OK;
}

int @NAME@_open(void *workspace)
{
    struct control *c = workspace;
    if (!c) return @NAME_UPPER@_NULL_POINTER;
    if (!runs_here()) return @NAME_UPPER@_OTHER_PROCESSOR;
    if (misaligned(c)) return @NAME_UPPER@_MISALIGNED;
    /* Padding rows are read and must hold numbers. */
    memset(workspace, 0, @NAME@_workspace_size());
#if THREADS > 1
    if (!hire(c)) return @NAME_UPPER@_NO_THREAD;
#endif
    c->magic = MAGIC;
    return @NAME_UPPER@_OK;
}

int @NAME@_run(const float *@RESTRICT@ x, const void *@RESTRICT@ packed, void *@RESTRICT@ workspace, float *@RESTRICT@ y)
{
    struct control *c = workspace;
    if (!x || !packed || !c || !y) return @NAME_UPPER@_NULL_POINTER;
    if (misaligned(c) || misaligned(packed)) return @NAME_UPPER@_MISALIGNED;
    if (misaligned(x) || misaligned(y)) return @NAME_UPPER@_MISALIGNED;
    if (c->magic != MAGIC) return @NAME_UPPER@_NOT_OPEN;
    float *const base = (float *)((char *)workspace + CONTROL_BYTES);
    const float *const panels = packed;
    const float *input = x;
    for (int g = 0; g < PRODUCTS; g++) {
        float *const output = g + 1 < PRODUCTS ? base + at[g].output : y;
        /* Panels are only read by a run. */
        c->buffers[g] = (struct ls_buffers){
            input, panels + at[g].weights, (float *)(uintptr_t)(panels + at[g].panels), base + at[g].packed,
            base + at[g].scratch, output};
        input = output;
    }
#if THREADS > 1
    announce(c);
#endif
    work(c, 0);
#if THREADS > 1
    for (int n = 0; atomic_load(&c->finished) != THREADS - 1;) relax(&n);
#endif
    return @NAME_UPPER@_OK;
}

int @NAME@_close(void *workspace)
{
    struct control *c = workspace;
    if (!c) return @NAME_UPPER@_NULL_POINTER;
    if (misaligned(c)) return @NAME_UPPER@_MISALIGNED;
    if (c->magic != MAGIC) return @NAME_UPPER@_NOT_OPEN;
    c->magic = 0;
#if THREADS > 1
    dismiss(c, THREADS - 1);
#endif
    return @NAME_UPPER@_OK;
}
