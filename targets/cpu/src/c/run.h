/* Mode `run`: control and case in turn, every output checked. */
#ifndef RUN_H
#define RUN_H

#include <math.h>

#include "attention.h"
#include "json.h"
#include "peak.h"
#include "plan.h"
#include "spans.h"

enum { PROBE_SLICES = 6, SLICE_NS = 500000 };

struct error {
    double max_abs;
    long long non_finite, first_bad; /* -1: none */
};

struct call {
    const struct plan *plan;
    int warm_up, pair;
    struct span span;
    double phase_ns[MAX_PHASES];
    long switches;
    struct error error;
    struct kept kept; /* only where a profile is wanted */
};

struct probe {
    double gflops[MAX_WORKERS], hz[MAX_WORKERS];
};

static struct {
    const char *x_path, *reference_path, *profile_path;
    double tolerance;
    long tokens;
    int products, pairs, warm_case, case_first, cores;
    int core[MAX_WORKERS];
    struct product product[MAX_GEMMS];
    struct memory x;
    struct attention attention; /* of a run without products */
    size_t outputs;             /* floats of the result */
    double *reference;
    double rms;
    struct plan control, candidate;
    struct call *call;
    int calls;
    struct probe *probe;
    int probes;
} run;

/* What a run reads and must not change. */
static struct {
    char name[2 * NAME_LENGTH];
    const struct memory *memory;
    uint64_t digest;
} input[MAX_GEMMS + 1];
static int inputs;

static void parse_product(char *text)
{
    if (run.products == MAX_GEMMS) fail("too many products", text);
    struct product *p = &run.product[run.products++];
    int used = 0;
    if (sscanf(text, "%63[^:]:%ld:%ld:%63[^:]:%n", p->name, &p->inner, &p->features, p->activation, &used) != 4 || !used)
        fail("expected gemm=NAME:INNER:FEATURES:ACTIVATION or -:WEIGHTS", text);
    if (!strcmp(p->activation, "-")) p->activation[0] = 0;
    p->weights_path = text + used;
}

static void parse_plan(struct plan *p, const char *key, char *value)
{
    if (!strcmp(key, "threads"))
        p->threads = atoi(value);
    else if (!strcmp(key, "carry"))
        p->carry = atoi(value);
    else if (!strcmp(key, "object") && p->gemms < MAX_GEMMS)
        p->object[p->gemms++] = value;
    else
        fail("unknown key of a plan", key);
}

/* Whether the run is of an attention, not of a chain of products. */
static int attends(void)
{
    return run.attention.name[0] != 0;
}

static void parse_run(int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        char *value = strchr(arguments[i], '=');
        if (!value) fail("expected KEY=VALUE", arguments[i]);
        *value++ = 0;
        const char *key = arguments[i];
        if (!strcmp(key, "x")) run.x_path = value;
        else if (!strcmp(key, "reference")) run.reference_path = value;
        else if (!strcmp(key, "profile")) run.profile_path = value;
        else if (!strcmp(key, "tolerance")) run.tolerance = strtod(value, NULL);
        else if (!strcmp(key, "tokens")) run.tokens = atol(value);
        else if (!strcmp(key, "pairs")) run.pairs = atoi(value);
        else if (!strcmp(key, "warm_case")) run.warm_case = atoi(value);
        else if (!strcmp(key, "case_first")) run.case_first = atoi(value);
        else if (!strcmp(key, "gemm")) parse_product(value);
        else if (!strcmp(key, "attention")) parse_attention(&run.attention, value);
        else if (!strcmp(key, "q")) run.attention.query_path = value;
        else if (!strcmp(key, "k")) run.attention.key_path = value;
        else if (!strcmp(key, "v")) run.attention.value_path = value;
        else if (!strcmp(key, "cores")) {
            for (char *next = value; *next && run.cores < MAX_WORKERS; next += *next == ',')
                run.core[run.cores++] = (int)strtol(next, &next, 10);
        } else if (!strncmp(key, "control.", 8)) parse_plan(&run.control, key + 8, value);
        else if (!strncmp(key, "case.", 5)) parse_plan(&run.candidate, key + 5, value);
        else fail("unknown key", key);
    }
    const struct attention *a = &run.attention;
    const int chain = run.x_path && run.products >= 1 && run.tokens >= 1 && !attends();
    const int attention = attends() && a->query_path && a->key_path && a->value_path && !run.products;
    if (!run.reference_path || !(run.tolerance > 0) || !(chain || attention))
        fail("needed: reference, tolerance, and either x, tokens and at least one gemm, or attention, q, k and v", "");
    const int objects = attends() ? 1 : run.products;
    struct plan *plans[] = {&run.control, &run.candidate};
    for (int i = 0; i < 2; i++) {
        const struct plan *p = plans[i];
        if (i && !p->gemms) continue;
        if (p->gemms != objects) fail("a plan needs one object for each product or attention", i ? "case" : "control");
        if (p->threads < 1 || p->threads > run.cores) fail("a plan needs a core for each of its threads", i ? "case" : "control");
    }
}

