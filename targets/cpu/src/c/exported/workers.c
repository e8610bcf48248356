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

/* One call: the workers are announced, the caller's thread does its own share, and waits for the others. */
static void call(struct control *c)
{
#if THREADS > 1
    announce(c);
#endif
    work(c, 0);
#if THREADS > 1
    for (int n = 0; atomic_load(&c->finished) != THREADS - 1;) relax(&n);
#endif
}

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

size_t @NAME@_workspace_size(void)
{
    return CONTROL_BYTES + WORKSPACE_FLOATS * sizeof(float);
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
