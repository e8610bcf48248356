//! Each estimate against what was measured.
//!
//! - Ranks, inversions and regret compare predictions with the case's **median paired ratio** to the control: the ratio
//!   of neighbouring calls cancels what disturbs both alike. The control's is 1 by definition, whatever it measured
//!   beside itself.
//! - Bias and error compare them with the case's **normalised median**: the median over its pairs of
//!   `value x p / P`, where `p` is the peak probe beside that pair and `P` the median of all probes of the workload. It
//!   is the time that the case would have taken had the machine always given its median. Pairs with a disturbed probe
//!   ([`crate::dataset::MOST_SHARE`]) are left out.
//! - Only cases that were chosen before anything was measured take part; see [`crate::dataset::Chosen::is_adaptive`].

use std::collections::BTreeMap;

use stats::interval::Level;
use stats::noise::noise_ceiling;
use stats::order::{median, median_absolute_percentage_error, median_ratio};
use stats::rank::{inversions, kendall_tau_b, spearman};

use crate::analysis::{EstimateRow, Figure};
use crate::collect::has_bias;
use crate::dataset::{CaseData, Pair, Prediction, WorkloadData};
use crate::error::AnalyzeError;

/// Level of every interval.
pub const LEVEL: Level = Level::P95;

/// Whether two cases differ by more than the noise: `|a - b| > sqrt(h_a^2 + h_b^2)`, with `a`, `b` their median paired
/// ratios and `h` the half-widths of the 95 % intervals of these. That root is the half-width for a difference of two
/// independent medians (exact for normal ones). The control's ratio is exactly 1, its half-width 0. A case with too few
/// pairs for an interval is comparable with no other.
/// Where values do not vary (`paired` is false), any difference counts.
#[must_use]
pub fn comparable(a: &Figure, b: &Figure, paired: bool) -> bool {
    let difference = (a.median - b.median).abs();
    if !paired {
        return difference > 0.0;
    }
    match (a.half_width(), b.half_width()) {
        (Some(a), Some(b)) => difference > a.hypot(b),
        _ => false,
    }
}

/// The median of samples with its interval.
pub(crate) fn figure(samples: &[f64]) -> Result<Option<Figure>, stats::error::SampleError> {
    if samples.is_empty() {
        return Ok(None);
    }
    let interval = stats::interval::median_interval(samples, LEVEL)?;
    let ends = interval.reaches_level().then_some((interval.lower, interval.upper));
    Ok(Some(Figure {
        median: interval.point,
        lower: ends.map(|(lower, _)| lower),
        upper: ends.map(|(_, upper)| upper),
        samples: interval.samples,
    }))
}

/// The ratio by which a case is ranked: the median of its pairs, or exactly 1 for the control. `None` without pairs.
pub(crate) fn ratio_to_control(
    workload: &WorkloadData,
    case: &CaseData,
) -> Result<Option<Figure>, stats::error::SampleError> {
    if case.name == workload.control {
        return Ok((!case.pairs.is_empty()).then_some(Figure::OF_CONTROL));
    }
    figure(&case.ratios())
}

/// The ratio by which a case is ranked, round by round: always 1 for the control.
fn ratios_by_round(workload: &WorkloadData, case: &CaseData) -> Vec<f64> {
    let ratios = case.ratios_by_round();
    if case.name == workload.control {
        vec![1.0; ratios.len()]
    } else {
        ratios
    }
}

/// Median of `value x p / P` over pairs whose probe was not disturbed; see the module's text. `None` without such pairs.
pub(crate) fn normalised_median(pairs: &[Pair], median_peak: Option<f64>, value: impl Fn(&Pair) -> f64) -> Option<f64> {
    let undisturbed = pairs.iter().filter(|pair| !pair.disturbed);
    let normalised = undisturbed.map(|pair| match pair.peak_gflops.zip(median_peak) {
        Some((peak, median_peak)) => value(pair) * peak / median_peak,
        None => value(pair),
    });
    median(&normalised.collect::<Vec<f64>>())
}

