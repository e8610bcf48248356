//! Why one case is faster than another: what differs between the plans, which phases carry the difference, and how each
//! estimate saw it.

use std::collections::BTreeSet;

use stats::interval::ratio_of_medians;

use crate::analysis::Figure;
use crate::dataset::{CaseData, Dataset, Objective, PhaseFigure, SCORE, WorkloadData};
use crate::error::AnalyzeError;
use crate::evaluate::{normalised_median, ratio_to_control, resampling};
use crate::explanation::DERIVED;
pub use crate::explanation::{Change, Explanation, PhaseShare, Seen, Side};
use crate::places::places;
use crate::winner::differences;

/// Pairs below which a bootstrap of two medians says nothing.
const FEWEST: usize = 6;

/// Why two cases can't be explained.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// There is no such case.
    #[error("the cohort has no case `{name}`")]
    NoCase {
        /// What was asked for.
        name: String,
        /// Names that are near it; the first ones where none is.
        near: Vec<String>,
    },
    /// A case is no explanation of itself.
    #[error("`{name}` is compared with itself{}: there is nothing to explain", .stands_for.map_or_else(String::new, |what| format!(", {what} of its workload")))]
    Same {
        /// The case.
        name: String,
        /// What it is where it is what a case is compared with unless another is named: the control, or the first case that
        /// was measured.
        stands_for: Option<&'static str>,
    },
    /// The cases belong to two workloads.
    #[error("`{a}` belongs to workload `{of_a}`, `{b}` to `{of_b}`: their times can't be compared")]
    TwoWorkloads {
        /// The first case.
        a: String,
        /// Its workload.
        of_a: String,
        /// The second case.
        b: String,
        /// Its workload.
        of_b: String,
    },
    /// A figure can't be computed: a bug.
    #[error(transparent)]
    Analyze(#[from] AnalyzeError),
}

/// Explains case `a` by case `b`, by default the control of its workload.
///
/// Times of each case are scaled so that its whole is its paired ratio times one time of the control: drift between the
/// rounds of both cancels. Beside the control its own calls in the same rounds stand for it.
///
/// Errors: a name that is not there, the same case twice, cases of two workloads.
pub fn explain(dataset: &Dataset, a: &str, b: Option<&str>) -> Result<Explanation, ExplainError> {
    let (of_a, a) = find(dataset, a)?;
    let (of_b, b) = find(dataset, b.unwrap_or(&of_a.control))?;
    if a.name == b.name {
        return Err(ExplainError::Same {
            name: a.name.clone(),
            stands_for: (a.name == of_a.control).then_some(if of_a.has_control {
                "the control"
            } else {
                "the first measured case"
            }),
        });
    }
    if of_a.name != of_b.name {
        return Err(ExplainError::TwoWorkloads {
            a: a.name.clone(),
            of_a: of_a.name.clone(),
            b: b.name.clone(),
            of_b: of_b.name.clone(),
        });
    }
    let workload = of_a;
    let control = control_value(workload);
    let (side_a, phases_a) = side(workload, a, control, None)?;
    let beside = (b.name == workload.control && workload.paired && !a.pairs.is_empty()).then_some(a);
    let (side_b, phases_b) = side(workload, b, control, beside)?;
    let ratio = ratio(workload, a, b, dataset.setup.seed)?;
    let differs = ratio.and_then(|ratio| differs(workload, ratio));
    let objective = &dataset.setup.objective;
    let compared = side_a.value.zip(side_b.value).map(|(a, b)| less(a, b));
    let phases = shares(&phases_a, &phases_b, compared);
    let outside_phases = compared
        .filter(|_| !phases.is_empty())
        .and_then(|whole| outside(whole, &side_a, &side_b, &phases));
    let changes: Vec<Change> = differences(&a.attributes, &b.attributes)
        .map(|(name, a, b)| Change {
            attribute: name.to_owned(),
            a: a.cloned(),
            b: b.cloned(),
        })
        .collect();
    let unchanged = a
        .attributes
        .iter()
        .filter(|(name, value)| b.attributes.get(name) == Some(value))
        .count();
    let estimates = seen(a, b, compared, objective);
    let (side_a, side_b) = (shown(side_a, objective), shown(side_b, objective));
    let difference = side_a.value.zip(side_b.value).map(|(a, b)| less(a, b));
    Ok(Explanation {
        workload: workload.name.clone(),
        objective: objective.clone(),
        origin: dataset.setup.origin(),
        // Without a control beside the cases the ratio gives back the median of the case itself.
        values: if workload.paired {
            DERIVED
        } else {
            dataset.setup.origin()
        },
        ratio,
        differs,
        difference,
        changes,
        unchanged,
        outside_phases,
        phases,
        estimates,
        a: side_a,
        b: side_b,
    })
}

