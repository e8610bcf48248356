//! What the page shows, as columns: the only part of the page that knows where figures come from.
//!
//! Every list of a case column has one entry per case of all workloads together; those of a workload have one per case
//! of that workload, which starts at [`WorkloadData::first`]. Undefined is `null`.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use target_api::Timeline;

use super::columns::{Words, natural_ranks, short};
use super::components::{AttributeColumn, PhaseColumn, attributes, phases};
use super::drift::{Drift, drift};
use super::links::Links;
use super::regret::{Curve, at_random, of_estimate};
use super::timelines::TimelineData;
use crate::analysis::{Analysis, CaseRow, EstimateRow, WorkloadRow};
use crate::dataset::{Attempt, Objective};
use crate::front::fronts;

/// All of the page's data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Data {
    /// What is minimised, and the unit in which its values stand here.
    pub objective: String,
    /// Whether larger values of it are better.
    pub larger_is_better: bool,
    /// The shown unit: `ms`, `cycles`; empty for a number without one.
    pub unit: String,
    /// What stands beside an axis of values: the unit, or the objective's name.
    pub heading: String,
    /// What values of the objective are: `measured`, `simulated` or `published`.
    pub origin: &'static str,
    /// The command that builds and measures one case, without the case.
    pub command: String,
    /// The workloads.
    pub workloads: Vec<WorkloadData>,
    /// The cases of all workloads, in order.
    pub cases: Cases,
    /// Timelines of some cases.
    pub timelines: Vec<TimelineData>,
}

/// Columns of all cases.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the columns of `summary.csv`, where each is described")]
pub struct Cases {
    pub name: Vec<String>,
    /// Place of each name in natural order.
    pub name_order: Vec<u32>,
    pub workload: Vec<usize>,
    pub family: Words,
    pub outcome: Words,
    pub chosen: Words,
    pub because: Words,
    pub reason: Words,
    pub repeat_of: Words,
    pub plan: Vec<String>,
    pub rank: Vec<Option<usize>>,
    pub ratio: Vec<Option<f64>>,
    pub lower: Vec<Option<f64>>,
    pub upper: Vec<Option<f64>>,
    pub pairs: Vec<Option<usize>>,
    pub rounds: Vec<Option<usize>>,
    pub disturbed: Vec<usize>,
    pub value: Vec<Option<f64>>,
    pub normalised: Vec<Option<f64>>,
    pub gflops: Vec<Option<f64>>,
    pub share: Vec<Option<f64>>,
    pub error: Vec<Option<f64>>,
    pub tolerance: Vec<Option<f64>>,
    /// Folder of the case's logs; `null` without logs.
    pub folder: Vec<Option<String>>,
    /// A bit for each file of [`super::links::FILES`] that is there.
    pub logs: Vec<u8>,
    /// Cases with several attempts: all of them.
    pub attempts: BTreeMap<usize, Vec<AttemptLine>>,
}

/// One attempt: number, outcome, reason, right rounds.
pub type AttemptLine = (u32, &'static str, Option<String>, usize);

/// One workload.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "one fact each, as the page reads them")]
pub struct WorkloadData {
    /// Its name.
    pub name: String,
    /// Number of its first case.
    pub first: usize,
    /// How many cases it has.
    pub count: usize,
    /// Number of the control.
    pub control: Option<usize>,
    /// Whether it is one; otherwise it only is what ratios refer to.
    pub has_control: bool,
    /// Number of the winner.
    pub winner: Option<usize>,
    /// Cases that can't be told from the winner.
    pub ties: Vec<usize>,
    /// Whether case and control were measured side by side.
    pub paired: bool,
    /// Whether the machine's peak was probed beside the cases.
    pub probed: bool,
    /// Whether values vary from call to call.
    pub varies: bool,
    /// Quantiles (5 %, 95 %) of the control's single ratios to itself.
    pub noise: Option<[f64; 2]>,
    /// Predictions.
    pub estimates: Vec<EstimateColumn>,
    /// Medians of phases.
    pub phases: Vec<PhaseColumn>,
    /// Attributes of the plans that take more than one value.
    pub attributes: Vec<AttributeColumn>,
    /// Second numbers of which less is better.
    pub fronts: Vec<FrontData>,
    /// The control over the sweep.
    pub drift: Drift,
    /// Regret against budget of random trials.
    pub at_random: Curve,
}

/// A number beside the objective, and the cases that no other one beats in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrontData {
    /// Its name, with its unit.
    pub name: String,
    /// One per case of the workload.
    pub values: Vec<Option<f64>>,
    /// Numbers of the unbeaten cases, by ratio.
    pub unbeaten: Vec<usize>,
}

