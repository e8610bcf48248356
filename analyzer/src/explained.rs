//! An explanation in words, as tables, as CSV.

use std::fmt::Write as _;

use crate::dataset::SCORE;
use crate::error::AnalyzeError;
use crate::explain::{Explanation, PhaseShare, Seen};
use crate::format::{UNDEFINED, counted, one_line, or_dash, ratio_with_interval, significant};
use crate::report::inverse;
use crate::tables::{show, table, wrapped};

/// Parts of the difference in words; what is left is said in one.
const WORDS: usize = 3;

/// What no phase carries.
const OUTSIDE: &str = "outside all phases";

/// The explanation on a terminal: the answer in words, then phases, estimates and attributes as tables, at most 100
/// columns. Plain text, lines end in LF.
#[must_use]
pub fn render(explanation: &Explanation) -> String {
    let mut out = String::new();
    for line in words(explanation) {
        wrapped(&mut out, "", &line);
    }
    let (a, b) = (one_line(&explanation.a.case), one_line(&explanation.b.case));
    phases(&mut out, explanation, (&a, &b));
    estimates(&mut out, explanation, (&a, &b));
    attributes(&mut out, explanation, (&a, &b));
    out
}

/// The answer in words, one sentence or two per line.
#[must_use]
pub fn words(explanation: &Explanation) -> Vec<String> {
    let (a, b) = (one_line(&explanation.a.case), one_line(&explanation.b.case));
    let mut lines = Vec::new();
    for side in [&explanation.a, &explanation.b] {
        if side.value.is_none() {
            let reason = side
                .reason
                .as_deref()
                .map_or_else(String::new, |reason| format!(": {}", one_line(reason)));
            lines.push(format!(
                "{} was not measured: it is {}{reason}.",
                one_line(&side.case),
                side.outcome.word()
            ));
        }
    }
    let values = explanation.a.value.zip(explanation.b.value);
    if let (Some(ratio), Some((of_a, of_b))) = (explanation.ratio, values) {
        let objective = &explanation.objective;
        let less = if of_a <= of_b { "less" } else { "more" };
        let is_exact = ratio.lower.is_none() && explanation.differs.is_some();
        let turned = if objective.larger_is_better {
            inverse(ratio)
        } else {
            ratio
        };
        let taken = if is_exact {
            significant(turned.median, 4)
        } else {
            ratio_with_interval(turned)
        };
        let said = if objective.is_duration() {
            format!("{a} takes {taken} of the time of {b}")
        } else {
            let name = one_line(&objective.name);
            let of = if objective.larger_is_better { "times" } else { "of" };
            format!("{a} has {taken} {of} the {name} of {b}")
        };
        lines.push(format!(
            "{said} ({}): {} -> {}, {} {less} ({}).",
            explanation.origin,
            objective.number(of_b),
            objective.quantity(of_a),
            objective.quantity((of_a - of_b).abs()),
            explanation.label()
        ));
        match explanation.differs {
            Some(true) => {}
            Some(false) => lines.push(
                "The two can't be told apart: what follows explains the difference of the medians, which may be noise."
                    .to_owned(),
            ),
            None => lines.push("Too few pairs for an interval: the difference may be noise.".to_owned()),
        }
        lines.extend(places(explanation));
        lines.extend(carried(explanation, (of_a <= of_b) != objective.larger_is_better));
    }
    lines
}

/// Where both stand in the report.
fn places(explanation: &Explanation) -> Option<String> {
    let (a, b) = explanation.a.place.zip(explanation.b.place)?;
    Some(format!(
        "Places by ratio in the report: {} {a}, {} {b}.",
        one_line(&explanation.a.case),
        one_line(&explanation.b.case)
    ))
}