/// `value`, or zero where that is no more than what `steps` roundings of numbers of this size in all leave.
fn rounded(value: f64, size: f64, steps: usize) -> f64 {
    let dust = steps as f64 * f64::EPSILON * size;
    if value.abs() <= dust { 0.0 } else { value }
}

/// `a - b`. Both are medians that were scaled: a ratio, a product, a quotient each.
fn less(a: f64, b: f64) -> f64 {
    rounded(a - b, a.abs() + b.abs(), 4)
}

/// What no phase carries of the whole difference; `None` where a phase has none.
fn outside(whole: f64, a: &Side, b: &Side, phases: &[PhaseShare]) -> Option<f64> {
    let carried: Option<f64> = phases.iter().map(|phase| phase.difference).sum();
    let parts = phases.iter().flat_map(|phase| [phase.a, phase.b]);
    let size: f64 = parts.chain([a.value, b.value]).flatten().map(f64::abs).sum();
    carried.map(|carried| rounded(whole - carried, size, 4 + phases.len()))
}

/// A side with its value as people know it.
fn shown(side: Side, objective: &Objective) -> Side {
    Side {
        value: side.value.map(|value| objective.shown(value)),
        ..side
    }
}

fn find<'d>(dataset: &'d Dataset, name: &str) -> Result<(&'d WorkloadData, &'d CaseData), ExplainError> {
    let all = || {
        let each = |workload: &'d WorkloadData| workload.cases.iter().map(move |case| (workload, case));
        dataset.workloads.iter().flat_map(each)
    };
    all().find(|(_, case)| case.name == name).ok_or_else(|| {
        let wanted = name.to_lowercase();
        let names = || all().map(|(_, case)| &case.name);
        let holds = |other: &&String| other.to_lowercase().contains(&wanted);
        let begins = |other: &&String| {
            other
                .get(..3)
                .is_some_and(|start| wanted.starts_with(&start.to_lowercase()))
        };
        let mut near: Vec<String> = names().filter(holds).take(8).cloned().collect();
        if near.is_empty() {
            near = names().filter(begins).take(8).cloned().collect();
        }
        if near.is_empty() {
            near = names().take(8).cloned().collect();
        }
        ExplainError::NoCase {
            name: name.to_owned(),
            near,
        }
    })
}

fn control_value(workload: &WorkloadData) -> Option<f64> {
    let pairs: Vec<_> = workload
        .cases
        .iter()
        .flat_map(|case| case.pairs.iter().copied())
        .collect();
    normalised_median(&pairs, workload.median_peak(), |pair| pair.control)
}

/// A case with its phases, scaled to one time of the control. `beside` is a case whose neighbouring calls of the control
/// stand for the control.
fn side(
    workload: &WorkloadData,
    case: &CaseData,
    control: Option<f64>,
    beside: Option<&CaseData>,
) -> Result<(Side, Vec<PhaseFigure>), AnalyzeError> {
    let ratio = ratio_to_control(workload, case).map_err(|source| failed(workload, source.into()))?;
    let value = ratio.zip(control).map(|(ratio, control)| ratio.median * control);
    let measured = match beside {
        Some(other) => stats::order::median(&other.pairs.iter().map(|pair| pair.control).collect::<Vec<f64>>()),
        None => stats::order::median(&case.pairs.iter().map(|pair| pair.case).collect::<Vec<f64>>()),
    };
    let scale = value.zip(measured).map_or(1.0, |(value, measured)| value / measured);
    let phases = beside.map_or(&case.phases, |other| &other.control_phases);
    let scaled = phases.iter().map(|phase| PhaseFigure {
        median: phase.median * scale,
        ..phase.clone()
    });
    let side = Side {
        case: case.name.clone(),
        outcome: case.outcome,
        reason: case.reason.clone(),
        place: place_of(workload, case)?,
        value,
        plan: case.plan.clone(),
    };
    Ok((side, scaled.collect()))
}

fn place_of(workload: &WorkloadData, case: &CaseData) -> Result<Option<usize>, AnalyzeError> {
    let places = places(workload).map_err(|source| failed(workload, source.into()))?;
    let own = workload
        .cases
        .iter()
        .zip(places)
        .find(|(other, _)| other.name == case.name);
    Ok(own.and_then(|(_, place)| place))
}

