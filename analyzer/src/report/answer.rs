//! The first thing that a report says: which plan to take.

use std::fmt::Write as _;

use super::headline::{Form, headline};
use super::limits::{limit_lines, limit_table};
use super::words::achieves;
use crate::analysis::{Analysis, CaseRow, Winner, WorkloadRow};
use crate::dataset::{Outcome, Setup};
use crate::format::{counted, grouped, name, names, or_dash, percent, ratio_with_interval, significant, table};
use crate::standing::Standing;

/// How many of those that tie are listed by simplicity.
const SIMPLEST: usize = 5;
/// How many cases a sentence of the report names; the table has them all.
const NAMED: usize = 25;

/// What can be said of the winner beyond its name, in short words, one per line; lists name `most` cases. Shared by
/// report and terminal.
pub(crate) fn verdict(
    setup: &Setup,
    workload: &WorkloadRow,
    winner: &Winner,
    show: impl Fn(&str) -> String,
    most: usize,
) -> Vec<String> {
    let list = |all: &[String]| {
        let named: Vec<String> = all.iter().take(most).map(|one| show(one)).collect();
        let rest = all.len().saturating_sub(most);
        let more = if rest > 0 {
            format!(" and {} more", grouped(rest))
        } else {
            String::new()
        };
        format!("{}{more}", named.join(", "))
    };
    let mut lines: Vec<String> = control_lacks(setup, workload).into_iter().collect();
    match &winner.ties {
        None => lines.push(format!(
            "What ties with it can't be told: {} {} too few for an interval.",
            counted(winner.ratio.samples, workload.counts()),
            if winner.ratio.samples == 1 { "is" } else { "are" }
        )),
        Some(ties) if ties.is_empty() && winner.undecided.is_empty() => {
            lines.push("No other case ties with it.".to_owned());
        }
        Some(ties) if ties.is_empty() => {}
        Some(ties) => {
            lines.push(format!("Ties with it (can't be told apart at 95 %): {}.", list(ties)));
            if winner.case != workload.control && ties.contains(&workload.control) {
                let word = reference(workload);
                lines.push(format!(
                    "{word} is among them: over all cases at once no gain is shown."
                ));
            }
        }
    }
    if workload.varies && workload.noise.is_some_and(|noise| noise.range().is_none()) {
        lines.push("The control was called once beside itself: one pair shows no noise.".to_owned());
    }
    if winner.ties.is_some() && workload.varies && !winner.ratio.is_exact() && winner.ratio.lower.is_none() {
        lines.push(format!(
            "{} are too few for an interval of its own: what ties follows from the noise of all cases together. More rounds \
             tell more.",
            counted(winner.ratio.samples, workload.counts())
        ));
    }
    if winner.simplest_first.len() > 1 {
        let members = winner.simplest_first.iter().take(SIMPLEST);
        let each = members.map(|member| format!("{} ({})", show(&member.case), member.changes));
        let rest = winner.simplest_first.len().saturating_sub(SIMPLEST);
        lines.push(format!(
            "Of these the simplest first, by attributes that differ from the plan of {}: {}{}.",
            role(workload),
            each.collect::<Vec<String>>().join(", "),
            if rest > 0 {
                format!(" and {} more", grouped(rest))
            } else {
                String::new()
            }
        ));
    }
    if let Some(rate) = winner.flip_rate.filter(|rate| *rate > 0.0) {
        lines.push(format!(
            "Resampled {}s choose another case in {} of the draws.",
            workload.counts(),
            percent(rate)
        ));
    }
    if !winner.undecided.is_empty() {
        lines.push(format!(
            "Too few {}s to be told from anything: {}.",
            workload.counts(),
            list(&winner.undecided)
        ));
    }
    for confirmed in &winner.confirmed {
        lines.push(format!(
            "Confirmed by a fresh build that did not choose it ({}): {}, {}.",
            show(&confirmed.case),
            achieves(&setup.objective, confirmed.ratio, role(workload), &setup.objective.name),
            counted(confirmed.ratio.samples, workload.counts())
        ));
    }
    // What does not vary can't flatter.
    if winner.confirmed.is_empty() && winner.case != workload.control && workload.varies {
        let line = if setup.imported.is_some() {
            "The rounds that chose it also measured it, which flatters it."
        } else {
            "Not confirmed by a fresh build: the rounds that chose it also measured it, which flatters it."
        };
        lines.push(line.to_owned());
    }
    let unfinished = workload
        .cases
        .iter()
        .filter(|case| case.outcome == Outcome::Unfinished)
        .count();
    let waiting = workload.coverage.waiting;
    if unfinished + waiting > 0 {
        lines.push(format!(
            "Partial: cases that miss rounds: {}; not measured yet: {}.",
            grouped(unfinished),
            grouped(waiting)
        ));
    }
    lines
}

/// What ratios are relative to, as a sentence begins.
fn reference(workload: &WorkloadRow) -> &'static str {
    if workload.has_control {
        "The control"
    } else {
        "The first measured case (in the order of the cohort), which ratios are relative to,"
    }
}

/// The same inside a sentence.
pub(crate) fn role(workload: &WorkloadRow) -> &'static str {
    if workload.has_control {
        "the control"
    } else {
        "the first measured case"
    }
}

/// What the rounds said that chose a winner whose headline comes from others.
pub(crate) fn chosen_by(analysis: &Analysis, workload: &WorkloadRow, winner: &Winner) -> Option<String> {
    let objective = &analysis.setup.objective;
    let is_said = winner.confirmed_ratio.is_some() && workload.standing() == Some(Standing::Winner);
    is_said.then(|| {
        format!(
            "The rounds that chose it said {} ({}).",
            achieves(objective, winner.ratio, role(workload), &objective.name),
            counted(winner.ratio.samples, workload.counts())
        )
    })
}

