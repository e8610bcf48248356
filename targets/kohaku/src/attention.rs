//! What an attention call may look like on this machine.

use planner::Refusal;

use crate::kernels::{Flash, Restart, ValueOrder};
use crate::machine::{BLOCK, GROUP, VECTOR, WORD};

/// A rule over a call: its name, and what it says.
pub struct Rule {
    /// `value-width`.
    pub name: &'static str,
    /// Whether it holds; else why not, with the numbers.
    pub holds: fn(&Flash) -> Result<(), String>,
}

fn whole(n: usize, unit: usize, what: &str, of: &str) -> Result<(), String> {
    if unit > 0 && n.is_multiple_of(unit) {
        Ok(())
    } else {
        Err(format!("{what} of {n} is not a multiple of {unit} ({of})"))
    }
}

/// All rules of the attention kernel, in the order in which they are asked. What a cluster allows of a tile is asked of
/// the stages ([`crate::legal`]).
pub static RULES: &[Rule] = &[
    Rule {
        name: "value-width",
        holds: |f| {
            if f.block == f.value_width {
                return Ok(());
            }
            Err(format!(
                "key block {} and value width {} differ: the accumulation reads both over one row length",
                f.block, f.value_width
            ))
        },
    },
    Rule {
        name: "fold-row",
        holds: |f| {
            if f.block <= VECTOR && f.block.is_multiple_of(WORD) {
                return Ok(());
            }
            Err(format!(
                "key block {}: a reduction folds rows of a multiple of {WORD} elements, at most {VECTOR}",
                f.block
            ))
        },
    },
    Rule {
        name: "key-blocks",
        holds: |f| {
            whole(
                f.padded_keys,
                f.block,
                "padded keys",
                "the key block: a fill may not overrun",
            )
        },
    },
    Rule {
        name: "key-splits",
        holds: |f| {
            if f.key_splits == 1 {
                return Ok(());
            }
            if f.causal {
                return Err(format!(
                    "{} parts of the keys of a causal call: the keys behind a query leave parts without any",
                    f.key_splits
                ));
            }
            if f.restart == Restart::InDrain {
                return Err(format!(
                    "{} parts of the keys whose results are rescaled in the drain: there is one such result",
                    f.key_splits
                ));
            }
            whole(
                f.padded_keys / f.block.max(1),
                f.key_splits,
                "a number of key blocks",
                "the parts of the keys, which are of one size",
            )
        },
    },
    Rule {
        name: "head-blocks",
        holds: |f| {
            if f.head_block > 0 && f.heads.is_multiple_of(f.head_block) {
                return Ok(());
            }
            Err(format!(
                "{} heads with keys of their own don't divide into groups of {}",
                f.heads, f.head_block
            ))
        },
    },
    Rule {
        name: "value-order",
        holds: |f| {
            if f.values == ValueOrder::Tiles {
                return Err(
                    "values in tiles, as a projection drains them: clusters are filled from entries, and a caller hands a \
                     tensor over in one order, so that this would go through the host"
                        .to_owned(),
                );
            }
            Ok(())
        },
    },
    Rule {
        name: "query-blocks",
        holds: |f| whole(f.queries, f.query_block, "queries", "the query block"),
    },
    Rule {
        name: "row-tiles",
        holds: |f| {
            whole(
                f.query_block,
                GROUP * f.tile.0,
                "a query block",
                "4 gm: padded tiles match no rows",
            )
        },
    },
    Rule {
        name: "column-tiles",
        holds: |f| {
            whole(
                f.block,
                GROUP * f.tile.1,
                "a key block",
                "4 gn: padded tiles match no rows",
            )
        },
    },
    Rule {
        name: "chunks",
        holds: |f| {
            whole(
                f.block,
                BLOCK * f.nk,
                "a key block",
                "32 nk: a step of the second product",
            )
        },
    },
    Rule {
        name: "causal-block",
        holds: |f| {
            if f.causal && f.query_block != f.block {
                return Err(format!(
                    "a causal call wants a query block as large as the key block: {} and {}",
                    f.query_block, f.block
                ));
            }
            if f.causal && (f.keys != f.padded_keys || f.queries != f.keys) {
                return Err(format!(
                    "a causal call has as many keys as queries and no padded tail: {} queries, {} keys of {}",
                    f.queries, f.keys, f.padded_keys
                ));
            }
            Ok(())
        },
    },
];

/// Whether the kernel has a form for a call; the first rule that says no.
pub fn check(f: &Flash) -> Result<(), Refusal> {
    for rule in RULES {
        (rule.holds)(f).map_err(|message| Refusal::new(rule.name, message))?;
    }
    Ok(())
}
