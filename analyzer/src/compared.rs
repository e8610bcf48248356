//! A comparison of two cohorts as a table, as CSV.

use crate::compare::{CaseChange, Comparison, FEWEST, Verdict};
use crate::error::AnalyzeError;
use crate::format::{counted, grouped, one_line, or_dash, ratio_with_interval};
use crate::tables::{show, table, wrapped};

/// How many cases are listed; all are in JSON and CSV.
const LISTED: usize = 25;
/// How many names a sentence lists; all cases that break the gate come first in the table.
const NAMED: usize = 8;

/// The comparison on a terminal: what the cases come to and whether the gate holds, what differs around it, then the cases
/// with the largest ratio first. At most 80 columns, lines end in LF.
#[must_use]
pub fn render(comparison: &Comparison) -> String {
    let mut out = String::new();
    for line in words(comparison) {
        wrapped(&mut out, "", &line);
    }
    out.push('\n');
    if comparison.setup.is_empty() {
        wrapped(
            &mut out,
            "",
            "Workloads, machine class, tools and options are the same.",
        );
    } else {
        let mut setup = table(&["differs", "first", "second"], 1..1);
        for change in &comparison.setup {
            let text = |text: &Option<String>| or_dash(text.as_deref(), one_line);
            setup.add_row([one_line(&change.what), text(&change.first), text(&change.second)]);
        }
        show(&mut out, &setup);
    }
    cases(&mut out, comparison);
    out
}

fn cases(out: &mut String, comparison: &Comparison) {
    let shown = comparison.objective.heading();
    let (first, second) = (format!("first ({shown})"), format!("second ({shown})"));
    let mut list = table(&["case", &first, &second, over(comparison), "place", "verdict"], 1..5);
    let mut rows: Vec<&CaseChange> = comparison.cases.iter().collect();
    // Broken ones first, then by ratio; stable, so that equal ones keep the cohort's order.
    let key = |case: &CaseChange| match case.verdict {
        Verdict::Broken => f64::MAX,
        _ => case.ratio.map_or(f64::MIN, |ratio| ratio.median),
    };
    rows.sort_by(|a, b| key(b).total_cmp(&key(a)));
    for case in rows.iter().take(LISTED) {
        let places = case.first_rank.zip(case.second_rank);
        list.add_row([
            one_line(&case.case),
            or_dash(case.first, |v| comparison.objective.number(v)),
            or_dash(case.second, |v| comparison.objective.number(v)),
            or_dash(case.ratio, ratio_with_interval),
            or_dash(places, |(first, second)| format!("{first} -> {second}")),
            case.verdict.word(&comparison.objective).to_owned(),
        ]);
    }
    show(out, &list);
    if rows.len() > LISTED {
        wrapped(
            out,
            "",
            &format!("{} more: `--format csv` lists all.", rows.len() - LISTED),
        );
    }
}

/// What the cases come to, in words, one line each.
#[must_use]
pub fn words(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(mean) = comparison.geometric_mean {
        let interval = or_dash(mean.lower.zip(mean.upper), |(lower, upper)| {
            format!("{lower:.3}, {upper:.3}")
        });
        lines.push(format!(
            "Geometric mean of {} over {}: {:.3} [{interval}] (derived).",
            over(comparison),
            counted(mean.cases, "case"),
            mean.mean
        ));
    }
    let count = |verdict| comparison.cases.iter().filter(|case| case.verdict == verdict).count();
    let counts = [
        Verdict::Slower,
        Verdict::Faster,
        Verdict::NoDifference,
        Verdict::TooFewCalls,
        Verdict::Broken,
        Verdict::Mended,
        Verdict::NotMeasured,
    ]
    .map(|verdict| (verdict.word(&comparison.objective), count(verdict)));
    let told = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(word, count)| format!("{count} {word}"));
    let told: Vec<String> = told.collect();
    let all = counted(comparison.cases.len(), "case");
    lines.push(format!("Of {all} in both: {} (95 %, case by case).", told.join(", ")));
    let moved = comparison
        .cases
        .iter()
        .filter_map(|case| Some((case, case.first_rank?, case.second_rank?)))
        .max_by_key(|(_, first, second)| first.abs_diff(*second))
        .filter(|(_, first, second)| first != second);
    if let Some((case, first, second)) = moved {
        let name = one_line(&case.case);
        lines.push(format!(
            "The largest move in the reports: {name}, from place {first} to {second}."
        ));
    }
    let apart = [
        ("In the first cohort only", &comparison.only_first),
        ("In the second cohort only", &comparison.only_second),
        ("Of one name but different plans, not compared", &comparison.other_plan),
    ];
    for (what, names) in apart {
        if !names.is_empty() {
            let shown: Vec<String> = names.iter().map(|name| one_line(name)).collect();
            lines.push(format!(
                "{what}: {} ({}).",
                counted(names.len(), "case"),
                few_names(&shown)
            ));
        }
    }
    lines.extend(gate(comparison));
    lines
}