/* Largest error against float64; a value is bad when it is not finite or further off than tolerance times RMS. */
static struct error compare(const float *y)
{
    struct error e = {0, 0, -1};
    const double limit = run.tolerance * run.rms;
    for (size_t i = 0; i < run.outputs; i++) {
        const double off = fabs((double)y[i] - run.reference[i]);
        const int finite = isfinite(y[i]) != 0;
        if (finite && off > e.max_abs) e.max_abs = off;
        e.non_finite += !finite;
        if (e.first_bad < 0 && (!finite || !(off <= limit))) e.first_bad = (long long)i;
    }
    return e;
}

static void probe_worker(int w, void *context)
{
    struct probe *p = context;
    p->gflops[w] = best_of(peak_gflops, PROBE_SLICES, SLICE_NS);
    p->hz[w] = core_hz();
}

static int workers_used(void)
{
    return run.candidate.gemms && run.candidate.threads > run.control.threads ? run.candidate.threads : run.control.threads;
}

static void take_probe(void)
{
    pool_run(workers_used(), probe_worker, &run.probe[run.probes++]);
    pool_settle();
}

static void call_plan(struct plan *p, int warm_up, int pair)
{
    struct call *c = &run.call[run.calls++];
    poison(p->output, p->output_floats);
    c->plan = p;
    c->warm_up = warm_up;
    c->pair = pair;
    c->span = pool_run(p->threads, run_plan, p);
    pool_settle();
    const double ns_per_tick = c->span.ns / (double)c->span.ticks;
    double worked = 0;
    for (int i = 0; i < p->phases; i++) {
        if (i == p->wait_phase) continue;
        double sum = 0;
        for (int w = 0; w < p->threads; w++) sum += p->spent[w][i];
        worked += c->phase_ns[i] = sum / p->threads * ns_per_tick;
    }
    /* Barriers, the late start and the early end of a worker: all that is not work. */
    c->phase_ns[p->wait_phase] = c->span.ns - worked;
    for (int w = 0; w < p->threads; w++) c->switches += p->switches[w];
    c->error = compare(p->output);
    if (run.profile_path) c->kept = keep(p->track, p->threads);
}

static void load_reference(void)
{
    const struct product *last = &run.product[run.products ? run.products - 1 : 0];
    run.outputs = attends() ? attention_outputs(&run.attention) : (size_t)run.tokens * (size_t)last->features;
    run.reference = (double *)map_huge(run.outputs * sizeof(double));
    read_file(run.reference_path, run.reference, run.outputs * sizeof(double));
    double squares = 0;
    for (size_t i = 0; i < run.outputs; i++) squares += run.reference[i] * run.reference[i];
    run.rms = sqrt(squares / (double)run.outputs);
    if (!isfinite(run.rms) || run.rms == 0) fail("the reference is not finite, or nothing but zeros", run.reference_path);
}

static void watch_input(const char *what, const char *whose, const struct memory *memory)
{
    snprintf(input[inputs].name, sizeof input[inputs].name, "%s%s", what, whose);
    input[inputs].memory = memory;
    input[inputs++].digest = digest(memory->data, memory->floats);
}

