//! How often another case would have come out as the best.

use serde::{Deserialize, Serialize};

use crate::error::{SampleError, all_finite};
use crate::interval::Bootstrap;
use crate::order::{median, median_in_place};
use crate::random::SplitMix64;

/// What resampling says of a choice by the smallest median.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flips {
    /// The case with the smallest median (the first of equals).
    pub best: usize,
    /// Share of the resamples in which another case has the smallest median, in `0..=1`.
    pub rate: f64,
    /// How often each case came out as the best, in the order of the cases.
    pub wins: Vec<u32>,
}

/// Draws each case's samples with replacement, as many as there are, and asks whose median is the smallest (Efron 1979;
/// as selection probabilities, Rao and Tu 1995). Equal medians go to the best case, then to the first.
///
/// A rate near 0 says that a repetition would choose the same case; two equally good cases flip about half the time. It
/// is a figure of stability, not an error probability. O(resamples x samples of all cases). `Ok(None)` without cases.
/// Errors: a case without samples, or the first sample that is not finite.
pub fn flips<S: AsRef<[f64]>>(cases: &[S], plan: Bootstrap) -> Result<Option<Flips>, SampleError> {
    let mut points = Vec::with_capacity(cases.len());
    for case in cases {
        all_finite(case.as_ref())?;
        points.push(median(case.as_ref()).ok_or(SampleError::Empty)?);
    }
    let Some(best) = (0..points.len()).reduce(|least, index| if points[index] < points[least] { index } else { least })
    else {
        return Ok(None);
    };
    let mut rng = SplitMix64::new(plan.seed);
    let mut wins = vec![0_u32; cases.len()];
    let mut drawn = Vec::new();
    for _ in 0..plan.resamples.get() {
        let mut least: Option<(usize, f64)> = None;
        for (index, case) in cases.iter().enumerate() {
            let samples = case.as_ref();
            drawn.clear();
            drawn.extend(
                (0..samples.len())
                    .filter_map(|_| rng.index(samples.len()))
                    .map(|at| samples[at]),
            );
            let Some(value) = median_in_place(&mut drawn) else {
                continue;
            };
            let wins_over =
                |(other, least): (usize, f64)| value < least || (value <= least && index == best && other != best);
            if least.is_none_or(wins_over) {
                least = Some((index, value));
            }
        }
        if let Some((index, _)) = least {
            wins[index] += 1;
        }
    }
    let lost = plan.resamples.get() - wins[best];
    Ok(Some(Flips {
        best,
        rate: f64::from(lost) / f64::from(plan.resamples.get()),
        wins,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::Level;
    use std::num::NonZeroU32;

    const PLAN: Bootstrap = Bootstrap {
        level: Level::P95,
        resamples: NonZeroU32::MIN.saturating_add(1_999),
        seed: 1,
    };

    #[test]
    fn far_apart_never_flips_and_twins_do_half_the_time() {
        let a = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02];
        let far = a.map(|x| x + 1.0);
        let found = flips(&[far, a], PLAN).unwrap().unwrap();
        assert_eq!((found.best, found.rate, found.wins), (1, 0.0, vec![0, 2_000]));
        let twins = flips(&[a.map(|x| x * 1.000_1), a], PLAN).unwrap().unwrap();
        assert_eq!(twins.best, 1);
        assert!((0.35..0.6).contains(&twins.rate), "{twins:?}");
        assert_eq!(twins, flips(&[a.map(|x| x * 1.000_1), a], PLAN).unwrap().unwrap());
    }

    #[test]
    fn ties_stay_with_the_best_and_bad_input_is_said() {
        let same = flips(&[[2.0, 2.0], [1.0, 1.0], [1.0, 1.0]], PLAN).unwrap().unwrap();
        assert_eq!((same.best, same.rate), (1, 0.0));
        assert_eq!(flips::<[f64; 1]>(&[], PLAN), Ok(None));
        assert_eq!(flips(&[vec![1.0], vec![]], PLAN), Err(SampleError::Empty));
        assert_eq!(flips(&[[f64::NAN]], PLAN), Err(SampleError::NotFinite { index: 0 }));
    }
}
