/* Worker threads: pinned, created once, asleep between jobs so that they disturb nobody. */
#ifndef POOL_H
#define POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "clock.h"
#include "memory.h"

enum { MAX_WORKERS = 256, SPIN_BEFORE_SLEEP_NS = 200000, SPINS_BEFORE_YIELD = 4000 };

typedef void (*job)(int worker, void *context);

static struct {
    int threads;
    int core[MAX_WORKERS];
    job run;
    void *context;
    atomic_int ticket[MAX_WORKERS]; /* raised: get ready */
    atomic_int go;                  /* equals the ticket: begin */
    atomic_int ready, done, asleep;
    int sequence;
    pthread_mutex_t lock;
    pthread_cond_t wake;
} pool;

static void pin_to(int core)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    if (pthread_setaffinity_np(pthread_self(), sizeof set, &set)) fail("can't pin a thread to its core", "");
}

/* Spins, but gives way when workers share a core. */
static inline void spin(int *count)
{
    if (++*count < SPINS_BEFORE_YIELD)
        relax();
    else
        sched_yield();
}

static void *worker_main(void *argument)
{
    const int w = (int)(intptr_t)argument;
    int seen = 0;
    pin_to(pool.core[w]);
    for (;;) {
        const double until = now_ns() + SPIN_BEFORE_SLEEP_NS;
        while (atomic_load(&pool.ticket[w]) == seen && now_ns() < until) relax();
        if (atomic_load(&pool.ticket[w]) == seen) {
            pthread_mutex_lock(&pool.lock);
            atomic_fetch_add(&pool.asleep, 1);
            while (atomic_load(&pool.ticket[w]) == seen) pthread_cond_wait(&pool.wake, &pool.lock);
            atomic_fetch_sub(&pool.asleep, 1);
            pthread_mutex_unlock(&pool.lock);
        }
        seen = atomic_load(&pool.ticket[w]);
        atomic_fetch_add(&pool.ready, 1);
        for (int n = 0; atomic_load(&pool.go) != seen;) spin(&n);
        pool.run(w, pool.context);
        atomic_fetch_add(&pool.done, 1);
    }
    return NULL;
}

/* The calling thread is worker 0. */
static void pool_start(int threads, const int *cores)
{
    pool.threads = threads;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.wake, NULL);
    for (int w = 0; w < threads; w++) pool.core[w] = cores[w];
    pin_to(cores[0]);
    for (int w = 1; w < threads; w++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, worker_main, (void *)(intptr_t)w)) fail("can't create a thread", "");
        pthread_detach(thread);
    }
}

/* Waits until nobody spins any more. */
static void pool_settle(void)
{
    for (int n = 0; atomic_load(&pool.asleep) != pool.threads - 1;) spin(&n);
}

struct span {
    double ns;
    uint64_t first, ticks;
};

/* Runs `run` on the first `workers` workers. They are woken before the clock starts: waking is not the plan's work. */
static struct span pool_run(int workers, job run, void *context)
{
    struct span span;
    pool.run = run;
    pool.context = context;
    if (workers > 1) {
        pool.sequence++;
        atomic_store(&pool.ready, 0);
        atomic_store(&pool.done, 0);
        pthread_mutex_lock(&pool.lock);
        for (int w = 1; w < workers; w++) atomic_store(&pool.ticket[w], pool.sequence);
        pthread_cond_broadcast(&pool.wake);
        pthread_mutex_unlock(&pool.lock);
        for (int n = 0; atomic_load(&pool.ready) != workers - 1;) spin(&n);
    }
    const double start = now_ns();
    const uint64_t first = ticks();
    if (workers > 1) atomic_store(&pool.go, pool.sequence);
    run(0, context);
    if (workers > 1)
        for (int n = 0; atomic_load(&pool.done) != workers - 1;) spin(&n);
    span.ticks = ticks() - first;
    span.first = first;
    span.ns = now_ns() - start;
    return span;
}

/* A barrier for the workers of one job. */
struct barrier {
    int workers;
    atomic_int arrived;
    atomic_int generation;
};

static void barrier_wait(struct barrier *b)
{
    if (b->workers == 1) return;
    const int generation = atomic_load(&b->generation);
    if (atomic_fetch_add(&b->arrived, 1) == b->workers - 1) {
        atomic_store(&b->arrived, 0);
        atomic_store(&b->generation, generation + 1);
    } else {
        for (int n = 0; atomic_load(&b->generation) == generation;) spin(&n);
    }
}

static long involuntary_switches(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

#endif
