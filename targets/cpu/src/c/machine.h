/* Mode `machine`: what this machine gives, in about a second. */
#ifndef MACHINE_H
#define MACHINE_H

#include <math.h>
#include <unistd.h>

#include "json.h"
#include "memory.h"
#include "peak.h"
#include "pool.h"

enum { LEAST_SETS = 13, MOST_SETS = 17, SMALLEST_SET = 16 << 10, LINE_BYTES = 64, NOISE_PROBES = 25 };
static int sets = LEAST_SETS;
static const double READ_NS = 12e6, CHASE_NS = 8e6, STRETCH_NS = 0.5e6;

typedef float read_vec __attribute__((vector_size(32)));

/* Sums a set with eight independent chains: GB/s. */
static double read_bandwidth(const float *data, size_t bytes)
{
    const size_t vectors = bytes / sizeof(read_vec);
    const read_vec *from = (const read_vec *)data;
    read_vec a = {0}, b = a, c = a, d = a, e = a, f = a, g = a, h = a;
    double best = 0, moved = 0;
    const double begin = now_ns();
    double start = begin, now = begin;
    /* The best of many stretches: an interruption makes one slower, nothing makes one faster. */
    for (int pass = 0; pass < 2 || now - begin < READ_NS; pass++) {
        for (size_t i = 0; i < vectors; i += 8) {
            a += from[i], b += from[i + 1], c += from[i + 2], d += from[i + 3];
            e += from[i + 4], f += from[i + 5], g += from[i + 6], h += from[i + 7];
        }
        moved += (double)bytes;
        now = now_ns();
        if (now - start < STRETCH_NS && bytes < 4 << 20) continue;
        if (pass > 0) best = fmax(best, moved / (now - start));
        moved = 0, start = now;
    }
    a += b + c + d + e + f + g + h;
    __asm__ volatile("" : : "m"(a));
    return best;
}

static uint64_t random_state = 88172645463325252u;

static uint64_t random_word(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* One cycle through all lines of the set in random order (Sattolo): ns of a load that waits for the one before. */
static double load_latency(void *memory, size_t bytes)
{
    const size_t lines = bytes / LINE_BYTES, stride = LINE_BYTES / sizeof(uint32_t);
    uint32_t *at = memory;
    for (size_t i = 0; i < lines; i++) at[i * stride] = (uint32_t)i;
    for (size_t i = lines - 1; i > 0; i--) {
        const size_t j = random_word() % i;
        const uint32_t swap = at[i * stride];
        at[i * stride] = at[j * stride];
        at[j * stride] = swap;
    }
    const size_t warm = lines < 200000 ? lines : 200000;
    uint32_t line = 0;
    for (size_t i = 0; i < warm; i++) line = at[line * stride];
    double best = INFINITY; /* of a few stretches: an interruption makes one longer, nothing makes one shorter */
    for (int stretch = 0; stretch < 8; stretch++) {
        double loads = 0, now;
        const double start = now_ns();
        do {
            for (int i = 0; i < 2000; i++) line = at[line * stride];
            __asm__ volatile("" : "+r"(line));
            loads += 2000;
            now = now_ns();
        } while (now - start < CHASE_NS / 8);
        best = fmin(best, (now - start) / loads);
    }
    return best;
}

static int read_number(int cpu, const char *what)
{
    char path[128];
    int value = -1;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    if (fscanf(file, "%d", &value) != 1) value = -1;
    fclose(file);
    return value;
}

/* A cache as the system tells it: bytes, 0 where it does not, and the lowest processor that uses it, -1 where it does not. */
struct cache {
    double bytes;
    int lowest;
};

/* The largest cache of a processor, of equal ones the one farthest from it. */
static struct cache largest_cache(int cpu)
{
    struct cache largest = {0, -1};
    for (int index = 0; index < 10; index++) {
        char path[128], unit = 0;
        double size = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
        FILE *file = fopen(path, "r");
        if (!file) break;
        if (fscanf(file, "%lf%c", &size, &unit) >= 1) size *= unit == 'K' ? 1024 : unit == 'M' ? 1 << 20 : 1;
        fclose(file);
        if (!(size > 0) || size < largest.bytes) continue;
        largest = (struct cache){size, -1};
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
        file = fopen(path, "r");
        if (!file) continue;
        /* An ascending list such as 0-3,8. */
        if (fscanf(file, "%d", &largest.lowest) != 1) largest.lowest = -1;
        fclose(file);
    }
    return largest;
}

/* Sets up to four times the largest cache, so that the last one comes from memory; a quarter of the free memory at most. */
static int sets_beyond(double cache)
{
    const double room = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) / 4;
    int n = LEAST_SETS;
    while (n < MOST_SETS && (double)((size_t)SMALLEST_SET << (n - 1)) < 4 * cache &&
           (double)((size_t)SMALLEST_SET << n) <= room)
        n++;
    return n;
}