static void load_inputs(void)
{
    if (attends()) {
        struct attention *a = &run.attention;
        load_operands(a);
        watch_input("queries of ", a->name, &a->query);
        watch_input("keys of ", a->name, &a->key);
        watch_input("values of ", a->name, &a->value);
        return;
    }
    for (int g = 0; g < run.products; g++) {
        struct product *p = &run.product[g];
        p->weights = allocate((size_t)p->inner * (size_t)p->features);
        read_file(p->weights_path, p->weights.data, p->weights.floats * sizeof(float));
        watch_input("weights of ", p->name, &p->weights);
    }
    /* Readers in place may touch up to one panel of padding rows: zeros behind the last token. */
    const long inner = run.product[0].inner;
    run.x = allocate((size_t)(run.tokens + 256) * (size_t)inner);
    read_file(run.x_path, run.x.data, (size_t)run.tokens * (size_t)inner * sizeof(float));
    watch_input("x", "", &run.x);
}

static void load_any(struct plan *p)
{
    if (attends())
        load_attention(p, &run.attention);
    else
        load_plan(p, run.product, run.tokens, &run.x);
}

static void report_changes(const char *label, const struct plan *p, int *sound)
{
    char name[4 * NAME_LENGTH];
    for (int i = 0; i < p->guards; i++) {
        const struct guarded *g = &p->guarded[i];
        const int broken = guard_broken(g->memory);
        if (!broken && (!g->fixed || digest(g->memory->data, g->memory->floats) == g->digest)) continue;
        snprintf(name, sizeof name, "%s: %s%s", label, broken ? "behind " : "", g->name);
        json_text(NULL, name);
        *sound = 0;
    }
}

static void print_call(const struct call *c)
{
    json_open(NULL, '{');
    json_text("plan", c->plan->label);
    json_flag("warm_up", c->warm_up);
    if (c->warm_up)
        json_number("pair", NAN);
    else
        json_integer("pair", c->pair);
    json_number("wall_ns", c->span.ns);
    json_number("tsc_cycles", (double)c->span.ticks);
    json_open("phases", '[');
    for (int i = 0; i < c->plan->phases; i++) {
        json_open(NULL, '{');
        json_text("name", c->plan->phase[i].name);
        json_text("kind", c->plan->phase[i].kind);
        json_number("ns", c->phase_ns[i]);
        json_close('}');
    }
    json_close(']');
    json_integer("involuntary_switches", c->switches);
    json_open("error", '{');
    json_number("max_abs", c->error.max_abs);
    json_integer("non_finite", c->error.non_finite);
    if (c->error.first_bad < 0)
        json_number("first_bad", NAN);
    else
        json_integer("first_bad", c->error.first_bad);
    json_close('}');
    json_close('}');
}

static void print_probe(const struct probe *p)
{
    json_open(NULL, '{');
    json_open("fma_gflops", '[');
    for (int w = 0; w < workers_used(); w++) json_number(NULL, p->gflops[w]);
    json_close(']');
    json_open("core_hz", '[');
    for (int w = 0; w < workers_used(); w++) json_number(NULL, p->hz[w]);
    json_close(']');
    json_close('}');
}

static int by_time(const void *a, const void *b)
{
    const struct call *p = *(struct call *const *)a, *q = *(struct call *const *)b;
    return (p->span.ns > q->span.ns) - (p->span.ns < q->span.ns);
}

/* The counted call of `plan` in the middle by time: one that is as usual. */
static const struct call *usual_call(const struct plan *plan)
{
    struct call **own = malloc((size_t)run.calls * sizeof *own);
    int n = 0;
    if (!own) fail("out of memory", "");
    for (int i = 0; i < run.calls; i++)
        if (run.call[i].plan == plan && !run.call[i].warm_up) own[n++] = &run.call[i];
    qsort(own, (size_t)n, sizeof *own, by_time);
    const struct call *middle = n ? own[(n - 1) / 2] : NULL;
    free(own);
    return middle;
}