/// What follows from a control that has no rounds of its own, or not all.
fn control_lacks(setup: &Setup, workload: &WorkloadRow) -> Option<String> {
    let control = workload.case(&workload.control)?;
    let lacks = matches!(control.outcome, Outcome::Unfinished | Outcome::Waiting | Outcome::Lost);
    // Without anything beside the cases nothing is compared at all.
    if !lacks || !workload.has_control || control.ratio.is_none() {
        return None;
    }
    let has = match control.rounds {
        0 => "no round".to_owned(),
        rounds => format!("only {}", counted(rounds, "round")),
    };
    let follows = if workload.paired {
        "ratios come from its calls beside the cases, and how much it varies by itself is not known well"
    } else {
        "ratios are relative to the few values that it has, and change with every further one"
    };
    Some(format!(
        "The control has {has} of its own yet, of {}: {follows}. The answer stands when the sweep has ended.",
        setup.rounds
    ))
}

/// Why no plan can be recommended; and how much is left to measure, if anything is. Shared by report and page.
pub(crate) fn undecided(setup: &Setup, workload: &WorkloadRow) -> (&'static str, Option<String>) {
    let open = |case: &&CaseRow| matches!(case.outcome, Outcome::Unfinished | Outcome::Waiting | Outcome::Lost);
    let (open, all) = (workload.cases.iter().filter(open).count(), workload.cases.len());
    let left = (open > 0 && setup.imported.is_none()).then(|| {
        let of = if open == all {
            "all".to_owned()
        } else {
            open.to_string()
        };
        format!(
            "Not run to the end yet: {of} of {}; `layout-sweep run COHORT` goes on.",
            counted(all, "case")
        )
    });
    let why = "No plan can be recommended: no case has a correct result that can be compared.";
    (why, left)
}

/// The section that answers.
pub(crate) fn answer(out: &mut String, analysis: &Analysis, workload: &WorkloadRow) {
    let Some((winner, case)) = workload
        .winner
        .as_ref()
        .and_then(|winner| Some((winner, workload.case(&winner.case)?)))
    else {
        let (headline, left) = undecided(&analysis.setup, workload);
        let mut lines = vec![format!("**{headline}**")];
        lines.extend(left);
        if workload.has_failures() {
            lines.push("See [what failed](#rejected-and-failed).".to_owned());
        }
        let _ = writeln!(out, "{}\n", lines.join(" "));
        return;
    };
    let form = Form {
        case: &name,
        plain: &crate::format::markdown,
        strong: &str::to_owned,
    };
    let _ = writeln!(out, "**{}**\n", headline(analysis, workload, winner, &form));
    if let Some(line) = chosen_by(analysis, workload, winner) {
        let _ = writeln!(out, "- {line}");
    }
    figures(out, analysis, workload, case);
    for line in verdict(&analysis.setup, workload, winner, name, NAMED) {
        let _ = writeln!(out, "- {line}");
    }
    let _ = writeln!(out, "- {}", limit_lines(analysis, workload, name).join(" "));
    let _ = writeln!(out, "- Chosen because: {}", crate::format::markdown(&case.because));
    let _ = writeln!(out, "- Its plan:\n");
    let _ = writeln!(out, "  {}\n", code_block(&case.plan));
    if let Some((heads, rows)) = limit_table(analysis, workload, name) {
        let _ = writeln!(out, "What no plan can beat, and what these two make of it:\n");
        let heads = heads.into_iter().map(|(head, label, _)| match label {
            "" => head,
            label => format!("{head} ({label})"),
        });
        let heads: Vec<String> = heads.collect();
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        table(out, &heads, &rows);
    }
}

fn figures(out: &mut String, analysis: &Analysis, workload: &WorkloadRow, case: &CaseRow) {
    let objective = &analysis.setup.objective;
    let origin = analysis.setup.origin();
    let role = role(workload);
    // Without operations there is no rate.
    let rate = case.gflops.map_or_else(String::new, |rate| {
        format!(", {} GFLOP/s (derived)", significant(rate, 4))
    });
    let _ = writeln!(
        out,
        "- {} ({origin}){rate}; {} {} {} ({})",
        objective.with_unit(or_dash(case.value, |v| objective.number(v))),
        role,
        if analysis.setup.objective.is_duration() {
            "takes"
        } else {
            "has"
        },
        objective.with_unit(or_dash(workload.control_value, |v| objective.number(v))),
        if workload.median_peak_gflops.is_some() {
            "derived, normalised"
        } else {
            origin
        },
    );
    if let Some((noise, (low, high))) = workload.noise.and_then(|noise| Some((noise, noise.range()?))) {
        let _ = writeln!(
            out,
            "- Noise ({origin}): the control against itself gives {}, single pairs from {low:.3} to {high:.3} (5 % to 95 %)",
            ratio_with_interval(noise.ratio),
        );
    }
    if let Some(ceiling) = workload.ceiling.as_ref().filter(|_| workload.estimates.is_empty()) {
        let _ = writeln!(
            out,
            "- Noise ceiling (derived): any estimate could be judged up to a Spearman of {}",
            ceiling.words()
        );
    }
}

/// Text as a code block within a list, fenced by more backticks than it holds.
fn code_block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let body = text.lines().collect::<Vec<&str>>().join("\n  ");
    format!("{fence}text\n  {body}\n  {fence}")
}

/// Names of the cases of a failure, shortened in number.
pub(crate) fn some_names(all: &[String], most: usize) -> String {
    let shown = names(&all[..all.len().min(most)]);
    if all.len() > most {
        format!("{shown} and {} more", grouped(all.len() - most))
    } else {
        shown
    }
}
