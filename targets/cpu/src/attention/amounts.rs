//! How much each phase of an attention does.

use target_api::{Amounts, Traffic};

use super::facts::{Context, Facts};
use super::works::{busiest_pairs, read_again_bytes};
use crate::estimate::Hardware;
use crate::estimate::amounts::LEVEL_NAMES;

/// Both products of a legal plan; `name` is that of the operation. What packing, softmax and merges move is not counted.
pub(crate) fn amounts(name: &str, context: Context<'_>, hardware: &Hardware) -> Vec<Amounts> {
    let facts = Facts::new(context);
    let Context {
        extents: e,
        geometry: g,
        ..
    } = context;
    let pairs = busiest_pairs(&facts);
    // How often the busiest worker goes through all keys for one panel of queries.
    let passes = pairs / (f64::from(g.query_panel) * f64::from(e.keys));
    let tiles = f64::from(e.keys.div_ceil(g.key_height));
    let blocks = f64::from(g.key_splits) * f64::from(g.key_blocks);
    let again = read_again_bytes(&facts, pairs, hardware);
    let product = |phase: &str, width: u32, calls: f64| {
        let bytes = again * f64::from(width) / f64::from(e.width + e.value_width);
        let traffic = Traffic {
            level: LEVEL_NAMES[1].to_owned(),
            bytes,
            gb_per_s: hardware.clock_ghz / hardware.fill[1],
        };
        Amounts {
            phase: format!("{name}.{phase}"),
            flops: Some(2.0 * f64::from(e.heads) * e.visible() * f64::from(width)),
            // Where keys are hidden, the last tiles of a panel are cut.
            calls: (!e.causal).then_some(calls),
            traffic: if bytes > 0.0 { vec![traffic] } else { Vec::new() },
        }
    };
    vec![
        product("scores", e.width, passes * tiles),
        product("values", e.value_width, passes * blocks * f64::from(facts.value_tiles)),
    ]
}