/// Predictions of one estimate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EstimateColumn {
    /// Its name.
    pub name: String,
    /// The unit in which its values stand here.
    pub unit: String,
    /// Whether that is the objective's, so that it can be compared with what was measured.
    pub comparable: bool,
    /// One per case of the workload.
    pub values: Vec<Option<f64>>,
    /// Spearman's rho.
    pub spearman: Option<f64>,
    /// Regret against budget.
    pub regret: Curve,
}

impl Data {
    /// Projects an analysis.
    #[must_use]
    pub fn of(analysis: &Analysis, links: &Links, timelines: &BTreeMap<String, Timeline>) -> Self {
        let (unit, one) = analysis.setup.objective.shown_unit();
        let mut cases = Cases::default();
        let mut workloads = Vec::new();
        for (index, workload) in analysis.workloads.iter().enumerate() {
            let first = cases.name.len();
            cases.extend(index, workload, links, one);
            workloads.push(workload_data(analysis, workload, first, one));
        }
        cases.name_order = natural_ranks(&cases.name);
        let rows = || analysis.workloads.iter().flat_map(|workload| &workload.cases);
        cases.family = Words::of(rows().map(|row| Some(row.family.as_str())));
        cases.outcome = Words::of(rows().map(|row| Some(row.outcome.word())));
        cases.chosen = Words::of(rows().map(|row| Some(row.chosen.word())));
        cases.because = Words::of(rows().map(|row| Some(row.because.as_str())));
        cases.reason = Words::of(rows().map(|row| row.reason.as_deref()));
        cases.repeat_of = Words::of(rows().map(|row| row.repeat_of.as_deref()));
        Self {
            objective: analysis.setup.objective.name.clone(),
            larger_is_better: analysis.setup.objective.larger_is_better,
            unit: unit.to_owned(),
            heading: analysis.setup.objective.heading().to_owned(),
            origin: analysis.setup.origin(),
            command: format!(
                "layout-sweep try {}",
                super::escape::shell(&analysis.setup.definition_path)
            ),
            timelines: (0..)
                .zip(&cases.name)
                .filter_map(|(number, name)| Some(TimelineData::new(number, name, timelines.get(name)?, one)))
                .collect(),
            workloads,
            cases,
        }
    }

    /// Names of all estimates, in order of appearance, with their shown units.
    #[must_use]
    pub fn estimates(&self) -> Vec<(&str, &str)> {
        let mut names: Vec<(&str, &str)> = Vec::new();
        for estimate in self.workloads.iter().flat_map(|workload| &workload.estimates) {
            if names.iter().all(|(name, _)| *name != estimate.name) {
                names.push((&estimate.name, &estimate.unit));
            }
        }
        names
    }
}

impl Cases {
    fn extend(&mut self, index: usize, workload: &WorkloadRow, links: &Links, one: f64) {
        for case in &workload.cases {
            let number = self.name.len();
            let measured = |count: usize| Some(count).filter(|_| case.ratio.is_some());
            let (folder, logs) = links.of(&case.name).unzip();
            self.name.push(case.name.clone());
            self.workload.push(index);
            self.plan.push(case.plan.clone());
            self.rank.push(case.rank);
            self.ratio.push(short(case.ratio.map(|ratio| ratio.median)));
            self.lower.push(short(case.ratio.and_then(|ratio| ratio.lower)));
            self.upper.push(short(case.ratio.and_then(|ratio| ratio.upper)));
            self.pairs.push(measured(case.pairs));
            self.rounds.push(measured(case.rounds));
            self.disturbed.push(case.disturbed_probes);
            self.value.push(short(case.value.map(|value| value / one)));
            self.normalised
                .push(short(case.normalised_value.map(|value| value / one)));
            self.gflops.push(short(case.gflops));
            self.share.push(short(case.share_of_peak));
            self.error.push(short(case.error.and_then(|error| error.max_absolute)));
            self.tolerance.push(short(case.error.map(|error| error.tolerance)));
            self.folder.push(folder);
            self.logs.push(logs.unwrap_or_default());
            if case.attempts.len() > 1 {
                let lines = case.attempts.iter().map(attempt_line).collect();
                self.attempts.insert(number, lines);
            }
        }
    }
}

