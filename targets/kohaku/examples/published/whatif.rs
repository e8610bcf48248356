//! Other machines, in cycles.

use target_kohaku::compile::compile;
use target_kohaku::kernels::{Flash, Restart, flash};
use target_kohaku::machine::{Converting, Drain, Machine, Prices};
use target_kohaku::timing::timing;

/// Machines by name, with the cycles of SDXL's four attentions.
pub(crate) fn table() -> Vec<(&'static str, [usize; 4])> {
    let machine = Machine::default;
    let rows = Machine {
        drain: Drain::Rows,
        ..machine()
    };
    let all = Machine {
        converting: Converting::AllCores,
        ..machine()
    };
    let epilogue = Machine {
        full_shape_epilogue: true,
        ..machine()
    };
    let staging = Machine {
        staging: true,
        ..machine()
    };
    vec![
        ("as it is", cycles(&machine(), Restart::Accumulate)),
        ("the cluster drains rows", cycles(&rows, Restart::Accumulate)),
        ("conversions on all cores", cycles(&all, Restart::Accumulate)),
        ("softmax with a fixed maximum", cycles(&machine(), Restart::Fixed)),
        ("full-shape epilogue", cycles(&epilogue, Restart::Accumulate)),
        ("staging addressable", cycles(&staging, Restart::Accumulate)),
    ]
}

fn cycles(machine: &Machine, restart: Restart) -> [usize; 4] {
    [
        (10, 4096, 4096, 4096),
        (20, 1024, 1024, 1024),
        (10, 4096, 128, 77),
        (20, 1024, 128, 77),
    ]
    .map(|(heads, queries, padded, keys)| {
        let call = Flash {
            keys,
            restart,
            ..Flash::published(heads, queries, padded)
        };
        let compiled = compile(flash(&call).expect("a legal call"), machine).expect("a legal program");
        timing(&compiled, Prices::RealSpan).total()
    })
}
