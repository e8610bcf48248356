//! Numbers and names as people read them.

use std::fmt::Write as _;

pub(crate) use planner::{counted, grouped};

use crate::analysis::Figure;
use crate::dataset::NANOSECONDS;

/// What stands for a figure that is undefined.
pub(crate) const UNDEFINED: &str = "-";

/// `figure`, or a dash.
pub(crate) fn or_dash<T>(figure: Option<T>, write: impl Fn(T) -> String) -> String {
    figure.map_or_else(|| UNDEFINED.to_owned(), write)
}

/// A number with `digits` significant digits, without an exponent between 0.0001 and ten million; what has no fraction with
/// its digits in groups.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value.abs() < f64::MIN_POSITIVE {
        return "0".to_owned();
    }
    #[expect(clippy::cast_possible_truncation, reason = "the exponent of a finite f64 is small")]
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        let places = usize::try_from(digits - 1).unwrap_or_default();
        return format!("{value:.places$e}");
    }
    match usize::try_from(digits - 1 - exponent) {
        Ok(places) if places > 0 => format!("{value:.places$}"),
        _ => grouped(format!("{value:.0}")),
    }
}

/// A ratio to the control.
pub(crate) fn ratio(value: f64) -> String {
    format!("{value:.3}")
}

/// A ratio with its interval: `0.712 [0.704, 0.719]`, or the reason why there is none.
pub(crate) fn ratio_with_interval(figure: Figure) -> String {
    if figure.is_exact() {
        return format!("{} (by definition)", figure.median);
    }
    match figure.lower.zip(figure.upper) {
        Some((lower, upper)) => format!("{} [{}, {}]", ratio(figure.median), ratio(lower), ratio(upper)),
        None => format!("{} [{UNDEFINED}]", ratio(figure.median)),
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Units of time, the shortest first: as it is shown, as files write it, nanoseconds.
const TIMES: [(&str, [&str; 2], f64); 4] = [
    ("ns", [NANOSECONDS, NANOSECONDS], 1.0),
    ("µs", ["us", "µs"], 1e3),
    ("ms", ["ms", "ms"], 1e6),
    ("s", ["s", "s"], 1e9),
];

/// The unit in which values are shown whose own unit is a unit of time: the longest that the typical value (the median) has
/// at least one of. `None` for any other unit, or without a value above zero.
pub(crate) fn unit_of_time(unit: &str, values: impl Iterator<Item = f64>) -> Option<&'static str> {
    let (_, _, ns) = TIMES.iter().find(|(_, names, _)| names.contains(&unit))?;
    let values: Vec<f64> = values.filter(|value| *value > 0.0).collect();
    let typical = stats::order::median(&values)? * ns;
    let fits = TIMES.iter().rev().find(|(_, _, one)| typical >= *one);
    fits.or(TIMES.first()).map(|(shown, _, _)| *shown)
}

/// What one of a unit of time is in another; `None` unless both are such.
pub(crate) fn one_in(shown: &str, unit: &str) -> Option<f64> {
    let ns = |unit: &str| {
        TIMES
            .iter()
            .find(|(_, names, _)| names.contains(&unit))
            .map(|(_, _, ns)| ns)
    };
    // Whole powers of ten either way, so that no digit is lost.
    let (shown, unit) = (ns(shown)?, ns(unit)?);
    Some(shown / unit)
}

/// Text with control characters (line breaks, tabs, escapes) replaced by spaces.
pub(crate) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Text as plain Markdown on one line, safe in a table: characters with a meaning there are escaped.
pub(crate) fn markdown(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '#' | '$' | '!' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '&' => escaped.push_str("&amp;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// A name as Markdown: a code span where nothing in it has a meaning of its own, else escaped text.
pub(crate) fn name(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:+= ,()*%@#".contains(c);
    if !text.is_empty() && text.trim() == text && text.chars().all(plain) {
        format!("`{text}`")
    } else {
        markdown(text)
    }
}

/// Names separated by commas, or a dash.
pub(crate) fn names(all: &[String]) -> String {
    if all.is_empty() {
        return UNDEFINED.to_owned();
    }
    all.iter().map(|one| name(one)).collect::<Vec<String>>().join(", ")
}

/// A piece of a file name: lower-case letters, digits and dashes. Not unique by itself.
pub(crate) fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 60 {
            break;
        }
    }
    let trimmed = slug.trim_end_matches('-');
    if trimmed.is_empty() {
        "unnamed".to_owned()
    } else {
        trimmed.to_owned()
    }
}

/// Heads and rows without the columns in which no row has anything.
pub(crate) fn filled<H>(head: Vec<H>, mut rows: Vec<Vec<String>>) -> (Vec<H>, Vec<Vec<String>>) {
    let has = |column: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(column));
        rows.is_empty() || cells.any(|cell| !cell.is_empty() && cell != UNDEFINED)
    };
    let keep: Vec<bool> = (0..head.len()).map(has).collect();
    let kept = |column: usize| keep.get(column).copied().unwrap_or(true);
    for row in &mut rows {
        let cells = std::mem::take(row).into_iter().enumerate();
        *row = cells
            .filter(|(column, _)| kept(*column))
            .map(|(_, cell)| cell)
            .collect();
    }
    let head = head.into_iter().enumerate().filter(|(column, _)| kept(*column));
    (head.map(|(_, head)| head).collect(), rows)
}

