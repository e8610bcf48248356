//! How far the answer is from what no plan can beat, in words and level by level. Shared by report, page and terminal.

use super::answer::role;
use crate::analysis::{Analysis, LimitRow, Reached, WorkloadRow};
use crate::dataset::{NANOSECONDS, Objective};
use crate::format::{filled, or_dash, percent, significant};
use crate::roofline::OPERATIONS;

/// How every statement on it begins.
const LEAD: &str = "How far from the limit (roofline)";

/// One column: what stands over it, the label of its figures, whether these are numbers.
pub(crate) type Head = (String, &'static str, bool);

/// The limit of the time, which resource binds, and what winner and control reach of it; or why there is none. One sentence
/// or two per line.
pub(crate) fn limit_lines(analysis: &Analysis, workload: &WorkloadRow, show: impl Fn(&str) -> String) -> Vec<String> {
    let Some(roofline) = &workload.roofline else {
        return vec![format!("{LEAD}: not known, since {}.", unknown(analysis, workload))];
    };
    let objective = &analysis.setup.objective;
    let mut lines = roofline.binding().map_or_else(
        || {
            vec![format!(
                "{LEAD}: not known, since a case beats what was known of the machine."
            )]
        },
        |binding| binding_lines(objective, workload, binding, &show),
    );
    lines.extend(roofline.limits.iter().filter_map(|limit| {
        let case = limit.beaten_by.as_ref()?;
        let again = match limit.label.as_str() {
            "published" => "what is published of it is not its most",
            _ => "a busy machine gives less than its most; `layout-sweep doctor --refresh` measures it again",
        };
        Some(format!(
            "{} at {} ({}) is no limit: {} takes less than that allows; {again}.",
            limit.resource,
            rate(objective, limit),
            limit.label,
            show(case)
        ))
    }));
    if roofline.limits.iter().all(|limit| limit.resource == OPERATIONS) {
        lines.push("Only operations are counted: nothing is known of bytes that every plan must move.".to_owned());
    }
    lines
}

/// The limit that binds, and what the two cases reach of it.
fn binding_lines(
    objective: &Objective,
    workload: &WorkloadRow,
    binding: &LimitRow,
    show: &impl Fn(&str) -> String,
) -> Vec<String> {
    let what = if binding.resource == OPERATIONS {
        "operations of matrix products bind".to_owned()
    } else {
        format!("reading {} binds", binding.resource)
    };
    let mut lines = vec![format!(
        "{LEAD}: no plan takes less than {} (derived); {what}, {} (derived) at {} ({}: {}).",
        objective.quantity(binding.least),
        amount(binding),
        rate(objective, binding),
        binding.label,
        binding.about
    )];
    let reached = binding.reached.iter().map(|reached| {
        let whose = if reached.case == workload.control {
            format!("{}, {},", role(workload), show(&reached.case))
        } else {
            show(&reached.case)
        };
        format!("{whose} reaches {}", or_dash(reached.share, percent))
    });
    let reached = reached.collect::<Vec<String>>();
    if !reached.is_empty() {
        let each = if reached.len() > 1 { "each from its" } else { "from its" };
        lines.push(format!(
            "Of that {} (derived, {each} own calls).",
            reached.join(", and ")
        ));
    }
    let beyond = |reached: &Reached| reached.share.is_some_and(|share| share > 1.0);
    if binding.reached.iter().any(beyond) {
        let known = match binding.label.as_str() {
            "derived" => "what is derived from one worker",
            label => &format!("what is {label} of it"),
        };
        lines.push(format!("More than 100 % says that the machine gave more than {known}."));
    }
    lines
}

/// Why nothing is known.
fn unknown(analysis: &Analysis, workload: &WorkloadRow) -> &'static str {
    if analysis.setup.imported.is_some() {
        "an imported file does not say what its machine gives at most"
    } else if !workload.has_products() {
        "neither its operations nor what its machine gives at most is told"
    } else if workload.disturbed_probes() > 0 {
        "every probe of the peak was disturbed"
    } else if workload.winner.is_none() {
        "no peak was probed, since nothing was measured"
    } else {
        "what its machine gives at most is not told"
    }
}

/// Every limit with what winner and control make of it; nothing where there is no more than the sentence says.
pub(crate) fn limit_table(
    analysis: &Analysis,
    workload: &WorkloadRow,
    show: impl Fn(&str) -> String,
) -> Option<(Vec<Head>, Vec<Vec<String>>)> {
    let roofline = workload
        .roofline
        .as_ref()
        .filter(|roofline| roofline.limits.len() > 1)?;
    let objective = &analysis.setup.objective;
    let time = |value: f64| objective.quantity(value);
    let head = |what: &str, label: &'static str, numeric: bool| (what.to_owned(), label, numeric);
    let mut heads = vec![
        head("limit", "", false),
        head("at least", "derived", true),
        head("at most", "", true),
        head("which takes", "derived", true),
    ];
    let sides = roofline.limits.first().map_or(&[][..], |limit| &limit.reached);
    for side in sides {
        let name = show(&side.case);
        heads.push((format!("{name} reaches"), "derived", true));
        heads.push(head("its busiest worker moves", "modelled", true));
    }
    let rows = roofline.limits.iter().map(|limit| {
        let mut cells = vec![
            if limit.beaten_by.is_some() {
                format!("{}, beaten", limit.resource)
            } else {
                limit.resource.clone()
            },
            amount(limit),
            format!("{} ({})", rate(objective, limit), limit.label),
            time(limit.least),
        ];
        for side in &limit.reached {
            cells.push(or_dash(side.share, percent));
            let moved = side.moved_bytes.zip(side.moved_time);
            cells.push(or_dash(moved, |(moved, takes)| {
                format!("{} in {}", bytes(moved), time(takes))
            }));
        }
        cells
    });
    Some(filled(heads, rows.collect()))
}

fn amount(limit: &LimitRow) -> String {
    if limit.resource == OPERATIONS {
        scaled(limit.amount, [("GFLOP", 1e9), ("MFLOP", 1e6)], "FLOP")
    } else {
        bytes(limit.amount)
    }
}

fn bytes(value: f64) -> String {
    scaled(value, [("MB", 1e6), ("kB", 1e3)], "bytes")
}

/// A value in the first of the units that it has at least one of.
fn scaled(value: f64, units: [(&str, f64); 2], smallest: &str) -> String {
    let unit = units.into_iter().find(|(_, one)| value >= *one);
    let (unit, one) = unit.unwrap_or((smallest, 1.0));
    format!("{} {unit}", significant(value / one, 4))
}

/// Per nanosecond are 10^9 per second.
fn rate(objective: &Objective, limit: &LimitRow) -> String {
    let unit = match (objective.unit.as_str(), limit.resource == OPERATIONS) {
        (NANOSECONDS, true) => "GFLOP/s".to_owned(),
        (NANOSECONDS, false) => "GB/s".to_owned(),
        ("cycles", _) => format!("{}/cycle", limit.unit),
        (unit, _) => format!("{}/{unit}", limit.unit),
    };
    format!("{} {unit}", significant(limit.rate, 4))
}