fn failed(workload: &WorkloadData, source: Box<dyn std::error::Error + Send + Sync>) -> AnalyzeError {
    AnalyzeError::Statistic {
        workload: workload.name.clone(),
        statistic: "the ratio of two cases".to_owned(),
        source,
    }
}

fn ratio(workload: &WorkloadData, a: &CaseData, b: &CaseData, seed: u64) -> Result<Option<Figure>, AnalyzeError> {
    let own = |case| ratio_to_control(workload, case).map_err(|source| failed(workload, source.into()));
    let (Some(ratio_a), Some(ratio_b)) = (own(a)?, own(b)?) else {
        return Ok(None);
    };
    if ratio_b.is_exact() {
        return Ok(Some(ratio_a));
    }
    let draws = |case: &CaseData, ratio: Figure| if ratio.is_exact() { vec![1.0] } else { case.ratios() };
    let (draws_a, draws_b) = (draws(a, ratio_a), draws(b, ratio_b));
    let found = ratio_of_medians(&draws_a, &draws_b, resampling(seed)).map_err(|e| failed(workload, e.into()))?;
    let enough = [(ratio_a, &draws_a), (ratio_b, &draws_b)]
        .iter()
        .all(|(ratio, draws)| ratio.is_exact() || draws.len() >= FEWEST);
    let is_known = enough && workload.varies;
    Ok(Some(Figure {
        median: found.point,
        lower: is_known.then_some(found.lower),
        upper: is_known.then_some(found.upper),
        samples: draws_a.len().min(draws_b.len()),
    }))
}

fn differs(workload: &WorkloadData, ratio: Figure) -> Option<bool> {
    if !workload.varies || ratio.is_exact() {
        return Some(ratio.median.total_cmp(&1.0).is_ne());
    }
    ratio
        .lower
        .zip(ratio.upper)
        .map(|(lower, upper)| lower > 1.0 || upper < 1.0)
}

/// Phases by how much of the whole difference they carry. Beside a case without any phase there is nothing to subtract.
fn shares(a: &[PhaseFigure], b: &[PhaseFigure], whole: Option<f64>) -> Vec<PhaseShare> {
    let both = whole.filter(|_| !a.is_empty() && !b.is_empty());
    let mut seen = BTreeSet::new();
    let find = |phases: &[PhaseFigure], name: &str| phases.iter().find(|p| p.name == name).map(|p| p.median);
    let mut shares: Vec<PhaseShare> = a
        .iter()
        .chain(b)
        .filter(|phase| seen.insert(phase.name.as_str()))
        .map(|phase| {
            let (a, b) = (find(a, &phase.name), find(b, &phase.name));
            let difference = both.map(|_| less(a.unwrap_or_default(), b.unwrap_or_default()));
            PhaseShare {
                phase: phase.name.clone(),
                kind: phase.kind.clone(),
                a,
                b,
                difference,
                share: difference
                    .zip(whole)
                    .map(|(part, whole)| part / whole)
                    .filter(|share| share.is_finite()),
            }
        })
        .collect();
    // Stable: equal ones keep the order of execution.
    let size = |share: &PhaseShare| share.difference.map_or(0.0, f64::abs);
    shares.sort_by(|p, q| size(q).total_cmp(&size(p)));
    shares
}

fn seen(a: &CaseData, b: &CaseData, measured: Option<f64>, objective: &Objective) -> Vec<Seen> {
    let names: BTreeSet<&String> = a.estimates.keys().chain(b.estimates.keys()).collect();
    names
        .into_iter()
        .map(|name| {
            let (of_a, of_b) = (a.estimates.get(name), b.estimates.get(name));
            let both = of_a.zip(of_b).map(|(a, b)| (a.value, b.value));
            let sign = |difference: f64| (difference != 0.0).then_some(difference > 0.0);
            let told = both.and_then(|(a, b)| sign(a - b));
            Seen {
                estimate: name.clone(),
                unit: of_a
                    .or(of_b)
                    .map_or_else(|| SCORE.to_owned(), |prediction| prediction.unit.clone()),
                a: of_a.map(|prediction| objective.predicted(&prediction.unit, prediction.value)),
                b: of_b.map(|prediction| objective.predicted(&prediction.unit, prediction.value)),
                ratio: both.filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| a / b),
                right: told
                    .zip(measured.and_then(sign))
                    .map(|(told, measured)| told == measured),
            }
        })
        .collect()
}