/// One case that judges an estimate.
struct Judge<'a> {
    case: &'a CaseData,
    predicted: f64,
    ratio: Figure,
    /// `None` when every probe was disturbed.
    normalised: Option<f64>,
}

/// Judges every estimate that any case of the workload has, by name.
pub(crate) fn estimates(
    workload: &WorkloadData,
    objective_unit: &str,
    control_value: Option<f64>,
) -> Result<Vec<EstimateRow>, AnalyzeError> {
    let mut names: BTreeMap<&str, &Prediction> = BTreeMap::new();
    for (name, prediction) in workload.cases.iter().flat_map(|case| &case.estimates) {
        names.entry(name).or_insert(prediction);
    }
    names
        .into_iter()
        .map(|(name, prediction)| estimate(workload, name, prediction, objective_unit, control_value))
        .collect()
}

fn estimate(
    workload: &WorkloadData,
    name: &str,
    kind: &Prediction,
    objective_unit: &str,
    control_value: Option<f64>,
) -> Result<EstimateRow, AnalyzeError> {
    let failed = |statistic: &str, source: Box<dyn std::error::Error + Send + Sync>| AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: format!("{statistic} of estimate `{name}`"),
        source,
    };
    let median_peak = workload.median_peak();
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut judges = Vec::new();
    for case in &workload.cases {
        let reason = match case.estimates.get(name) {
            _ if case.chosen.is_adaptive() => "chosen by results",
            _ if !case.outcome.is_measured() => case.outcome.word(),
            _ if case.pairs.is_empty() => "nothing to compare with",
            None => "not predicted",
            Some(prediction) => {
                let ratio = ratio_to_control(workload, case).map_err(|e| failed("interval", e.into()))?;
                let normalised = normalised_median(&case.pairs, median_peak, |pair| pair.case);
                judges.extend(ratio.map(|ratio| Judge {
                    case,
                    predicted: prediction.value,
                    ratio,
                    normalised,
                }));
                continue;
            }
        };
        *left_out.entry(reason.to_owned()).or_default() += 1;
    }
    let predicted: Vec<f64> = judges.iter().map(|judge| judge.predicted).collect();
    let ratios: Vec<f64> = judges.iter().map(|judge| judge.ratio.median).collect();
    let (told, normalised): (Vec<f64>, Vec<f64>) = judges
        .iter()
        .filter_map(|judge| Some((judge.predicted, judge.normalised?)))
        .unzip();

    let counts = inversions(&predicted, &ratios, |i, j| {
        comparable(&judges[i].ratio, &judges[j].ratio, workload.paired)
    })
    .map_err(|e| failed("inversions", e.into()))?;
    let regret = stats::regret::regret(&predicted, &ratios).map_err(|e| failed("regret", e.into()))?;
    let rounds: Vec<Vec<f64>> = judges
        .iter()
        .map(|judge| ratios_by_round(workload, judge.case))
        .filter(|rounds| rounds.len() >= 2)
        .collect();
    let named = |index: usize| judges[index].case.name.clone();
    let with_bias = has_bias(&kind.unit, objective_unit);
    Ok(EstimateRow {
        name: name.to_owned(),
        unit: kind.unit.clone(),
        moment: kind.moment,
        samples: judges.len(),
        left_out,
        spearman: spearman(&predicted, &ratios),
        kendall: kendall_tau_b(&predicted, &ratios),
        ceiling: noise_ceiling(&rounds).map(|found| found.ceiling),
        ceiling_samples: rounds.len(),
        comparable_pairs: counts.comparable_pairs,
        inversions: counts.inversions,
        ties_predicted: counts.ties_predicted,
        selected: regret.map(|found| named(found.selected)),
        best: regret.map(|found| named(found.best)),
        regret_ratio: regret.map(|found| found.ratio),
        regret_value: regret
            .zip(control_value)
            .map(|(found, control)| found.difference * control),
        rank_of_best: regret.map(|found| found.rank_of_best),
        bias: median_ratio(&told, &normalised).filter(|_| with_bias),
        mdape_percent: median_absolute_percentage_error(&told, &normalised).filter(|_| with_bias),
    })
}
