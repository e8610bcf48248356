//! Sentences that report, page and terminal share: what was compared, and how a case compares with the control.

use crate::analysis::{Analysis, Figure, WorkloadRow};
use crate::dataset::Objective;
use crate::format::{counted, grouped, ratio_with_interval, significant};

/// Name of the target that is told by its definition alone, and of its workload where the definition gives none.
const COMMAND: &str = "command";

/// What a report is about: its workloads, and where they ran.
pub(crate) fn title(analysis: &Analysis, show: impl Fn(&str) -> String) -> String {
    let setup = &analysis.setup;
    let names = analysis.workloads.iter().map(|workload| match workload.name.as_str() {
        // A workload without a name of its own is called as its definition.
        COMMAND if setup.target == COMMAND => show(stem(&setup.definition_path)),
        name => show(name),
    });
    let names = names.collect::<Vec<String>>().join(", ");
    match (&setup.imported, setup.target.as_str()) {
        (Some(_), _) => format!("{names}, imported"),
        (None, COMMAND) => names,
        (None, target) => format!("{names} on {}", show(target)),
    }
}

/// `matmul` of `cohorts/matmul.toml`.
fn stem(path: &str) -> &str {
    let file = path.rsplit('/').next().unwrap_or(path);
    match file.strip_suffix(".toml").unwrap_or(file) {
        "" => COMMAND,
        stem => stem,
    }
}

/// A ratio of what is compared in the words of the objective: `0.712 [0.704, 0.719] of the control's time`, or, where more
/// is better, `1.404 [1.391, 1.420] times the control's rate`.
pub(crate) fn achieves(objective: &Objective, ratio: Figure, whose: &str, name: &str) -> String {
    let possessive = format!("{whose}'s {name}");
    if objective.larger_is_better {
        format!("{} times {possessive}", ratio_with_interval(inverse(ratio)))
    } else {
        format!("{} of {possessive}", ratio_with_interval(ratio))
    }
}

/// One over a figure.
pub(crate) fn inverse(figure: Figure) -> Figure {
    Figure {
        median: 1.0 / figure.median,
        lower: figure.upper.map(|upper| 1.0 / upper),
        upper: figure.lower.map(|lower| 1.0 / lower),
        samples: figure.samples,
    }
}

/// `, 1.40 times as fast as B`; nothing where the objective is no duration.
pub(crate) fn times_as_fast(objective: &Objective, ratio: f64, than: &str) -> String {
    if !objective.is_duration() {
        return String::new();
    }
    // Near 1 three digits would say nothing.
    let digits = if ratio > 0.99 { 5 } else { 3 };
    format!(", {} times as fast as {than}", significant(1.0 / ratio, digits))
}

/// What a workload is, what its cases are compared with, and how they were called.
pub(crate) fn workload_line(
    workload: &WorkloadRow,
    show: impl Fn(&str) -> String,
    plain: impl Fn(&str) -> String,
) -> String {
    let products = if workload.has_products() {
        format!(
            ": {} (rows x inner x columns), {} operations in matrix products",
            plain(&workload.extents),
            grouped(&workload.flops)
        )
    } else {
        String::new()
    };
    let mut parts = vec![format!("Workload {}{products}", show(&workload.name))];
    parts.push(format!("{} {}", workload.reference(), show(&workload.control)));
    parts.push(workload.calling().to_owned());
    if let Some(peak) = workload.median_peak_gflops {
        parts.push(format!(
            "median probed peak {} GFLOP/s (measured)",
            significant(peak, 4)
        ));
    }
    parts.join("; ")
}

/// What is compared, in which direction, and how much was measured.
pub(crate) fn objective_line(analysis: &Analysis, plain: impl Fn(&str) -> String) -> String {
    let setup = &analysis.setup;
    let objective = &setup.objective;
    let mut parts = vec![format!(
        "Objective: {}, {}",
        objective.described(plain),
        objective.direction()
    )];
    if setup.imported.is_some() {
        parts.push(format!(
            "at most {} of {}",
            counted(setup.rounds, "round"),
            counted(setup.pairs, "sample")
        ));
        return parts.join("; ");
    }
    let paired = analysis.workloads.iter().any(|workload| workload.paired);
    let thing = if paired { "pair" } else { "sample" };
    let more = if setup.finalists > 0 {
        format!(
            ", at most {} for those that can still win",
            counted(setup.finalists, &format!("further {thing}"))
        )
    } else {
        String::new()
    };
    parts.push(format!(
        "{} of {} for every case{more}",
        counted(setup.rounds, "round"),
        counted(setup.pairs, thing)
    ));
    parts.push(format!("seed {}", setup.seed));
    parts.join("; ")
}

/// What a ratio is, where that is not what everybody expects.
pub(crate) fn ratio_line(analysis: &Analysis) -> Option<String> {
    let objective = &analysis.setup.objective;
    objective.larger_is_better.then(|| {
        format!(
            "Of {0} more is better. Ratios say how much worse a case is: the {0} of what it is compared with over its own; below 1 it is better.",
            objective.name
        )
    })
}
