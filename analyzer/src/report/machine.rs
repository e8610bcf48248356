//! What a report says of the machine meanwhile: drift, disturbances, accepted differences.

use crate::analysis::{Analysis, Drift, WorkloadRow};
use crate::dataset::MachineClass;
use crate::format::{counted, grouped, or_dash, significant};

/// A p value below which the halves of a sweep are said to differ.
const DIFFER: f64 = 0.01;

/// The control over the sweep, in words: one sentence on drift, one on disturbed rounds if there are any. Shared by
/// report and terminal.
pub(crate) fn drift_lines(analysis: &Analysis, workload: &WorkloadRow, show: impl Fn(&str) -> String) -> Vec<String> {
    let Some(drift) = &workload.drift else {
        return Vec::new();
    };
    let objective = &analysis.setup.objective;
    let whose = if workload.has_control {
        "The control"
    } else {
        "The first measured case"
    };
    let mut lines = vec![format!(
        "{} {} in the first half of {} and {} in the second (medians, {}): {}.",
        if objective.is_duration() {
            format!("{whose} took")
        } else {
            format!("{whose}'s {} was", show(&objective.name))
        },
        objective.quantity(drift.first_half),
        counted(drift.rounds, "round"),
        objective.number(drift.second_half),
        analysis.setup.origin(),
        tested(drift)
    )];
    let most = 6;
    if !drift.disturbed.is_empty() {
        let which = drift.disturbed.iter().take(most).map(|round| {
            format!(
                "{} round {} ({} of the median)",
                show(&round.case),
                round.round + 1,
                significant(round.over_median, 3)
            )
        });
        let rest = drift.disturbed.len().saturating_sub(most);
        lines.push(format!(
            "{} measured during a disturbance: {}{}; paired ratios cancel what disturbs both calls alike.",
            counted(drift.disturbed.len(), "round"),
            which.collect::<Vec<String>>().join(", "),
            if rest > 0 {
                format!(" and {} more", grouped(rest))
            } else {
                String::new()
            }
        ));
    }
    lines
}

fn tested(drift: &Drift) -> String {
    match drift.test {
        None => "too few rounds, or too little variation, for a test".to_owned(),
        Some(test) if test.p_two_sided < DIFFER => format!(
            "the machine changed meanwhile (Mann-Whitney p = {})",
            significant(test.p_two_sided, 2)
        ),
        Some(test) => format!(
            "no drift is shown (Mann-Whitney p = {})",
            significant(test.p_two_sided, 2)
        ),
    }
}

/// By whom everything was measured, where it was not this program. Shared by report, page and terminal.
pub(crate) fn origin_line(analysis: &Analysis, show: impl Fn(&str) -> String) -> Option<String> {
    let imported = analysis.setup.imported.as_ref()?;
    let device = analysis.setup.machine.get("device");
    let figures = if imported.shifted {
        "derived is made of those of"
    } else {
        "published is that of"
    };
    Some(format!(
        "Imported: every figure labelled {figures} {} (format {}, SHA-256 {}{}){}; nothing was measured on this machine.",
        show(&imported.file),
        imported.format,
        imported.sha256,
        imported
            .build_id
            .as_ref()
            .map_or_else(String::new, |id| format!(", build id {}", show(id))),
        device.map_or_else(String::new, |device| format!(", measured on {}", show(device)))
    ))
}

/// Which machines this is about, where those of several classes worked on the cohort, and where the others are: one line
/// each. Shared by report, page and terminal.
pub(crate) fn class_lines(analysis: &Analysis, show: impl Fn(&str) -> String) -> Vec<String> {
    let setup = &analysis.setup;
    let about = |class: &MachineClass| {
        let differences = class.differences.iter().map(|difference| {
            format!(
                "{} {} instead of {}",
                difference.what,
                or_dash(difference.found.as_deref(), &show),
                or_dash(difference.frozen.as_deref(), &show)
            )
        });
        let differences = differences.collect::<Vec<String>>().join("; ");
        if class.number == 0 {
            "the frozen class of machines".to_owned()
        } else {
            format!("class {} of machines ({differences})", class.number)
        }
    };
    let mut lines = Vec::new();
    if let Some(own) = setup.classes.get(setup.class) {
        let estimates = if own.number == 0 {
            ""
        } else {
            "; estimates were made for the frozen class"
        };
        lines.push(format!(
            "This is about {} alone: {} of {}{estimates}.",
            about(own),
            counted(own.rounds, "round"),
            counted(own.cases, "case")
        ));
    }
    let others = setup.classes.iter().filter(|class| class.number != setup.class);
    lines.extend(others.map(|class| {
        let place = match (setup.class, class.number) {
            (0, _) => class.report.clone(),
            (_, 0) => "..".to_owned(),
            _ => format!("../{}", class.report),
        };
        let machines = if class.machines.is_empty() || class.number == 0 {
            String::new()
        } else {
            let names: Vec<String> = class.machines.iter().map(|name| show(name)).collect();
            format!(" on {}", names.join(", "))
        };
        format!(
            "Apart, and compared with nothing here: {}, {} of {}{machines}; its report is in `{place}`.",
            about(class),
            counted(class.rounds, "round"),
            counted(class.cases, "case")
        )
    }));
    lines
}

/// What somebody consented to, one line each. Shared by report and terminal.
pub(crate) fn consent_lines(analysis: &Analysis, show: impl Fn(&str) -> String) -> Vec<String> {
    let machines = analysis.consents.iter().map(|consent| {
        format!(
            "{}: frozen with {}, accepted as {} ({})",
            show(&consent.what),
            or_dash(consent.frozen.as_deref(), &show),
            or_dash(consent.found.as_deref(), &show),
            consent.at
        )
    });
    let cases = analysis.workloads.iter().flat_map(|workload| &workload.cases);
    let wrong = cases.flat_map(|case| {
        let accepted = case.attempts.iter().filter(|attempt| attempt.accepted);
        accepted.map(|attempt| format!("the wrong result of {}, attempt {}", show(&case.name), attempt.number))
    });
    machines.chain(wrong).collect()
}
