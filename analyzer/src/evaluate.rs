//! Each estimate against what was measured.
//!
//! - Ranks, inversions and regret compare predictions with the case's **median paired ratio** to the control: the ratio
//!   of neighbouring calls cancels what disturbs both alike. The control's is 1 by definition, whatever it measured
//!   beside itself.
//! - Bias and error compare them with the case's **normalised median**: the median over its pairs of
//!   `value x p / P`, where `p` is the peak probe beside that pair and `P` the median of all probes of the workload. It
//!   is the time that the case would have taken had the machine always given its median. Pairs with a disturbed probe
//!   ([`crate::dataset::MOST_SHARE`]) are left out.
//! - Times of phases are compared kind by kind, normalised in the same way; see [`crate::judgement::PhaseJudgement`].
//! - Only cases that were chosen before anything was measured take part; see [`crate::dataset::Chosen::is_adaptive`].

use std::collections::BTreeMap;

use stats::interval::{Bootstrap, Level};
use stats::order::median;

use crate::analysis::{EstimateRow, Figure};
use crate::ceiling::Repeated;
use crate::dataset::{CaseData, Outcome, Pair, Prediction, Setup, WorkloadData};
use crate::error::AnalyzeError;
use crate::judge::{Sample, Terms, judge};
use crate::kinds::phases;
use crate::winner::RESAMPLES;

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

/// Whether a case's ratio is 1 by definition: that of the control, unless it stands by itself and its values vary. Then 1 is
/// the median of its own values over their median, and they have an interval as those of any other case.
pub(crate) fn is_one(workload: &WorkloadData, case: &CaseData) -> bool {
    case.name == workload.control && (workload.paired || !workload.varies)
}

/// The ratio by which a case is ranked: the median of its pairs, or exactly 1 for the control ([`is_one`]). `None` without
/// pairs: of its own, or, for a control that was called beside the cases and did not fail as one, of any.
pub(crate) fn ratio_to_control(
    workload: &WorkloadData,
    case: &CaseData,
) -> Result<Option<Figure>, stats::error::SampleError> {
    if is_one(workload, case) {
        let is_measured = |case: &CaseData| !case.pairs.is_empty();
        // What began and never ended may still come out right.
        let stands = workload.paired && (!case.outcome.is_failure() || case.outcome == Outcome::Lost);
        let known = is_measured(case) || (stands && workload.cases.iter().any(is_measured));
        return Ok(known.then_some(Figure::OF_CONTROL));
    }
    figure(&case.ratios())
}

/// The ratio by which a case is ranked, round by round, or repeat by repeat where there is one round
/// ([`WorkloadData::repeated`]): always 1 for the control ([`is_one`]).
pub(crate) fn ratios_by_round(workload: &WorkloadData, case: &CaseData) -> Vec<f64> {
    let ratios = if workload.repeated == Repeated::Repeats {
        case.ratios()
    } else {
        case.ratios_by_round()
    };
    if is_one(workload, case) {
        vec![1.0; ratios.len()]
    } else {
        ratios
    }
}

/// Median of `value x p / P` over pairs whose probe was not disturbed; see the module's text. `None` without such pairs.
pub(crate) fn normalised_median(pairs: &[Pair], median_peak: Option<f64>, value: impl Fn(&Pair) -> f64) -> Option<f64> {
    let undisturbed = pairs.iter().filter(|pair| !pair.disturbed);
    let values: Vec<f64> = undisturbed
        .map(|pair| normalised(value(pair), pair, median_peak))
        .collect();
    median(&values)
}

/// A value of this pair, as if the machine had given its median just then.
pub(crate) fn normalised(value: f64, pair: &Pair, median_peak: Option<f64>) -> f64 {
    match pair.peak_gflops.zip(median_peak) {
        Some((peak, median_peak)) => value * peak / median_peak,
        None => value,
    }
}

/// Judges every estimate that any case of the workload has, by name.
pub(crate) fn estimates(
    workload: &WorkloadData,
    setup: &Setup,
    control_value: Option<f64>,
) -> Result<Vec<EstimateRow>, AnalyzeError> {
    let mut names: BTreeMap<&str, &Prediction> = BTreeMap::new();
    for (name, prediction) in workload.cases.iter().flat_map(|case| &case.estimates) {
        names.entry(name).or_insert(prediction);
    }
    let scale = workload.median_peak();
    names
        .into_iter()
        .map(|(name, prediction)| {
            let terms = Terms {
                varies: workload.varies,
                repeated: workload.repeated,
                one: control_value,
                tie: setup.tie,
                objective: &setup.objective,
                with_bias: setup.objective.has_bias(&prediction.unit),
                plan: resampling(setup.seed),
            };
            let failed = |source| AnalyzeError::Statistic {
                workload: workload.name.clone(),
                statistic: format!("estimate `{name}`"),
                source,
            };
            let (samples, left_out) = whole(workload, name, scale).map_err(|e| failed(e.into()))?;
            Ok(EstimateRow {
                name: name.to_owned(),
                unit: prediction.unit.clone(),
                moment: prediction.moment,
                whole: judge(&samples, left_out, &terms).map_err(failed)?,
                phases: phases(workload, name, scale, &terms).map_err(failed)?,
            })
        })
        .collect()
}

/// How everything is resampled: the analysis's level, the cohort's seed.
pub(crate) fn resampling(seed: u64) -> Bootstrap {
    Bootstrap {
        level: LEVEL,
        resamples: RESAMPLES,
        seed,
    }
}

/// Why a case does not judge an estimate, if it can't whatever the quantity.
pub(crate) fn no_judge(case: &CaseData) -> Option<&'static str> {
    match case.outcome {
        _ if case.chosen.is_adaptive() => Some("chosen by results"),
        outcome if !outcome.is_measured() => Some(outcome.word()),
        _ if case.pairs.is_empty() => Some("nothing to compare with"),
        _ => None,
    }
}

/// What judges the whole time, and how many cases do not, by reason.
fn whole<'a>(
    workload: &'a WorkloadData,
    name: &str,
    median_peak: Option<f64>,
) -> Result<(Vec<Sample<'a>>, BTreeMap<String, usize>), stats::error::SampleError> {
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut samples = Vec::new();
    for case in &workload.cases {
        let reason = match (no_judge(case), case.estimates.get(name)) {
            (Some(reason), _) => reason,
            (None, None) => "not predicted",
            (None, Some(prediction)) => {
                samples.extend(ratio_to_control(workload, case)?.map(|ranked| Sample {
                    name: &case.name,
                    predicted: prediction.value,
                    ranked,
                    draws: if is_one(workload, case) {
                        vec![1.0]
                    } else {
                        case.ratios()
                    },
                    rounds: ratios_by_round(workload, case),
                    normalised: normalised_median(&case.pairs, median_peak, |pair| pair.case),
                }));
                continue;
            }
        };
        *left_out.entry(reason.to_owned()).or_default() += 1;
    }
    Ok((samples, left_out))
}