/* One processor of each distinct physical core that this process may use, then which of them share their largest cache. */
static void print_cores(void)
{
    enum { MOST = CPU_SETSIZE };
    static int package[MOST], core[MOST], processor[MOST];
    int known = 0;
    cpu_set_t allowed;
    json_open("physical_cores", '[');
    if (!sched_getaffinity(0, sizeof allowed, &allowed))
        for (int cpu = 0; cpu < MOST; cpu++) {
            if (!CPU_ISSET(cpu, &allowed)) continue;
            const int p = read_number(cpu, "physical_package_id"), c = read_number(cpu, "core_id");
            int seen = 0;
            for (int i = 0; i < known; i++) seen |= c >= 0 && package[i] == p && core[i] == c;
            if (seen) continue;
            package[known] = p;
            processor[known] = cpu;
            core[known++] = c;
            json_integer(NULL, cpu);
        }
    json_close(']');
    json_open("largest_cache_lowest", '[');
    for (int i = 0; i < known; i++) {
        const int lowest = largest_cache(processor[i]).lowest;
        if (lowest < 0)
            json_number(NULL, NAN);
        else
            json_integer(NULL, lowest);
    }
    json_close(']');
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The same 1 ms probe many times: what differs is the machine. */
static void print_noise(void)
{
    double gflops[NOISE_PROBES];
    const long before = involuntary_switches();
    for (int i = 0; i < NOISE_PROBES; i++) gflops[i] = peak_gflops(1e6);
    const long switches = involuntary_switches() - before;
    qsort(gflops, NOISE_PROBES, sizeof gflops[0], by_value);
    const double median = gflops[NOISE_PROBES / 2];
    json_open("noise", '{');
    json_integer("probes", NOISE_PROBES);
    json_number("median_gflops", median);
    json_number("q10_gflops", gflops[NOISE_PROBES / 10]);
    json_number("q90_gflops", gflops[NOISE_PROBES - 1 - NOISE_PROBES / 10]);
    json_number("relative_spread", (gflops[NOISE_PROBES - 1 - NOISE_PROBES / 10] - gflops[NOISE_PROBES / 10]) / median);
    json_integer("involuntary_switches", switches);
    json_close('}');
}

static void print_curve(const char *name, const char *unit, const double *values)
{
    json_open(name, '[');
    for (int i = 0; i < sets; i++) {
        json_open(NULL, '{');
        json_integer("bytes", (long long)SMALLEST_SET << i);
        json_number(unit, values[i]);
        json_close('}');
    }
    json_close(']');
}

static int machine_mode(int count, char **arguments)
{
    const int core = count ? atoi(arguments[0]) : sched_getcpu();
    json_open(NULL, '{');
    json_text("kind", "machine");
    json_integer("abi", LAYOUT_SWEEP_ABI);
    print_cores(); /* before pinning: afterwards only one core is allowed */
    pin_to(core < 0 ? 0 : core);
    json_integer("measured_core", core);
    peak_gflops(2e7); /* lets the clock rise */
    json_open("fma", '[');
    for (int i = 0; i < PEAK_ISAS; i++) {
        double best = 0;
        for (int n = 0; n < 5; n++) best = fmax(best, peak_isas[i].gflops(3e6));
        json_open(NULL, '{');
        json_text("isa", peak_isas[i].name);
        json_integer("lanes", peak_isas[i].lanes);
        json_number("gflops", best);
        json_close('}');
    }
    json_close(']');
    json_number("core_hz", core_hz());
    json_number("tsc_hz", tick_hz());

    const double cache = largest_cache(core < 0 ? 0 : core).bytes;
    sets = sets_beyond(cache);
    const size_t largest = (size_t)SMALLEST_SET << (sets - 1);
    float *data = map_huge(largest);
    const double huge = huge_bytes();
    double bandwidth[MOST_SETS], latency[MOST_SETS];
    for (int i = 0; i < sets; i++) {
        latency[i] = load_latency(data, (size_t)SMALLEST_SET << i);
        bandwidth[i] = read_bandwidth(data, (size_t)SMALLEST_SET << i);
    }
    json_number("mapped_bytes", (double)mapped_bytes);
    json_number("huge_page_bytes", huge < 0 ? NAN : huge);
    print_curve("read_bandwidth", "gb_per_s", bandwidth);
    print_curve("load_latency", "ns", latency);

    int l1 = 0, l2, l3;
    while (l1 + 1 < sets && latency[l1 + 1] <= 2.0 * latency[0]) l1++;
    const int level2 = l1 + 2 < sets ? l1 + 2 : sets - 1;
    l2 = level2;
    const double second = fmin(latency[level2 - 1], latency[level2]);
    while (l2 + 1 < sets && latency[l2 + 1] <= 2.75 * second) l2++;
    const int level3 = l2 + 2 < sets ? l2 + 2 : sets - 1;
    l3 = level3;
    while (l3 + 1 < sets && bandwidth[l3 + 1] >= 0.6 * bandwidth[level3]) l3++;
    json_open("knees", '{');
    json_integer("l1_bytes", (long long)SMALLEST_SET << l1);
    json_integer("l2_bytes", (long long)SMALLEST_SET << l2);
    json_integer("l3_bytes", (long long)SMALLEST_SET << l3);
    json_text("rule",
              "largest power of two of bytes where: l1, the load latency is at most twice that of 16 KiB; l2, at most "
              "2.75 times the lower of those of 2 l1 and 4 l1; l3, the read bandwidth is at least 0.6 times that of 4 l2");
    json_close('}');
    json_number("largest_cache_bytes", cache > 0 ? cache : NAN);
    /* A set that half lies in a cache says nothing of the memory behind it. */
    json_number("dram_gb_per_s", (double)largest < 2 * cache ? NAN : bandwidth[sets - 1]);
    print_noise();
    json_close('}');
    putchar('\n');
    return 0;
}

#endif