/// What a ratio is: how much worse the second is.
fn over(comparison: &Comparison) -> &'static str {
    if comparison.objective.larger_is_better {
        "first / second"
    } else {
        "second / first"
    }
}

fn gate(comparison: &Comparison) -> Option<String> {
    let most = comparison.max_regression?;
    let names: Vec<String> = comparison.exceeding().map(|case| one_line(&case.case)).collect();
    let unjudged = unjudged(comparison);
    if comparison.judges_nothing() {
        return Some(format!("The gate is not met, since no case can be judged: {unjudged}."));
    }
    let unjudged = if unjudged.is_empty() {
        unjudged
    } else {
        format!(" Not judged: {unjudged}.")
    };
    let worse = comparison.objective.worse();
    Some(if names.is_empty() {
        format!("No case is broken, or {worse} by more than {most} beyond noise.{unjudged}")
    } else {
        format!(
            "Broken, or {worse} by more than {most} beyond noise: {}.{unjudged}",
            few_names(&names)
        )
    })
}

/// The first names, and how many more there are.
fn few_names(names: &[String]) -> String {
    let some = names.iter().take(NAMED).cloned().collect::<Vec<String>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => some,
        more => format!("{some} and {} more", grouped(more)),
    }
}

/// Why cases can't be judged, and how many.
fn unjudged(comparison: &Comparison) -> String {
    let why = [
        (
            Verdict::TooFewCalls,
            format!("with fewer than {FEWEST} calls on a side, which show no noise"),
        ),
        (Verdict::Mended, "that failed in the first cohort".to_owned()),
        (Verdict::NotMeasured, "without a measurement on a side".to_owned()),
    ];
    let told = why.iter().filter_map(|(verdict, why)| {
        let count = comparison.cases.iter().filter(|case| case.verdict == *verdict).count();
        (count > 0).then(|| format!("{} {why}", counted(count, "case")))
    });
    told.collect::<Vec<String>>().join("; ")
}

/// The comparison as CSV (RFC 4180, UTF-8, lines end in LF), one line per case in both, in the order of the first cohort.
/// Numbers have all their digits; a missing figure is an empty cell.
pub fn csv(comparison: &Comparison) -> Result<Vec<u8>, AnalyzeError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "workload",
        "case",
        "first_outcome",
        "second_outcome",
        "first",
        "second",
        "unit",
        "direction",
        "ratio",
        "ratio_lower",
        "ratio_upper",
        "first_rank",
        "second_rank",
        "verdict",
        "exceeds",
    ])?;
    for case in &comparison.cases {
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let place = |place: Option<usize>| place.map_or_else(String::new, |place| place.to_string());
        writer.write_record([
            case.workload.clone(),
            case.case.clone(),
            case.first_outcome.word().to_owned(),
            case.second_outcome.word().to_owned(),
            number(case.first),
            number(case.second),
            comparison.objective.unit.clone(),
            if comparison.objective.larger_is_better {
                "higher"
            } else {
                "lower"
            }
            .to_owned(),
            number(case.ratio.map(|ratio| ratio.median)),
            number(case.ratio.and_then(|ratio| ratio.lower)),
            number(case.ratio.and_then(|ratio| ratio.upper)),
            place(case.first_rank),
            place(case.second_rank),
            case.verdict.word(&comparison.objective).to_owned(),
            case.exceeds.to_string(),
        ])?;
    }
    writer
        .into_inner()
        .map_err(|error| AnalyzeError::Write(error.into_error()))
}
