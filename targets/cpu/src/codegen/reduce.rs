//! The reduction of partials that lie side by side.

use crate::codegen::store::accumulates;
use crate::facts::Facts;

/// `reduce`, if partials are not streamed: sums in increasing order of the inner block.
pub(crate) fn reduce(facts: &Facts<'_>) -> Option<String> {
    let batch = facts.batch?;
    let inner = facts.context.geometry.inner;
    let last = facts.batches() - 1;
    let count = if inner.is_multiple_of(batch) {
        batch.to_string()
    } else {
        format!("batch < {last} ? {batch} : {}", inner % batch)
    };
    let begin = if accumulates(facts) {
        "                if (batch > 0) add_result(s, tile, r, c);\n"
    } else {
        ""
    };
    let gelu = match (facts.fused(), last) {
        (false, _) => String::new(),
        (true, 0) => "                gelu_tile(tile, WIDTH);\n".to_owned(),
        (true, _) => format!("                if (batch == {last}) gelu_tile(tile, WIDTH);\n"),
    };
    let unused = if last == 0 { "    (void)batch;\n" } else { "" };
    Some(format!(
        "/* Sums the partials of a batch in the shards of one worker, in the order of the inner blocks. */\n\
         static void reduce(const struct ls_buffers *s, int worker, int batch)\n{{\n{unused}    \
         const long count = {count};\n    \
         for (long n = shard_start[worker]; n < shard_start[worker + 1]; n++) {{\n        \
         const struct shard *shard = &shards[n];\n        \
         for (long r = shard->r0; r < shard->r1; r++) {{\n            \
         for (long c = shard->c0; c < shard->c1; c++) {{\n                \
         float tile[HEIGHT * WIDTH] __attribute__((aligned(64))) = {{0}};\n{begin}                \
         for (long q = 0; q < count; q++) {{\n                    \
         const float *part = partial_tile(s, q, r, c);\n                    \
         for (long e = 0; e < HEIGHT * WIDTH; e += LANES)\n                        \
         store(tile + e, load(tile + e) + load(part + e));\n                \
         }}\n{gelu}                \
         store_result(s, tile, r, c);\n            \
         }}\n        }}\n    }}\n}}\n\n"
    ))
}
