/* Mode `run`: control and case in turn, every output checked. */
#ifndef RUN_H
#define RUN_H

#include <math.h>

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
    double *reference;
    double rms;
    struct plan control, candidate;
    struct call *call;
    int calls;
    struct probe *probe;
    int probes;
} run;

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
        else if (!strcmp(key, "cores")) {
            for (char *next = value; *next && run.cores < MAX_WORKERS; next += *next == ',')
                run.core[run.cores++] = (int)strtol(next, &next, 10);
        } else if (!strncmp(key, "control.", 8)) parse_plan(&run.control, key + 8, value);
        else if (!strncmp(key, "case.", 5)) parse_plan(&run.candidate, key + 5, value);
        else fail("unknown key", key);
    }
    if (!run.x_path || !run.reference_path || run.products < 1 || run.tokens < 1 || !(run.tolerance > 0))
        fail("needed: x, reference, tolerance, tokens and at least one gemm", "");
    struct plan *plans[] = {&run.control, &run.candidate};
    for (int i = 0; i < 2; i++) {
        const struct plan *p = plans[i];
        if (i && !p->gemms) continue;
        if (p->gemms != run.products) fail("a plan needs one object for each product", i ? "case" : "control");
        if (p->threads < 1 || p->threads > run.cores) fail("a plan needs a core for each of its threads", i ? "case" : "control");
    }
}

/* Largest error against float64; a value is bad when it is not finite or further off than tolerance times RMS. */
static struct error compare(const float *y)
{
    struct error e = {0, 0, -1};
    const size_t floats = (size_t)run.tokens * (size_t)run.product[run.products - 1].features;
    const double limit = run.tolerance * run.rms;
    for (size_t i = 0; i < floats; i++) {
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
    struct memory *output = &p->slot[p->gemms - 1].output;
    poison(output->data, written_floats(p->slot[p->gemms - 1].gemm));
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
    c->error = compare(output->data);
    if (run.profile_path) c->kept = keep(p->track, p->threads);
}

static void load_inputs(void)
{
    const struct product *last = &run.product[run.products - 1];
    const size_t outputs = (size_t)run.tokens * (size_t)last->features;
    run.reference = (double *)map_huge(outputs * sizeof(double));
    read_file(run.reference_path, run.reference, outputs * sizeof(double));
    double squares = 0;
    for (size_t i = 0; i < outputs; i++) squares += run.reference[i] * run.reference[i];
    run.rms = sqrt(squares / (double)outputs);
    if (!isfinite(run.rms) || run.rms == 0) fail("the reference is not finite, or nothing but zeros", run.reference_path);
    for (int g = 0; g < run.products; g++) {
        struct product *p = &run.product[g];
        p->weights = allocate((size_t)p->inner * (size_t)p->features);
        read_file(p->weights_path, p->weights.data, p->weights.floats * sizeof(float));
    }
}

/* Readers in place may touch up to one panel of padding rows: zeros behind the last token. */
static void load_x(void)
{
    const long inner = run.product[0].inner;
    run.x = allocate((size_t)(run.tokens + 256) * (size_t)inner);
    read_file(run.x_path, run.x.data, (size_t)run.tokens * (size_t)inner * sizeof(float));
}

static void report_changes(const char *label, const struct plan *p, int *sound)
{
    char name[4 * NAME_LENGTH];
    for (int g = 0; g < p->gemms; g++) {
        const struct slot *s = &p->slot[g];
        const struct { const char *what; const struct memory *memory; } guarded[] = {
            {"panels", &s->panels}, {"packed", &s->packed}, {"scratch", &s->scratch}, {"output", &s->output}};
        if (digest(s->panels.data, s->panels.floats) != s->panels_digest) {
            snprintf(name, sizeof name, "%s: packed weights of %s", label, run.product[g].name);
            json_text(NULL, name);
            *sound = 0;
        }
        for (int i = 0; i < 4; i++)
            if (guard_broken(guarded[i].memory)) {
                snprintf(name, sizeof name, "%s: behind %s of %s", label, guarded[i].what, run.product[g].name);
                json_text(NULL, name);
                *sound = 0;
            }
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
    load_inputs();
    load_x();
    uint64_t before[MAX_GEMMS + 1];
    for (int g = 0; g < run.products; g++) before[g] = digest(run.product[g].weights.data, run.product[g].weights.floats);
    before[run.products] = digest(run.x.data, run.x.floats);
    load_plan(&run.control, run.product, run.tokens, &run.x);
    if (paired) load_plan(&run.candidate, run.product, run.tokens, &run.x);
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
    for (int g = 0; g < run.products; g++) {
        const struct memory *m = &run.product[g].weights;
        if (digest(m->data, m->floats) != before[g] || guard_broken(m)) {
            char name[2 * NAME_LENGTH];
            snprintf(name, sizeof name, "weights of %s", run.product[g].name);
            json_text(NULL, name);
            sound = 0;
        }
    }
    if (digest(run.x.data, run.x.floats) != before[run.products] || guard_broken(&run.x)) json_text(NULL, "x"), sound = 0;
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