/// A Markdown table.
pub(crate) fn table(out: &mut String, head: &[&str], rows: &[Vec<String>]) {
    let _ = writeln!(out, "| {} |", head.join(" | "));
    let _ = writeln!(out, "|{}", " --- |".repeat(head.len()));
    for row in rows {
        let _ = writeln!(out, "| {} |", row.join(" | "));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        let shown = [0.0, 12.3456, 0.012_36, 123_456.0, 1e-9, 1.5e12, -2.5].map(|x| significant(x, 4));
        assert_eq!(
            shown,
            ["0", "12.35", "0.01236", "123,456", "1.000e-9", "1.500e12", "-2.500"]
        );
    }

    #[test]
    fn times_are_shown_in_the_unit_of_their_magnitude() {
        let shown = |unit: &str, values: &[f64]| unit_of_time(unit, values.iter().copied());
        let found = [7.0, 999.9, 1_000.0, 2.5e5, 1e6, 3.5e9, 0.2].map(|ns| shown("ns", &[ns]).unwrap());
        assert_eq!(found, ["ns", "ns", "µs", "µs", "ms", "s", "ns"]);
        // Other units of time as well; the typical value decides, and what is no time keeps its unit.
        assert_eq!(shown("ms", &[7e-6, 8e-6, 4e3]), Some("ns"));
        assert_eq!((shown("us", &[1500.0]), shown("s", &[0.25])), (Some("ms"), Some("ms")));
        assert_eq!(
            (shown("cycles", &[5.0]), shown("ns", &[]), shown("ns", &[-1.0])),
            (None, None, None)
        );
        assert_eq!(
            (one_in("ms", "ns"), one_in("ns", "ms"), one_in("µs", "us")),
            (Some(1e6), Some(1e-6), Some(1.0))
        );
        assert_eq!((one_in("ms", "cycles"), one_in("cycles", "ns")), (None, None));
    }

    #[test]
    fn names_keep_their_meaning_in_markdown() {
        assert_eq!(name("up-01"), "`up-01`");
        assert_eq!(name("a|b"), "a\\|b");
        assert_eq!(name("a`b\nc<i>"), "a\\`b c\\<i\\>");
        assert_eq!(name("größe 4×8"), "größe 4×8");
        assert_eq!(name(""), "");
    }

    #[test]
    fn slugs() {
        assert_eq!(slug("Analytic model (v2)"), "analytic-model-v2");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug("模型"), "unnamed");
        assert_eq!(slug(&"x".repeat(300)).len(), 60);
    }
}
