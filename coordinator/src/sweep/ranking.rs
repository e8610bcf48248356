//! Which cases are the fastest, as far as is known while the sweep runs.

use cohort::{Case, CaseState, Frozen, Outcome, RunOutcome, State};
use stats::interval::{Level, MedianInterval};
use stats::order::median;
use stats::paired::PairedRatios;
use target_api::{Measurement, Of};

/// A case with its paired ratio to the control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked<'a> {
    /// The case.
    pub case: &'a Case,
    /// Pairs that were measured.
    pub pairs: usize,
    /// Median of case / control over all pairs, with its 95 % interval; below 1 is faster than the control. Pairs are
    /// taken as independent.
    pub ratio: MedianInterval,
}

/// The correct cases of one workload, fastest first.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking<'a> {
    /// The workload's name.
    pub workload: &'a str,
    /// Its control.
    pub control: Option<&'a Case>,
    /// By median ratio, then by name.
    pub cases: Vec<Ranked<'a>>,
    /// Standard deviation of the logarithm of one pair's ratio, pooled over the cases; `None` before any has two pairs.
    pub noise: Option<f64>,
}

impl Ranking<'_> {
    /// Where the median ratio of one of its cases may lie, lower and upper end: its own 95 % interval where it has pairs
    /// enough for one, else the median give or take what the noise of all cases together allows. Four pairs span from
    /// almost anything to almost anything on a noisy machine; that all cases share the noise says more.
    ///
    /// Half-width for n pairs, on the log scale: `1.96 sigma sqrt(pi / (2 n))`, the normal approximation of a median.
    #[must_use]
    pub fn reach(&self, ranked: &Ranked<'_>) -> (f64, f64) {
        let ratio = &ranked.ratio;
        match self.noise {
            Some(noise) if !ratio.reaches_level() => {
                let half = 1.96 * noise * (std::f64::consts::FRAC_PI_2 / ranked.pairs as f64).sqrt();
                (ratio.point * (-half).exp(), ratio.point * half.exp())
            }
            _ => (ratio.lower, ratio.upper),
        }
    }
}

/// Robust standard deviation of the logarithm of one pair's ratio, pooled over cases: 1.4826 times the median of
/// `|ln r_i - ln r_j| / sqrt(2)` over all pairs of ratios of the same case (the scale of Rousseeuw and Croux 1993, section
/// 1, for differences). `None` without a case that has two pairs.
fn pooled_noise(ratios: &[Vec<f64>]) -> Option<f64> {
    let mut differences = Vec::new();
    for own in ratios {
        for (i, a) in own.iter().enumerate() {
            let others = own[i + 1..].iter();
            differences.extend(others.map(|b| (a.ln() - b.ln()).abs() / std::f64::consts::SQRT_2));
        }
    }
    median(&differences).map(|middle| 1.4826 * middle)
}

/// One ranking for each workload, in the manifest's order. Confirmations are not among the cases: they repeat others.
pub(super) fn rankings<'a>(frozen: &'a Frozen, state: &State<'a>) -> Vec<Ranking<'a>> {
    let confirmations = frozen.confirmations();
    let each = frozen.manifest().workloads.iter().map(|entry| {
        let workload = entry.workload.name.as_str();
        let own = state
            .cases()
            .iter()
            .filter(|case| case.case.workload == workload && !confirmations.contains_key(case.case.name.as_str()));
        let (mut cases, ratios): (Vec<_>, Vec<_>) = own.filter_map(ranked).unzip();
        cases.sort_by(|a, b| {
            let by_ratio = a.ratio.point.total_cmp(&b.ratio.point);
            by_ratio.then_with(|| a.case.name.cmp(&b.case.name))
        });
        Ranking {
            workload,
            control: entry
                .control
                .as_deref()
                .and_then(|control| state.get(control))
                .map(|control| control.case),
            cases,
            noise: pooled_noise(&ratios),
        }
    });
    each.collect()
}

fn ranked<'a>(state: &CaseState<'a>) -> Option<(Ranked<'a>, Vec<f64>)> {
    if state.outcome() != Some(Outcome::Correct) {
        return None;
    }
    let rounds = state.latest()?.correct();
    let pairs: Vec<_> = rounds
        .filter_map(|(_, round)| match round.outcome {
            RunOutcome::Correct { measurement } => Some(pairs_of(measurement)),
            _ => None,
        })
        .flatten()
        .collect();
    let ratios = PairedRatios::new(&pairs).ok()?;
    let ranked = Ranked {
        case: state.case,
        pairs: ratios.pairs(),
        ratio: ratios.interval(Level::P95),
    };
    Some((ranked, ratios.ratios().to_vec()))
}

/// Pairs of a round; where there is no control, the case's median against 1, so that values themselves are ranked.
fn pairs_of(measurement: &Measurement) -> Vec<(f64, f64)> {
    let pairs = measurement.pairs();
    if pairs.is_empty() {
        let alone = median(&measurement.values(Of::Case));
        return alone.map(|value| (value, 1.0)).into_iter().collect();
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::pooled_noise;

    #[test]
    fn noise_is_what_all_cases_share() {
        // Two cases with different medians and the same steps of 2 %: one outlier does not matter.
        let steps = |at: f64| vec![at, at * 1.02, at / 1.02, at * 1.02];
        let noise = pooled_noise(&[steps(0.8), steps(1.3), vec![1.0, 1.02, 3.0]]).unwrap();
        assert!((0.01..0.04).contains(&noise), "{noise}");
        assert_eq!(pooled_noise(&[vec![1.0], vec![]]), None);
    }
}
