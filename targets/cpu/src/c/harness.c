/* Loads generated objects and measures them; prints one JSON object.
 *
 *   harness machine [CORE]
 *   harness run KEY=VALUE...      reference, tolerance, cores, pairs, warm_case, case_first; of a chain of products x,
 *                                 tokens, gemm (repeated); of an attention attention, q, k, v;
 *                                 control.threads, control.carry, control.object (repeated), and the same for case;
 *                                 profile: a file for the timeline of one call, if wanted
 *
 * Exit code 0: an object was printed, whatever it says; anything else: a message on stderr. */
#define _GNU_SOURCE
#include "run.h"
#include "machine.h"

int main(int count, char **arguments)
{
    json_out = stdout;
    if (count >= 2 && !strcmp(arguments[1], "machine")) return machine_mode(count - 2, arguments + 2);
    if (count >= 2 && !strcmp(arguments[1], "run")) return run_mode(count - 2, arguments + 2);
    fail("expected a mode, `machine` or `run`", "");
}