fn attempt_line(attempt: &Attempt) -> AttemptLine {
    (
        attempt.number,
        attempt.outcome.word(),
        attempt.reason.clone(),
        attempt.rounds,
    )
}

fn workload_data(analysis: &Analysis, workload: &WorkloadRow, first: usize, one: f64) -> WorkloadData {
    let numbers: HashMap<&str, usize> = (first..)
        .zip(&workload.cases)
        .map(|(number, case)| (case.name.as_str(), number))
        .collect();
    let number = |name: &str| numbers.get(name).copied();
    let winner = workload.winner.as_ref();
    let judged: Vec<&CaseRow> = workload
        .cases
        .iter()
        .filter(|case| case.ratio.is_some() && !case.chosen.is_adaptive())
        .collect();
    let ratios: Vec<f64> = judged.iter().filter_map(|case| Some(case.ratio?.median)).collect();
    let estimates = workload.estimates.iter();
    WorkloadData {
        name: workload.name.clone(),
        first,
        count: workload.cases.len(),
        control: number(&workload.control),
        has_control: workload.has_control,
        winner: winner.and_then(|winner| number(&winner.case)),
        ties: winner
            .and_then(|winner| winner.ties.as_ref())
            .map(|ties| ties.iter().filter_map(|name| number(name)).collect())
            .unwrap_or_default(),
        paired: workload.paired,
        probed: workload.median_peak_gflops.is_some(),
        varies: workload.varies,
        noise: workload
            .noise
            .and_then(|noise| Some([short(noise.q05)?, short(noise.q95)?])),
        estimates: estimates
            .map(|estimate| estimate_column(estimate, workload, &judged, &analysis.setup.objective, one))
            .collect(),
        phases: phases(&workload.cases, one),
        attributes: attributes(&workload.cases),
        fronts: fronts(workload)
            .into_iter()
            .map(|front| FrontData {
                name: front.number.to_owned(),
                values: workload
                    .cases
                    .iter()
                    .map(|case| short(case.other.get(front.number).copied()))
                    .collect(),
                unbeaten: front
                    .unbeaten
                    .iter()
                    .filter_map(|(_, _, case)| number(&case.name))
                    .collect(),
            })
            .collect(),
        drift: drift(workload, number, one),
        at_random: rounded(at_random(&ratios)),
    }
}

fn estimate_column(
    estimate: &EstimateRow,
    workload: &WorkloadRow,
    judged: &[&CaseRow],
    objective: &Objective,
    one: f64,
) -> EstimateColumn {
    let comparable = objective.has_bias(&estimate.unit);
    let scale = if comparable { one } else { 1.0 };
    let value = |case: &CaseRow| case.estimates.get(&estimate.name).copied();
    let samples: Vec<(f64, f64)> = judged
        .iter()
        .filter_map(|case| {
            let value = value(case)?;
            // Cases are tried in the order of what is compared.
            let compared = if comparable { objective.compared(value)? } else { value };
            Some((compared, case.ratio?.median))
        })
        .collect();
    EstimateColumn {
        name: estimate.name.clone(),
        unit: if comparable {
            objective.heading()
        } else {
            &estimate.unit
        }
        .to_owned(),
        comparable,
        values: workload
            .cases
            .iter()
            .map(|case| short(value(case).map(|v| v / scale)))
            .collect(),
        spearman: short(estimate.whole.spearman),
        regret: rounded(of_estimate(&samples)),
    }
}

fn rounded(mut curve: Curve) -> Curve {
    curve.regrets = curve
        .regrets
        .into_iter()
        .filter_map(|regret| short(Some(regret)))
        .collect();
    curve
}