/// `91 % of the gain is up.gather (exchange), 32939 -> 31382`, for the parts that carry most, then the rest: together all of
/// it.
fn carried(explanation: &Explanation, gain: bool) -> Option<String> {
    let word = if gain { "gain" } else { "loss" };
    let number = |value: Option<f64>| or_dash(value, |value| explanation.objective.number(value));
    let phase = |phase: &PhaseShare| {
        let (name, kind) = (one_line(&phase.phase), one_line(&phase.kind));
        let times = format!("{name} ({kind}), {} -> {},", number(phase.b), number(phase.a));
        Some((phase.share?, times))
    };
    let mut parts: Vec<(f64, String)> = explanation.phases.iter().filter_map(phase).collect();
    parts.extend(outside_share(explanation).map(|share| (share, OUTSIDE.to_owned())));
    // Stable: of equal ones the phase that was executed first.
    parts.sort_by(|p, q| q.0.abs().total_cmp(&p.0.abs()));
    parts.retain(|(share, _)| *share != 0.0);
    // What would be shown as 0 % needs no name, and a rest of one part has that one's.
    let counts = parts.iter().filter(|(share, _)| !is_none(*share)).count();
    let named = if counts == WORDS + 1 { counts } else { counts.min(WORDS) };
    let rest = parts.split_off(named);
    let sum: f64 = rest.iter().map(|(share, _)| share).sum();
    if !is_none(sum) {
        parts.push((sum, "the rest".to_owned()));
    }
    let told = parts.iter().map(|(share, part)| {
        if *share < 0.0 {
            format!("{part} works against it by {:.0} %", -100.0 * share)
        } else {
            format!("{:.0} % of the {word} is {}", 100.0 * share, part.trim_end_matches(','))
        }
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() {
        let phases = &explanation.phases;
        if phases.is_empty() {
            return Some("No phases were measured.".to_owned());
        }
        let sides = [
            (&explanation.a, phases.iter().all(|phase| phase.a.is_none())),
            (&explanation.b, phases.iter().all(|phase| phase.b.is_none())),
        ];
        let without = sides.iter().find(|(_, is_without)| *is_without);
        return without.map(|(side, _)| format!("No phases of {} were measured.", one_line(&side.case)));
    }
    Some(format!("{} ({}).", told.join("; "), explanation.values))
}

/// Whether a part shows as 0 %.
fn is_none(share: f64) -> bool {
    (100.0 * share).round() == 0.0
}

/// Part of the whole difference that no phase carries.
fn outside_share(explanation: &Explanation) -> Option<f64> {
    let (outside, whole) = explanation.outside_phases.zip(explanation.difference)?;
    Some(outside / whole).filter(|share| share.is_finite())
}

fn phases(out: &mut String, explanation: &Explanation, (a, b): (&str, &str)) {
    if explanation.phases.is_empty() {
        return;
    }
    let objective = &explanation.objective;
    let caption = format!("Phases in {} ({}):", objective.heading(), explanation.label());
    out.push('\n');
    wrapped(out, "", &caption);
    let difference = format!("difference ({})", objective.heading());
    let mut table = table(&["phase", "kind", b, a, &difference, "share"], 2..6);
    // What rounds to zero has no sign.
    let share = |share: Option<f64>| or_dash(share, |share| format!("{:.1} %", (1e3 * share).round() / 10.0 + 0.0));
    let cells = |phase: &PhaseShare| {
        [
            one_line(&phase.phase),
            one_line(&phase.kind),
            or_dash(phase.b, |v| objective.number(v)),
            or_dash(phase.a, |v| objective.number(v)),
            or_dash(phase.difference, |v| objective.number(v)),
            share(phase.share),
        ]
    };
    for phase in &explanation.phases {
        table.add_row(cells(phase));
    }
    let outside = explanation.outside_phases;
    table.add_row([
        OUTSIDE.to_owned(),
        String::new(),
        String::new(),
        String::new(),
        or_dash(outside, |v| objective.number(v)),
        share(outside_share(explanation)),
    ]);
    table.add_row([
        "whole".to_owned(),
        String::new(),
        or_dash(explanation.b.value, |v| objective.number(v)),
        or_dash(explanation.a.value, |v| objective.number(v)),
        or_dash(explanation.difference, |v| objective.number(v)),
        share(explanation.difference.filter(|whole| *whole != 0.0).map(|_| 1.0)),
    ]);
    show(out, &table);
}

fn estimates(out: &mut String, explanation: &Explanation, (a, b): (&str, &str)) {
    if explanation.estimates.is_empty() {
        return;
    }
    let heads = [
        "estimate (modelled)",
        b,
        a,
        "unit",
        "ratio",
        explanation.origin,
        "order",
    ];
    let mut table = table(&heads, 1..6);
    let number = |seen: &Seen, number: Option<f64>| {
        or_dash(number, |v| {
            if seen.unit == explanation.objective.unit {
                explanation.objective.number(v)
            } else {
                significant(v, 4)
            }
        })
    };
    for seen in &explanation.estimates {
        let unit = if seen.unit == explanation.objective.unit {
            explanation.objective.heading()
        } else {
            SCORE
        };
        let unit = if seen.unit == SCORE || seen.unit == explanation.objective.unit {
            unit
        } else {
            &seen.unit
        };
        table.add_row([
            one_line(&seen.estimate),
            number(seen, seen.b),
            number(seen, seen.a),
            one_line(unit),
            or_dash(seen.ratio, |ratio| format!("{ratio:.3}")),
            or_dash(explanation.ratio, |ratio| format!("{:.3}", ratio.median)),
            match seen.right {
                Some(true) => "right",
                Some(false) => "wrong",
                None => UNDEFINED,
            }
            .to_owned(),
        ]);
    }
    show(out, &table);
}

fn attributes(out: &mut String, explanation: &Explanation, (a, b): (&str, &str)) {
    out.push('\n');
    if explanation.changes.is_empty() {
        let same = counted(explanation.unchanged, "attribute");
        wrapped(out, "", &format!("The plans do not differ in any of {same}."));
        return;
    }
    let mut table = table(&["attribute", b, a], 1..1);
    for change in &explanation.changes {
        table.add_row([
            one_line(&change.attribute),
            or_dash(change.b.as_ref(), |v| one_line(&v.to_string())),
            or_dash(change.a.as_ref(), |v| one_line(&v.to_string())),
        ]);
    }
    let _ = writeln!(
        out,
        "The plans differ in {}, {} are the same:",
        counted(explanation.changes.len(), "attribute"),
        explanation.unchanged
    );
    show(out, &table);
}

/// The explanation as CSV (RFC 4180, UTF-8, lines end in LF): one line for the whole, for each phase, estimate and
/// attribute that differs. Columns: what it is, name, kind of phase or unit of estimate, value of the first and of the
/// second case, first less second, part of the whole difference, what the numbers are. Numbers have all their digits.
pub fn csv(explanation: &Explanation) -> Result<Vec<u8>, AnalyzeError> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(["what", "name", "kind", "a", "b", "difference", "share", "label"])?;
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
    let mut line = |what: &str, name: &str, kind: &str, numbers: [Option<f64>; 4]| {
        let [a, b, difference, share] = numbers.map(number);
        let label = if what == "estimate" {
            "modelled"
        } else {
            explanation.values
        };
        writer.write_record([what, name, kind, &a, &b, &difference, &share, label])
    };
    let whole = explanation.difference;
    let share = |part: Option<f64>| {
        part.zip(whole)
            .map(|(part, whole)| part / whole)
            .filter(|share| share.is_finite())
    };
    let (a, b) = (explanation.a.value, explanation.b.value);
    line("whole", "", &explanation.objective.unit, [a, b, whole, share(whole)])?;
    for phase in &explanation.phases {
        let numbers = [phase.a, phase.b, phase.difference, phase.share];
        line("phase", &phase.phase, &phase.kind, numbers)?;
    }
    let outside = explanation.outside_phases;
    line(
        "outside",
        "",
        &explanation.objective.unit,
        [None, None, outside, share(outside)],
    )?;
    for seen in &explanation.estimates {
        let difference = seen.a.zip(seen.b).map(|(a, b)| a - b);
        line(
            "estimate",
            &seen.estimate,
            &seen.unit,
            [seen.a, seen.b, difference, None],
        )?;
    }
    for change in &explanation.changes {
        let text = |value: &Option<planner::Value>| value.as_ref().map_or_else(String::new, ToString::to_string);
        let (a, b) = (text(&change.a), text(&change.b));
        writer.write_record(["attribute", &change.attribute, "", &a, &b, "", "", ""])?;
    }
    writer
        .into_inner()
        .map_err(|error| AnalyzeError::Write(error.into_error()))
}
