//! Cases that no other one beats in both: the objective, and a second number of which less is better.

use crate::analysis::{CaseRow, WorkloadRow};

/// How names end whose numbers are traffic or energy: less is better. Of other numbers (a clock rate, a count of spills)
/// nobody said which way is better.
const LESS_IS_BETTER: [&str; 5] = ["_words", "_bytes", "_flits", "_J", "_mJ"];

/// A case's ratio to the control, its second number, and the case itself.
pub(crate) type Point<'a> = (f64, f64, &'a CaseRow);

/// The cases of a workload by ratio and a second number.
pub(crate) struct Front<'a> {
    /// Name of the second number, with its unit.
    pub(crate) number: &'a str,
    /// Every case that has both, by ratio, then by the number.
    pub(crate) points: Vec<Point<'a>>,
    /// Those that no other one beats in both, by ratio.
    pub(crate) unbeaten: Vec<Point<'a>>,
}

/// One for each such number that differs between cases, by name.
pub(crate) fn fronts(workload: &WorkloadRow) -> Vec<Front<'_>> {
    let best = workload.best();
    let mut names: Vec<&String> = best.iter().flat_map(|(case, _)| case.other.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| LESS_IS_BETTER.iter().any(|end| name.ends_with(end)));
    let fronts = names.into_iter().filter_map(|number| {
        let mut points: Vec<Point<'_>> = best
            .iter()
            .filter_map(|(case, figure)| Some((figure.median, *case.other.get(number)?, *case)))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let first = points.first()?;
        if points.iter().all(|point| point.1.total_cmp(&first.1).is_eq()) {
            return None;
        }
        Some(Front {
            number,
            unbeaten: front(&points),
            points,
        })
    });
    fronts.collect()
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
