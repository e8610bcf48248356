//! Scheduled cycles of single phases, and the gather, which is the open part.

use target_ipu21::exchange::{Knowledge, Overflow, Policy, Release};

use crate::cases::{Case, down, each, prepare, up};
use crate::{Section, error, number, table};

const GUARDED: Policy = Policy {
    release: Release::Guarded,
    order: Knowledge::Final,
    overflow: Overflow::Apart,
    pairs: false,
};

/// Name, up, down, mapping, phase, older start rule, published.
type Phase = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    usize,
    bool,
    usize,
);

const UP: &str = "4x1 complete";
const DOWN: &str = "15x1 interleaved complete";

const EXACT: &[Phase] = &[
    ("up weights", UP, DOWN, "identity", 0, false, 7_048),
    ("up weights, transpose 92", UP, DOWN, "transpose:92", 0, false, 7_018),
    ("up reduction", UP, DOWN, "identity", 1, false, 3_779),
    ("up reduction 2x2", "2x2 complete", DOWN, "identity", 1, false, 8_944),
    ("down reduction", UP, DOWN, "identity", 3, false, 7_991),
    (
        "down reduction 5x3",
        UP,
        "5x3 interleaved complete",
        "identity",
        3,
        false,
        5_941,
    ),
    (
        "down batch 7, first",
        UP,
        "15x1 interleaved batch-7",
        "identity",
        3,
        false,
        5_132,
    ),
    (
        "down batch 7, second",
        UP,
        "15x1 interleaved batch-7",
        "identity",
        4,
        false,
        4_979,
    ),
    ("up weights, older start rule", UP, DOWN, "identity", 0, true, 7_179),
    ("up reduction, older start rule", UP, DOWN, "identity", 1, true, 5_638),
    (
        "down reduction, older start rule",
        UP,
        DOWN,
        "identity",
        3,
        true,
        12_527,
    ),
];

fn horizon(phase: &Phase, policy: Policy) -> Result<usize, String> {
    let (_, up_words, down_words, map, at, ..) = *phase;
    let prepared = prepare(&up(up_words)?, &down(down_words)?, map)?;
    let phase = prepared.phases.get(at).ok_or("no such phase")?;
    crate::cases::horizon(&prepared.program, phase, policy)
}

pub(crate) fn section(_: &[Case]) -> Section {
    let ours = each(EXACT, |phase| {
        horizon(phase, if phase.5 { GUARDED } else { Policy::default() })
    });
    let mut rows = Vec::new();
    let mut exact = 0;
    for (phase, ours) in EXACT.iter().zip(ours) {
        let ours = ours?;
        exact += usize::from(ours == phase.6);
        rows.push(vec![
            phase.0.to_owned(),
            number(phase.6),
            number(ours),
            format!("{:+.2} %", error(ours, phase.6)),
        ]);
    }
    let text = format!(
        "\n## Exchange phases\n\nScheduled cycles, published against simulated; {exact} of {} to the cycle. No constant was \
         fitted on them.\n{}",
        EXACT.len(),
        table(&["phase", "published", "simulated", "error"], &rows)
    );
    Ok(text)
}
