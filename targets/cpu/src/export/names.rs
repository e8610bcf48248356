//! Names of a generated source, made distinct so that several products fit into one file.

/// What a generated source defines at file scope. A name that is missing here is a redefinition in the exported file, which
/// no compiler accepts.
const DEFINED: &[&str] = &[
    "COLUMN",
    "FAR",
    "HEIGHT",
    "HELPER",
    "LANES",
    "PIN",
    "PIN_ADDRESS",
    "ROW",
    "WIDTH",
    "activate",
    "add_result",
    "block",
    "broadcast_panel",
    "column_start",
    "compute",
    "gelu",
    "gelu_tile",
    "higher",
    "inner_start",
    "ivec",
    "kernel_add",
    "kernel_store",
    "layout_sweep_gemm",
    "load",
    "load_weights",
    "lower",
    "memory_vec",
    "pack",
    "partial_tile",
    "prefetch_result",
    "reduce",
    "result_tile",
    "row_start",
    "shard",
    "shard_start",
    "shards",
    "splat",
    "store",
    "store_result",
    "tile",
    "tile_start",
    "tiles",
    "token_start",
    "token_worker",
    "vec",
    "vector_panel",
];

/// `source` with every name that it defines at file scope prefixed by `prefix`; comments, strings and members of
/// structures stay.
pub(super) fn prefixed(source: &str, prefix: &str) -> String {
    let mut out = String::with_capacity(source.len() + source.len() / 8);
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            string_length(rest)
        } else if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(length);
        let member = out.ends_with("->") || ends_in_member_dot(&out);
        if !member && DEFINED.binary_search(&token).is_ok() {
            out.push_str(prefix);
        }
        out.push_str(token);
        rest = after;
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `.name` of a structure; a dot after a digit belongs to a number.
fn ends_in_member_dot(text: &str) -> bool {
    text.strip_suffix('.')
        .is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_digit()))
}

/// Bytes of the string literal that `text` begins with.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_for_the_search() {
        assert!(DEFINED.is_sorted());
    }

    #[test]
    fn definitions_and_uses_are_prefixed_and_nothing_else_is() {
        let source = "/* pack */ static void pack(long a) { s->pack(1); x.pack = pack; load(\"pack \\\" pack\"); unpack(1.0f); }";
        let expected = "/* pack */ static void up_pack(long a) { s->pack(1); x.pack = up_pack; up_load(\"pack \\\" pack\"); \
                        unpack(1.0f); }";
        assert_eq!(prefixed(source, "up_"), expected);
    }
}
