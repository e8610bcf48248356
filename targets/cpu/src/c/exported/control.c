/* ---- how a call is run ---- */

enum { MAGIC = 0x6c73776b, CONTROL_BYTES = 4096, SPINS_BEFORE_YIELD = 4000 };

/* What stands at the beginning of a workspace. */
struct control {
    unsigned magic; /* MAGIC while the workspace is open */
    @BUFFERS@;
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

