//! Cases that no other one beats in both: the objective, and a second number of which less is better.

use crate::analysis::{CaseRow, WorkloadRow};
use crate::format::{ratio, significant};

/// How names end whose numbers are traffic or energy: less is better. Of other numbers (a clock rate, a count of spills)
/// nobody said which way is better.
const LESS_IS_BETTER: [&str; 5] = ["_words", "_bytes", "_flits", "_J", "_mJ"];
/// How many cases of a front are named.
const NAMED: usize = 6;

/// One line for each such number that differs between cases. Shared by report, page and terminal.
pub(crate) fn front_lines(workload: &WorkloadRow, show: impl Fn(&str) -> String) -> Vec<String> {
    let best = workload.best();
    let mut names: Vec<&String> = best.iter().flat_map(|(case, _)| case.other.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| LESS_IS_BETTER.iter().any(|end| name.ends_with(end)));
    let lines = names.into_iter().filter_map(|number| {
        let mut points: Vec<(f64, f64, &CaseRow)> = best
            .iter()
            .filter_map(|(case, figure)| Some((figure.median, *case.other.get(number)?, *case)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let first = points.first()?;
        if points.iter().all(|point| point.1.total_cmp(&first.1).is_eq()) {
            return None;
        }
        let (front, of) = (front(&points), points.len());
        let mut told: Vec<String> = front
            .iter()
            .take(NAMED)
            .map(|(slower, second, case)| {
                format!("{} ({}, {})", show(&case.name), ratio(*slower), significant(*second, 4))
            })
            .collect();
        if front.len() > NAMED {
            told.push(format!("{} more", front.len() - NAMED));
        }
        Some(format!(
            "{} of {of} cases can't be beaten in both, the ratio and {}: {}.",
            front.len(),
            show(number),
            told.join(", ")
        ))
    });
    lines.collect()
}

/// Of points sorted by the first number, then the second, those that no other one is better than in one and as good as
/// in the other; of equal ones the first.
fn front<T: Copy>(points: &[(f64, f64, T)]) -> Vec<(f64, f64, T)> {
    let mut front: Vec<(f64, f64, T)> = Vec::new();
    for &point in points {
        if front.last().is_none_or(|last| point.1 < last.1) {
            front.push(point);
        }
    }
    front
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody on the front is beaten, everybody off it is.
    #[test]
    fn a_front_is_what_nobody_beats() {
        let mut points: Vec<(f64, f64, usize)> = (0..40_u32)
            .map(|at| {
                let faster = at * 7 % 11;
                (f64::from(faster), f64::from(11 - faster + at * 5 % 13), at as usize)
            })
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let front = front(&points);
        let on: Vec<usize> = front.iter().map(|point| point.2).collect();
        for &(x, y, at) in &points {
            let beaten = points.iter().any(|&(a, b, _)| a <= x && b <= y && (a < x || b < y));
            let twin = front
                .iter()
                .any(|&(a, b, other)| other != at && (a - x).abs() + (b - y).abs() < 0.5);
            assert_eq!(on.contains(&at), !beaten && !twin, "{x} {y}");
        }
        assert!(front.len() > 1);
    }
}