/* The timeline of the usual call of what is measured. */
static void write_profile(const struct plan *plan)
{
    const struct call *c = usual_call(plan);
    if (!c) return;
    json_out = fopen(run.profile_path, "w");
    if (!json_out) fail("can't write the profile", run.profile_path);
    json_open(NULL, '{');
    json_text("kind", "profile");
    json_integer("abi", LAYOUT_SWEEP_ABI);
    json_integer("pair", c->pair);
    json_integer("pairs", run.pairs);
    json_number("wall_ns", c->span.ns);
    json_open("phases", '[');
    for (int i = 0; i < plan->phases; i++) {
        json_open(NULL, '{');
        json_text("name", plan->phase[i].name);
        json_text("kind", plan->phase[i].kind);
        json_close('}');
    }
    json_close(']');
    print_kept(&c->kept, plan->threads, c->span.first, c->span.ns / (double)c->span.ticks, run.core);
    json_close('}');
    if (fputc('\n', json_out) == EOF || fclose(json_out)) fail("can't write the profile", run.profile_path);
    json_out = stdout;
    json_first = 1;
}

static int run_mode(int count, char **arguments)
{
    parse_run(count, arguments);
    run.control.label = "control";
    run.candidate.label = "case";
    const int paired = run.candidate.gemms > 0;
    pool_start(workers_used(), run.core);
    load_reference();
    load_inputs();
    load_any(&run.control);
    if (paired) load_any(&run.candidate);
    const double huge = huge_bytes(), hz = tick_hz();

    run.call = calloc((size_t)run.pairs * 2 + 2, sizeof *run.call);
    run.probe = calloc((size_t)run.pairs + 1, sizeof *run.probe);
    if (!run.call || !run.probe) fail("out of memory", "");
    pool_settle();
    call_plan(&run.control, 1, 0);
    if (paired && run.warm_case) call_plan(&run.candidate, 1, 0);
    for (int pair = 0; pair < run.pairs; pair++) {
        take_probe();
        /* Who is first alternates: the first call after a probe finds other caches than the second. */
        const int case_first = paired && ((pair + run.case_first) & 1);
        if (case_first) call_plan(&run.candidate, 0, pair);
        call_plan(&run.control, 0, pair);
        if (paired && !case_first) call_plan(&run.candidate, 0, pair);
    }
    take_probe();
    if (run.profile_path) write_profile(paired ? &run.candidate : &run.control);

    int sound = 1;
    json_open(NULL, '{');
    json_text("kind", "run");
    json_integer("abi", LAYOUT_SWEEP_ABI);
    json_open("changed", '[');
    for (int i = 0; i < inputs; i++) {
        const struct memory *m = input[i].memory;
        if (digest(m->data, m->floats) == input[i].digest && !guard_broken(m)) continue;
        json_text(NULL, input[i].name);
        sound = 0;
    }
    report_changes("control", &run.control, &sound);
    if (paired) report_changes("case", &run.candidate, &sound);
    json_close(']');
    json_flag("inputs_intact", sound);
    int correct[2] = {1, 1};
    for (int i = 0; i < run.calls; i++)
        if (run.call[i].error.first_bad >= 0) correct[run.call[i].plan == &run.candidate] = 0;
    json_flag("control_correct", correct[0] && sound);
    json_key("case_correct");
    fputs(!paired ? "null" : correct[1] && sound ? "true" : "false", stdout);
    json_number("tolerance", run.tolerance);
    json_number("reference_rms", run.rms);
    json_text("probe_isa", peak_isas[PEAK_ISAS - 1].name);
    json_number("tsc_hz", hz);
    json_number("mapped_bytes", (double)mapped_bytes);
    json_number("huge_page_bytes", huge < 0 ? NAN : huge);
    json_number("control_load_ns", run.control.load_ns);
    json_number("case_load_ns", paired ? run.candidate.load_ns : NAN);
    json_open("cores", '[');
    for (int w = 0; w < workers_used(); w++) json_integer(NULL, run.core[w]);
    json_close(']');
    json_open("probes", '[');
    for (int i = 0; i < run.probes; i++) print_probe(&run.probe[i]);
    json_close(']');
    json_open("calls", '[');
    for (int i = 0; i < run.calls; i++) print_call(&run.call[i]);
    json_close(']');
    json_close('}');
    putchar('\n');
    return 0;
}

#endif
